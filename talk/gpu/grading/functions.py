"""Right? A plain function against answers that are known. Neither PyTorch nor Triton is needed."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from talk.attend.lesson import Lesson
from talk.attend.verdict import Evidence
from talk.gpu.grading.load import line_of, words

RELATIVE = 1e-9


def answered(fn: Callable[..., Any], lesson: Lesson, path: str) -> tuple[Evidence, int]:
    """What the first wrong answer shows; and how many were asked for."""
    tried = 0
    for tried, (arguments, answer, name) in enumerate(lesson.checks, 1):
        found = asked(fn, arguments, answer, name, path)
        if not found.fine:
            return found, tried
    return Evidence(), tried


def asked(
    fn: Callable[..., Any], arguments: tuple[Any, ...], answer: Any, name: str, path: str
) -> Evidence:
    given = copy.deepcopy(arguments)
    try:
        got = fn(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an attendee's code may raise anything
        return Evidence(case=name, error=words(error), line=line_of(error, path))
    changed = [
        n for n, pair in enumerate(zip(arguments, given, strict=True), 1) if pair[0] != pair[1]
    ]
    if changed:
        return Evidence(case=name, changed=changed[0])
    return Evidence(
        case=name, odd="" if same(got, answer) else f"{shown(got)}, expected {shown(answer)}"
    )


def same(got: Any, answer: Any) -> bool:
    if isinstance(answer, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        return math.isclose(got, answer, rel_tol=RELATIVE, abs_tol=1e-15)
    return type(got) is type(answer) and bool(got == answer)


def shown(value: Any) -> str:
    if value is ...:
        return "... (nothing is there yet)"
    if value is None:
        return "it returns nothing"
    try:
        return f"{value:.6g}" if isinstance(value, float) else repr(value)[:60]
    except Exception:  # a __repr__ of the attendee's own
        return f"a {type(value).__name__}"
