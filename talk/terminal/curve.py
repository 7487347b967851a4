"""A sweep over one parameter as curves, with the figures below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.outcome import NEAR, near_best
from talk.rows import CACHED, OVERHEAD, Shown
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.palette import style_of
from talk.terminal.plot import MARKS, Axis, Plot, Series, can_plot, linear, logarithmic
from talk.terminal.results import Result, ceiling, field_of

LEAST_POINTS = 5
"""Fewer are bars."""
WIDE = 8.0
"""Values whose ends lie further apart than this are spaced by their logarithm."""


def is_curve(found: Sequence[Result]) -> bool:
    """Whether one parameter was swept over enough points to draw a line through them."""
    points = {tuple(r.timing.at.items()) for r in found}
    return all(len(r.timing.at) == 1 for r in found) and len(points) >= LEAST_POINTS and can_plot()


def curve(found: Sequence[Result], shown: Shown, phase: str) -> RenderableType:
    field = field_of(found)
    drawn = [r for r in found if believed(r, field)]
    parts: list[RenderableType] = [Plot(*plotted(drawn, field, shown, phase))] if drawn else []
    names = legend(drawn, field, shown, phase)
    return Group(*parts, names, *plateaus(drawn, field), figures(found, field))


def believed(result: Result, field: str) -> bool:
    return result.number(field).value is not None and CACHED not in result.flags


def plotted(
    found: Sequence[Result], field: str, shown: Shown, phase: str
) -> tuple[list[Series], Axis, Axis]:
    unit = found[0].number(field).unit
    heights = [float(r.number(field)) for r in found]
    tops = (ceiling(r.timing, shown) for r in found) if field == "gbps" else ()
    top = {value for value in tops if value}
    x, y = across(found), linear(named(unit), [*heights, *top], partial(look.quantity, unit=unit))
    roofs = [Series(style="ceiling", points=((x.low, t), (x.high, t))) for t in top]
    lines = [
        Series(
            style=style_of(look.ink(name, phase)),
            points=tuple((at(r), float(r.number(field))) for r in of(name, found)),
            mark=mark,
        )
        for name, mark in marks(candidates(found), phase).items()
    ]
    return [*roofs, *lines], x, y


def named(unit: str) -> str:
    better = look.BETTER.get(unit, "")
    return f"{'time' if unit == 's' else unit}, {better}" if better else unit


def across(found: Sequence[Result]) -> Axis:
    """The swept parameter; evenly spaced where its values span less than an order."""
    values = sorted({at(r) for r in found})
    name = next(iter(found[0].timing.at))
    log = values[0] > 0 and values[-1] / values[0] > WIDE
    made = logarithmic if log else linear
    axis = made(clean(name), values, lambda value: f"{value:,.0f}")
    return Axis(
        name=axis.name,
        low=values[0],
        high=values[-1],
        ticks=tuple(values),
        words=axis.words,
        log=log,
    )


def at(result: Result) -> float:
    return float(next(iter(result.timing.at.values())))


def candidates(found: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(r.timing.candidate for r in found))


def marks(names: Sequence[str], phase: str) -> dict[str, str]:
    """A glyph for each candidate; a letter where two would have the same."""
    glyphs = [look.ink(name, phase).glyph for name in names]
    letters = [MARKS[i % len(MARKS)] for i in range(len(names))]
    return {
        name: glyph if glyphs.count(glyph) == 1 else letter
        for name, glyph, letter in zip(names, glyphs, letters, strict=True)
    }


def of(name: str, found: Sequence[Result]) -> list[Result]:
    return sorted((r for r in found if r.timing.candidate == name), key=at)


def legend(found: Sequence[Result], field: str, shown: Shown, phase: str) -> Text:
    """Who is which colour, and the ceiling's value."""
    text = Text()
    for name, mark in marks(candidates(found), phase).items():
        text.append_text(styled(f"{mark} {clean(name)}   ", style_of(look.ink(name, phase))))
    if field == "gbps":
        for mix in dict.fromkeys(r.timing.mix for r in found):
            top = next(ceiling(r.timing, shown) for r in found if r.timing.mix == mix)
            if top:
                words = f"measured ceiling, {clean(mix)} traffic: {look.quantity(top, 'GB/s')}"
                text.append_text(styled(f"─ {words}", "ceiling"))
    return text


def plateaus(found: Sequence[Result], field: str) -> Iterator[Text]:
    """Where a rise ends and a fall begins; nothing for one that has neither or dips between."""
    for name in candidates(found) if field == "gbps" else ():
        mine = of(name, found)
        points = [at(r) for r in mine]
        best = sorted(near_best([r.timing for r in mine]))
        between = [point for point in points if best[0] <= point <= best[-1]]
        where = bounded(best[0], best[-1], points)
        if where and len(between) == len(best) and mine[0].timing.clock == "device":
            near = f"within {100 * (1 - NEAR):.0f} % of its best {where}"
            yield styled(f"{clean(name)}: {near}", "quiet")


def bounded(low: float, high: float, points: Sequence[float]) -> str:
    """ "from 64 on", "up to 32", "from 4 to 32", "at 8 alone"; nothing for all of them."""
    if low == high:
        return f"at {low:,.0f} alone"
    first, last = low == points[0], high == points[-1]
    if first and last:
        return ""
    if first:
        return f"up to {high:,.0f}"
    return f"from {low:,.0f} on" if last else f"from {low:,.0f} to {high:,.0f}"


def figures(found: Sequence[Result], field: str) -> Grid:
    """A line a point, a column or two a candidate."""
    names = candidates(found)
    heads = [Head(clean(next(iter(found[0].timing.at))), figures=True)]
    for name in names:
        label = clean(name) if len(names) > 1 else ""
        heads += [Head(label, figures=True), Head("", figures=True)]
    points = sorted({at(r) for r in found})
    return Grid(heads, [list(cells(point, names, found, field)) for point in points])


def cells(
    point: float, names: Sequence[str], found: Sequence[Result], field: str
) -> Iterator[Text]:
    yield Text(f"{point:,.0f}")
    for name in names:
        here = next((r for r in of(name, found) if at(r) == point), None)
        yield from (Text("–"), Text("")) if here is None else pair(here, field)


def pair(result: Result, field: str) -> tuple[Text, Text]:
    """The figure, and beside it the share or why there is none."""
    number = result.number(field)
    if OVERHEAD in result.flags:
        return Text(str(result.number("time"))), styled(OVERHEAD, "quiet")
    if CACHED in result.flags:
        return styled(str(number), "quiet"), styled("cached?", "quiet")
    if result.timing.clock == "hot":
        return styled(str(number), "strong"), styled("hot", "quiet")
    share = result.number("share")
    aside = str(share) if field == "gbps" and share.value is not None else ""
    return styled(str(number), "strong"), Text(aside)


if __name__ == "__main__":
    from talk.terminal.made_up import SWEPT, look_at
    from talk.terminal.results import results

    look_at(curve(results(SWEPT), SWEPT, "rewrite"))
