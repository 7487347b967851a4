"""Every configuration that was tried, the fastest first, and which of them are ties."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.number import Number, quotient, tie
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.results import Result, field_of

ASIDE = ("occupancy",)


def is_tuned(found: Sequence[Result]) -> bool:
    """Whether the points are configurations of several values, and no grid of them."""
    return any(len(r.timing.at) > 1 for r in found)


def tuned(found: Sequence[Result]) -> RenderableType:
    field = field_of(found)
    ordered = sorted(found, key=lambda r: r.timing.median_ms)
    best = ordered[0]
    several = len({r.timing.candidate for r in found}) > 1
    varied = [name for name in best.timing.at if len({r.timing.at[name] for r in found}) > 1]
    aside = [name for name in ASIDE if all(r.number(name).value is not None for r in ordered)]
    figures = [*map(short, varied), "time", best.number(field).unit, "of best", *aside]
    heads = [*([Head("")] if several else []), *(Head(name, True) for name in figures), Head("")]
    rows = [
        [
            *([Text(clean(r.timing.candidate))] if several else []),
            *(Text(f"{r.timing.at[name]:,}") for name in varied),
            *row(r, best, field, aside),
        ]
        for r in ordered
    ]
    return Group(*same(best, varied), Grid(heads, rows), styled(sentence(ordered), "strong"))


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
    digits = look.digits(float(rate)) if rate.value is not None else "–"
    figures = [str(time), digits, str(slower(time, best.number("time")))]
    words = "best" if result is best else "tie" if ties(result, best) else ""
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
