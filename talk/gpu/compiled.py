"""The configuration of the kernels that a call really launched, compiled ones alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def watched() -> Iterator[dict[str, Any]]:
    """Fills in the compiled kernel of the latest launch, by the kernel's name.

    Stays empty where kernels are interpreted. An autotuned kernel's latest launch is its winner.
    (`JITFunction.run` returns the kernel in Triton 3.6 to 3.9.)
    """
    launched: dict[str, Any] = {}
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None:
        yield launched
        return
    run = jit.JITFunction.run

    def noting(self: Any, *args: Any, **keywords: Any) -> Any:
        kernel = run(self, *args, **keywords)
        if kernel is not None and not keywords.get("warmup"):
            launched[self.fn.__name__] = kernel
        return kernel

    jit.JITFunction.run = noting
    try:
        yield launched
    finally:
        jit.JITFunction.run = run


def config_of(launched: dict[str, Any]) -> dict[str, int]:
    """Warps, stages, registers and spills a thread, bytes of shared memory a program.

    Empty unless exactly one kernel was launched, and without what this Triton does not say.
    """
    if len(launched) != 1:
        return {}
    (kernel,) = launched.values()
    metadata = getattr(kernel, "metadata", None)
    values = {
        "num_warps": getattr(metadata, "num_warps", None),
        "num_stages": getattr(metadata, "num_stages", None),
        "registers": getattr(kernel, "n_regs", None),
        "spills": getattr(kernel, "n_spills", None),
        "shared": getattr(metadata, "shared", None),
    }
    return {name: value for name, value in values.items() if isinstance(value, int)}
