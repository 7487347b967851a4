"""A sweep over two parameters: rows by columns, the best cell marked and its ties too."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.number import tie
from talk.rows import CACHED, OVERHEAD
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.palette import style_of
from talk.terminal.results import Result, field_of


def is_grid(found: Sequence[Result]) -> bool:
    """Whether every pair of two parameters' values was measured, by each candidate."""
    if not found or any(len(r.timing.at) != 2 for r in found):
        return False
    rows, columns = (values(found, i) for i in (0, 1))
    names = {r.timing.candidate for r in found}
    return len(found) == len(rows) * len(columns) * len(names) and len(rows) * len(columns) > 3


def values(found: Sequence[Result], position: int) -> list[int]:
    return sorted({list(r.timing.at.values())[position] for r in found})


def grids(found: Sequence[Result], phase: str) -> RenderableType:
    """One for each candidate, and the occupancy beside it where that is known."""
    field = field_of(found)
    names = dict.fromkeys(r.timing.candidate for r in found)
    parts: list[RenderableType] = []
    marks = "   * the best, = a tie with it"
    for name in names:
        mine = [r for r in found if r.timing.candidate == name]
        heading = f"{clean(name)}: {mine[0].number(field).unit}"
        title = styled(heading, style_of(look.ink(name, phase))).append(marks, "quiet")
        parts += [title, grid(mine, field)]
        if all(r.number("occupancy").value is not None for r in mine):
            parts += [styled("theoretical occupancy, and registers a thread", "quiet")]
            parts += [grid(mine, "occupancy", "registers")]
    return Group(*parts)


def grid(found: Sequence[Result], field: str, aside: str = "") -> Grid:
    down, across = found[0].timing.at
    best = None if aside else best_of(found, field)
    heads = [Head(f"{clean(down)} ↓  {clean(across)} →")]
    heads += [Head(f"{value:,}", figures=True) for value in values(found, 1)]
    rows = [
        [
            Text(f"{row:,}"),
            *(cell(at(found, row, column), field, aside, best) for column in values(found, 1)),
        ]
        for row in values(found, 0)
    ]
    return Grid(heads, rows)


def at(found: Sequence[Result], row: int, column: int) -> Result:
    return next(r for r in found if tuple(r.timing.at.values()) == (row, column))


def best_of(found: Sequence[Result], field: str) -> Result | None:
    choose = min if field in ("time", "each") else max
    valued = [r for r in found if r.number(field).value is not None and CACHED not in r.flags]
    return choose(valued, key=lambda r: float(r.number(field)), default=None)


def cell(result: Result, field: str, aside: str, best: Result | None) -> Text:
    """The figure; * for the best, = for a tie with it."""
    if OVERHEAD in result.flags and not aside:
        return styled(OVERHEAD, "quiet")
    words = str(result.number(field))
    if aside:
        return styled(f"{words}, {result.number(aside)}", "quiet")
    if CACHED in result.flags:
        return styled(f"{words} cached?", "quiet")
    if result is best:
        return styled(f"* {words}", "strong")
    tied = best is not None and tie(result.number(field), best.number(field))
    return Text(f"= {words}" if tied else words)


if __name__ == "__main__":
    from talk.terminal.made_up import TILES, look_at
    from talk.terminal.results import results

    look_at(grids(results(TILES), "rewrite"))
