"""A sweep of one parameter: one line a candidate, under the ceiling of its traffic mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from slides.charts import ceilings
from slides.drawing import Drawing
from slides.labels import Item, chosen, items, writer
from slides.plots.axes import FOOT, HEAD, Canvas, Label, decades, rounds, widest
from slides.plots.chart import (
    TOO_LARGE,
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
from talk.errors import TalkError
from talk.number import Number
from talk.reading import Reading
from talk.rows import CACHED, OVERHEAD, Shown, rate_field, rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGARITHMIC = 30.0
"""Values that differ by more are told apart on a logarithmic axis alone."""

CLOSE = 2.0
"""Sizes that differ by less stand side by side, evenly spaced."""

IN_KIB = "kib"
"""A parameter that is a working set in KiB."""


@dataclass(frozen=True)
class Point:
    """y: None where no rate is claimed. note: why, or what is doubted."""

    x: float
    y: float | None
    said: str
    note: str = ""


@dataclass(frozen=True)
class Series:
    """knee: where its rise ends, or its fall begins: (x, what to say)."""

    name: str
    mark: Mark
    points: tuple[Point, ...]
    knee: tuple[float, str] | None


@dataclass(frozen=True)
class Curve:
    """lines: ceilings, (value, what to say). along: (x, its label) of every size.

    even: sizes evenly spaced. unit: of y.
    """

    series: tuple[Series, ...]
    lines: tuple[tuple[float, str], ...]
    along: tuple[tuple[float, str], ...]
    axis: str
    even: bool
    log: bool
    unit: str


def chart(
    shown: Shown, reading: Reading, field: str, phase: str, only: tuple[str, ...], size: Size
) -> Chart:
    """Raises TalkError for a step that is no sweep of one parameter."""
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    field = field or rate_field(shown.outcome.timings)
    rows = [item for item in chosen(items(shown), field, only) if len(item.at) == 1]
    if not rows:
        hint = "draw a grid with heat(…), and rows without a parameter with bars(…)"
        raise TalkError(f"{address} sweeps no single parameter.", hint=hint)
    numbers = [item.number(field, address) for item in rows]
    lines = ceilings(shown, reading) if field == "gbps" else []
    knees = {c: knee(shown, c, rows, numbers) for c in dict.fromkeys(names(rows))}
    curve = curved(rows, numbers, lines, knees, phase)
    drawing = Drawing(
        draw=draw, data=curve, words=words(curve), width=size.width, height=size.height
    )
    return Chart(
        drawing=drawing,
        figures=figures(rows, numbers, lines, [k for k in knees.values() if k], curve, field),
        caption=caption(curve),
    )


def names(rows: Sequence[Item]) -> list[str]:
    return [item.candidate for item in rows]


def knee(
    shown: Shown, candidate: str, rows: Sequence[Item], numbers: Sequence[Number]
) -> Number | None:
    """Where a candidate's rise ends or its fall begins; None for a line that has neither."""
    swept = zip(rows, numbers, strict=True)
    sizes = [i.at[0] for i, n in swept if i.candidate == candidate and believed(n) is not None]
    ends = shown.outcome.plateaus.get(candidate)
    if len(sizes) < 3 or ends is None or numbers[0].unit not in KIND or each_counts(shown):
        return None
    low, high = min(sizes), max(sizes)
    field = "knee" if low < ends[0] < high and ends[1] > ends[0] else ""
    field = field or ("edge" if ends[0] <= low and ends[1] not in (low, high) else "")
    found = (row.fields.get(field) for row in rows_of(shown) if row.names == (candidate,))
    number = next((each for each in found if each), None)
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    return replace(number, ref=f"{address}[{candidate}].{field}") if number else None


def each_counts(shown: Shown) -> bool:
    """Whether the time of each item is what matters: bytes then say nothing of a knee."""
    return any(timing.items for timing in shown.outcome.timings)


def curved(
    rows: Sequence[Item],
    numbers: Sequence[Number],
    lines: Sequence[Number],
    knees: dict[str, Number | None],
    phase: str,
) -> Curve:
    sizes = sorted({item.at[0] for item in rows})
    even = sizes[0] <= 0 or sizes[-1] > TOO_LARGE or sizes[-1] / sizes[0] < CLOSE
    place = {size: float(n if even else size) for n, size in enumerate(sizes)}
    axis, write = written(rows[0].axis, set(sizes))
    inks = marks(list(dict.fromkeys(names(rows))), phase)
    series = tuple(
        Series(
            name=plain(name),
            mark=mark,
            points=tuple(
                Point(place[item.at[0]], believed(number), str(number), note(number))
                for item, number in sorted(
                    zip(rows, numbers, strict=True), key=lambda pair: pair[0].at
                )
                if item.candidate == name
            ),
            knee=kneed(knees.get(name), place, write),
        )
        for name, mark in inks.items()
    )
    return Curve(
        series=series,
        lines=lined(lines),
        along=tuple((place[size], write(size)) for size in sizes),
        axis=axis,
        even=even,
        log=logarithmic(numbers),
        unit=numbers[0].unit,
    )


Write = Callable[[int], str]


def written(axis: str, sizes: set[int]) -> tuple[str, Write]:
    """The name of an axis, and how its values are written."""
    if axis == IN_KIB:
        return "working set", lambda kib: brief(kib * 1024, "capacity")
    return plain(axis.replace("_", " ")), writer(sizes)


def kneed(number: Number | None, place: dict[int, float], write: Write) -> tuple[float, str] | None:
    if number is None or number.value is None or int(number.value) not in place:
        return None
    words = "knee at" if number.ref.endswith(".knee") else "flat up to"
    return place[int(number.value)], f"{words} {write(int(number.value))}"


def believed(number: Number) -> float | None:
    return None if CACHED in number.flags else drawable(number)


def note(number: Number) -> str:
    return next((flag for flag in (CACHED, OVERHEAD) if flag in number.flags), "")


def logarithmic(numbers: Sequence[Number]) -> bool:
    values = [value for value in map(believed, numbers) if value is not None]
    return bool(values) and max(values) / min(values) > LOGARITHMIC


def caption(curve: Curve) -> str:
    return better(curve.unit) or "the rate of each size"


def words(curve: Curve) -> str:
    said = dict(curve.along)
    rows = [
        f"{series.name}: " + ", ".join(f"{said[p.x]}: {p.note or p.said}" for p in series.points)
        for series in curve.series
    ]
    knees = [f"{s.name}: {s.knee[1]}" for s in curve.series if s.knee]
    lines = [line for _, line in curve.lines]
    how = "logarithmic" if curve.log else "from zero"
    return "; ".join([f"by {curve.axis}, {how}", *rows, *knees, *lines, caption(curve)])


def figures(
    rows: Sequence[Item],
    numbers: Sequence[Number],
    lines: Sequence[Number],
    knees: Sequence[Number],
    curve: Curve,
    field: str,
) -> Figures:
    _, write = written(rows[0].axis, {item.at[0] for item in rows})
    body: list[tuple[str | Number, ...]] = [
        (item.candidate, write(item.at[0]), number)
        for item, number in zip(rows, numbers, strict=True)
    ]
    body += [("ceiling", "", number) for number in lines]
    body += [
        (k.ref.partition("[")[2].partition("]")[0], k.ref.rpartition(".")[2], k) for k in knees
    ]
    return Figures(("candidate", curve.axis, field), tuple(body))


# How it is drawn


def draw(figure: Figure, curve: Curve) -> None:
    ticks, low, high = scale(curve)
    said = [brief(tick, curve.unit) for tick in ticks]
    ends = [s.name for s in curve.series]
    right = widest(ends) + 28
    canvas = Canvas(figure, left=widest(said) + 12, right=right, top=HEAD, bottom=FOOT)
    axes = canvas.axes
    axes.set_yscale("log" if curve.log else "linear")
    axes.set_ylim(low, high)
    across(canvas, curve)
    canvas.upwards(ticks, said)
    for line, _ in curve.lines:
        _, up = canvas.pixel(axes.get_xlim()[0], line)
        canvas.room.line(canvas.left, up, canvas.right, up)
    for series in curve.series:
        trace(canvas, series)
    doubts(canvas, curve)
    for series in curve.series:
        end(canvas, series)
        bend(canvas, series)
    for line, text in curve.lines:
        canvas.across(line, text)
    for series in curve.series:
        values(canvas, series)


def scale(curve: Curve) -> tuple[list[float], float, float]:
    """Ticks, and the ends of the axis: from zero, or about its values."""
    points = [p.y for s in curve.series for p in s.points if p.y is not None]
    values = [*points, *(line for line, _ in curve.lines)]
    top = max(values, default=1.0)
    if curve.log:
        low = min(value for value in values if value > 0) / 1.8
        return decades(low, top * 1.4), low, top * 1.4
    return rounds(top * 1.08), 0.0, top * 1.08


def across(canvas: Canvas, curve: Curve) -> None:
    axes = canvas.axes
    if curve.even:
        axes.set_xlim(-0.5, len(curve.along) - 0.5)
    else:
        low, high = curve.along[0][0], curve.along[-1][0]
        room = (high / low) ** 0.04
        axes.set_xscale("log")
        axes.set_xlim(low / room, high * room)
    name = curve.axis if curve.even else f"{curve.axis}, logarithmic"
    canvas.along([x for x, _ in curve.along], [text for _, text in curve.along], name)
    how = "logarithmic" if curve.log else "from zero"
    canvas.head(", ".join(word for word in (KIND.get(curve.unit, ""), how) if word))


KIND = {"GB/s": "bandwidth", "TFLOP/s": "arithmetic", "s": "time"}


def trace(canvas: Canvas, series: Series) -> None:
    """The line and its points."""
    known = [canvas.pixel(p.x, p.y) for p in series.points if p.y is not None]
    canvas.stroke(known, ink=series.mark.ink, linewidth=4, zorder=3)
    for (x, y), (to_x, to_y) in pairwise(known):
        canvas.room.line(x, y, to_x, to_y)
    for x, y in known:
        canvas.mark(x, y, series.mark)


def doubts(canvas: Canvas, curve: Curve) -> None:
    """What claims no rate lies hollow at the bottom, what none can believe at the top."""
    places: dict[str, tuple[float, float]] = {}
    for level, series in enumerate(curve.series):
        for point in series.points:
            if point.y is None:
                x, _ = canvas.pixel(point.x, canvas.axes.get_ylim()[0])
                high = point.note == CACHED
                up = canvas.top - 10 if high else canvas.bottom + 18 + 24 * level
                canvas.mark(x, up, series.mark, hollow=True)
                word = point.note or "not measured"
                places[word] = max(places.get(word, (0.0, 0.0)), (x, up))
    for word, place in places.items():
        canvas.label(Label(*place, word, ink="soft"))


def end(canvas: Canvas, series: Series) -> None:
    """The candidate's name at the end of its line."""
    known = [canvas.pixel(p.x, p.y) for p in series.points if p.y is not None]
    if not known:
        return
    canvas.label(Label(*known[-1], series.name, ink=series.mark.ink, bold=True))


def values(canvas: Canvas, series: Series) -> None:
    """The figures of the first, the best and the last point."""
    known = [point for point in series.points if point.y is not None]
    if not known:
        return
    best = max(known, key=lambda point: point.y or 0.0)
    canvas.label(
        *(
            Label(*canvas.pixel(point.x, point.y or 0.0), point.said, sides=VALUE_SIDES)
            for point in dict.fromkeys((best, known[0], known[-1]))
        )
    )


VALUE_SIDES = ((0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0))


def bend(canvas: Canvas, series: Series) -> None:
    """A thin line down from the knee, and what it says."""
    if series.knee is None:
        return
    x, text = series.knee
    point = next((p for p in series.points if p.x == x and p.y is not None), None)
    if point is None or point.y is None:
        return
    across, up = canvas.pixel(x, point.y)
    canvas.stroke(
        [(across, up), (across, canvas.bottom)],
        ink=series.mark.ink,
        linewidth=2,
        dashes=(1, 2),
        zorder=2,
    )
    canvas.room.line(across, up - 12, across, canvas.bottom)
    at = canvas.bottom + 22 if up - canvas.bottom > 90 else up
    canvas.label(Label(across, at, text, series.mark.ink, bold=True, sides=BEND_SIDES))


BEND_SIDES = ((-1, 0), (1, 0), (0, 1))
