"""What a call really launched: the compiled kernels, and whether one of them was new."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

SEEN: WeakSet[Any] = WeakSet()
"""Kernels that this process has launched before, while it was watching."""


@dataclass
class Launched:
    """kernels: of the latest launch, by name. fresh: one was compiled, or loaded, for it."""

    kernels: dict[str, Any] = field(default_factory=dict)
    fresh: bool = False

    def note(self, name: str, kernel: Any) -> None:
        self.kernels[name] = kernel
        self.fresh = self.fresh or kernel not in SEEN
        SEEN.add(kernel)


@contextmanager
def watched() -> Iterator[Launched]:
    """Fills in what is launched meanwhile; stays empty where kernels are interpreted.

    An autotuned kernel's latest launch is its winner. (`JITFunction.run` returns the kernel in
    Triton 3.6 to 3.9.)
    """
    launched = Launched()
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None:
        yield launched
        return
    run = jit.JITFunction.run

    def noting(self: Any, *args: Any, **keywords: Any) -> Any:
        kernel = run(self, *args, **keywords)
        if kernel is not None and not keywords.get("warmup"):
            launched.note(self.fn.__name__, kernel)
        return kernel

    jit.JITFunction.run = noting
    try:
        yield launched
    finally:
        jit.JITFunction.run = run


def config_of(kernels: dict[str, Any]) -> dict[str, int]:
    """Warps, stages, registers and spills a thread, bytes of shared memory a program.

    Empty unless exactly one kernel was launched, and without what this Triton does not say.
    """
    if len(kernels) != 1:
        return {}
    (kernel,) = kernels.values()
    metadata = getattr(kernel, "metadata", None)
    values = {
        "num_warps": getattr(metadata, "num_warps", None),
        "num_stages": getattr(metadata, "num_stages", None),
        "registers": getattr(kernel, "n_regs", None),
        "spills": getattr(kernel, "n_spills", None),
        "shared": getattr(metadata, "shared", None),
    }
    return {name: value for name, value in values.items() if isinstance(value, int)}
