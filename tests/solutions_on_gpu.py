"""The answers to the exercises on a GPU: right at full size, and their share of the ceiling.

`python -m tests.solutions_on_gpu [slug…]` prints a line for each, and fails where one is wrong or
slower than its lesson asks. With no GPU, under TRITON_INTERPRET=1, it checks the small sizes.
"""

from __future__ import annotations

import importlib
import sys

import torch

from demos.exercises import LESSONS
from talk.gpu.measure import Bench, Point, measure

# Right, and slow: what the lessons on speed begin with.
SLOW = {"starved": "still_starved", "strided": "still_strided"}


def bench():
    if not torch.cuda.is_available():
        return Bench(interpreted=True), None
    from talk.gpu import clocks, machine
    from talk.gpu.ceilings import measure_ceilings
    from talk.gpu.timer import QUICK, GpuTimer

    timer = GpuTimer(machine.device(clocks.Gpu(machine.uuid())).l2_bytes)
    ceilings = measure_ceilings(timer, lambda text, fraction: None)
    machine.spare_memory()
    torch.set_default_device("cuda")
    return Bench(timer=timer, budget=QUICK), ceilings


def entries(lesson):
    """Name → function: the solution, and what is slow."""
    folder = "demos.exercises"
    modules = {"solution": f"{folder}.solutions.{lesson.slug}"}
    if lesson.slug in SLOW:
        modules["slow"] = f"{folder}.wrong.{lesson.slug}.{SLOW[lesson.slug]}"
    return {
        name: getattr(importlib.import_module(module), lesson.entry)
        for name, module in modules.items()
    }


def share(case, timing, ceilings):
    """Of the roof that is nearer: memory's, or arithmetic's."""
    seconds = timing.median_ms / 1e3
    of_memory = timing.bytes / seconds / ceilings.bandwidth(case.mix)
    if case.arithmetic == "fp32":
        return of_memory
    return max(of_memory, timing.flops / seconds / ceilings.arithmetic(case.arithmetic))


def report(lesson, bench, ceilings):
    """One line for each candidate; whether the solution is right and fast enough."""
    module, name = lesson.case.split(":")
    case = getattr(importlib.import_module(module), name)
    size = case.size if bench.timer else case.small
    found = measure(case, entries(lesson), Point(size=size), bench)
    fine = True
    for failure in found.failures:
        print(lesson.slug, failure.reason)
    for check in found.checks:
        if not check.ok:
            fine = False
            print(lesson.slug, check.candidate, "wrong:", check.inputs, check.message)
    for timing in found.timings:
        reached = share(case, timing, ceilings)
        enough = reached >= lesson.least_share
        fine &= enough == (timing.candidate == "solution")
        asked = f"of {lesson.least_share:.2f} asked for"
        print(f"{lesson.slug} {timing.candidate}: {timing.median_ms:.3f} ms, {reached:.2f} {asked}")
    return fine and not found.failures


def main(slugs):
    here, ceilings = bench()
    asked = [lesson for lesson in LESSONS if lesson.kind == "kernel"]
    fine = [report(one, here, ceilings) for one in asked if not slugs or one.slug in slugs]
    print(f"{sum(fine)} of {len(fine)} as asked")
    return 0 if fine and all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
