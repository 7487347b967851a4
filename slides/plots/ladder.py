"""The memory hierarchy with this machine's own figures: how far each level is, and how wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slides.drawing import Drawing
from slides.plots.axes import Canvas, widest
from slides.plots.chart import Chart, Figures, Mark, Size, brief, drawable
from slides.plots.place import LINE
from talk import collect
from talk.number import Number
from talk.reading import REFERENCE, Reading
from talk.record import Device, StepOutline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Rung:
    """One level. size: of the working set measured. latency, rate: (value, words), if known."""

    name: str
    size: str
    latency: tuple[float, str] | None
    rate: tuple[float, str] | None


@dataclass(frozen=True)
class Ladder:
    rungs: tuple[Rung, ...]
    ink: str


@dataclass
class Found:
    """What is known of a level so far."""

    sizes: list[int]
    latency: Number | None = None
    rate: Number | None = None

    @property
    def size(self) -> str:
        """Of the working sets that were measured."""
        return ", ".join(brief(kib * 1024, "capacity") for kib in dict.fromkeys(self.sizes))


def chart(step: StepOutline, reading: Reading, size: Size) -> Chart | None:
    """None where nothing was measured of any level."""
    machine = reading.machine()
    gathered = collect.rows(step.of, reading)
    levels = found(gathered.known, reading, machine.device if machine else None)
    if not levels:
        return None
    made = Ladder(
        tuple(
            Rung(
                name=name,
                size=level.size,
                latency=told(level.latency),
                rate=told(level.rate),
            )
            for name, level in levels.items()
        ),
        step.phase,
    )
    drawing = Drawing(draw=draw, data=made, words=words(made), width=size.width, height=size.height)
    return Chart(
        drawing=drawing,
        figures=Figures(
            ("level", "working set", "a load", "bandwidth"),
            tuple(
                (
                    name,
                    level.size,
                    level.latency or "not measured",
                    level.rate or "not measured",
                )
                for name, level in levels.items()
            ),
        ),
        caption="a load: lower is faster; bandwidth: higher is faster; both from zero",
        missing=tuple(ref for ref, _ in gathered.missing),
    )


def found(rows: Sequence[collect.Row], reading: Reading, device: Device | None) -> dict[str, Found]:
    """Level → what was measured of it, the nearest first."""
    levels: dict[str, Found] = {}
    for row in sorted(rows, key=lambda row: working_set(row, reading)):
        kib = working_set(row, reading)
        level = levels.setdefault(level_of(kib, device), Found([]))
        level.sizes.append(kib)
        if row["each"].value is not None:
            level.latency = level.latency or row["each"]
        else:
            level.rate = level.rate or row["gbps"]
    return levels


def working_set(row: collect.Row, reading: Reading) -> int:
    """KiB that a row was measured over; 0 where it does not say."""
    match = REFERENCE.fullmatch(f"{row.ref}.time")
    shown = reading.figures(int(match["section"]), match["step"]) if match else None
    keys = {key.strip() for key in ((match["keys"] if match else "") or "").split(",")}
    for timing in shown.outcome.timings if shown else ():
        names = {timing.case, timing.candidate, *(str(value) for value in timing.at.values())}
        if keys <= names:
            return timing.at.get("kib", 0)
    return 0


def level_of(kib: int, device: Device | None) -> str:
    """The nearest level that holds so much."""
    size = kib * 1024
    if device and device.shared_per_sm and size <= device.shared_per_sm:
        return "L1 cache"
    if device and device.l2_bytes and size <= device.l2_bytes:
        return "L2 cache"
    known = device and device.shared_per_sm and device.l2_bytes
    return "memory" if known else f"within {brief(size, 'capacity')}"


def told(number: Number | None) -> tuple[float, str] | None:
    value = drawable(number)
    return (value, str(number)) if value is not None else None


def words(made: Ladder) -> str:
    return "; ".join(
        f"{rung.name}, {rung.size}: a load {rung.latency[1] if rung.latency else 'not measured'}, "
        f"bandwidth {rung.rate[1] if rung.rate else 'not measured'}"
        for rung in made.rungs
    )


HEAD = 40.0
GAP = 130.0
"""Between the two pictures: room for the words at the end of a bar."""


def draw(figure: Figure, made: Ladder) -> None:
    left = widest([line for rung in made.rungs for line in (rung.name, rung.size)]) + 18
    canvas = Canvas(figure, left=left, right=GAP, top=HEAD, bottom=4)
    canvas.axes.set_axis_off()
    half = (canvas.right - canvas.left - GAP) / 2
    tall = (canvas.top - canvas.bottom) / len(made.rungs)
    starts = (canvas.left, canvas.left + half + GAP)
    for start, head in zip(starts, ("one load takes", "all together bring"), strict=True):
        canvas.say(start, canvas.height - 32, head, ink="soft")
    most = [
        max((value[0] for value in column if value), default=1.0)
        for column in zip(*((rung.latency, rung.rate) for rung in made.rungs), strict=True)
    ]
    for n, rung in enumerate(made.rungs):
        middle = canvas.top - (n + 0.5) * tall
        canvas.say(canvas.left - 14, middle, rung.name, bold=True, align="right")
        canvas.say(canvas.left - 14, middle - LINE, rung.size, ink="soft", align="right")
        for start, value, top in zip(starts, (rung.latency, rung.rate), most, strict=True):
            step(canvas, start, middle, value, half * (value[0] / top if value else 0), tall, made)


def step(
    canvas: Canvas,
    start: float,
    middle: float,
    value: tuple[float, str] | None,
    length: float,
    tall: float,
    made: Ladder,
) -> None:
    if value is None:
        canvas.say(start, middle - LINE / 2, "not measured", ink="soft")
        return
    mark = Mark(made.ink if made.ink in ("naive", "profile", "rewrite", "fuse") else "profile", "s")
    canvas.stroke(
        [(start, middle), (start + max(length, 3), middle)],
        ink=mark.ink,
        linewidth=tall * 0.5,
        solid_capstyle="butt",
    )
    canvas.say(start + length + 12, middle - LINE / 2, value[1], bold=True)
