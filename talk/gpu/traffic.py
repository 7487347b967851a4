"""The bytes that a candidate moves: counted operation by operation, not claimed.

PyTorch's dispatcher tells of its own operations, and Triton's launches are watched beside it.
What is counted is what an operation has to read and write: each tensor once, a broadcast one by
the elements it really holds. What a kernel reads again (a second pass, a missed cache) is not
seen here: that is the hardware counters' business. Nor is what torch.compile makes: it steps
aside while it is watched, so that such a candidate is refused and not told of as if it ran so.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from talk.errors import TalkError
from talk.gpu.kernel_text import used
from talk.outcome import Cell, Column, Table

COLUMNS = (
    Column(name="candidate"),
    Column(name="operation"),
    Column(name="read", unit="B"),
    Column(name="written", unit="B"),
    Column(name="bytes", unit="B"),
)

FREE = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
"""They give out memory, and move nothing."""

OVERWRITING = ("copy_", "zero_", "fill_", "random_", "normal_", "uniform_", "exponential_")
"""In place, without reading what was there."""


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
        try:
            rows += rows_of(name, operations(candidate, inputs))
        except TalkError as error:
            raise TalkError(f"{name}: {error.args[0]}", hint=error.hint) from error
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
    """What one call moves, in order.

    Raises TalkError where something wrote its result that was not seen.
    """
    seen = Seen()
    with uncompiled(), Watching(seen), launches_into(seen):
        result = candidate(*inputs)
    made = {storage(t) for t in tensors(result) if t.numel()}
    if made - seen.written - {storage(t) for t in tensors(inputs)}:
        raise TalkError("what wrote its result was not seen", hint=UNSEEN)
    return tuple(seen.moved)


UNSEEN = "count the operations of PyTorch and the kernels of Triton; measure the others"


@dataclass
class Seen:
    """moved: so far. written: storages that something wrote to."""

    moved: list[Moved] = field(default_factory=list)
    written: set[int] = field(default_factory=set)

    def note(self, name: str, read: list[Tensor], written: list[Tensor]) -> None:
        self.moved.append(Moved(name, once(read), once(written)))
        self.written |= {storage(tensor) for tensor in written}


@contextmanager
def uncompiled() -> Iterator[None]:
    """Refuse what torch.compile made: under a watch it would run as it was before, unfused."""
    # Where nothing was compiled yet, there is nothing to refuse: importing it takes seconds.
    used_here = "torch._dynamo" in sys.modules
    try:
        with torch.compiler.set_stance("fail_on_recompile") if used_here else nullcontext():
            yield
    except RuntimeError as error:
        if "fail_on_recompile" not in str(error):
            raise
        raise TalkError("torch.compile steps aside where bytes are counted", hint=UNSEEN) from error


class Watching(TorchDispatchMode):  # type: ignore[misc]
    """Notes each operation of PyTorch that moves something."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self._seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = len(self._seen.moved)
        result = func(*args, **(kwargs or {}))
        # An operator that launches kernels of Triton is told of by these.
        if len(self._seen.moved) == before and moves(func):
            read, written = moved_by(func, list(arguments(func, args, kwargs or {})), result)
            if once(read) or once(written):
                self._seen.note(func.overloadpacket.__name__, read, written)
        return result


def moves(func: Any) -> bool:
    """Neither does it only give out memory, nor a view of it."""
    views = func.is_view or torch.Tag.inplace_view in func.tags
    return not views and func.overloadpacket.__name__ not in FREE


@dataclass(frozen=True)
class Argument:
    """tensors: given for it. changed: the operation writes to them. out: and to that end alone."""

    tensors: list[Tensor]
    changed: bool
    out: bool


def arguments(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Argument]:
    """Of an operation as its schema declares them."""
    for n, declared in enumerate(func._schema.arguments):
        value = args[n] if n < len(args) else kwargs.get(declared.name)
        changed = declared.alias_info is not None and declared.alias_info.is_write
        yield Argument(tensors(value), changed, declared.is_out)


def moved_by(func: Any, given: list[Argument], result: Any) -> tuple[list[Tensor], list[Tensor]]:
    """The tensors that it reads, and those that it writes: changed arguments and new results."""
    name = func.overloadpacket.__name__
    memory = {storage(tensor) for argument in given for tensor in argument.tensors}
    new = [tensor for tensor in tensors(result) if storage(tensor) not in memory]
    changed = [tensor for argument in given if argument.changed for tensor in argument.tensors]
    if tensors(result) and not new and not changed:
        return [], []  # a view that is not declared as one, such as _unsafe_view
    read = [
        tensor
        for argument in given
        if not argument.out and not (argument.changed and name in OVERWRITING)
        for tensor in argument.tensors
    ]
    return [] if only_shaped_like(name) else read, changed + new


def only_shaped_like(name: str) -> bool:
    """Whether it takes the shape of a tensor, and no element: zeros_like, new_full."""
    return name.endswith("_like") or name.startswith("new_")


def storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def once(given: Iterable[Tensor]) -> int:
    """Bytes of tensors, those that share memory counted once: at most what they span together."""
    spans: dict[int, set[tuple[int, int, int]]] = {}
    for tensor in given:
        spans.setdefault(storage(tensor), set()).add(span(tensor))
    return sum(min(sum(size for *_, size in each), covered(each)) for each in spans.values())


def span(tensor: Tensor) -> tuple[int, int, int]:
    """First byte, last byte and bytes held."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((n - 1) * stride for n, stride in steps) + 1 if tensor.numel() else 0
    first = tensor.storage_offset()
    width = tensor.element_size()
    return first * width, (first + last) * width, held(tensor)


def covered(spans: Iterable[tuple[int, int, int]]) -> int:
    """Bytes under at least one of them."""
    total = until = 0
    for first, last, _ in sorted(spans):
        total += max(0, last - max(first, until))
        until = max(until, last)
    return total


def held(tensor: Tensor) -> int:
    """Bytes of the elements that the tensor really holds: a stretched dimension counts once."""
    sizes = (n for n, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride or n == 0)
    return int(math.prod(sizes) * tensor.element_size())


def tensors(tree: Any) -> list[Tensor]:
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


# Triton's launches


@contextmanager
def launches_into(seen: Seen) -> Iterator[None]:
    """Notes each launch, compiled or interpreted (`run` is the same in Triton 3.6 to 3.9)."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    really = {kind: kind.run for kind in (JITFunction, InterpretedFunction)}

    def noting(run: Any) -> Any:
        def launch(self: Any, *args: Any, **keywords: Any) -> Any:
            if not keywords.get("warmup"):
                seen.note(self.fn.__name__, *launched(self.fn, args, keywords))
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


def launched(
    fn: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[list[Tensor], list[Tensor]]:
    """The tensors that a kernel reads and writes, as its text says (`talk.gpu.kernel_text`)."""
    signature = inspect.signature(fn)
    known = {name: value for name, value in keywords.items() if name in signature.parameters}
    bound = signature.bind_partial(*args, **known).arguments
    given = {name: value for name, value in bound.items() if isinstance(value, Tensor)}
    loaded, stored = used(fn)
    return [given[n] for n in given if n in loaded], [given[n] for n in given if n in stored]
