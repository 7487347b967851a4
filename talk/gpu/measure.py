"""Check, then time: the candidates of a case at one point."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from talk.gpu.check import Expected, Verdict, expect, judge, ratio
from talk.gpu.compiled import config_of, watched
from talk.gpu.timer import FULL, Budget, Clock, Samples, Timer, quantile, time_in_turn
from talk.gpu.trouble import attempt
from talk.outcome import Check, Clocks, Failure, Timing
from talk.section import Case
from talk.source import ROOT

SEED = 2026

MATRIX_BOUND = 15.0
"""FLOP per byte above which arithmetic decides: an H200 does 65 TFLOP/s of float32 outside its
tensor cores, and moves 4.3 TB/s."""

Candidates = Mapping[str, Callable[..., Any]]
Configs = Iterable[Mapping[str, int]]


@dataclass(frozen=True, kw_only=True)
class Point:
    """Where a measurement stands. size: of the inputs. keywords: of the candidates. at: labels."""

    size: Mapping[str, int]
    at: dict[str, int] = field(default_factory=dict)
    keywords: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """How measurements are taken. timer: None where nothing may be timed. root: of the demos.

    hot: the timer of cases with the clock `hot`. interpreted: kernels run in Triton's
    interpreter, on small inputs.
    """

    interpreted: bool = False
    timer: Timer | None = None
    hot: Timer | None = None
    root: Path = ROOT
    budget: Budget = FULL
    clock: Clock = time.monotonic
    progress: Callable[[str, float | None], None] = lambda text, fraction: None
    clocks: Callable[[], Clocks | None] = lambda: None


@dataclass(frozen=True)
class Measured:
    """failures: of candidates that raised; each has a failed check as well."""

    checks: tuple[Check, ...] = ()
    timings: tuple[Timing, ...] = ()
    failures: tuple[Failure, ...] = ()
    clocks: tuple[Clocks, ...] = ()

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.checks + other.checks,
            self.timings + other.timings,
            self.failures + other.failures,
            (self.clocks + other.clocks)[:1] + (self.clocks + other.clocks)[1:][-1:],
        )


def measure(case: Case, candidates: Candidates, point: Point, bench: Bench) -> Measured:
    """Check every candidate, time those that are right, and check these again.

    Raises what the case raises, and what leaves the device unusable.
    """
    subjects = [Subject(name, candidate, point) for name, candidate in candidates.items()]
    return compared(case, subjects, point.size, bench)


def tune(
    case: Case, candidates: Candidates, size: Mapping[str, int], configs: Configs, bench: Bench
) -> Measured:
    """Like `measure`, of every configuration: all in turn, on the same inputs."""
    points = [Point(size=size, at=dict(config), keywords=config) for config in configs]
    subjects = [
        Subject(name, candidate, point)
        for name, candidate in candidates.items()
        for point in points
    ]
    return compared(case, subjects, size, bench)


def compared(
    case: Case, subjects: list[Subject], size: Mapping[str, int], bench: Bench
) -> Measured:
    bench.progress("making the inputs", None)
    expected = expect(case, make_inputs(case, size, interpreted=bench.interpreted))
    for n, subject in enumerate(subjects):
        which = f" ({n + 1} of {len(subjects)})" if len(subjects) > 1 else ""
        bench.progress(f"checking {subject.label}{which}", n / len(subjects))
        subject.try_to_check(case, expected, bench)
    right = [subject for subject in subjects if subject.right]
    clocks: tuple[Clocks, ...] = ()
    timer = bench.hot if case.clock == "hot" else bench.timer
    if timer and right:
        clocks = time_right(case, right, expected, timer, bench)
    return Measured(
        tuple(check for subject in subjects for check in subject.checks),
        tuple(subject.timing for subject in subjects if subject.timing),
        tuple(subject.failure for subject in subjects if subject.failure),
        clocks,
    )


class Subject:
    """One candidate at one point, and what is known of it."""

    def __init__(self, name: str, candidate: Callable[..., Any], point: Point) -> None:
        self.name = name
        self.candidate = candidate
        self.point = point
        self.checks: list[Check] = []
        self.failure: Failure | None = None
        self.timing: Timing | None = None
        self.config: dict[str, int] = {}
        self.compile_ms: float | None = None

    @property
    def label(self) -> str:
        """ "triton, block 256"."""
        at = (f"{name} {value:,}" for name, value in self.point.at.items())
        return ", ".join((self.name, *at))

    def call(self, expected: Expected) -> Callable[[], Any]:
        return partial(self.candidate, *expected.inputs, **self.point.keywords)

    @property
    def right(self) -> bool:
        return all(check.ok for check in self.checks)

    def try_to_check(self, case: Case, expected: Expected, bench: Bench) -> None:
        """Like `check`; a candidate that raises is a failed check and a failure."""
        found = attempt(lambda: self.check(case, expected, bench), root=bench.root)
        if isinstance(found, Failure):
            self.fail(found, expected, bench)

    def fail(self, found: Failure, expected: Expected, bench: Bench) -> None:
        """It raised: a failed check and a failure."""
        # What it wrote into the inputs before it raised is no fault of the next one.
        attempt(expected.restore, root=bench.root)
        self.failure = replace(found, reason=f"{self.name}: {found.reason}")
        self.checks.append(
            self._check("the case's inputs", Verdict(ok=False, message=found.reason))
        )

    def check(self, case: Case, expected: Expected, bench: Bench) -> None:
        """On the inputs that will be timed, then on the case's hard ones."""
        if bench.timer:
            self._call_first(expected, bench.clock)
        self._judge("the case's inputs", expected)
        for name, inputs in case.hard():
            self._judge(name, expect(case, interpretable(inputs) if bench.interpreted else inputs))

    def try_to_check_again(self, expected: Expected, spoilt: Verdict, bench: Bench) -> None:
        found = attempt(lambda: self.check_again(expected, spoilt), root=bench.root)
        if isinstance(found, Failure):
            self.fail(found, expected, bench)

    def check_again(self, expected: Expected, spoilt: Verdict) -> None:
        """After timing: the worse of the two verdicts stands. spoilt: of the inputs till then."""
        verdict = judge(self.candidate, expected, **self.point.keywords) if spoilt.ok else spoilt
        if not verdict.ok:
            verdict = replace(verdict, message=f"after timing: {verdict.message}")
        before = self.checks[0]
        if not verdict.ok or ratio(verdict) > ratio(before):
            self.checks[0] = self._check(before.inputs, verdict)

    def _call_first(self, expected: Expected, clock: Clock) -> None:
        """The first call, apart from all others: a figure where a kernel was compiled for it."""
        finish()
        began = clock()
        with watched() as launched:
            self.candidate(*expected.inputs, **self.point.keywords)
        finish()
        self.compile_ms = (clock() - began) * 1e3 if launched.fresh else None
        self.config = config_of(launched.kernels)
        expected.restore()

    def _judge(self, inputs: str, expected: Expected) -> None:
        self.checks.append(
            self._check(inputs, judge(self.candidate, expected, **self.point.keywords))
        )

    def _check(self, inputs: str, verdict: Verdict) -> Check:
        return Check(
            candidate=self.name,
            inputs=inputs,
            ok=verdict.ok,
            at=self.point.at,
            error=verdict.error,
            tolerance=verdict.tolerance,
            message=verdict.message,
        )


def time_right(
    case: Case, subjects: list[Subject], expected: Expected, timer: Timer, bench: Bench
) -> tuple[Clocks, ...]:
    """Time in turn, then check again: what has become wrong has no timing. Clocks around it."""
    names = dict.fromkeys(subject.name for subject in subjects)
    several = f", {len(subjects)} configurations" if len(subjects) > len(names) else ""
    bench.progress(f"timing {', '.join(names)}{several}", None)
    flops, moved = case.flops(*expected.inputs), case.bytes_moved(*expected.inputs)
    before = bench.clocks()
    taken = take(subjects, expected, timer, bench, matrix_bound=flops > MATRIX_BOUND * moved)
    after = bench.clocks()
    spoilt = unspoilt(expected, len([subject for subject in subjects if subject.right]))
    for subject in subjects:
        if subject.right:
            subject.try_to_check_again(expected, spoilt, bench)
        if subject.right:
            subject.timing = timing_of(
                subject, taken[subject.label], timer.clock, bench.budget, expected
            )
            subject.timing = replace(
                subject.timing,
                bytes=moved,
                flops=flops,
                mix=case.mix,
                items=case.items(*expected.inputs),
                arithmetic=case.arithmetic,
            )
    return tuple(reading for reading in (before, after) if reading)


def take(
    subjects: list[Subject], expected: Expected, timer: Timer, bench: Bench, *, matrix_bound: bool
) -> dict[str, Samples]:
    """Samples by label. One that raises in its turn fails, and the others are timed anew."""
    left = {subject.label: subject for subject in subjects}
    while left:
        turns: list[str] = []
        timed = partial(
            time_in_turn,
            {label: subject.call(expected) for label, subject in left.items()},
            timer,
            bench.budget,
            matrix_bound=matrix_bound,
            clock=bench.clock,
            turn=turns.append,
        )
        found = attempt(timed, root=bench.root)
        if not isinstance(found, Failure):
            return found
        failed = replace(found, reason=f"while timed: {found.reason}")
        left.pop(turns[-1]).fail(failed, expected, bench)
    return {}


def unspoilt(expected: Expected, timed: int) -> Verdict:
    """Whether the inputs are as they were. Else nobody knows who of these it was, or since when."""
    changed = expected.restore()
    if not changed:
        return Verdict(ok=True)
    by = f" by one of the {timed} that were timed" if timed > 1 else ""
    return Verdict(ok=False, message=f"input {changed[0] + 1} was changed{by}")


def timing_of(
    subject: Subject, samples: Samples, clock: str, budget: Budget, expected: Expected
) -> Timing:
    return Timing(
        candidate=subject.name,
        min_ms=quantile(samples.ms, 0.0),
        p20_ms=quantile(samples.ms, 0.2),
        median_ms=quantile(samples.ms, 0.5),
        p80_ms=quantile(samples.ms, 0.8),
        n=len(samples.ms),
        bytes=0,
        mix="",
        clock=clock,
        at=subject.point.at,
        compile_ms=subject.compile_ms,
        shape=shapes(expected.inputs),
        dtype=dtypes(expected.inputs),
        seed=SEED,
        config=subject.config,
        flags=samples.flags(budget),
    )


def finish() -> None:
    """Wait for the device, where there is one."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def shapes(inputs: tuple[Any, ...]) -> str:
    """Of the input tensors, each named once: "4,096×1,024; 1,024"."""
    found = ("×".join(f"{n:,}" for n in x.shape) or "scalar" for x in tensors(inputs))
    return "; ".join(dict.fromkeys(found))


def dtypes(inputs: tuple[Any, ...]) -> str:
    return ", ".join(dict.fromkeys(str(x.dtype).removeprefix("torch.") for x in tensors(inputs)))


def tensors(inputs: tuple[Any, ...]) -> Iterator[Tensor]:
    return (x for x in inputs if isinstance(x, Tensor))


def make_inputs(
    case: Case, size: Mapping[str, int], *, interpreted: bool = False
) -> tuple[Any, ...]:
    """The case's inputs at this size, from the stated seed."""
    torch.manual_seed(SEED)
    made = case.inputs(**size)
    inputs = made if isinstance(made, tuple) else (made,)
    return interpretable(inputs) if interpreted else inputs


def interpretable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """bfloat16 widened to float32: Triton's interpreter computes on its raw bits."""
    return tuple(
        x.float() if isinstance(x, Tensor) and x.dtype == torch.bfloat16 else x for x in inputs
    )
