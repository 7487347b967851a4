"""Has Triton interpret the kernels that are imported meanwhile, and nothing else.

Interpreting is decided where `@triton.jit` decorates, so what imports a kernel comes inside.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interpreting() -> Iterator[None]:
    before = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"
    importlib.import_module("talk.gpu.loops").mend()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TRITON_INTERPRET"]
        else:
            os.environ["TRITON_INTERPRET"] = before
