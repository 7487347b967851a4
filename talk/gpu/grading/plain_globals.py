"""Plain globals: the interpreter lets a kernel read them, the compiler refuses them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any


def plain_globals(module: types.ModuleType, path: str) -> tuple[str, ...]:
    """Names that kernels of that file read from their module, which the compiler will not."""
    found = [name for fn in kernels(module, path) for name in refused(fn)]
    return tuple(dict.fromkeys(found))


def kernels(module: types.ModuleType, path: str) -> Iterator[Any]:
    """The Python functions behind `@triton.jit`."""
    for value in vars(module).values():
        fn = value
        while hasattr(fn, "fn"):
            fn = fn.fn
        if fn is not value and inspect.isfunction(fn) and fn.__code__.co_filename == path:
            yield fn


def refused(fn: Any) -> Iterator[str]:
    """By the compiler's rule: a module, a constexpr, a dtype, a kernel or Triton's own is fine."""
    import triton.language as tl

    used = inspect.getclosurevars(fn)
    for name, value in (*used.globals.items(), *used.nonlocals.items()):
        fine = isinstance(value, (types.ModuleType, tl.constexpr, tl.dtype)) or hasattr(value, "fn")
        own = str(getattr(value, "__module__", "")).startswith("triton")
        if not (fine or own or getattr(value, "__triton_builtin__", False)):
            yield name
