"""The roofline: what a kernel could reach by its intensity, and what it does. Point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slides.drawing import FRAGMENT, INKS, Drawing
from slides.plots.axes import FOOT, HEAD, Canvas, Label, decades, widest
from slides.plots.chart import (
    MARKERS,
    TOO_LARGE,
    Chart,
    Figures,
    Mark,
    Size,
    brief,
    drawable,
    plain,
)
from slides.plots.place import LINE
from talk import collect, look
from talk.number import Number
from talk.reading import REFERENCE, Reading
from talk.record import StepOutline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Point:
    """intensity: FLOP/B. tflops: None where the launch decides, and no rate is claimed.

    start: the point before it of the same work, which it was reached from. fragment: with which
    it appears.
    """

    name: str
    said: str
    intensity: float
    tflops: float | None
    mark: Mark
    start: int | None
    fragment: int


@dataclass(frozen=True)
class Picture:
    """slope: GB/s, and what to say of it. roofs: TFLOP/s and what to say, the highest first."""

    slope: tuple[float, str]
    roofs: tuple[tuple[float, str], ...]
    points: tuple[Point, ...]


def chart(step: StepOutline, reading: Reading, size: Size, at: int) -> Chart | None:
    """None where the machine's ceilings are not known. at: the fragment of the first point."""
    found = collect.roofline(step.of, reading)
    if found is None or not drawable(found.slope):
        return None
    order = {ref: place for place, ref in enumerate(step.of)}
    every = sorted((*found.points, *found.launch_bound), key=lambda p: order[p.row.ref])
    every = [p for p in every if drawable(p.row["intensity"]) and 0 < p.tflops < TOO_LARGE]
    picture = Picture(
        slope=(float(found.slope), f"memory {found.slope}"),
        roofs=tuple(
            (float(roof.tflops), f"{roof.arithmetic} {roof.tflops}")
            for roof in sorted(found.roofs, key=lambda roof: -float(roof.tflops))
            if drawable(roof.tflops)
        ),
        points=placed(every, at),
    )
    drawing = Drawing(
        draw=draw, data=picture, words=words(picture), width=size.width, height=size.height
    )
    return Chart(
        drawing=drawing,
        figures=figures(found, every, at),
        caption="higher is faster",
        missing=tuple(ref for ref, _ in found.unplaced),
    )


def placed(every: Sequence[collect.Point], at: int) -> tuple[Point, ...]:
    names = called(every)
    points: list[Point] = []
    for n, point in enumerate(every):
        bound = point.row.launch_bound
        tflops = None if bound else point.tflops
        points.append(
            Point(
                name=names[n],
                said="launch-bound" if bound else look.quantity(point.share, "share"),
                intensity=point.intensity,
                tflops=tflops,
                mark=marked(point),
                start=None,
                fragment=at + n,
            )
        )
        points[-1] = replace(points[-1], start=origin(points))
    return tuple(points)


def marked(point: collect.Point) -> Mark:
    naive = "naive" in keys(point.row.ref)
    phase = "naive" if naive else point.row.phase
    torch = any(key.startswith("torch") for key in keys(point.row.ref))
    if torch:
        return Mark("torch", "o", filled=False)
    phase = phase if phase in MARKERS else "rewrite"
    return Mark(phase, MARKERS[phase])


def keys(ref: str) -> list[str]:
    """ "8/final[softmax, triton]" → ["softmax", "triton"]."""
    match = REFERENCE.fullmatch(f"{ref}.time")
    return [key.strip() for key in ((match["keys"] if match else "") or "").split(",")]


def called(every: Sequence[collect.Point]) -> list[str]:
    """A case by its name; what it started from by the candidate; one of many by its step."""
    cases = [keys(p.row.ref)[0] if len(keys(p.row.ref)) > 1 else "" for p in every]
    last = [keys(p.row.ref)[-1] for p in every]
    names: list[str] = []
    for n, point in enumerate(every):
        if cases[n]:
            again = cases[n] in cases[n + 1 :]
            name = f"{cases[n]}, {last[n]}" if again else cases[n]
        else:
            slug = point.row.ref.split("/")[1].split("[")[0]
            name = slug if last.count(last[n]) > 1 or not last[n] else last[n]
        names.append(plain(name))
    return names


def origin(points: Sequence[Point]) -> int | None:
    """The point before the last one, where both do the same work and the last is faster."""
    if len(points) < 2:
        return None
    now, before = points[-1], points[-2]
    rated = now.tflops is not None and before.tflops is not None
    if not rated or abs(now.intensity / before.intensity - 1) > 0.01:
        return None
    return len(points) - 2 if now.tflops > 1.2 * before.tflops else None  # type: ignore[operator]


def words(picture: Picture) -> str:
    roofs = [f"slope: {picture.slope[1]}", *(f"roof {said}" for _, said in picture.roofs)]
    points = [
        f"{p.name}: {look.quantity(p.intensity, 'FLOP/B')}, "
        + (p.said if p.tflops is None else f"{look.quantity(p.tflops, 'TFLOP/s')}, {p.said}")
        for p in picture.points
    ]
    return "; ".join(("roofline, both axes logarithmic", *roofs, *points))


def figures(found: collect.Roofline, every: Sequence[collect.Point], at: int) -> Figures:
    rows: list[tuple[str | Number, ...]] = [("memory", "", found.slope, "", "")]
    rows += [(f"roof {roof.arithmetic}", "", roof.tflops, "", "") for roof in found.roofs]
    fragments: list[int | None] = [None] * len(rows)
    for n, point in enumerate(every):
        bound = point.row.launch_bound
        share = "launch-bound" if bound else look.quantity(point.share, "share")
        rate = point.row["time"] if bound else point.row["tflops"]
        rows.append((called(every)[n], point.row["intensity"], rate, share, f"wall: {point.wall}"))
        fragments.append(at + n)
    head = ("kernel", "intensity", "rate", "of its roof", "decided by")
    return Figures(head, tuple(rows), tuple(fragments))


# How it is drawn


def draw(figure: Figure, picture: Picture) -> None:
    slope = picture.slope[0] / 1e3  # TFLOP/s for each FLOP/B
    canvas = framed(figure, picture, slope)
    low, high = canvas.axes.get_xlim()
    roofs(canvas, picture, slope, low, high)
    at = [spot(canvas, point) for point in picture.points]
    for point, place in zip(picture.points, at, strict=True):
        gid = FRAGMENT.format(point.fragment)
        canvas.mark(*place, point.mark, hollow=point.tflops is None, gid=gid)
    for point, place in zip(picture.points, at, strict=True):
        if point.start is not None:
            arrow(canvas, at[point.start], place, point)
    canvas.label(
        *(
            Label(*place, told(point), point.mark.ink, True, FRAGMENT.format(point.fragment))
            for point, place in zip(picture.points, at, strict=True)
        )
    )


def told(point: Point) -> str:
    return f"{point.name}: {point.said}" if point.tflops is None else point.name


def framed(figure: Figure, picture: Picture, slope: float) -> Canvas:
    flat = [roof for roof, _ in picture.roofs]
    rates = [p.tflops for p in picture.points if p.tflops is not None]
    at = [p.intensity for p in picture.points]
    ridges = [roof / slope for roof in flat]
    left, right = min([*at, 0.1]) / 2, max([*at, *ridges, 10.0]) * 3
    top = max([*flat, *rates, left * slope * 10]) * 2.2
    bound = any(p.tflops is None for p in picture.points)
    bottom = min([*rates, left * slope]) / (12 if bound else 3)
    ticks = decades(bottom, top)
    said = [brief(tick, "TFLOP/s").removesuffix(" TFLOP/s") for tick in ticks]
    canvas = Canvas(figure, left=widest(said) + 12, right=8, top=HEAD, bottom=FOOT)
    axes = canvas.axes
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    along = decades(left, right)
    canvas.along(along, [brief(x, "") for x in along], "FLOP/B, logarithmic")
    canvas.upwards(ticks, said)
    canvas.head("TFLOP/s, logarithmic")
    return canvas


def roofs(canvas: Canvas, picture: Picture, slope: float, low: float, high: float) -> None:
    """The slope up to the highest roof, and each flat roof from its ridge on."""
    flat = [roof for roof, _ in picture.roofs]
    ridge = max(flat, default=high * slope) / slope
    ridge = min(ridge, high)
    line(canvas, (low, low * slope), (ridge, ridge * slope))
    for roof in flat:
        line(canvas, (roof / slope, roof), (high, roof))
    above = 0.0
    for up, said in told_together(canvas, picture, high):
        fits = not above or above - up > 2 * LINE
        canvas.say(
            canvas.right, up + 4 if fits else up - LINE - 4, said, ink="ceiling", align="right"
        )
        above = up
    x = low * (ridge / low) ** 0.7
    spot = canvas.pixel(x, x * slope)
    canvas.label(Label(*spot, picture.slope[1], "ceiling", sides=((-1, 1),)))


def told_together(canvas: Canvas, picture: Picture, high: float) -> list[tuple[float, str]]:
    """(pixel, words) of each roof; roofs that lie on one another share their words."""
    found: list[tuple[float, str]] = []
    for roof, said in picture.roofs:
        _, up = canvas.pixel(high, roof)
        if found and found[-1][0] - up < LINE:
            found[-1] = (found[-1][0], f"{found[-1][1]}, {said}")
        else:
            found.append((up, said))
    return found


def line(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    first, last = canvas.pixel(*start), canvas.pixel(*end)
    canvas.stroke([first, last], ink="ceiling", linewidth=4, zorder=2)
    canvas.room.line(*first, *last)


def spot(canvas: Canvas, point: Point) -> tuple[float, float]:
    """Its place; on the floor where no rate is claimed."""
    if point.tflops is None:
        x, _ = canvas.pixel(point.intensity, 1.0)
        return x, canvas.bottom + 18
    return canvas.pixel(point.intensity, point.tflops)


def arrow(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], point: Point
) -> None:
    """From where a kernel started to where it came; appears with where it came."""
    from matplotlib.patches import FancyArrowPatch

    scale = (canvas.width, canvas.height)
    ends = [(x / scale[0], y / scale[1]) for x, y in (start, end)]
    patch = FancyArrowPatch(
        ends[0],
        ends[1],
        transform=canvas.figure.transFigure,
        arrowstyle="-|>",
        mutation_scale=22,
        shrinkA=12,
        shrinkB=12,
        linewidth=3,
        color=INKS[point.mark.ink],
        gid=FRAGMENT.format(point.fragment),
        zorder=4,
    )
    canvas.figure.add_artist(patch)
    canvas.room.line(*start, *end)
