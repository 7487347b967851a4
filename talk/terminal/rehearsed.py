"""A rehearsal as a table: the minutes of every step, planned, spent, and as they were before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from talk.rehearsal import Compared, Rehearsal, Row
from talk.terminal.clean import clean, line, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.header import elapsed
from talk.terminal.medium import lines_of, medium_of
from talk.terminal.screen import READABLE

NONE = "–"
MOST_TOTALS = 5
"""Earlier rehearsals whose totals are listed, the newest."""


def write(found: Compared, console: Console | None = None) -> None:
    console = console or Console()
    width = min(console.width, READABLE)
    medium = medium_of(os.environ, console.file, tty=console.is_terminal)
    for block in rehearsed(found):
        for drawn in lines_of(block, width, ground=medium.ground):
            console.file.write(medium.text(drawn).rstrip() + "\n")
    console.file.flush()


def rehearsed(found: Compared) -> Iterator[RenderableType]:
    """The table, then what it comes to."""
    times = len(found.before)
    usual = f"median of {times} before" if times else "before"
    heads = [Head("step")] + [Head(name, figures=True) for name in ("planned", "spent", "±", usual)]
    yield Grid(heads, [cells for row in sections(found.rows) for cells in row])
    yield Text()
    yield from totals(found)


def sections(rows: Sequence[Row]) -> Iterator[list[list[Text]]]:
    """Each section's steps under a line with their sums."""
    for section in dict.fromkeys(row.section for row in rows):
        mine = [row for row in rows if row.section == section]
        yield [summed(section, mine), *map(step, mine)]


def summed(section: int, rows: Sequence[Row]) -> list[Text]:
    """A section; over or under by the steps that were come to, and no median of a part of them."""
    come = [row for row in rows if row.spent is not None]
    spent = sum(row.spent or 0.0 for row in come)
    whole = all(row.usual is not None for row in rows)
    figures = (
        minutes(sum(row.planned for row in rows)),
        minutes(spent if come else None),
        apart(spent - sum(row.planned for row in come) if come else None),
        minutes(sum(row.usual or 0.0 for row in rows) if whole else None),
    )
    return [styled(text, "strong") for text in (f"section {section}", *figures)]


def step(row: Row) -> list[Text]:
    over = None if row.spent is None else row.spent - row.planned
    figures = (minutes(row.planned), minutes(row.spent), apart(over), minutes(row.usual))
    return [Text(text) for text in (f"{row.section}/{clean(row.step)}", *figures)]


def minutes(value: float | None) -> str:
    return NONE if value is None else elapsed(value * 60)


def apart(value: float | None) -> str:
    """ "+01:05": over the plan; "−00:30": under it."""
    if value is None:
        return NONE
    return ("−" if value < 0 else "+") + elapsed(abs(value) * 60)


def totals(found: Compared) -> Iterator[RenderableType]:
    """What was spent and where it leads, then how that has changed from time to time."""
    this = found.this
    where = "" if this.left else f"; cut off at {this.at[0]}/{this.at[1]}"
    yield line(f"{day(this)}: {minutes(this.spent)} spent of {minutes(this.planned)}{where}")
    over = this.projected - this.planned
    ends = f"with the rest as planned it ends after {minutes(this.projected)}"
    side = "over" if over > 0 else "under"
    yield line(f"{ends}, {minutes(abs(over))} {side} the plan", "strong")
    before = found.alike[-MOST_TOTALS:]
    if before:
        listed = ", ".join(f"{minutes(r.projected)} ({day(r)})" for r in before)
        change = apart(this.projected - before[-1].projected)
        yield line(f"before, in the same way: {listed}; now {change}")


def day(rehearsal: Rehearsal) -> str:
    """ "2026-12-01 10:02", UTC."""
    return clean(rehearsal.started)[:16].replace("T", " ")


if __name__ == "__main__":
    from talk.rehearsal import Stop
    from talk.terminal.made_up import look_at

    stops = (
        Stop(section=5, step="baseline", planned=1, seconds=74),
        Stop(section=5, step="blocks", planned=2, seconds=95),
        Stop(section=5, step="now-you", planned=4),
    )
    made_up = Rehearsal(started="2026-12-01T10:02:00Z", stops=stops, at=(5, "blocks"))
    look_at(*rehearsed(Compared(made_up, (made_up,))))
