"""Several cases with their candidates as one table: time, rate, wall and speed-up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from talk.number import Number, quotient, tie
from talk.rows import CACHED, OVERHEAD
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.results import Result, field_of

HEADS = (
    Head(""),
    Head("time", True),
    Head("rate", True),
    Head("of its wall", True),
    Head(""),
    Head("speed-up", True),
)


def is_benchmark(found: Sequence[Result]) -> bool:
    return any(result.timing.case for result in found)


def benchmark(found: Sequence[Result]) -> RenderableType:
    cases = dict.fromkeys(result.timing.case for result in found)
    rows = [row for case in cases for row in of_case([r for r in found if r.timing.case == case])]
    return Grid(HEADS, rows)


def of_case(found: Sequence[Result]) -> Iterator[list[Text]]:
    """A heading, then each candidate beside the naive one, or the first where there is none."""
    field = field_of(found)
    base = next((r for r in found if r.timing.candidate == "naive"), found[0])
    yield [styled(clean(base.timing.case), "strong"), *(Text() for _ in HEADS[1:])]
    for result in found:
        share, wall = nearest_wall(result)
        yield [
            Text(f"  {clean(result.timing.candidate)}"),
            Text(str(result.number("time"))),
            styled(rate(result, field), "strong"),
            Text(str(share) if share else ""),
            styled(wall, "quiet"),
            Text("" if result is base else faster(result, base)),
        ]


def rate(result: Result, field: str) -> str:
    return OVERHEAD if OVERHEAD in result.flags else str(result.number(field))


def nearest_wall(result: Result) -> tuple[Number | None, str]:
    """The larger of the two shares, and whose it is."""
    if CACHED in result.flags:
        return None, "cached?"
    named = (("share", "memory"), ("arithmetic_share", "arithmetic"))
    known = [(result.number(field), wall) for field, wall in named]
    known = [(number, wall) for number, wall in known if number.value is not None]
    return max(known, key=lambda pair: float(pair[0]), default=(None, ""))


def faster(result: Result, base: Result) -> str:
    mine, theirs = result.number("time"), base.number("time")
    return "a tie" if tie(mine, theirs) else str(quotient(theirs, mine))


if __name__ == "__main__":
    from talk.terminal.made_up import CASES, look_at
    from talk.terminal.results import results

    look_at(benchmark(results(CASES)))
