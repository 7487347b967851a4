"""Occupancy against rate: a point a configuration, and the pair that contradicts the rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slides.charts import ceilings
from slides.drawing import Drawing
from slides.labels import Item, chosen, items, writer
from slides.plots.axes import FOOT, HEAD, Canvas, Label, rounds, widest
from slides.plots.chart import (
    Chart,
    Figures,
    Mark,
    Size,
    better,
    brief,
    drawable,
    lined,
    marks,
    plain,
)
from talk.number import Number
from talk.reading import Reading
from talk.rows import CACHED, Shown, rate_field

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APART = 1.1
"""A rate ten percent above another, at less occupancy, contradicts; less may be chance."""


@dataclass(frozen=True)
class Point:
    """occupancy: of 1. counter: it is of the pair that contradicts."""

    name: str
    occupancy: float
    rate: float
    said: str
    mark: Mark
    counter: bool


@dataclass(frozen=True)
class Scatter:
    points: tuple[Point, ...]
    lines: tuple[tuple[float, str], ...]
    axis: str
    unit: str
    counter: str


def chart(shown: Shown, reading: Reading, phase: str, size: Size) -> Chart | None:
    """None where no kernel's occupancy is known, as of a GPU that we know too little of."""
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    field = rate_field(shown.outcome.timings) if shown.outcome.timings else "gbps"
    rows = chosen(items(shown), field, ())
    rows = [item for item in rows if "occupancy" in item.row.fields and item.at]
    rates = [item.number(field, address) for item in rows]
    shares = [item.number("occupancy", address) for item in rows]
    if not any(share.value is not None for share in shares):
        return None
    lines = ceilings(shown, reading) if field == "gbps" else []
    made = scatter(rows, shares, rates, lines, phase)
    drawing = Drawing(draw=draw, data=made, words=words(made), width=size.width, height=size.height)
    return Chart(
        drawing=drawing,
        figures=figures(rows, shares, rates, lines, address, field),
        caption=better(made.unit) or "the rate of each configuration",
    )


def scatter(
    rows: Sequence[Item],
    shares: Sequence[Number],
    rates: Sequence[Number],
    lines: Sequence[Number],
    phase: str,
) -> Scatter:
    inks = marks(list(dict.fromkeys(item.candidate for item in rows)), phase)
    write = writer({value for item in rows for value in item.at})
    known = [
        (item, float(share), float(rate), str(rate))
        for item, share, rate in zip(rows, shares, rates, strict=True)
        if share.value is not None and drawable(rate) and CACHED not in rate.flags
    ]
    pair = contradiction([(share, rate) for _, share, rate, _ in known])
    points = tuple(
        Point(
            name=" × ".join(map(write, item.at)),
            occupancy=share,
            rate=rate,
            said=said,
            mark=inks[item.candidate],
            counter=n in pair,
        )
        for n, (item, share, rate, said) in enumerate(known)
    )
    return Scatter(
        points=points,
        lines=lined(lines),
        axis=plain(rows[0].axis.replace("num_", "").replace("_", " ").replace(", ", " × "), 40),
        unit=rates[0].unit,
        counter=" against ".join(f"{points[n].name}: {points[n].said}" for n in pair),
    )


def contradiction(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """The two of which the less occupied is the most times faster; none where that is chance."""
    pairs = [
        (a[1] / b[1], n, m)
        for n, a in enumerate(points)
        for m, b in enumerate(points)
        if a[0] < b[0] and b[1] > 0 and a[1] > APART * b[1]
    ]
    return max(pairs)[1:] if pairs else ()


def words(made: Scatter) -> str:
    rows = [f"{p.name}: {brief(p.occupancy, 'share')} occupied, {p.said}" for p in made.points]
    lines = [line for _, line in made.lines]
    against = [f"less occupied and faster: {made.counter}"] if made.counter else []
    return "; ".join([made.axis, *rows, *lines, *against])


def figures(
    rows: Sequence[Item],
    shares: Sequence[Number],
    rates: Sequence[Number],
    lines: Sequence[Number],
    address: str,
    field: str,
) -> Figures:
    beside = ("registers", "shared")
    body: list[tuple[str | Number, ...]] = [
        (
            " × ".join(f"{value:,}" for value in item.at),
            share,
            rate,
            # The passport of the rate names them, as the configuration that ran.
            *(str(item.number(name, address)) for name in beside),
        )
        for item, share, rate in zip(rows, shares, rates, strict=True)
    ]
    body += [("ceiling", "", number, "", "") for number in lines]
    axis = rows[0].axis.replace(", ", " × ")
    return Figures((axis, "occupancy", field, *beside), tuple(body))


def draw(figure: Figure, made: Scatter) -> None:
    top = max([p.rate for p in made.points] + [line for line, _ in made.lines], default=1.0) * 1.12
    ticks = rounds(top)
    said = [brief(tick, made.unit) for tick in ticks]
    right = widest([p.name for p in made.points]) + 24
    canvas = Canvas(figure, left=widest(said) + 12, right=right, top=HEAD, bottom=FOOT)
    canvas.axes.set_ylim(0, top)
    canvas.axes.set_xlim(0, 1.03)
    shares = [0, 0.25, 0.5, 0.75, 1]
    canvas.along(shares, [brief(share, "share") for share in shares], "occupancy, from zero")
    canvas.upwards(ticks, said)
    canvas.head(f"{made.axis}: rate, from zero")
    for line, _ in made.lines:
        _, up = canvas.pixel(0, line)
        canvas.room.line(canvas.left, up, canvas.right, up)
    pair = [canvas.pixel(p.occupancy, p.rate) for p in made.points if p.counter]
    if pair:
        canvas.stroke(pair, ink="naive", linewidth=3, dashes=(1, 2), zorder=2)
        canvas.room.line(*pair[0], *pair[1])
    placed = [canvas.pixel(p.occupancy, p.rate) for p in made.points]
    for point, at in zip(made.points, placed, strict=True):
        canvas.mark(*at, point.mark, size=20 if point.counter else 14)
    canvas.label(*labels(made, placed))
    for line, text in made.lines:
        canvas.across(line, text)


TOGETHER = 26.0
"""Points nearer than so many pixels share their words, a line each."""


def labels(made: Scatter, placed: Sequence[tuple[float, float]]) -> list[Label]:
    """The pair that contradicts with its rates, then the others by name."""
    every = list(zip(made.points, placed, strict=True))
    found = [
        Label(*at, f"{point.name}: {point.said}", "naive", bold=True)
        for point, at in every
        if point.counter
    ]
    groups: list[tuple[tuple[float, float], list[str]]] = []
    for point, at in sorted(every, key=lambda pair: -pair[0].rate):
        near = next((names for spot, names in groups if math.dist(spot, at) < TOGETHER), None)
        if point.counter:
            continue
        if near is None:
            groups.append((at, [point.name]))
        else:
            near.append(point.name)
    return found + [Label(*at, "\n".join(names)) for at, names in groups]
