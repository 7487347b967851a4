"""What the whole talk has measured so far, gathered for a picture. Standard library only.

A `Collect` step names rows by reference; what is drawn is read from the record, so an outcome
that is removed takes its point with it, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from talk import source
from talk.errors import UnknownReference
from talk.look import Badge
from talk.number import Number
from talk.question import Question, question
from talk.reading import REFERENCE, Reading
from talk.record import Ceilings, SectionOutline, StepOutline
from talk.rows import CACHED, OVERHEAD
from talk.section import ARITHMETIC

Address = tuple[int, str]
Told = Callable[[Address], bool]
"""Whether a step's results may be told yet: on stage, not before it was performed."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a step, by its reference. name: as one says it. numbers: field → number.

    phase: of the step that measured it.
    """

    ref: str
    name: str
    phase: str
    numbers: dict[str, Number]

    def __getitem__(self, field: str) -> Number:
        return self.numbers[field]

    @property
    def badge(self) -> Badge:
        return self["time"].badge

    @property
    def launch_bound(self) -> bool:
        return OVERHEAD in self["time"].flags

    @property
    def cached(self) -> bool:
        return CACHED in self["time"].flags


@dataclass(frozen=True)
class Rows:
    """Those that are known, and (reference, why) of those that are not."""

    known: tuple[Row, ...]
    missing: tuple[tuple[str, str], ...]


FIELDS = (
    "time", "gbps", "share", "tflops", "arithmetic_share", "each", "intensity", "bytes",
)  # fmt: skip


def rows(of: Iterable[str], reading: Reading, told: Told = lambda address: True) -> Rows:
    """The rows that a picture names, in its order."""
    known: list[Row] = []
    missing: list[tuple[str, str]] = []
    for ref in of:
        found = row(ref, reading, told)
        if isinstance(found, Row):
            known.append(found)
        else:
            missing.append((ref, found))
    return Rows(tuple(known), tuple(missing))


def row(ref: str, reading: Reading, told: Told) -> Row | str:
    """One row, or why there is none."""
    match = REFERENCE.fullmatch(f"{ref}.time")
    if not match or not (match["section"] or "").isdecimal():
        return "it names no row: write 5/blocks[256]"
    address = (int(match["section"]), match["step"])
    if not told(address):
        return "not measured yet"
    try:
        numbers = {field: reading.number(f"{ref}.{field}") for field in FIELDS}
    except UnknownReference:
        outline = reading.outline(*address)
        return "its step has no such row" if outline else "no such step is known"
    if numbers["time"].value is None:
        return "not measured"
    outline = reading.outline(*address)
    return Row(ref=ref, name=named(match), phase=outline.phase if outline else "", numbers=numbers)


def named(match: object) -> str:
    """ "softmax, triton" of `8/final[softmax, triton]`; with the step's name before a value."""
    keys, step = match["keys"] or "", match["step"]  # type: ignore[index]  # a Match
    words = any(letter.isalpha() for letter in keys)
    return f"{keys}" if words else f"{step} {keys}".strip()


# The roofline


@dataclass(frozen=True, kw_only=True)
class Roof:
    """arithmetic: which flat roof; TFLOP/s. Left of the ridge memory decides."""

    arithmetic: str
    tflops: Number
    ridge: float


@dataclass(frozen=True, kw_only=True)
class Point:
    """row: what was measured. share: of the roof above it. wall: which one that is."""

    row: Row
    intensity: float
    tflops: float
    share: float
    wall: str


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """slope: the best streaming ceiling. points: believed; launch_bound: no rate is claimed."""

    slope: Number
    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]
    launch_bound: tuple[Point, ...]
    unplaced: tuple[tuple[str, str], ...]

    def attainable(self, intensity: float, arithmetic: str) -> float:
        """TFLOP/s under the roof at so many FLOP per byte; float32's where there is no such."""
        slanted = intensity * float(self.slope) / 1e3
        flat = {roof.arithmetic: float(roof.tflops) for roof in self.roofs}
        return min(slanted, flat.get(arithmetic, flat.get("fp32", slanted)))


def roofline(
    of: Iterable[str], reading: Reading, told: Told = lambda address: True
) -> Roofline | None:
    """None where this machine's ceilings are not known."""
    machine = reading.machine()
    if machine is None or machine.ceilings is None:
        return None
    found = rows(of, reading, told)
    bare = Roofline(
        slope=best_bandwidth(machine.ceilings, reading),
        roofs=tuple(roofs(machine.ceilings, reading)),
        points=(),
        launch_bound=(),
        unplaced=found.missing,
    )
    placed = [(each, place(each, bare, reading)) for each in found.known]
    without = tuple((each.ref, "it counts no operations") for each, at in placed if at is None)
    points = [at for _, at in placed if at is not None]
    return replace(
        bare,
        points=tuple(p for p in points if not p.row.launch_bound),
        launch_bound=tuple(p for p in points if p.row.launch_bound),
        unplaced=found.missing + without,
    )


def best_bandwidth(ceilings: Ceilings, reading: Reading) -> Number:
    mix = max(ceilings.bandwidth_gbps, key=lambda mix: ceilings.bandwidth_gbps[mix])
    return reading.number(f"machine/bandwidth[{mix}].gbps")


def roofs(ceilings: Ceilings, reading: Reading) -> Iterator[Roof]:
    for name in ARITHMETIC:
        if name in ceilings.tflops:
            top = reading.number(f"machine/arithmetic[{name}].tflops")
            ridge = ceilings.tflops[name] * 1e3 / ceilings.best_gbps
            yield Roof(arithmetic=name, tflops=top, ridge=ridge)


def place(row: Row, under: Roofline, reading: Reading) -> Point | None:
    """Where a row stands; None where it has no operations or no bytes."""
    intensity = row["intensity"].value
    flops = (intensity or 0.0) * (row["bytes"].value or 0.0)
    if not intensity or not flops:
        return None
    tflops = flops / float(row["time"]) / 1e12
    arithmetic = arithmetic_of(row, reading)
    roof = under.attainable(intensity, arithmetic)
    memory = intensity * float(under.slope) / 1e3
    wall = "memory" if memory <= roof else f"arithmetic, {arithmetic}"
    return Point(
        row=row,
        intensity=intensity,
        tflops=tflops,
        share=tflops / roof,
        wall="launch" if row.launch_bound else wall,
    )


def arithmetic_of(row: Row, reading: Reading) -> str:
    """Whose roof a row's operations are held against."""
    match = REFERENCE.fullmatch(f"{row.ref}.time")
    shown = reading.figures(int(match["section"]), match["step"]) if match else None
    keys = {key.strip() for key in ((match["keys"] if match else "") or "").split(",")}
    for timing in shown.outcome.timings if shown else ():
        names = {timing.case, timing.candidate, *(str(value) for value in timing.at.values())}
        if keys <= names | {""}:
            return timing.arithmetic
    return "fp32"


# The calibration of predictions


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question of the talk, with its answers as far as they are known."""

    address: Address
    title: str
    question: Question

    @property
    def settled(self) -> bool:
        return self.question.right is not None

    @property
    def room_right(self) -> bool | None:
        """None where nobody voted or nothing settles it."""
        room = self.question.room
        return room.measured if room and self.settled else None

    @property
    def model_right(self) -> bool | None:
        expected = self.question.expected
        return expected.measured if expected and self.settled else None

    @property
    def model_over_measured(self) -> float | None:
        """How far the model was off, as a ratio."""
        model, measured = self.question.model, self.question.measured
        if not model or not measured or model.value is None or not measured.value:
            return None
        return model.value / measured.value


def of_the_talk(outlines: Iterable[SectionOutline]) -> tuple[SectionOutline, ...]:
    """Without what comes after it."""
    later = {f"demos.{name}" for name in source.after()}
    return tuple(outline for outline in outlines if outline.module not in later)


def calibration(
    sections: Iterable[SectionOutline],
    reading: Reading,
    told: Told = lambda address: True,
    votes: Callable[[Address], dict[str, int] | None] = lambda address: None,
) -> tuple[Asked, ...]:
    """Every question of these sections, in order; open where its measurement may not be told."""
    return tuple(
        asked(section, step, reading, told, votes((section.number, step.slug)))
        for section in of_the_talk(sections)
        for step in section.steps
        if step.kind == "predict"
    )


def asked(
    section: SectionOutline,
    step: StepOutline,
    reading: Reading,
    told: Told,
    votes: dict[str, int] | None,
) -> Asked:
    match = REFERENCE.match(step.about)
    settling = (int(match["section"] or section.number), match["step"]) if match else (0, "")
    known = question(reading, section.number, step, votes)
    if not told(settling):
        choices = tuple(replace(choice, measured=False) for choice in known.choices)
        known = replace(known, choices=choices, measured=None)
    return Asked(address=(section.number, step.slug), title=step.title, question=known)


def score(found: Iterable[bool | None]) -> tuple[int, int]:
    """(right, of how many that are settled)."""
    settled = [each for each in found if each is not None]
    return sum(settled), len(settled)
