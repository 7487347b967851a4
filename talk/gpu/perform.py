"""One step → one outcome."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from talk.gpu.lowering import Request, lower_apart
from talk.gpu.measure import Bench, Measured, Point, make_inputs, measure, tune
from talk.gpu.trouble import attempt
from talk.outcome import Check, Failure, Lowering, Outcome, Prediction, Table
from talk.record import Ceilings
from talk.section import (
    Benchmark,
    Measure,
    Predict,
    Profile,
    Run,
    Step,
    Sweep,
    Trace,
    Traffic,
    Tune,
)

COMPILE_FOR = "sm_90"
"""Where no GPU is, kernels are compiled for this one: it takes them through all of Triton."""


@dataclass(frozen=True, kw_only=True)
class Stand:
    """Where a step is performed. module: of its section. ceilings: what its model computes with.

    make_room: called between the points of a sweep.
    """

    module: str
    bench: Bench
    ceilings: Ceilings | None = None
    make_room: Callable[[], None] = lambda: None

    @property
    def live(self) -> bool:
        return not self.bench.interpreted


def perform(step: Step, blank: Outcome, stand: Stand) -> Outcome:
    """`blank` filled with what the step leaves behind; a failure is part of it, never raised."""
    work = partial(performed, step, blank, stand)
    found = attempt(work, root=stand.bench.root, last=True)
    return replace(blank, failure=found) if isinstance(found, Failure) else found


def performed(step: Step, blank: Outcome, stand: Stand) -> Outcome:
    match step:
        case Predict():
            return replace(blank, prediction=predicted(step, stand.ceilings))
        case Run():
            return ran(step, blank, stand)
        case Benchmark():
            return benchmarked(step, blank, stand)
        case Measure():
            step, blank = here(step, blank, stand)
            return compared(step, blank, stand)
        case _:
            return blank


def compared(step: Measure, blank: Outcome, stand: Stand) -> Outcome:
    """What compares candidates on one case."""
    match step:
        case Trace():
            return traced(step, blank, stand)
        case Traffic():
            return counted(step, blank, stand)
        case Tune():
            return with_compiled(step, tuned(step, blank, stand), stand)
        case Sweep():
            return with_compiled(step, swept(step, blank, stand), stand)
        case Profile():
            return profiled(step, blank, stand)
        case _:
            return with_compiled(step, measured(step, blank, stand), stand)


def here(step: Measure, blank: Outcome, stand: Stand) -> tuple[Measure, Outcome]:
    """The step with the candidates that can run here, and the others named in a note."""
    if stand.live or not step.gpu_only:
        return step, blank
    kept = {n: c for n, c in step.candidates.items() if n not in step.gpu_only}
    return replace(step, candidates=kept), left_out(blank, step.gpu_only)


def left_out(blank: Outcome, names: tuple[str, ...]) -> Outcome:
    return replace(blank, note=f"left out without a GPU: {', '.join(names)}")


def predicted(step: Predict, ceilings: Ceilings | None) -> Prediction:
    if ceilings is None:
        return Prediction(model=None, reason="no ceilings were measured, here or in a recording")
    try:
        return Prediction(model=float(step.model(ceilings)))
    except LookupError as error:  # a ceiling that this machine lacks
        return Prediction(model=None, reason=str(error.args[0]))


def ran(step: Run, blank: Outcome, stand: Stand) -> Outcome:
    if step.needs_gpu and not stand.live:
        return replace(blank, note="needs a GPU")
    result = step.fn()
    if isinstance(result, Table):
        return replace(blank, table=result)
    return replace(blank, text=str(result))


def measured(step: Measure, blank: Outcome, stand: Stand) -> Outcome:
    """At the case's own size. A candidate that raised fails the step; the others are kept."""
    point = Point(size=step.case.size if stand.live else step.case.small)
    found = measure(step.case, step.candidates, point, stand.bench)
    return replace(filled(blank, found), failure=next(iter(found.failures), None))


def filled(blank: Outcome, found: Measured) -> Outcome:
    return replace(blank, checks=found.checks, timings=found.timings, clocks=found.clocks)


def swept(step: Sweep, blank: Outcome, stand: Stand) -> Outcome:
    """Point by point; one that cannot be measured is a failed check, and the sweep goes on."""
    points = tuple(points_of(step, stand.live))
    found, hardened = Measured(), set[str]()
    for n, point in enumerate(points):
        # The hard inputs have sizes of their own: once per configuration.
        configuration = str(point.keywords)
        case = replace(step.case, hard=tuple) if configuration in hardened else step.case
        bench = telling(
            stand.bench, f"{at_words(point)} ({n + 1} of {len(points)})", n / len(points)
        )
        work = partial(measure, case, step.candidates, point, bench)
        result = at_point(attempt(work, root=bench.root), step, point)
        # Until all are right: what is wrong there is wrong at every point.
        if all(check.ok for check in result.checks):
            hardened.add(configuration)
        found += result
        stand.make_room()
    return filled(blank, found)


def tuned(step: Tune, blank: Outcome, stand: Stand) -> Outcome:
    """Every configuration. The step fails where a candidate has none that runs."""
    size = step.case.size if stand.live else step.case.small
    configs = step.configs if stand.live else step.configs[:2]
    found = tune(step.case, step.candidates, size, configs, stand.bench)
    right = right_configs(found.checks)
    checks = tuple(
        with_next_config(check, right.get(check.candidate, [])) for check in found.checks
    )
    works = right.keys() >= step.candidates.keys()
    failure = None if works else next(iter(found.failures), None)
    return replace(filled(blank, replace(found, checks=checks)), failure=failure)


def right_configs(checks: Iterable[Check]) -> dict[str, list[Mapping[str, int]]]:
    """Of each candidate that has any: those of which no check failed."""
    checks = tuple(checks)
    wrong = [(check.candidate, check.at) for check in checks if not check.ok]
    found: dict[str, list[Mapping[str, int]]] = {}
    for check in checks:
        if (check.candidate, check.at) not in wrong:
            found.setdefault(check.candidate, []).append(check.at)
    return found


def with_next_config(check: Check, right: Iterable[Mapping[str, int]]) -> Check:
    """Like `with_next_smaller`: the largest configuration that works and is smaller in all."""
    if check.ok or TOO_LARGE not in check.message:
        return check
    smaller = [
        config
        for config in right
        if config.keys() == check.at.keys()
        and all(value <= check.at[name] for name, value in config.items())
    ]
    return advised(check, max(smaller, key=lambda config: sum(config.values()), default={}))


def benchmarked(step: Benchmark, blank: Outcome, stand: Stand) -> Outcome:
    """Case by case; one that cannot be measured is a failed check, and the others go on."""
    found = Measured()
    if not stand.live and step.gpu_only:
        blank = left_out(blank, step.gpu_only)
    for n, (case, every) in enumerate(step.entries):
        candidates = {
            name: candidate
            for name, candidate in every.items()
            if stand.live or name not in step.gpu_only
        }
        point = Point(size=case.size if stand.live else case.small)
        where = f"{case.name} ({n + 1} of {len(step.entries)})"
        bench = telling(stand.bench, where, n / len(step.entries))
        work = partial(measure, case, candidates, point, bench)
        result = or_failed_checks(attempt(work, root=bench.root), candidates, point)
        found += of_case(result, case.name)
        stand.make_room()
    return replace(filled(blank, found), failure=next(iter(found.failures), None))


def of_case(found: Measured, case: str) -> Measured:
    return replace(
        found,
        checks=tuple(replace(check, case=case) for check in found.checks),
        timings=tuple(replace(timing, case=case) for timing in found.timings),
    )


def counted(step: Traffic, blank: Outcome, stand: Stand) -> Outcome:
    """Checked, then the bytes of each operation; they are counted, so no GPU is needed."""
    from talk.gpu.traffic import traffic

    size = step.case.size if stand.live else step.case.small
    found = measure(step.case, step.candidates, Point(size=size), replace(stand.bench, timer=None))
    outcome = replace(blank, checks=found.checks, failure=next(iter(found.failures), None))
    if outcome.failure:
        return outcome
    stand.bench.progress("counting the bytes", None)
    inputs = make_inputs(step.case, size, interpreted=not stand.live)
    return replace(outcome, table=traffic(step.candidates, inputs, step.case.bytes_moved(*inputs)))


def telling(bench: Bench, where: str, fraction: float) -> Bench:
    """The same, its progress prefixed with where the sweep is."""
    tell = bench.progress
    return replace(bench, progress=lambda text, _: tell(f"{where}: {text}", fraction))


def at_words(point: Point) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in point.at.items())


def at_point(found: Measured | Failure, step: Sweep, point: Point) -> Measured:
    """One point of a sweep, with what to take instead where it is too large."""
    result = or_failed_checks(found, step.candidates, point)
    return replace(
        result, checks=tuple(with_next_smaller(check, step, point) for check in result.checks)
    )


def or_failed_checks(
    found: Measured | Failure, candidates: Iterable[str], point: Point
) -> Measured:
    """A whole point that failed as a failed check of every candidate."""
    if not isinstance(found, Failure):
        return found
    failed = (
        Check(
            candidate=name,
            inputs="the case's inputs",
            ok=False,
            at=point.at,
            message=found.reason,
        )
        for name in candidates
    )
    return Measured(tuple(failed))


TOO_LARGE = "one program needs"
"""How `talk.gpu.reasons` begins when a GPU has no room for a program."""


def with_next_smaller(check: Check, step: Sweep, point: Point) -> Check:
    """Beside a program that is too large for this GPU, the configuration to take instead."""
    if check.ok or TOO_LARGE not in check.message:
        return check
    smaller = {
        name: max((v for v in step.over[name] if v < value), default=None)
        for name, value in point.keywords.items()
    }
    return advised(check, {name: value for name, value in smaller.items() if value})


def advised(check: Check, config: Mapping[str, int]) -> Check:
    if not config:
        return check
    advice = ", ".join(f"{name} {value:,}" for name, value in config.items())
    needs = check.message.split(": halve")[0]
    return replace(check, message=f"{needs}; next smaller: {advice}")


def points_of(step: Sweep, live: bool) -> Iterator[Point]:
    """Every combination, the last parameter fastest; the first two values in the interpreter."""
    size = step.case.size if live else step.case.small
    over = {
        name: values if live else step.small.get(name, values[:2])
        for name, values in step.over.items()
    }
    for values in itertools.product(*over.values()):
        at = dict(zip(over, values, strict=True))
        yield Point(
            at=at,
            size={**size, **chosen(at, size, named=True)},
            keywords=chosen(at, size, named=False),
        )


def chosen(at: Mapping[str, int], size: Mapping[str, int], *, named: bool) -> dict[str, int]:
    """The parameters that the size names, or the others."""
    return {name: value for name, value in at.items() if (name in size) == named}


def profiled(step: Profile, blank: Outcome, stand: Stand) -> Outcome:
    """Checked as everything is, then seen by two profilers; neither's times are results."""
    point = Point(size=step.case.size if stand.live else step.case.small)
    found = measure(step.case, step.candidates, point, replace(stand.bench, timer=None))
    outcome = replace(blank, checks=found.checks, failure=next(iter(found.failures), None))
    if not stand.live or outcome.failure:
        return with_compiled(step, outcome, stand)
    return with_counters(step, with_kernels(step, outcome, stand), stand)


def with_kernels(step: Profile, outcome: Outcome, stand: Stand) -> Outcome:
    from talk.gpu.profiling import profile

    stand.bench.progress("watching the kernels", None)
    inputs = make_inputs(step.case, step.case.size)
    calls = {name: partial(candidate, *inputs) for name, candidate in step.candidates.items()}
    seen = profile(calls)
    return replace(
        outcome, table=seen, note="" if seen else "PyTorch's profiler saw no kernel here"
    )


def with_counters(step: Profile, outcome: Outcome, stand: Stand) -> Outcome:
    from talk.gpu.counters import counters

    stand.bench.progress("reading the hardware counters", None)
    found, reason = counters(stand.module, step.slug, step.candidates, stand.bench.root)
    return replace(outcome, counters=found, counters_reason=reason)


def with_compiled(step: Measure, outcome: Outcome, stand: Stand) -> Outcome:
    """Without a GPU: the candidates compiled, and what each kernel takes."""
    if stand.live or outcome.failure:
        return outcome
    found = lowered(step, (COMPILE_FOR,), stand)
    plain = (replace(lowering, stages=(), signature={}, counts={}) for lowering in found)
    # A kernel that is launched 32 times over is compiled, and told of, once.
    return replace(outcome, lowerings=tuple(unique(plain)))


def unique(found: Iterable[Lowering]) -> list[Lowering]:
    kept: list[Lowering] = []
    for lowering in found:
        if lowering not in kept:
            kept.append(lowering)
    return kept


def traced(step: Trace, blank: Outcome, stand: Stand) -> Outcome:
    """At every size, for every target; the GPU that is here first, where one is."""
    here = device_target() if stand.live else ()
    targets = tuple(dict.fromkeys((*here, *step.targets)))
    whole = {*here, *step.whole} if step.whole else set()
    found: list[Lowering] = []
    for size in step.sizes or (step.case.size,):
        at = dict(size) if step.sizes else {}
        for lowering in lowered(step, targets, stand, {**step.case.size, **size}):
            stages = lowering.stages if lowering.target in whole else ()
            found.append(replace(lowering, stages=stages, at=at))
    mode = blank.mode if stand.live else "compiled"
    return replace(blank, mode=mode, lowerings=tuple(found))


def device_target() -> tuple[str, ...]:
    """What Triton compiles for on this GPU, where its limits are known."""
    from talk.gpu.machine import target
    from talk.gpu.targets import TARGETS

    return tuple(name for name in (target(),) if name in TARGETS)


def kernel_free(lowering: Lowering) -> bool:
    """Whether the candidate launches no kernel of ours, as PyTorch's own operations do."""
    return not lowering.kernel and lowering.failure.endswith("launches no Triton kernel.")


def lowered(
    step: Measure,
    targets: tuple[str, ...],
    stand: Stand,
    size: Mapping[str, int] | None = None,
) -> tuple[Lowering, ...]:
    """In a process that never interprets."""
    stand.bench.progress(f"compiling for {', '.join(targets)}", None)
    point = compiled_at(step)
    request = Request(
        module=stand.module,
        step=step.slug,
        targets=targets,
        size=dict(size or point.size),
        keywords=dict(point.keywords),
        timeout_s=step.deadline_s / 2,
    )
    return tuple(lowering for lowering in lower_apart(request) if not kernel_free(lowering))


def compiled_at(step: Measure) -> Point:
    """A sweep is compiled at its last point, what is tuned with its first configuration."""
    match step:
        case Sweep():
            return tuple(points_of(step, live=True))[-1]
        case Tune():
            return Point(size=step.case.size, keywords=step.configs[0])
        case _:
            return Point(size=step.case.size)
