"""Does it compile for a named GPU? With none here, and nothing launched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from talk.attend.lesson import Lesson
from talk.attend.verdict import COMPILES, RIGHT, WRONG, Evidence, Found, Verdict
from talk.gpu.grading.load import line_of, named, words
from talk.gpu.launches import Launch, launches
from talk.gpu.lowering import _lowered_or_failed
from talk.gpu.targets import TARGETS
from talk.outcome import Lowering


def compiled(fn: Callable[..., Any], lesson: Lesson, path: str) -> Found:
    """For each target of the lesson, whether every kernel that is launched compiles."""
    try:
        caught = own(launches(fn, *inputs_of(lesson)), path)
    except BaseException as error:  # an attendee's code may raise anything
        line = line_of(error, path)
        return refused(words(error), Evidence(uncompiled=words(error), line=line))
    if not caught:
        return refused("no kernel of this file is launched", Evidence())
    for target in lesson.targets:
        lowered = [_lowered_or_failed("", launch, TARGETS[target]) for launch in caught]
        trouble = problem(lowered, lesson)
        if trouble:
            return refused(trouble, evidence(lowered, lesson))
    return Found(
        verdicts=(Verdict(kind=COMPILES, state=RIGHT, why=" and ".join(lesson.targets)),),
        cases=len(lesson.targets),
    )


def inputs_of(lesson: Lesson) -> tuple[Any, ...]:
    """Those of the full size, which cost nothing where they have no memory."""
    import torch

    case = named(lesson.case)
    torch.set_default_device("meta")
    made = case.inputs(**case.size)
    return made if isinstance(made, tuple) else (made,)


def own(caught: tuple[Launch, ...], path: str) -> list[Launch]:
    """Each kernel of the file once."""
    mine = (one for one in caught if one.kernel.fn.__code__.co_filename == path)
    return list({one.name: one for one in mine}.values())


def problem(lowered: list[Lowering], lesson: Lesson) -> str:
    for one in lowered:
        if one.failure:
            return one.failure
        if not one.fits:
            need, have = one.shared / 1024, one.shared_limit / 1024
            return (
                f"{one.kernel} needs {need:.0f} KiB of shared memory; {one.target} has {have:.0f}"
            )
    if missing(lowered, lesson):
        return f"no {lesson.instruction} in its PTX for {lowered[0].target}"
    return ""


def missing(lowered: list[Lowering], lesson: Lesson) -> bool:
    """Whether the instruction that is asked for stands in no kernel's PTX."""
    ptx = [one.counts["ptx"] for one in lowered if "ptx" in one.counts]
    names = [name for counts in ptx for name in counts]
    return bool(lesson.instruction and ptx) and not any(
        name.startswith(lesson.instruction) for name in names
    )


def evidence(lowered: list[Lowering], lesson: Lesson) -> Evidence:
    why = next((one.failure for one in lowered if one.failure), "")
    kernels = tuple(one.kernel for one in lowered)
    short = lesson.instruction if not why and missing(lowered, lesson) else ""
    return Evidence(kernels=kernels, uncompiled=why, instruction=short)


def refused(why: str, evidence: Evidence) -> Found:
    return Found(
        verdicts=(Verdict(kind=COMPILES, state=WRONG, why=why.rstrip(".")),), evidence=evidence
    )
