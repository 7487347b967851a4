"""Is it right? A candidate's result beside the reference, which is computed in higher precision."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from talk.outcome import Check
from talk.section import Case

RELATIVE = {
    torch.float64: 1e-10,
    # A sum of K terms in float32 errs by about √K · 6e-8: 1e-5 at K = 32,768.
    torch.float32: 3e-5,
    # Half a unit in the last place is 5e-4; a few operations in a row round a few times.
    torch.float16: 4e-3,
    # Half a unit in the last place is 4e-3.
    torch.bfloat16: 2.5e-2,
}
"""How far a result may be off, of its own size and, near zero, of the mean size of all."""

CHUNK = 1 << 24
"""Elements compared at once: a comparison in float64 of 2^28 would take 6 GiB."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """error, tolerance: |got - expected| and what is allowed, where they differ most."""

    ok: bool
    error: float | None = None
    tolerance: float | None = None
    message: str = ""


@dataclass(frozen=True)
class Expected:
    """What every candidate must return for these inputs, and the inputs as they were.

    stated: `relative` is the case's own word, and holds whatever the dtype of a result.
    """

    inputs: tuple[Any, ...]
    untouched: tuple[Any, ...]
    results: tuple[Tensor, ...]
    dtypes: tuple[torch.dtype, ...]
    relative: float
    stated: bool = False

    def restore(self) -> list[int]:
        """Undo what a candidate did to the inputs; their positions, where it did."""
        pairs = enumerate(zip(self.inputs, self.untouched, strict=True))
        changed = {n: pair for n, pair in pairs if differ(*pair)}
        for now, before in changed.values():
            if alike(now, before):
                now.data.copy_(before)
            else:
                now.data = before.clone()
        return list(changed)


def expect(case: Case, inputs: tuple[Any, ...]) -> Expected:
    """The reference on the inputs widened to the case's `wide` dtype; what it raises is the
    case's own error.
    """
    # Unwidened for its dtypes alone: a result of half the bytes is another result.
    dtypes = tuple(result.dtype for result in several(case.reference(*inputs)))
    wide = getattr(torch, case.wide)
    with unrounded():
        results = several(case.reference(*(widened(x, wide) for x in inputs)))
    copies = tuple(x.clone() if isinstance(x, Tensor) else x for x in inputs)
    stated = case.relative is not None
    relative = relative_of(inputs) if case.relative is None else case.relative
    return Expected(inputs, copies, results, dtypes, relative, stated)


@contextmanager
def unrounded() -> Iterator[None]:
    """float32 products are computed in float32, whatever a demo has allowed: not in TF32."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def judge(candidate: Callable[..., Any], expected: Expected, **keywords: Any) -> Verdict:
    """Run the candidate once, its fresh outputs filled with NaN before, and compare."""
    with poisoned():
        got = several(candidate(*expected.inputs, **keywords))
    worst = compare_all(got, expected)
    changed = expected.restore()
    if worst.ok and changed:
        return Verdict(ok=False, message=f"input {changed[0] + 1} was changed")
    return worst


def compare_all(got: tuple[Any, ...], expected: Expected) -> Verdict:
    """The worst verdict of all results."""
    if len(got) != len(expected.results):
        return Verdict(ok=False, message=f"{len(got)} results, expected {len(expected.results)}")
    wanted = zip(got, expected.results, expected.dtypes, strict=True)
    relative, stated = expected.relative, expected.stated
    verdicts = [compare(g, e, relative, dtype, stated=stated) for g, e, dtype in wanted]
    return max(verdicts, key=lambda v: (not v.ok, ratio(v)))


def compare(
    got: Any,
    expected: Tensor,
    relative: float,
    dtype: torch.dtype | None = None,
    *,
    stated: bool = False,
) -> Verdict:
    """|got - expected| ≤ relative · (|expected| + mean |expected|), everywhere; NaN equals NaN.

    dtype: what the result must have; None takes any. A `relative` that was not stated is no
    less than its dtype allows.
    """
    if not isinstance(got, Tensor):
        return Verdict(ok=False, message=f"expected a tensor, got {type(got).__name__}")
    if got.shape != expected.shape:
        return Verdict(
            ok=False, message=f"shape {tuple(got.shape)}, expected {tuple(expected.shape)}"
        )
    if dtype is not None and got.dtype != dtype:
        names = (str(d).removeprefix("torch.") for d in (got.dtype, dtype))
        return Verdict(ok=False, message="dtype {}, expected {}".format(*names))
    relative = relative if stated else max(relative, RELATIVE.get(got.dtype, 0.0))
    size = mean_size(expected)
    parts = [Part.of(g, e, relative, size) for g, e in chunks(got, expected)]
    return verdict(parts, got, expected)


@dataclass(frozen=True)
class Part:
    """One chunk compared. first: offset of its first wrong element, -1 where all are right."""

    wrong: int
    first: int
    error: float
    tolerance: float

    @classmethod
    def of(cls, got: Tensor, expected: Tensor, relative: float, size: float) -> Part:
        # Rounded as the result is, so that what overflows its dtype is infinite in both.
        got, expected = got.double(), expected.to(got.dtype).double()
        same = (got == expected) | (got.isnan() & expected.isnan())
        error = torch.where(same, 0.0, (got - expected).abs())
        allowed = relative * (expected.nan_to_num(0.0, 0.0, 0.0).abs() + size)
        # NaN compares as false: it is wrong unless it was expected.
        wrong = ~(same | (error <= allowed))
        at = int(torch.argmax((error / allowed.clamp_min(1e-300)).nan_to_num(torch.inf)))
        count = int(wrong.sum())
        first = int(torch.argmax(wrong.int())) if count else -1
        return cls(count, first, float(error[at]), float(allowed[at]))


def chunks(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The tensors flat and side by side, `CHUNK` elements at a time."""
    flat = (tensor.reshape(-1).split(CHUNK) for tensor in tensors if tensor.numel())
    yield from zip(*flat, strict=True)


def mean_size(expected: Tensor) -> float:
    """The mean of |expected|, what is not finite counted as zero."""
    sums = (t.double().nan_to_num(0.0, 0.0, 0.0).abs().sum() for (t,) in chunks(expected))
    total: float = sum(map(float, sums))
    return total / max(1, int(expected.numel()))


def verdict(parts: list[Part], got: Tensor, expected: Tensor) -> Verdict:
    if not parts:
        return Verdict(ok=True, error=0.0, tolerance=0.0)
    worst = max(parts, key=lambda part: (part.wrong > 0, part.error / max(part.tolerance, 1e-300)))
    wrong = sum(part.wrong for part in parts)
    return Verdict(
        ok=not wrong,
        error=finite_or_none(worst.error),
        tolerance=finite_or_none(worst.tolerance),
        message=told(parts, wrong, got, expected) if wrong else "",
    )


def told(parts: list[Part], wrong: int, got: Tensor, expected: Tensor) -> str:
    """ "3 of 4,096 wrong, first at [17]: expected 1.25, got nan"."""
    number, part = next((n, part) for n, part in enumerate(parts) if part.wrong)
    flat = number * CHUNK + part.first
    at = ", ".join(str(i) for i in position(flat, got.shape))
    want, have = (float(t.reshape(-1)[flat]) for t in (expected, got))
    return (
        f"{wrong:,} of {got.numel():,} wrong, first at [{at}]: expected {want:.6g}, got {have:.6g}"
    )


def position(flat: int, shape: Sequence[int]) -> list[int]:
    """The index that a flat offset stands for, the last dimension fastest."""
    index: list[int] = []
    for size in reversed(shape):
        flat, i = divmod(flat, size)
        index.insert(0, i)
    return index


@contextmanager
def poisoned() -> Iterator[None]:
    """Memory that PyTorch allocates uninitialised holds NaN, or the largest integer.

    `torch.utils.deterministic.fill_uninitialized_memory`, on by default, acts while
    deterministic algorithms are asked for; in the mode `warn` none is refused.
    """
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_deterministic_debug_mode(before)


def several(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def widened(x: Any, wide: torch.dtype) -> Any:
    narrower = isinstance(x, Tensor) and x.is_floating_point() and x.itemsize < wide.itemsize
    return x.to(wide) if narrower else x


def relative_of(inputs: tuple[Any, ...]) -> float:
    """The tolerance of the coarsest floating dtype among the inputs."""
    return max((RELATIVE.get(x.dtype, 0.0) for x in inputs if isinstance(x, Tensor)), default=0.0)


def differ(now: Any, before: Any) -> bool:
    """Bit by bit, so that NaN equals itself."""
    if not isinstance(now, Tensor):
        return False
    return not alike(now, before) or not torch.equal(bits(now), bits(before))


def alike(now: Tensor, before: Tensor) -> bool:
    return bool(now.shape == before.shape and now.dtype == before.dtype)


def bits(x: Tensor) -> Tensor:
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    width = x.element_size()
    return x.view(integers[width]) if width in integers and not x.is_complex() else x


def ratio(verdict: Verdict | Check) -> float:
    """The error in units of what is allowed."""
    if verdict.error is None or verdict.tolerance is None:
        return math.inf
    return verdict.error / max(verdict.tolerance, 1e-300)


def finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
