"""The GPUs that kernels are compiled for, whether one is here or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from talk.hardware import BY_TARGET, THREADS_PER_BLOCK

THREADS_LIMIT = THREADS_PER_BLOCK
"""Triton compiles programs of more, no GPU starts them."""


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
        return BY_TARGET[self.name].warp_size

    def for_triton(self) -> Any:
        """The same as `triton.backends.compiler.GPUTarget`."""
        from triton.backends.compiler import GPUTarget

        if self.is_nvidia:
            return GPUTarget("cuda", int(self.name.removeprefix("sm_")), self.warp_size)
        return GPUTarget("hip", self.name, self.warp_size)


TARGETS = {
    name: Target(name=name, shared_limit=architecture.shared_per_block)
    for name, architecture in BY_TARGET.items()
}
