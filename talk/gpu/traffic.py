"""The bytes that a candidate moves: counted operation by operation, not claimed.

PyTorch's dispatcher tells of its own operations, and Triton's launches are watched beside it.
What is counted is what an operation has to read and write: each tensor once, a broadcast one by
the elements it really holds. What a kernel reads again (a second pass, a missed cache) is not
seen here: that is the hardware counters' business.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from talk.outcome import Cell, Column, Table

COLUMNS = (
    Column(name="candidate"),
    Column(name="operation"),
    Column(name="read", unit="B"),
    Column(name="written", unit="B"),
    Column(name="bytes", unit="B"),
)

FREE = ("empty", "empty_like", "empty_strided", "new_empty", "detach", "new_empty_strided")
"""They give out memory or a view of it, and move nothing."""


@dataclass(frozen=True)
class Moved:
    """One operation. read, written: bytes."""

    name: str
    read: int
    written: int


def traffic(
    candidates: Mapping[str, Callable[..., Any]], inputs: tuple[Any, ...], must_move: int
) -> Table:
    """Rows of (candidate, operation, read, written, bytes), a total after each candidate's own,
    and last the bytes that any candidate must move.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, candidate in candidates.items():
        rows += rows_of(name, operations(candidate, inputs))
    # Figures are floats: a whole number would name its row.
    rows.append(("must move", "total", None, None, float(must_move)))
    return Table(columns=COLUMNS, rows=tuple(rows))


def rows_of(candidate: str, moved: tuple[Moved, ...]) -> Iterator[tuple[Cell, ...]]:
    for name, each in zip(distinct(each.name for each in moved), moved, strict=True):
        yield row(candidate, name, each.read, each.written)
    yield row(candidate, "total", sum(m.read for m in moved), sum(m.written for m in moved))


def row(candidate: str, name: str, read: int, written: int) -> tuple[Cell, ...]:
    return (candidate, name, float(read), float(written), float(read + written))


def distinct(names: Iterable[str]) -> list[str]:
    """The second `mul` is "mul 2"."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


def operations(candidate: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Moved, ...]:
    """What one call moves, in order."""
    found: list[Moved] = []
    with Watching(found), launches_into(found):
        candidate(*inputs)
    return tuple(found)


class Watching(TorchDispatchMode):  # type: ignore[misc]
    """Notes each operation of PyTorch that moves something."""

    def __init__(self, found: list[Moved]) -> None:
        super().__init__()
        self._found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name not in FREE and not func.is_view:
            moved = moved_by(name, func, tensors((args, kwargs)), tensors(result))
            if moved.read or moved.written:
                self._found.append(moved)
        return result


def moved_by(name: str, func: Any, given: list[Tensor], results: list[Tensor]) -> Moved:
    """Inputs are read once each, results written. An output that was given is not read for that,
    unless the operation works in place.
    """
    inside = {region(t) for t in given}
    outside = {region(t): held(t) for t in results}
    in_place = name.endswith("_") or name.startswith("_foreach")
    outputs = {region(t) for t in out_arguments(func, given)}
    read = {region(t): held(t) for t in given if region(t) not in outputs or in_place}
    written = {
        r: size for r, size in outside.items() if r not in inside or in_place or r in outputs
    }
    return Moved(name, sum(read.values()), sum(written.values()))


def out_arguments(func: Any, given: list[Tensor]) -> list[Tensor]:
    """Those that `out=` names: written and not read."""
    count = sum(bool(a.is_out) for a in func._schema.arguments)
    return given[len(given) - count :] if count else []


def region(tensor: Tensor) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """What tells two tensors of memory apart."""
    where = tensor.untyped_storage().data_ptr()
    return where, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride())


def held(tensor: Tensor) -> int:
    """Bytes of the elements that the tensor really holds: a stretched dimension counts once."""
    sizes = (n for n, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride or n == 0)
    return int(math.prod(sizes) * tensor.element_size())


def tensors(tree: Any) -> list[Tensor]:
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


# Triton's launches


@contextmanager
def launches_into(found: list[Moved]) -> Iterator[None]:
    """Notes each launch, compiled or interpreted (`run` is the same in Triton 3.6 to 3.9)."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    really = {kind: kind.run for kind in (JITFunction, InterpretedFunction)}

    def noting(run: Any) -> Any:
        def launch(self: Any, *args: Any, **keywords: Any) -> Any:
            if not keywords.get("warmup"):
                found.append(launched(self.fn, args, keywords))
            # What the interpreter does with PyTorch inside is not the kernel's traffic.
            with torch.utils._python_dispatch._disable_current_modes():
                return run(self, *args, **keywords)

        return launch

    for kind, run in really.items():
        kind.run = noting(run)
    try:
        yield
    finally:
        for kind, run in really.items():
            kind.run = run


def launched(fn: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Moved:
    """Each tensor once: read where a load names it, written where a store does."""
    signature = inspect.signature(fn)
    known = {name: value for name, value in keywords.items() if name in signature.parameters}
    bound = signature.bind_partial(*args, **known).arguments
    loaded, stored = used(fn)
    sizes = {name: held(value) for name, value in bound.items() if isinstance(value, Tensor)}
    return Moved(
        fn.__name__,
        sum(size for name, size in sizes.items() if name in loaded),
        sum(size for name, size in sizes.items() if name in stored),
    )


@dataclass
class Uses(ast.NodeVisitor):
    """Parameters that reach the pointer of a load or a store, through the names made of them."""

    origins: dict[str, set[str]]
    loaded: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._made(target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        self._made(node.target, node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if node.args and name == "load":
            self.loaded |= self.pointers(node.args[0])
        elif node.args and name == "store":
            self.stored |= self.pointers(node.args[0])
        elif node.args and name.startswith("atomic_"):
            self.loaded |= self.pointers(node.args[0])
            self.stored |= self.pointers(node.args[0])
        elif isinstance(node.func, ast.Name):
            # A helper that is given a pointer reads through it.
            self.loaded |= {p for arg in node.args for p in self.pointers(arg)}

    def _made(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name) and not loads(value):
            self.origins[target.id] = self.origins.get(target.id, set()) | self.pointers(value)

    def pointers(self, node: ast.expr) -> set[str]:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return {origin for name in names for origin in self.origins.get(name, ())}


def loads(node: ast.expr) -> bool:
    """Whether a value was loaded: it is no pointer any more."""
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr == "load" for f in calls)


@cache
def used(fn: Any) -> tuple[frozenset[str], frozenset[str]]:
    """Parameters of a kernel that it loads from, and that it stores to."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    parameters = [name for name in inspect.signature(fn).parameters if name.endswith("_ptr")]
    found = Uses({name: {name} for name in parameters})
    found.visit(tree)
    return frozenset(found.loaded), frozenset(found.stored)
