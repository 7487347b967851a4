"""What was measured: bars against the ceiling, with spread, flags and ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.number import tie
from talk.outcome import Timing
from talk.rows import CACHED, OVERHEAD, Shown
from talk.terminal.benchmark import benchmark, is_benchmark
from talk.terminal.chart import Bar, Chart
from talk.terminal.clean import clean, styled
from talk.terminal.curve import curve, is_curve
from talk.terminal.grid import Grid, Head
from talk.terminal.palette import style_of
from talk.terminal.results import Result, ceiling, field_of, results, swept
from talk.terminal.tiles import grids, is_grid
from talk.terminal.tuned import is_tuned, tuned


def measurement(shown: Shown, phase: str) -> RenderableType:
    """Every timing of an outcome: a curve, a grid or a table of many points, else bars."""
    found = results(shown)
    if is_benchmark(found):
        return benchmark(found)
    if is_grid(found):
        return grids(found, phase)
    if is_tuned(found):
        return tuned(found, shown.outcome.checks)
    if is_curve(found):
        return curve(found, shown, phase)
    field, sweep = field_of(found), swept(found)
    charts = [
        part for group in grouped(found) for part in charted(group, field, shown, phase, sweep)
    ]
    if any(OVERHEAD in result.flags for result in found):
        charts.append(styled(f"{OVERHEAD}: too short to time, the launch dominates", "quiet"))
    return Group(*charts)


def fine_print(shown: Shown) -> RenderableType:
    """Ties, and how far the samples lie apart."""
    found = results(shown)
    if is_benchmark(found) or is_tuned(found):
        return styled(common(found), "quiet")
    ties = best_ties(found, field_of(found)) if swept(found) else pair_ties(found, field_of(found))
    tied = [styled(f"= {words}: their p20–p80 overlap", "strong") for words in ties]
    if swept(found):
        return Group(*tied, styled(common(found), "quiet"))
    heads = [Head(""), Head("median", figures=True), Head("")]
    rows = [
        [styled(r.name), Text(str(r.number("time"))), styled(detail(r), "quiet")] for r in found
    ]
    return Group(*tied, Grid(heads, rows))


def grouped(found: Sequence[Result]) -> list[list[Result]]:
    """By candidate where there are several points, else all together."""
    if not swept(found):
        return [list(found)]
    names = dict.fromkeys(result.timing.candidate for result in found)
    return [[r for r in found if r.timing.candidate == name] for name in names]


def charted(
    group: list[Result], field: str, shown: Shown, phase: str, sweep: bool
) -> Iterator[RenderableType]:
    if sweep:
        yield styled(
            clean(group[0].timing.candidate), style_of(look.ink(group[0].timing.candidate, phase))
        )
    bars = [bar(result, field, shown, phase, sweep) for result in group]
    yield Chart(bars, legend(group, field, shown))


def bar(result: Result, field: str, shown: Shown, phase: str, sweep: bool) -> Bar:
    timing, number = result.timing, result.number(field)
    beyond = CACHED in result.flags
    share = result.number("share") if field == "gbps" and not beyond else None
    return Bar(
        label=result.point if sweep else clean(timing.candidate),
        style=style_of(look.ink(timing.candidate, phase)),
        value=number.value,
        figure=str(number) if number.value is not None else nothing(result),
        aside=str(share) if share and share.value is not None else "",
        ceiling=ceiling(timing, shown) if field == "gbps" else None,
        beyond=beyond,
        detail=flagged(result),
    )


def nothing(result: Result) -> str:
    """Why there is no rate."""
    said = OVERHEAD if OVERHEAD in result.flags else "not measured"
    return f"{said}, {result.number('time')}"


def detail(result: Result) -> str:
    """The spread, the samples and the clock in words."""
    timing = result.timing
    clock = "" if timing.clock == "device" else f"{clean(timing.clock)} clock"
    compile = result.number("compile")
    compiled = f"compiled in {compile}" if compile.value is not None else ""
    parts = (spread(timing), f"n {timing.n}", clock, compiled)
    return " · ".join(part for part in parts if part)


def spread(timing: Timing) -> str:
    """p20 to p80; their distance where they print alike."""
    low, high = (look.quantity(ms / 1e3, "s") for ms in (timing.p20_ms, timing.p80_ms))
    if low == high:
        return f"p20–p80 within {look.quantity(relative(timing), 'share')}"
    return f"p20–p80 {low} – {high}"


def flagged(result: Result) -> str:
    return ", ".join(clean(flag) for flag in result.flags if flag != OVERHEAD)


def legend(group: Sequence[Result], field: str, shown: Shown) -> str:
    """What better is, and the ceiling's own value."""
    better = look.BETTER.get(group[0].number(field).unit, "")
    if field != "gbps":
        return better
    tops = {r.timing.mix: ceiling(r.timing, shown) for r in group}
    ceilings = [
        f"{look.CEILING.glyph} measured ceiling, {clean(mix)} traffic: {look.quantity(top, 'GB/s')}"
        for mix, top in tops.items()
        if top is not None
    ]
    return "   ".join([better, *(ceilings or ["no ceiling measured"])])


def pair_ties(found: Sequence[Result], field: str) -> list[str]:
    """Every two that cannot be told apart."""
    return [
        f"{a.name} and {b.name} are a tie"
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if tie(a.number(field), b.number(field))
    ]


def best_ties(found: Sequence[Result], field: str) -> list[str]:
    """The points that cannot be told from the best."""
    valued = [r for r in found if r.number(field).value is not None and CACHED not in r.flags]
    if not valued:
        return []
    choose = min if field in ("time", "each") else max
    best = choose(valued, key=lambda r: float(r.number(field)))
    tied = [r.name for r in valued if r is not best and tie(r.number(field), best.number(field))]
    return [f"{best.name} is best, a tie with {', '.join(tied)}"] if tied else []


def common(found: Sequence[Result]) -> str:
    """Samples and the widest spread of a sweep's rates, in one line."""
    rated = [r.timing for r in found if OVERHEAD not in r.flags] or [r.timing for r in found]
    least, most = min(t.n for t in rated), max(t.n for t in rated)
    samples = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    widest = max(relative(timing) for timing in rated)
    return f"medians of n {samples}; p20–p80 at most {look.quantity(widest, 'share')} of the median"


def relative(timing: Timing) -> float:
    return (timing.p80_ms - timing.p20_ms) / timing.median_ms if timing.median_ms else 0.0


if __name__ == "__main__":
    from talk.terminal.made_up import look_at, shown

    look_at(measurement(shown(), "rewrite"), fine_print(shown()))
