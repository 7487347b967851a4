"""Theoretical occupancy: how many of a multiprocessor's warps a kernel lets be resident.

As NVIDIA's occupancy calculator counts. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass

from talk.hardware import Architecture


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """blocks: programs resident on one multiprocessor. warps: theirs, of `most`.

    limiter: what there is too little of: "warps", "blocks", "registers" or "shared memory".
    """

    blocks: int
    warps: int
    most: int
    limiter: str

    @property
    def share(self) -> float:
        return self.warps / self.most


def occupancy(architecture: Architecture, *, registers: int, shared: int, warps: int) -> Occupancy:
    """Of programs of so many warps, registers a thread and bytes of shared memory a program.

    Raises ValueError for counts that no program has.
    """
    if warps < 1 or registers < 0 or shared < 0:
        raise ValueError(f"no program has {warps} warps, {registers} registers, {shared} bytes")
    limits = {
        "blocks": architecture.blocks,
        "warps": architecture.warps // warps,
        "registers": by_registers(architecture, registers, warps),
        "shared memory": by_shared(architecture, shared),
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(blocks=blocks, warps=blocks * warps, most=architecture.warps, limiter=limiter)


def by_registers(architecture: Architecture, registers: int, warps: int) -> int:
    """A warp gets registers in units, and warps are placed in groups of four, one a scheduler."""
    if registers > architecture.most_registers:
        return 0
    unit = architecture.register_unit
    a_warp = max(unit, rounded_up(registers * architecture.warp_size, unit))
    room = architecture.registers // a_warp
    return room // architecture.warp_unit * architecture.warp_unit // warps


def by_shared(architecture: Architecture, shared: int) -> int:
    """Each program's is rounded up, with what the system takes for itself."""
    if shared > architecture.shared_per_block:
        return 0
    a_block = rounded_up(shared + architecture.shared_reserved, architecture.shared_unit)
    return architecture.shared // a_block if a_block else architecture.blocks


def rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
