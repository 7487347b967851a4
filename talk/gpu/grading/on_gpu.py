"""Right on this GPU, and fast enough: at full size, beside the ceilings that it was measured at."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from talk.attend.lesson import Lesson
from talk.attend.verdict import FAST, NOT_RUN, ON_GPU, RIGHT, WRONG, Found, Verdict
from talk.gpu.grading.load import named
from talk.outcome import Timing
from talk.record import Ceilings
from talk.section import Case
from talk.wire import dumps, from_plain

Progress = Callable[[str, float | None], None]


def on_gpu(
    fn: Callable[..., Any], lesson: Lesson, place: str, ceilings: str, progress: Progress
) -> Found:
    """place, ceilings: of an earlier grading; measured anew where this is another GPU."""
    import torch

    if not torch.cuda.is_available():
        return without("PyTorch finds no GPU here")
    from talk.gpu import clocks, machine
    from talk.gpu.ceilings import measure_ceilings
    from talk.gpu.measure import Bench, Point, measure
    from talk.gpu.timer import QUICK, GpuTimer

    here = f"{machine.uuid()} {torch.cuda.get_device_name(0)}"
    timer = GpuTimer(machine.device(clocks.Gpu(machine.uuid())).l2_bytes)
    if here == place and ceilings:
        roofs = from_plain(Ceilings, json.loads(ceilings))
    else:
        roofs = measure_ceilings(timer, progress)
    machine.spare_memory()
    torch.set_default_device("cuda")
    case = named(lesson.case)
    found = measure(case, {"yours": fn}, Point(size=case.size), Bench(timer=timer, budget=QUICK))
    wrong = next((f"{one.inputs}: {one.message}" for one in found.checks if not one.ok), "")
    verdicts = (right(wrong), fast(found.timings, case, roofs, lesson))
    return Found(verdicts=verdicts, cases=len(found.checks), place=here, ceilings=dumps(roofs))


def without(why: str) -> Found:
    return Found(
        verdicts=tuple(Verdict(kind=kind, state=NOT_RUN, why=why) for kind in (ON_GPU, FAST))
    )


def right(wrong: str) -> Verdict:
    if wrong:
        return Verdict(kind=ON_GPU, state=WRONG, why=wrong)
    import torch

    return Verdict(kind=ON_GPU, state=RIGHT, why=torch.cuda.get_device_name(0))


def fast(timings: tuple[Timing, ...], case: Case, roofs: Ceilings, lesson: Lesson) -> Verdict:
    if not timings:
        return Verdict(kind=FAST, state=NOT_RUN, why="what is wrong is not timed")
    reached, roof = share(timings[0], case, roofs)
    why = f"{reached:.0%} of the measured {roof}, and {lesson.least_share:.0%} is asked for"
    return Verdict(kind=FAST, state=RIGHT if reached >= lesson.least_share else WRONG, why=why)


def share(timing: Timing, case: Case, roofs: Ceilings) -> tuple[float, str]:
    """Of the roof that is nearer: memory's, or the tensor cores'."""
    seconds = timing.median_ms / 1e3
    of_memory = timing.bytes / seconds / roofs.bandwidth(case.mix)
    if case.arithmetic == "fp32" or case.arithmetic not in roofs.tflops:
        return of_memory, "bandwidth"
    of_arithmetic = timing.flops / seconds / roofs.arithmetic(case.arithmetic)
    return max((of_memory, "bandwidth"), (of_arithmetic, "arithmetic"))
