"""The GPUs that kernels are compiled for, whether one is here or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KIB = 1024

THREADS_LIMIT = 1024
"""Threads of one program, on every target below: Triton compiles more, no GPU starts them."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """An architecture, and the shared memory one program may have there, in bytes."""

    name: str
    shared_limit: int

    @property
    def is_nvidia(self) -> bool:
        """Whether it lowers to PTX and SASS; AMD lowers to GCN."""
        return self.name.startswith("sm_")

    @property
    def warp_size(self) -> int:
        """Threads of a warp; AMD's CDNA calls it a wavefront."""
        return 32 if self.is_nvidia else 64

    def for_triton(self) -> Any:
        """The same as `triton.backends.compiler.GPUTarget`."""
        from triton.backends.compiler import GPUTarget

        if self.is_nvidia:
            return GPUTarget("cuda", int(self.name.removeprefix("sm_")), self.warp_size)
        return GPUTarget("hip", self.name, self.warp_size)


# NVIDIA: "Maximum amount of shared memory per thread block", CUDA C++ Programming Guide, Technical
# Specifications per Compute Capability. AMD: column "LDS", ROCm, AMD GPU specifications.
SHARED_LIMITS = {
    "sm_75": 64 * KIB,
    "sm_80": 163 * KIB,
    "sm_86": 99 * KIB,
    "sm_87": 163 * KIB,
    "sm_89": 99 * KIB,
    "sm_90": 227 * KIB,
    "sm_100": 227 * KIB,
    "sm_103": 227 * KIB,
    "sm_120": 99 * KIB,
    "sm_121": 99 * KIB,
    "gfx942": 64 * KIB,
}

TARGETS = {name: Target(name=name, shared_limit=limit) for name, limit in SHARED_LIMITS.items()}
