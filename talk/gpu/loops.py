"""Loops over run-time values in Triton 3.6's interpreter, beside NumPy 2.4.

There a bound is an array of one element, which that NumPy no longer takes for a number. Triton 3.7
mended it; PyTorch 2.11 is bound to 3.6, and pip brings the newest NumPy.
"""

from __future__ import annotations

from typing import Any

import triton


def mend() -> None:
    """Once it is settled that Triton interprets."""
    from triton.runtime import interpreter

    if not triton.__version__.startswith("3.6.") or hasattr(interpreter, "mended"):
        return
    patch = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patched
    interpreter.mended = True
