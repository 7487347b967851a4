"""The process that runs an attendee's file: `python -m talk.gpu.grading`, asked on stdin.

Its answers go to a file that it alone knows, each with a nonce: what the attendee's code prints is
no answer. It may hang, crash or exit; the driver keeps the time and says so.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from talk.attend.lesson import Lesson
from talk.attend.request import Message, Request
from talk.attend.verdict import (
    COMPILES,
    FAST,
    NOT_RUN,
    ON_GPU,
    RIGHT,
    SIMULATED,
    WRONG,
    Evidence,
    Found,
    Verdict,
)
from talk.gpu.grading.load import line_of, module_of, named, words
from talk.wire import dumps, from_plain

MEMORY = 6 * 2**30
"""Bytes of private memory; PyTorch and Triton take one."""


def main() -> None:
    request = from_plain(Request, json.loads(sys.stdin.readline()))
    sys.argv = [request.path]
    settle(request)
    place = Path(request.folder, request.part)
    with (
        place.with_suffix(".answer").open("a", encoding="utf-8") as answers,
        place.with_suffix(".trace").open("w") as trace,
    ):
        traced(trace)
        answer(request, Telling(request, answers))
    sys.stdout.flush()
    os._exit(0)  # what the attendee left running, or to be done at the exit, is not waited for


class Telling:
    def __init__(self, request: Request, out: Any) -> None:
        self._nonce, self._out = request.nonce, out

    def __call__(self, **fields: Any) -> None:
        self._out.write(dumps(Message(nonce=self._nonce, **fields)) + "\n")
        self._out.flush()


def traced(trace: Any) -> None:
    """The line of a crash; and, when the driver asks at the end of its patience, of now.

    Asked by a signal: `dump_traceback_later` looks at a running thread from another, and crashed
    so in a loop of the interpreter.
    """
    faulthandler.enable(trace)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, trace, all_threads=False)


def settle(request: Request) -> None:
    """Ends with the driver; does not interpret what is to be compiled; has a bound on memory."""
    sys.stdin.close()
    if sys.platform == "linux":
        from talk.gpu.process import end_with_parent

        end_with_parent()
        if request.part != "gpu":
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if request.part == "simulate":
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        for name in ("TRITON_INTERPRET", "TRITON_DISABLE_LINE_INFO"):
            os.environ.pop(name, None)


def answer(request: Request, tell: Callable[..., None]) -> None:
    """What was found; before that, that it began."""
    lesson = lesson_of(request)
    if lesson.kind == "kernel":
        lacking = prepared(request)
        if lacking:
            tell(begun=True, found=missed(request.part, lacking))
            return
    sys.dont_write_bytecode = True
    tell(begun=True)
    tell(found=graded(request, lesson, tell))


def lesson_of(request: Request) -> Lesson:
    lessons: tuple[Lesson, ...] = named(f"{request.table}:LESSONS")
    return next(lesson for lesson in lessons if lesson.slug == request.slug)


def prepared(request: Request) -> str:
    """Import what takes seconds, on nobody's time; what is lacking, or empty."""
    try:
        import numpy
        import torch
        import triton
        import triton.language
    except ImportError as error:
        return f"{error.name or 'PyTorch or Triton'} is not installed here"
    if request.part == "simulate":
        from talk.gpu import loops
        from talk.gpu.grading.strict import missing

        loops.mend()
        # A GPU does not warn of infinities; PyTorch's threads would fight over two cores.
        numpy.seterr(all="ignore")
        torch.set_num_threads(1)
        torch.manual_seed(request.seed)
        gone = missing()
        if gone:
            return (
                f"Triton {triton.__version__} has no {gone[0]}, which the strict simulation needs"
            )
    return ""


def missed(part: str, why: str) -> Found:
    kinds = {"simulate": (SIMULATED,), "compile": (COMPILES,), "gpu": (ON_GPU, FAST)}[part]
    return Found(verdicts=tuple(Verdict(kind=kind, state=NOT_RUN, why=why) for kind in kinds))


def graded(request: Request, lesson: Lesson, tell: Callable[..., None]) -> Found:
    try:
        module = module_of(request.text, request.path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an attendee's code may raise anything
        return failed(request.part, Evidence(error=words(error), line=line_of(error, request.path)))
    entry = getattr(module, lesson.entry, None)
    if not callable(entry):
        return failed(request.part, Evidence(error=f"there is no function {lesson.entry} in it"))
    if request.part == "simulate":
        one_configuration(module)
    if request.part == "compile":
        from talk.gpu.grading.compiled import compiled

        return compiled(entry, lesson, request.path)
    if request.part == "gpu":
        from talk.gpu.grading.on_gpu import on_gpu

        return on_gpu(
            entry, lesson, request.place, request.ceilings, lambda text, _: tell(doing=text)
        )
    return simulated(module, entry, lesson, request)


def one_configuration(module: Any) -> None:
    """Nothing is timed here: of what a kernel is tuned over, the first is taken."""
    for value in vars(module).values():
        if type(value).__name__ == "Autotuner":
            value.configs = value.configs[:1]


def simulated(module: Any, entry: Callable[..., Any], lesson: Lesson, request: Request) -> Found:
    if lesson.kind == "function":
        from talk.gpu.grading.functions import answered

        evidence, tried = answered(entry, lesson, request.path)
    else:
        from talk.gpu.grading.plain_globals import plain_globals
        from talk.gpu.grading.simulated import simulate

        # Before the first launch, with which the interpreter puts names of its own there.
        plain = plain_globals(module, request.path)
        if plain:
            return failed(request.part, Evidence(globals=plain))
        evidence, tried = simulate(entry, lesson, request.path, request.needed)
    if not evidence.fine:
        return failed(request.part, evidence, tried)
    noun = "answers" if lesson.kind == "function" else "cases"
    right = Verdict(kind=SIMULATED, state=RIGHT, why=f"{tried} {noun}")
    return Found(verdicts=(right,), cases=tried)


def failed(part: str, evidence: Evidence, tried: int = 0) -> Found:
    kind = {"simulate": SIMULATED, "compile": COMPILES, "gpu": ON_GPU}[part]
    why = evidence.error or evidence.case
    return Found(
        verdicts=(Verdict(kind=kind, state=WRONG, why=why),), evidence=evidence, cases=tried
    )


if __name__ == "__main__":
    main()
