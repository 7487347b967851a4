"""What a drawing of a GPU must know of the machine: its lanes, sectors and levels of memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from talk.errors import UnknownReference
from talk.hardware import BY_CAPABILITY, BY_TARGET, KIB, SECTOR_BYTES
from talk.look import Badge
from talk.number import Number
from talk.reading import Reading
from talk.record import Machine
from talk.rows import of_shown

ELEMENT_BYTES = 4
"""Of a float32, and of a register."""

WELL_INSIDE = 4
"""A working set is well inside a cache if it fits so many times: others use the cache too."""

USUAL = BY_TARGET["sm_90"]
"""Drawn for a machine that is none of the table's."""


@dataclass(frozen=True)
class Level:
    """A level of memory. waits: what one load takes; brings: what all loads together bring."""

    name: str
    size: Number
    waits: Number | None = None
    brings: Number | None = None


@dataclass(frozen=True)
class Anatomy:
    """lanes: of a warp. warps: of a multiprocessor. levels: from the nearest.

    peak: the reference of the arithmetic per byte below which the fastest units wait.
    """

    lanes: int
    warps: int
    levels: tuple[Level, ...]
    peak: str

    @property
    def sector_elements(self) -> int:
        return SECTOR_BYTES // ELEMENT_BYTES

    @property
    def sectors(self) -> int:
        """That a warp's neighbouring elements lie in."""
        return self.lanes // self.sector_elements

    @property
    def sector_bytes(self) -> int:
        return SECTOR_BYTES

    @property
    def used_bytes(self) -> int:
        """Of a load of one element for each lane."""
        return self.lanes * ELEMENT_BYTES


def of(reading: Reading) -> Anatomy:
    """Of the machine that the figures are from."""
    machine = machine_of(reading)
    architecture = BY_CAPABILITY.get(machine.device.capability, USUAL) if machine else USUAL
    return Anatomy(
        lanes=architecture.warp_size,
        warps=architecture.warps,
        levels=tuple(levels(reading)),
        peak=f"machine/ridge[{fastest(machine)}].intensity",
    )


def machine_of(reading: Reading) -> Machine | None:
    return reading.machine() or (reading.talk.machine if reading.talk else None)


def fastest(machine: Machine | None) -> str:
    """The type with the highest roof of arithmetic."""
    roofs = machine.ceilings.tflops if machine and machine.ceilings else {}
    return max(sorted(roofs), key=lambda name: roofs[name], default="bf16")


def levels(reading: Reading) -> Iterable[Level]:
    """A load's time is of the largest working set well inside a level, and of memory the largest.

    Shared memory is carved out of the same cells as L1.
    """
    registers, shared, l2, memory = (card(reading, part) for part in CARD)
    chains, streams = working_sets(reading, 2, "chain"), working_sets(reading, 3, "hierarchy")
    yield Level("registers", registers)
    yield Level(
        "shared, L1",
        shared,
        waits=row(reading, "2/chain", inside(chains, shared), "each"),
    )
    yield Level(
        "L2 cache",
        l2,
        waits=row(reading, "2/chain", inside(chains, l2), "each"),
        brings=row(reading, "3/hierarchy", inside(streams, l2), "gbps"),
    )
    yield Level(
        "memory",
        memory,
        waits=row(reading, "2/chain", max(chains, default=0), "each"),
        brings=lookup(reading, "machine/bandwidth[read].gbps"),
    )


CARD = {
    "registers there": ELEMENT_BYTES,
    "shared memory there": KIB,
    "L2 cache": KIB**2,
    "memory": KIB**3,
}
"""How the rows of `3/card` that are sizes begin, and the bytes of one there."""


def card(reading: Reading, part: str) -> Number:
    """A size from the table of what this GPU has, in bytes."""
    ref = f"3/card[{part}].here"
    shown = reading.figures(3, "card")
    rows = shown.outcome.table.rows if shown and shown.outcome.table else ()
    found = next((cells for cells in rows if str(cells[0]).split(",")[0] == part), None)
    if shown is None or found is None or type(found[1]) is not int:
        return missing(ref)
    return Number(
        ref=ref,
        value=float(found[1] * CARD[part]),
        unit="capacity",
        badge=shown.badge,
        passport=of_shown(shown),
    )


def working_sets(reading: Reading, section: int, step: str) -> list[int]:
    """KiB of those that a step was timed on."""
    shown = reading.figures(section, step)
    return [t.at["kib"] for t in shown.outcome.timings if "kib" in t.at] if shown else []


def inside(sets: Iterable[int], level: Number) -> int:
    """The largest of some working sets that fits a level well; 0 for none."""
    room = (level.value or 0) / WELL_INSIDE
    return max((kib for kib in sets if kib * KIB <= room), default=0)


def row(reading: Reading, step: str, kib: int, field: str) -> Number:
    return lookup(reading, f"{step}[{kib}].{field}") if kib else missing(f"{step}.{field}")


def lookup(reading: Reading, ref: str) -> Number:
    """A drawing keeps the place of what a record lacks: MISSING, whatever the reason."""
    try:
        return reading.number(ref)
    except UnknownReference:
        return missing(ref)


def missing(ref: str) -> Number:
    return Number(ref=ref, value=None, unit="", badge=Badge.MISSING)
