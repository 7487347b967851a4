"""Triton's interpreter, told to hide nothing: a launch is watched lane by lane.

Masked lanes without `other` hold poison instead of 0; an access outside of what a tensor has is
noted and left out; two programs that meet at an element are noted; programs can run last to first.
Private names of `triton.runtime.interpreter`, the same in Triton 3.6.0 to 3.9.0, are used here
alone; `missing` says which are gone.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from talk.attend.verdict import Outside, Race

SECTOR = 32
WARP = 32
MOST = 20
"""Notes of a kind that are kept."""

NEEDED = {
    "interpreter_builder": (
        "create_masked_load",
        "create_masked_store",
        "create_atomic_rmw",
        "create_atomic_cas",
        "set_grid_idx",
    ),
    "GridExecutor": ("__call__",),
    "TensorHandle": ("get_element_ty",),
    "_get_np_dtype": (),
}

NONE = -1


def missing() -> list[str]:
    """Names that this Triton no longer has."""
    from triton.runtime import interpreter

    return [
        f"{owner}.{name}" if name else owner
        for owner, names in NEEDED.items()
        for name in names or ("",)
        if not hasattr(getattr(interpreter, owner, None) if name else interpreter, name or owner)
    ]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How strict, and the experiments that tell one mistake from another.

    fill: of masked lanes that name no `other`: `large`, or a number. other: instead of every
    `other` that a kernel names. outside: what a load outside gives. more: programs in surplus.
    """

    fill: float | str = math.nan
    other: float | None = None
    outside: float = math.nan
    backwards: bool = False
    more: bool = False


@dataclass
class Region:
    """The memory of one tensor. owner: of each element, the last program to store it."""

    low: int
    high: int
    item: int
    tensor: Tensor
    valid: Any
    bits: Any
    name: str = ""
    owner: Any = None
    written: Any = None
    last: Any = None
    read: Any = None
    shared: Any = None
    version: int = NONE

    @classmethod
    def of(cls, tensor: Tensor, valid: Any = None) -> Region:
        """valid: of each element, whether it may be touched; None where all may."""
        storage = tensor.untyped_storage()
        item = tensor.element_size()
        count = storage.nbytes() // item
        low = storage.data_ptr()
        flat = torch.empty(0, dtype=tensor.dtype).set_(storage)
        bits = flat.view(WHOLE[item]).numpy() if item in WHOLE else None
        region = cls(low, low + count * item, item, tensor, valid, bits)
        region.owner, region.last = (np.full(count, NONE, np.int64) for _ in range(2))
        region.written, region.read, region.shared = (np.zeros(count, bool) for _ in range(3))
        return region

    @property
    def stored(self) -> bool:
        return self.version != NONE


WHOLE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass
class Watch:
    """What was seen. path: of the file whose kernels count. regions: by address of the storage."""

    path: str
    rules: Rules = field(default_factory=Rules)
    regions: dict[int, Region] = field(default_factory=dict)
    kernels: list[str] = field(default_factory=list)
    own: bool = False
    outside: list[Outside] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    stores: int = 0
    unfilled: int = 0
    named: int = 0
    in_flight: int = 0
    pending: int = 0
    sectors: int = 0
    least: int = 0
    grid: tuple[int, ...] = ()
    program: tuple[int, ...] = ()
    _low: Any = None
    _order: list[Region] = field(default_factory=list)

    def add(self, tensor: Tensor, valid: Any = None, name: str = "") -> None:
        storage = tensor.untyped_storage()
        if storage.nbytes() and storage.data_ptr() not in self.regions:
            self.regions[storage.data_ptr()] = Region.of(tensor, valid)
        if storage.nbytes():
            region = self.regions[storage.data_ptr()]
            region.name = name or region.name

    def launch(self, name: str) -> None:
        """name: of a kernel of the file; empty for any other's, whose stores do not count."""
        self.kernels += [name] if name else []
        self.own = bool(name)
        self._order = sorted(self.regions.values(), key=lambda region: region.low)
        self._low = np.array([region.low for region in self._order], np.uint64)
        for region in self._order:
            region.owner.fill(NONE)

    def end(self) -> None:
        for region in self._order:
            if self.own and (region.owner != NONE).any():
                region.version = region.tensor._version

    @property
    def number(self) -> int:
        """Of the program, counted through the grid."""
        x, y, z = self.program
        return (x * self.grid[1] + y) * self.grid[2] + z

    def place(self, number: int) -> tuple[int, ...]:
        """A program's indices, those of a grid's trailing ones left out."""
        x, rest = divmod(int(number), self.grid[1] * self.grid[2])
        whole = (x, *divmod(rest, self.grid[2]))
        used = max((n + 1 for n, size in enumerate(self.grid) if size > 1), default=1)
        return whole[:used]


def line_in(path: str) -> int:
    """The line of that file which is being run; 0 where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0


@dataclass
class Part:
    """The lanes of one access that lie in one tensor. index: of elements."""

    region: Region
    lanes: Any
    index: Any


class Access:
    """One load or store: which lanes are on, and where they go."""

    def __init__(self, watch: Watch, pointers: Any, mask: Any, item: int, what: str) -> None:
        self.watch, self.item, self.what = watch, item, what
        self.pointers = np.asarray(pointers)
        self.mask = np.array(np.broadcast_to(mask, self.pointers.shape))
        self.parts: list[Part] = []
        self._sort()

    def _sort(self) -> None:
        """Lanes to the tensors they touch; those that touch none are noted, and put out."""
        lanes = np.nonzero(self.mask.ravel())[0]
        at = self.pointers.ravel()[lanes]
        if not lanes.size:
            return
        homes = np.searchsorted(self.watch._low, at, side="right").astype(np.int64) - 1
        bad = np.ones(lanes.size, bool)
        for number in np.unique(homes[homes >= 0]):
            region = self.watch._order[number]
            here = homes == number
            inside = here & (at + np.uint64(self.item) <= np.uint64(region.high))
            index = ((at - np.uint64(region.low)) // np.uint64(region.item)).astype(np.int64)
            if region.valid is not None:
                safe = np.where(inside, index, 0)
                inside &= region.valid[safe]
            bad &= ~inside
            self.parts.append(Part(region, lanes[inside], index[inside]))
        if bad.any():
            self._note(at[bad])
            flat = self.mask.ravel()
            flat[lanes[bad]] = False
            self.mask = flat.reshape(self.mask.shape)

    def _note(self, at: Any) -> None:
        if len(self.watch.outside) >= MOST or not self.watch._order:
            return
        first = int(at[0])
        near = min(
            self.watch._order,
            key=lambda r: (
                0 if r.low <= first < r.high else min(abs(first - r.low), abs(first - r.high))
            ),
        )
        self.watch.outside.append(
            Outside(
                what=self.what,
                argument=near.name,
                index=(first - near.low) // near.item,
                size=(near.high - near.low) // near.item,
                lanes=int(at.size),
                program=self.watch.place(self.watch.number),
                line=line_in(self.watch.path),
            )
        )

    def load(self) -> None:
        watch = self.watch
        watch.pending += int(self.mask.sum()) * self.item
        self._count_sectors()
        for part in self.parts:
            part.region.read[part.index] = True
            owner = part.region.owner[part.index]
            met = (owner != NONE) & (owner != watch.number)
            if met.any():
                self._race("read", part, int(np.argmax(met)))

    def store(self, value: Any) -> None:
        watch = self.watch
        watch.stores += 1
        watch.in_flight, watch.pending = max(watch.in_flight, watch.pending), 0
        self._count_sectors()
        value = np.broadcast_to(np.asarray(value), self.pointers.shape).ravel()
        for part in self.parts:
            self._own(part, value[part.lanes])

    def _own(self, part: Part, value: Any) -> None:
        region, me = part.region, self.watch.number
        owner = region.owner[part.index]
        met = (owner != NONE) & (owner != me)
        region.shared[part.index[met]] = True
        if met.any() and region.bits is not None and value.itemsize == region.item:
            new = np.ascontiguousarray(value).view(region.bits.dtype)
            differ = met & (region.bits[part.index] != new)
            if differ.any():
                self._race("written", part, int(np.argmax(differ)))
        region.owner[part.index] = region.last[part.index] = me
        region.written[part.index] = True

    def _race(self, what: str, part: Part, lane: int) -> None:
        watch, index = self.watch, int(part.index[lane])
        if len(watch.races) < MOST:
            watch.races.append(
                Race(
                    what=what,
                    argument=part.region.name,
                    index=index,
                    first=watch.place(part.region.owner[index]),
                    second=watch.place(watch.number),
                    line=line_in(watch.path),
                )
            )

    def _count_sectors(self) -> None:
        """Of each 32 neighbouring lanes: sectors touched, and those that as many bytes need."""
        if self.pointers.size < WARP:
            return
        rows = self.pointers.ravel()[: self.pointers.size // WARP * WARP].reshape(-1, WARP)
        on = self.mask.ravel()[: rows.size].reshape(-1, WARP)
        for addresses, active in zip(rows, on, strict=True):
            at = np.unique(addresses[active]).astype(np.int64)
            if at.size:
                self.watch.sectors += np.unique(at // SECTOR).size
                span = int(at[0] % SECTOR) + at.size * self.item
                self.watch.least += -(-span // SECTOR)


def fill(kind: float | str, dtype: Any) -> Any:
    """What a lane holds that a mask put out. `large` is a third of what the dtype can hold."""
    if dtype.kind == "f":
        return np.finfo(dtype).max / 3 if kind == "large" else dtype.type(kind)
    if dtype.kind == "b":
        return dtype.type(kind == "large")
    if isinstance(kind, float) and kind == 0:
        return dtype.type(0)
    return dtype.type(np.iinfo(dtype).max // (5 if kind == "large" else 3))


@contextmanager
def strict(watch: Watch) -> Iterator[None]:
    """All launches of this process, meanwhile."""
    from triton.runtime import interpreter

    builder, executor = interpreter.interpreter_builder, interpreter.GridExecutor
    plain = {name: getattr(builder, name) for name in NEEDED["interpreter_builder"]}
    call = executor.__call__
    for name, replacement in hooks(watch, plain, interpreter).items():
        setattr(builder, name, replacement)
    executor.__call__ = launching(watch, call)
    try:
        yield
    finally:
        # What shadows the class's own methods goes.
        for name in plain:
            delattr(builder, name)
        executor.__call__ = call


def hooks(watch: Watch, plain: dict[str, Any], interpreter: Any) -> dict[str, Callable[..., Any]]:
    handle, rules = interpreter.TensorHandle, watch.rules

    def dtype_of(pointers: Any) -> tuple[Any, Any]:
        kind = pointers.get_element_ty()
        return kind, np.dtype(interpreter._get_np_dtype(kind))

    def lanes(access: Access) -> Any:
        return handle(access.mask.reshape(access.pointers.shape), interpreter.tl.int1)

    def load(pointers: Any, mask: Any, other: Any, *rest: Any, **keywords: Any) -> Any:
        kind, dtype = dtype_of(pointers)
        access = Access(watch, pointers.data, mask.data, dtype.itemsize, "load")
        access.load()
        asked = np.broadcast_to(mask.data, access.pointers.shape)
        data = np.empty(access.pointers.shape, dtype)
        if other is None:
            watch.unfilled += int(not asked.all())
            data[...] = fill(rules.fill, dtype)
        else:
            watch.named += int(not asked.all())
            data[...] = other.data if rules.other is None else fill(rules.other, dtype)
        data[asked & ~access.mask] = fill(rules.outside, dtype)
        return plain["create_masked_load"](
            pointers, lanes(access), handle(data, kind), *rest, **keywords
        )

    def store(pointers: Any, value: Any, mask: Any, *rest: Any, **keywords: Any) -> Any:
        access = Access(watch, pointers.data, mask.data, dtype_of(pointers)[1].itemsize, "store")
        access.store(value.data)
        return plain["create_masked_store"](pointers, value, lanes(access), *rest, **keywords)

    def atomic(op: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **keywords: Any) -> Any:
        access = Access(watch, pointers.data, mask.data, dtype_of(pointers)[1].itemsize, "atomic")
        together(access)
        return plain["create_atomic_rmw"](op, pointers, value, lanes(access), *rest, **keywords)

    def compare_and_swap(pointers: Any, *rest: Any, **keywords: Any) -> Any:
        on = np.ones(np.asarray(pointers.data).shape, bool)
        together(Access(watch, pointers.data, on, dtype_of(pointers)[1].itemsize, "atomic"))
        return plain["create_atomic_cas"](pointers, *rest, **keywords)

    def together(access: Access) -> None:
        """Programs may meet here: stored, and nobody's."""
        watch.stores += 1
        for part in access.parts:
            part.region.written[part.index] = True
            part.region.last[part.index] = watch.number
            if watch.own:
                part.region.version = part.region.tensor._version

    def program(x: int, y: int, z: int) -> Any:
        if rules.backwards:
            last = builder_grid()
            x, y, z = (n - 1 - i for n, i in zip(last, (x, y, z), strict=True))
        watch.grid, watch.program, watch.pending = builder_grid(), (x, y, z), 0
        return plain["set_grid_idx"](x, y, z)

    def builder_grid() -> tuple[int, ...]:
        return tuple(interpreter.interpreter_builder.grid_dim)

    return {
        "create_masked_load": load,
        "create_masked_store": store,
        "create_atomic_rmw": atomic,
        "create_atomic_cas": compare_and_swap,
        "set_grid_idx": program,
    }


def launching(watch: Watch, call: Callable[..., Any]) -> Callable[..., Any]:
    """A launch whose tensors are known by the names of their parameters."""

    def launched(executor: Any, *arguments: Any, **keywords: Any) -> Any:
        named = [*zip(executor.arg_names, arguments, strict=False), *keywords.items()]
        for name, tensor in named:
            # Triton wraps what it passes as another dtype; a descriptor holds its tensor.
            tensor = getattr(tensor, "base", tensor) if not isinstance(tensor, Tensor) else tensor
            if isinstance(tensor, Tensor):
                watch.add(tensor, name=name)
        code = inspect.unwrap(executor.fn).__code__
        mine = code.co_filename == watch.path
        watch.launch(executor.fn.__name__ if mine else "")
        grid = executor.grid
        executor.grid = (lambda given: more(grid, given)) if watch.rules.more else grid
        try:
            return call(executor, *arguments, **keywords)
        finally:
            executor.grid = grid
            watch.end()

    return launched


def more(grid: Any, given: Any) -> tuple[int, ...]:
    """Twice as many programs, and eight at least in surplus, along the first axis."""
    first, *others = grid(given) if callable(grid) else grid
    return (max(2 * first, first + 8), *others)
