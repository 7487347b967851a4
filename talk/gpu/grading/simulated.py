"""Right in simulation? Every case of a lesson, twice: forwards, and backwards with other poison."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from talk.attend.lesson import Lesson
from talk.attend.verdict import Evidence, Miss, Picture
from talk.gpu.check import RELATIVE, Expected, expect, mean_size, poisoned, position, several
from talk.gpu.grading.load import in_kernel, line_of, named, words
from talk.gpu.grading.strict import Region, Rules, Watch, strict
from talk.gpu.measure import interpretable
from talk.section import Case

ACROSS, DOWN = 60, 8
"""Glyphs of a picture, at most."""

NEAR = 0.02
"""What 16 bits lose in a long sum."""

LENIENT = 2.0
"""Of 120 draws of "a mean of 100", one is beyond the tolerance in a right answer, by a fifth."""

HARD_SEED = 2026

EXPERIMENTS_S = 4.0
"""After that no further one is begun."""

FORWARDS = Rules(fill="large")
BACKWARDS = Rules(backwards=True)

Inputs = tuple[Any, ...]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Situation:
    """Inputs with a name for people. again: other ones of the same size, where it is by a size."""

    name: str
    inputs: Inputs
    again: Callable[[], Inputs]
    size: dict[str, Any] = field(default_factory=dict)


@dataclass
class Run:
    """One call, watched. given: what it was called with, after the call."""

    inputs: Inputs
    given: Inputs
    watch: Watch
    results: tuple[Any, ...] = ()
    error: BaseException | None = None


def situations(lesson: Lesson, case: Case) -> Iterator[Situation]:
    for size in lesson.sizes:
        keywords = {key: value for key, value in size.items() if key != "name"}

        def make(keywords: dict[str, Any] = keywords) -> Inputs:
            return interpretable(case.inputs(**keywords))

        yield Situation(size["name"], make(), make, keywords)
    # Always the same: they are chosen, and a right answer must not fail by the draw.
    torch.manual_seed(HARD_SEED)
    for name, inputs in case.hard():
        same = interpretable(inputs)
        yield Situation(name, same, lambda same=same: same)  # type: ignore[misc]


def simulate(fn: Function, lesson: Lesson, path: str, needed: int) -> tuple[Evidence, int]:
    """What the first case that fails shows, or the last; and how many were tried.

    needed: bytes that a program must have under way, where the lesson asks for that.
    """
    case = named(lesson.case)
    tried, evidence = 0, Evidence()
    for tried, situation in enumerate(situations(lesson, case), 1):
        evidence = tried_out(fn, lesson, case, situation, path, needed if tried == 1 else 0)
        if not evidence.fine:
            break
    return evidence, tried


def tried_out(
    fn: Function, lesson: Lesson, case: Case, situation: Situation, path: str, needed: int
) -> Evidence:
    first = run(fn, situation.inputs, path, FORWARDS)
    found = seen(first, case, situation)
    if found.fine and first.watch.kernels:
        second = run(fn, situation.again(), path, BACKWARDS)
        found = seen(second, case, situation, before=first)
        if found.fine:
            return counted(found, first.watch, lesson, needed)
        first = second
    if found.fine and found.empty:
        return found
    if found.fine:  # right, and no kernel of the file had a part in it
        return replace(found, not_stored=True)
    if found.error or found.changed or found.cached:
        return found
    return experiments(fn, lesson, case, situation, path, first, found)


def counted(found: Evidence, watch: Watch, lesson: Lesson, needed: int) -> Evidence:
    """What a right answer must keep under way, and how its lanes lie."""
    if lesson.in_flight and needed:
        found = replace(found, in_flight=watch.in_flight, needed=needed)
    if lesson.coalesced:
        found = replace(found, sectors=watch.sectors, least=watch.least)
    return found


# One call


def run(fn: Function, inputs: Inputs, path: str, rules: Rules) -> Run:
    """Call it on copies, its fresh outputs filled with NaN."""
    watch = Watch(path, rules)
    given = tuple(copied(x, watch) if isinstance(x, Tensor) else x for x in inputs)
    done = Run(inputs, given, watch)
    try:
        with strict(watch), poisoned():
            done.results = several(fn(*given))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an attendee's code may raise anything
        done.error = error
    return done


def copied(x: Tensor, watch: Watch) -> Tensor:
    """At the same strides; what lies between its rows may not be touched."""
    count = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True))
    memory = torch.zeros(count if x.numel() else 0, dtype=x.dtype)
    if x.is_floating_point():
        memory.fill_(math.nan)
    mine = memory.as_strided(x.shape, x.stride()) if x.numel() else torch.empty_like(x)
    mine.copy_(x)
    valid = np.zeros(memory.numel(), bool)
    if x.numel():
        valid[offsets(mine)] = True
    watch.add(mine, None if valid.all() else valid)
    return mine


def offsets(x: Tensor) -> Any:
    """Of each element, counted from the start of the storage."""
    count = x.untyped_storage().nbytes() // x.element_size()
    every = torch.arange(count).as_strided(x.shape, x.stride(), x.storage_offset())
    return every.reshape(-1).numpy()


# What it shows


def seen(done: Run, case: Case, situation: Situation, before: Run | None = None) -> Evidence:
    watch = done.watch
    base = Evidence(
        case=situation.name,
        kernels=tuple(dict.fromkeys(watch.kernels)),
        stored=watch.stores > 0,
        outside=tuple(watch.outside),
        races=tuple(watch.races),
        empty=any(isinstance(x, Tensor) and not x.numel() for x in done.inputs),
        halves=any(isinstance(x, Tensor) and x.dtype == torch.float16 for x in done.inputs),
    )
    if done.error is not None:
        return replace(
            base,
            error=words(done.error),
            line=line_of(done.error, watch.path),
            kernel_error=in_kernel(done.error),
        )
    changed = [
        n for n, pair in enumerate(zip(done.inputs, done.given, strict=True), 1) if altered(*pair)
    ]
    base = replace(base, changed=changed[0] if changed else 0, unread=unread(done))
    if before is not None and same_memory(done, before):
        return replace(base, cached=True)
    # After the call, from inputs that it never had: nothing to look up.
    expected = expect(case, done.inputs)
    return compared(base, done, expected)


def altered(before: Any, after: Any) -> bool:
    if not isinstance(before, Tensor):
        return False
    return before.shape != after.shape or not torch.equal(
        before.nan_to_num(7.5, 8.5, 9.5), after.nan_to_num(7.5, 8.5, 9.5)
    )


def unread(done: Run) -> tuple[str, ...]:
    """Inputs of which a kernel read a part, and a part no program did."""
    regions = done.watch.regions
    tensors = [x for x in done.given if isinstance(x, Tensor) and x.numel()]
    homes = [(x, regions[x.untyped_storage().data_ptr()]) for x in tensors]
    read = [(region, region.read[offsets(x)]) for x, region in homes]
    return tuple(region.name for region, marks in read if marks.any() and not marks.all())


def same_memory(now: Run, before: Run) -> bool:
    """Whether a result is that of the call before, which is still held: nothing new was made."""
    places = {place for x in before.results if (place := address(x))}
    return any(address(x) in places for x in now.results) or not now.watch.kernels


def address(x: Any) -> int:
    return int(x.untyped_storage().data_ptr()) if isinstance(x, Tensor) else 0


def compared(base: Evidence, done: Run, expected: Expected) -> Evidence:
    """Against the reference: the first result that is wrong, or not a kernel's own."""
    results, wanted = done.results, expected.results
    if len(results) != len(wanted):
        return replace(base, odd=f"{len(results)} results, expected {len(wanted)}")
    for number, (got, want, dtype) in enumerate(zip(results, wanted, expected.dtypes, strict=True)):
        odd = oddity(got, want, dtype)
        if odd:
            return replace(base, odd=odd)
        found = wrongs(base, done, number, got, want, expected)
        if not found.fine:
            return found
    return base


def oddity(got: Any, want: Tensor, dtype: torch.dtype) -> str:
    if not isinstance(got, Tensor):
        return f"it returns {'nothing' if got is None else type(got).__name__}, not a tensor"
    if got.shape != want.shape:
        return f"its shape is {tuple(got.shape)}, expected {tuple(want.shape)}"
    if got.dtype != dtype:
        return f"its dtype is {str(got.dtype)[6:]}, expected {str(dtype)[6:]}"
    return ""


def wrongs(
    base: Evidence, done: Run, number: int, got: Tensor, want: Tensor, expected: Expected
) -> Evidence:
    bad = wrong_elements(got, want, expected)
    region = done.watch.regions.get(address(got))
    mine = region is not None and region.stored and region.item == got.element_size()
    if not mine or region is None:
        values = told_of(base, done, number, got, want, bad, None)
        untouched = torch.full_like(bad, not done.watch.stores)
        drawn = picture(bad, untouched) if values.wrong else None
        return replace(values, not_stored=got.numel() > 0, picture=drawn)
    late = region.version != got._version
    at = offsets(got)
    missing = torch.from_numpy(~region.written[at]).reshape(got.shape)
    found = told_of(base, done, number, got, want, bad | missing, region)
    return replace(
        found,
        not_stored=late,
        unwritten=int(missing.sum()),
        alone=lonely(region.written[at]),
        overlapped=int(region.shared[at].sum()),
        picture=picture(bad, missing) if found.wrong else None,
    )


def wrong_elements(got: Tensor, want: Tensor, expected: Expected) -> Tensor:
    """As `talk.gpu.check.compare` has it, element by element, and more leniently."""
    relative = expected.relative
    if not expected.stated:
        relative = max(relative, RELATIVE.get(got.dtype, 0.0))
    have, need = got.double(), want.to(got.dtype).double()
    allowed = LENIENT * relative * (want.double().nan_to_num(0.0, 0.0, 0.0).abs() + mean_size(want))
    same = (have == need) | (have.isnan() & need.isnan())
    return ~(same | ((have - need).abs() <= allowed))


def told_of(
    base: Evidence, done: Run, number: int, got: Tensor, want: Tensor, bad: Tensor,
    region: Region | None,
) -> Evidence:  # fmt: skip
    count = int(bad.sum())
    if not count:
        return base
    flat = int(torch.argmax(bad.reshape(-1).int()))
    owner = region.last[offsets(got)[flat]] if region is not None else -1
    have, need = got.double().reshape(-1), want.double().reshape(-1)
    miss = Miss(
        index=tuple(position(flat, got.shape)),
        shape=tuple(got.shape),
        expected=f"{float(need[flat]):.6g}",
        got=f"{float(have[flat]):.6g}",
        program=done.watch.place(owner) if owner >= 0 else (),
        result=number + 1 if len(done.results) > 1 else 0,
    )
    return replace(
        base,
        miss=miss,
        wrong=count,
        total=got.numel(),
        nonfinite=int((~got.isfinite() & want.isfinite() & bad).sum()),
        near=nearly(have, need),
        ratio=constant_ratio(have, need),
    )


def nearly(got: Tensor, want: Tensor) -> bool:
    """Right but for what 16 bits lose."""
    off = (got - want).abs() <= NEAR * (want.abs() + mean_size(want))
    return bool((off | (got == want)).all())


def constant_ratio(got: Tensor, want: Tensor) -> float:
    """got / expected where it is the same everywhere, and not 1; else 0."""
    there = want.abs() > 1e-3 * mean_size(want)
    ratios = (got / want)[there]
    if ratios.numel() < 4 or not bool(ratios.isfinite().all()):
        return 0.0
    middle = float(ratios.median())
    constant = float((ratios - middle).abs().max()) < 1e-3 * max(abs(middle), 1e-9)
    return middle if constant and abs(middle - 1) > 1e-2 else 0.0


def lonely(written: Any) -> bool:
    """Whether most stored elements have no stored neighbour."""
    flat = np.asarray(written).ravel()
    if flat.size < 3 or flat.all() or not flat.any():
        return False
    padded = np.pad(flat, 1)
    single = flat & ~padded[:-2] & ~padded[2:]
    return bool(single.sum() > flat.sum() / 2)


def picture(bad: Tensor, missing: Tensor) -> Picture:
    """The errors of a result, seen from afar; dimensions before the last are rows."""
    wide = bad.dim() > 1
    shape = (bad.numel() // max(1, bad.shape[-1]), bad.shape[-1]) if wide else (1, bad.numel())
    across = max(1, -(-shape[1] // ACROSS))
    down = max(1, -(-shape[0] // DOWN))
    flags = bad.reshape(shape).int() + 2 * missing.reshape(shape).int()
    rows = tuple(
        "".join(glyph(flags[y : y + down, x : x + across]) for x in range(0, shape[1], across))
        for y in range(0, shape[0], down)
    )
    return Picture(rows=rows, cells=(across, down))


def glyph(cell: Tensor) -> str:
    if bool((cell >= 2).any()):
        return "_"
    return "x" if bool((cell == 1).any()) else "."


# Experiments: what would make it right


def experiments(
    fn: Function, lesson: Lesson, case: Case, situation: Situation, path: str, failed: Run,
    found: Evidence,
) -> Evidence:  # fmt: skip
    """The same call under another rule each; those that make it right tell what is missing."""
    until = time.monotonic() + EXPERIMENTS_S
    right = []
    for name, rules, inputs in changes(failed, found, case, situation):
        if time.monotonic() > until:
            break
        if is_right(run(fn, inputs, path, rules), case):
            right.append(name)
            break
    return replace(found, right_if=tuple(right), slip=slip(lesson, failed))


def changes(
    failed: Run, found: Evidence, case: Case, situation: Situation
) -> Iterator[tuple[str, Rules, Inputs]]:
    rules, inputs, watch = failed.watch.rules, failed.inputs, failed.watch
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    if found.outside:
        yield "outside", replace(rules, outside=0.0, fill=0.0), inputs
        yield "outside", replace(rules, outside=-math.inf, fill=-math.inf), inputs
    if found.unwritten:
        yield "programs", replace(rules, more=True), inputs
    for value in (0.0, -math.inf) if watch.unfilled else ():
        yield "fill", replace(rules, fill=value), inputs
    for value in (0.0, -math.inf) if watch.named else ():
        yield "other", replace(rules, other=value), inputs
    if any(not x.is_contiguous() for x in tensors):
        yield "contiguous", rules, changed(inputs, Tensor.contiguous)
    if found.halves:
        yield "float32", rules, changed(inputs, Tensor.float)
    if situation.size:
        yield "powers of two", rules, interpretable(case.inputs(**rounded(situation.size)))


def changed(inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Inputs:
    return tuple(change(x) if isinstance(x, Tensor) else x for x in inputs)


def rounded(size: dict[str, Any]) -> dict[str, Any]:
    """Every size up to a power of two: where no block has a lane too many."""
    return {
        k: 1 << (v - 1).bit_length() if type(v) is int and v > 1 else v for k, v in size.items()
    }


def is_right(done: Run, case: Case) -> bool:
    """The values alone."""
    if done.error is not None:
        return False
    found = compared(Evidence(), done, expect(case, done.inputs))
    return not (found.odd or found.wrong)


def slip(lesson: Lesson, failed: Run) -> str:
    """The known mistake whose result this is, element by element."""
    if not lesson.slips:
        return ""
    for cause, mistaken in named(lesson.slips).items():
        case = replace(named(lesson.case), reference=mistaken)
        # A mistake may be none that can be made of these shapes.
        with contextlib.suppress(RuntimeError, IndexError):
            if is_right(failed, case):
                return str(cause)
    return ""
