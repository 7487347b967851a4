"""Every configuration that was tried, the fastest first, and which of them are ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.number import Number, quotient, tie
from talk.outcome import Check
from talk.rows import CACHED, OVERHEAD
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Fitting, Grid, Head
from talk.terminal.results import Result, field_of

ASIDE = {"occupancy": "occupancy", "registers": "regs", "shared": "shared"}
"""Field → heading of what the compiler made of it, as many as the width allows."""


def is_tuned(found: Sequence[Result]) -> bool:
    """Whether the points are configurations of several values, and no grid of them."""
    return any(len(r.timing.at) > 1 for r in found)


def tuned(found: Sequence[Result], checks: Sequence[Check] = ()) -> RenderableType:
    """checks: those that failed name the configurations without a time."""
    ordered = sorted(found, key=lambda r: r.timing.median_ms)
    best = ordered[0]
    varied = [name for name in best.timing.at if len({r.timing.at[name] for r in found}) > 1]
    known = [name for name in ASIDE if all(r.number(name).value is not None for r in ordered)]
    widths = range(len(known), -1, -1)
    tables = Fitting([ranked(ordered, varied, known[:width]) for width in widths])
    said = styled(sentence(ordered), "strong")
    return Group(*same(best, varied), tables, *failed(found, checks), said)


def ranked(ordered: Sequence[Result], varied: Sequence[str], aside: Sequence[str]) -> Grid:
    field, best = field_of(ordered), ordered[0]
    several = len({r.timing.candidate for r in ordered}) > 1
    headings = [ASIDE[name] for name in aside]
    figures = [*map(short, varied), "time", best.number(field).unit, "of best", *headings]
    heads = [*([Head("")] if several else []), *(Head(name, True) for name in figures), Head("")]
    rows = [
        [
            *([Text(clean(r.timing.candidate))] if several else []),
            *(Text(f"{r.timing.at[name]:,}") for name in varied),
            *row(r, best, field, aside),
        ]
        for r in ordered
    ]
    return Grid(heads, rows)


def failed(found: Sequence[Result], checks: Sequence[Check]) -> Iterator[Text]:
    """Each configuration that has no time, and why."""
    timed = [(r.timing.candidate, r.timing.at) for r in found]
    told = []
    for check in checks:
        which = (check.candidate, check.at)
        if check.ok or which in timed or which in told:
            continue
        told.append(which)
        at = ", ".join(f"{short(name)} {value:,}" for name, value in check.at.items())
        text = styled(f"✗ {clean(check.candidate)} {at}  ", "missing")
        yield text.append(clean(check.message), "quiet")


def short(name: str) -> str:
    """`block_m` → "m", `num_warps` → "warps": a table of them is wide."""
    return clean(name).removeprefix("block_").removeprefix("num_")


def same(best: Result, varied: Sequence[str]) -> list[Text]:
    """What all configurations have in common."""
    shared = {name: value for name, value in best.timing.at.items() if name not in varied}
    words = ", ".join(f"{short(name)} {value:,}" for name, value in shared.items())
    return [styled(f"all with {words}", "quiet")] if words else []


def row(result: Result, best: Result, field: str, aside: Sequence[str]) -> list[Text]:
    time, rate = result.number("time"), result.number(field)
    names = {OVERHEAD: OVERHEAD, CACHED: "cached?"}
    digits = look.digits(float(rate)) if rate.value is not None else "–"
    figures = [str(time), digits, str(slower(time, best.number("time")))]
    words = "best" if result is best else "tie" if ties(result, best) else ""
    words = ", ".join(filter(None, (words, *(names[f] for f in result.flags if f in names))))
    return [
        *(Text(figure) for figure in figures),
        *(Text(str(result.number(name))) for name in aside),
        styled(words, "strong" if result is best else "quiet"),
    ]


def slower(time: Number, best: Number) -> Number:
    return quotient(time, best)


def ties(result: Result, best: Result) -> bool:
    return tie(result.number("time"), best.number("time"))


def sentence(ordered: Sequence[Result]) -> str:
    best, *others = ordered
    tied = sum(ties(r, best) for r in others)
    configurations = f"{len(ordered)} configurations"
    if not tied:
        return f"{configurations}: one is the fastest, and none ties with it."
    return f"{configurations}: {tied} cannot be told from the fastest (their p20–p80 overlap)."


if __name__ == "__main__":
    from talk.terminal.made_up import TUNED, look_at
    from talk.terminal.results import results

    look_at(tuned(results(TUNED)))
