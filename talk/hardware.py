"""Constants of the hardware, by architecture. Standard library only.

Sources: NVIDIA, CUDA C++ Programming Guide, "Technical Specifications per Compute Capability";
the tuning guides of Turing to Blackwell for what an SM holds; `cuda_occupancy.h` of the CUDA
toolkit for the units in which registers, warps and shared memory are handed out. AMD: ROCm, GPU
hardware specifications.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024

SECTOR_BYTES = 32
"""The least that a load brings from memory (Programming Guide, Device Memory Accesses)."""
LINE_BYTES = 128
"""Of a cache: four sectors."""
THREADS_PER_BLOCK = 1024
"""Of one program, on every architecture below."""
TENSOR_CORES = 8
"""The major compute capability from which on Triton has them: its support of Turing's ended with
3.3 (Triton's issues 5066 and 10918). Before it, `tl.dot` is plain arithmetic."""


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """What a multiprocessor of one architecture has, and how it hands it out.

    target: as Triton's compiler names it. shared: bytes; per_block: what one program may have
    at most; reserved: taken from each program's by the system. warps, blocks: resident at most.
    """

    target: str
    warp_size: int = 32
    warps: int
    blocks: int
    registers: int = 65_536
    register_unit: int = 256
    warp_unit: int = 4
    most_registers: int = 255
    shared: int
    shared_per_block: int
    shared_reserved: int = KIB
    shared_unit: int = 128

    @property
    def is_nvidia(self) -> bool:
        return self.target.startswith("sm_")

    @property
    def capability(self) -> str:
        """ "9.0" of sm_90; AMD's own name."""
        digits = self.target.removeprefix("sm_")
        return f"{digits[:-1]}.{digits[-1]}" if self.is_nvidia else self.target


ARCHITECTURES = (
    Architecture(
        target="sm_75", warps=32, blocks=16, shared=64 * KIB, shared_per_block=64 * KIB,
        shared_reserved=0, shared_unit=256,
    ),
    Architecture(target="sm_80", warps=64, blocks=32, shared=164 * KIB, shared_per_block=163 * KIB),
    Architecture(target="sm_86", warps=48, blocks=16, shared=100 * KIB, shared_per_block=99 * KIB),
    Architecture(target="sm_87", warps=48, blocks=16, shared=164 * KIB, shared_per_block=163 * KIB),
    Architecture(target="sm_89", warps=48, blocks=24, shared=100 * KIB, shared_per_block=99 * KIB),
    Architecture(target="sm_90", warps=64, blocks=32, shared=228 * KIB, shared_per_block=227 * KIB),
    Architecture(
        target="sm_100", warps=64, blocks=32, shared=228 * KIB, shared_per_block=227 * KIB
    ),
    Architecture(
        target="sm_103", warps=64, blocks=32, shared=228 * KIB, shared_per_block=227 * KIB
    ),
    Architecture(target="sm_120", warps=48, blocks=24, shared=100 * KIB, shared_per_block=99 * KIB),
    Architecture(target="sm_121", warps=48, blocks=24, shared=100 * KIB, shared_per_block=99 * KIB),
    # CDNA 3: four units of eight wavefronts; 512 vector registers a lane of each. How it hands them
    # out is not NVIDIA's way, so `talk.occupancy` leaves it out.
    Architecture(
        target="gfx942", warp_size=64, warps=32, blocks=32, registers=131_072, most_registers=512,
        shared=64 * KIB, shared_per_block=64 * KIB, shared_reserved=0,
    ),
)  # fmt: skip

BY_TARGET = {architecture.target: architecture for architecture in ARCHITECTURES}
BY_CAPABILITY = {architecture.capability: architecture for architecture in ARCHITECTURES}

GPUS = {
    "T4": ("sm_75", 40),
    "A100": ("sm_80", 108),
    "A10": ("sm_86", 72),
    "RTX 3090": ("sm_86", 82),
    "L4": ("sm_89", 58),
    "RTX 4090": ("sm_89", 128),
    "H100 SXM": ("sm_90", 132),
    "H200": ("sm_90", 132),
    "B200": ("sm_100", 148),
    "RTX 5090": ("sm_120", 170),
}
"""Name → (target, multiprocessors), by NVIDIA's architecture white papers."""
