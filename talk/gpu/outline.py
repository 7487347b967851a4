"""A section as the data that driver and slides see (`talk.record.SectionOutline`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from talk.outcome import Code
from talk.record import SectionOutline, StepOutline
from talk.section import (
    Benchmark,
    Collect,
    Measure,
    Predict,
    Run,
    Section,
    Show,
    Step,
    Sweep,
    Trace,
)
from talk.source import behind, mark_shown


def outline(section: Section, module: str, claim: str, root: Path) -> SectionOutline:
    """module: dotted name. claim: one line. The exercise becomes the last step."""
    steps = tuple(of_step(step, phase, module, root) for phase, step in section.steps())
    return SectionOutline(
        number=section.number,
        title=section.title,
        minutes=section.minutes,
        module=module,
        claim=claim,
        steps=(*steps, now_you(section)),
    )


def now_you(section: Section) -> StepOutline:
    exercise = section.exercise
    return StepOutline(
        slug="now-you",
        title=f"Now you: {exercise.title}",
        phase="fuse",
        kind="now-you",
        text=exercise.task,
        minutes=exercise.minutes,
    )


def of_step(step: Step, phase: str, module: str, root: Path) -> StepOutline:
    shown = tuple(code for code in definitions(step, module, root) if code.shown)
    outlined = StepOutline(
        slug=step.slug,
        title=step.title,
        phase=phase,
        kind=step.kind,
        notes=step.notes,
        says=step.says,
        deadline_s=step.deadline_s,
        code=shown,
    )
    match step:
        case Show():
            return replace(outlined, text=step.text)
        case Predict():
            return replace(
                outlined,
                about=step.about,
                choices=dict(step.choices),
                misconception=step.misconception,
                model_says=step.model_says,
            )
        case Collect():
            return replace(outlined, picture=step.picture, of=step.of)
        case Benchmark():
            names = (name for _, candidates in step.entries for name in candidates)
            return replace(outlined, candidates=tuple(dict.fromkeys(names)))
        case Measure():
            over = dict(step.over) if isinstance(step, Sweep) else {}
            targets = step.targets if isinstance(step, Trace) else ()
            return replace(outlined, candidates=tuple(step.candidates), over=over, targets=targets)
        case _:
            return outlined


def definitions(step: Step, module: str, root: Path) -> tuple[Code, ...]:
    """Everything the step stands on; what is on screen is marked, and first."""
    names = [found for fn in shown_by(step) if (found := named(fn, root))]
    return mark_shown(behind(module, step.slug, root), names)


def shown_by(step: Step) -> Iterator[Callable[..., Any]]:
    """The functions whose text is on screen."""
    if step.show:
        yield from step.show
    elif isinstance(step, Measure):
        yield from step.candidates.values()
    elif isinstance(step, Run):
        yield step.fn


def named(fn: Any, root: Path) -> tuple[str, str] | None:
    """(path, name) of the top-level definition behind a callable; None for one from elsewhere."""
    fn = unwrapped(fn)
    code = getattr(fn, "__code__", None)
    if code is None or not Path(code.co_filename).is_relative_to(root):
        return None
    path = Path(code.co_filename).relative_to(root).as_posix()
    return path, fn.__qualname__.split(".")[0]


def unwrapped(fn: Any) -> Any:
    """Through partial, Triton's JIT, autotuner and heuristics, and `functools.wraps`."""
    while True:
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        elif not hasattr(fn, "__code__") and hasattr(fn, "fn"):
            fn = fn.fn
        else:
            return fn
