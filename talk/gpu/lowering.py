"""Lowering in a process of its own: never interpreting, and free to abort.

`python -m talk.gpu.lowering` reads one `Request` as JSON on stdin and writes, per target, one line
of JSON: the `talk.outcome.Lowering` of every kernel launched. `lower_apart` is the other side.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Thread
from typing import IO, Any

from talk.gpu.compiling import lower
from talk.gpu.launches import Launch, launches
from talk.gpu.reasons import ended, reason, sentence
from talk.gpu.targets import TARGETS, Target
from talk.outcome import Lowering
from talk.wire import dumps, from_plain

NOT_FOR_A_COMPILER = ("TRITON_INTERPRET", "TRITON_DISABLE_LINE_INFO")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to lower, by name, so that it can cross to another process.

    Either a step of `module.SECTION`: every candidate of its case. Or a launcher and the function
    that makes its inputs: dotted names within the module, through attributes and mappings
    (`add`, `ROWS.inputs`, `CANDIDATES.triton`).

    size: keywords of the inputs; the default is the case's own.
    keywords: further keywords of the launcher.
    device: where inputs are made. On `meta` a GiB costs nothing; a launcher that reads them
        needs `cpu`.
    """

    module: str
    targets: tuple[str, ...]
    step: str = ""
    function: str = ""
    inputs: str = ""
    size: dict[str, Any] = field(default_factory=dict)
    keywords: dict[str, Any] = field(default_factory=dict)
    device: str = "meta"
    timeout_s: float = 60.0


# This side: the worker


def lower_apart(request: Request) -> tuple[Lowering, ...]:
    """Lower in another process: for each target in turn, one `Lowering` per kernel launched.

    Never raises for what goes wrong over there: a kernel, a launcher or a whole process that fails
    is a `Lowering` whose `failure` says why in a sentence. Takes at most `request.timeout_s`.
    """
    with tempfile.TemporaryFile() as complaints:
        written, end = _answers(request, complaints)
        complaints.seek(0)
        heard = complaints.read().decode(errors="replace")
    rows = [from_plain(tuple[Lowering, ...], json.loads(line)) for line in written.splitlines()]
    unanswered = request.targets[len(rows) :]
    why = end if isinstance(end, str) else ended(end, heard)
    return (
        *(lowering for row in rows for lowering in row),
        *(_unanswered(name, request, why) for name in unanswered),
    )


def _unanswered(name: str, request: Request, why: str) -> Lowering:
    return _failed(name, sentence(f"No answer for {name}: {why}"), candidate=request.function)


def _answers(request: Request, complaints: IO[bytes]) -> tuple[bytes, int | str]:
    """The whole lines that the process wrote, and how it ended: an exit code, or words."""
    try:
        child = subprocess.run(
            [sys.executable, "-m", "talk.gpu.lowering"],
            input=dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=_environment(),
            timeout=request.timeout_s,
        )
    except subprocess.TimeoutExpired as late:
        written, end = late.stdout or b"", f"it took more than {request.timeout_s:g} s"
        return written[: written.rfind(b"\n") + 1], end
    except OSError as error:
        return b"", f"the compiling process did not start: {error}"
    return child.stdout[: child.stdout.rfind(b"\n") + 1], child.returncode


def _environment() -> dict[str, str]:
    """This one's, with the same modules in reach and without what would spoil a compile."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_FOR_A_COMPILER}
    return {**kept, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _failed(name: str, why: str, *, candidate: str = "", kernel: str = "") -> Lowering:
    return Lowering(
        candidate=candidate,
        kernel=kernel,
        target=name,
        registers=None,
        spills=None,
        shared=0,
        shared_limit=TARGETS[name].shared_limit if name in TARGETS else 0,
        num_warps=0,
        failure=why,
    )


# The other side


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One candidate with its launches, or the sentence that says why there are none."""

    candidate: str
    launches: tuple[Launch, ...] = ()
    failure: str = ""


def main() -> None:
    """Answer the request on stdin. What anything else prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        request = from_plain(Request, json.load(sys.stdin))
        # Should whoever asked be gone, a launcher that hangs must not stay behind.
        signal.alarm(math.ceil(request.timeout_s) + 1)
        for row in answer(request):
            print(dumps(row), file=out, flush=True)


def answer(request: Request) -> Iterator[tuple[Lowering, ...]]:
    """Per target, the lowering of every kernel launched."""
    subjects = _subjects(request)
    for name in request.targets:
        yield tuple(lowering for subject in subjects for lowering in _lowered(subject, name))


def _subjects(request: Request) -> tuple[Subject, ...]:
    try:
        _import_compiler()
        launchers, inputs = _addressed(request)
        made = _made(inputs, request)
    except Exception as error:  # the demo's code may raise anything, and all of it is an answer
        return (Subject(candidate=request.function, failure=reason(error)),)
    return tuple(_subject(name, fn, made, request.keywords) for name, fn in launchers.items())


def _import_compiler() -> None:
    """Torch and Triton, and beside torch what Triton would do first: hash its own 400 MB.

    That takes 0.3 s, and 0.8 s when the file is not in memory yet.
    """
    from triton.runtime.cache import triton_key

    hashing = Thread(target=triton_key)
    hashing.start()
    import torch  # noqa: F401

    hashing.join()
    # Not sooner: their bytecode saves 2.5 s, while that of a demo edited twice within one second
    # at the same size would hide the second edit.
    sys.dont_write_bytecode = True


def _made(inputs: Callable[..., Any], request: Request) -> tuple[Any, ...]:
    import torch

    torch.set_default_device(request.device)
    made = inputs(**request.size)
    return made if isinstance(made, tuple) else (made,)


def _addressed(request: Request) -> tuple[dict[str, Callable[..., Any]], Callable[..., Any]]:
    """The launchers by name, and the function that makes their inputs."""
    module = importlib.import_module(request.module)
    if not request.step:
        return {request.function: _at(module, request.function)}, _at(module, request.inputs)
    step = module.SECTION.step(request.step)
    size = request.size or step.case.size
    return dict(step.candidates), lambda **_: step.case.inputs(**size)


def _at(thing: Any, path: str) -> Any:
    for name in path.split("."):
        thing = thing[name] if isinstance(thing, Mapping) else getattr(thing, name)
    return thing


def _subject(
    name: str, fn: Callable[..., Any], made: tuple[Any, ...], keywords: dict[str, Any]
) -> Subject:
    try:
        caught = launches(fn, *made, **keywords)
    except Exception as error:  # as above
        return Subject(candidate=name, failure=sentence(f"{name} did not launch: {reason(error)}"))
    nothing = "" if caught else f"{name} launches no Triton kernel."
    return Subject(candidate=name, launches=caught, failure=nothing)


def _lowered(subject: Subject, name: str) -> Iterator[Lowering]:
    if subject.failure or name not in TARGETS:
        why = subject.failure or sentence(f"no target {name!r}: there is {', '.join(TARGETS)}")
        yield _failed(name, why, candidate=subject.candidate)
        return
    for launch in subject.launches:
        yield _lowered_or_failed(subject.candidate, launch, TARGETS[name])


def _lowered_or_failed(candidate: str, launch: Launch, target: Target) -> Lowering:
    mark = _stderr_mark()
    try:
        return lower(launch, target, candidate)
    except Exception as error:  # Triton raises anything from AssertionError to its own
        why = f"{launch.name} does not compile for {target.name}: "
        why = sentence(why + reason(error, _stderr_since(mark)))
        return _failed(target.name, why, candidate=candidate, kernel=launch.name)


def _stderr_mark() -> int:
    """The end of stderr where it is a file, as `lower_apart` makes it; elsewhere -1."""
    try:
        return os.lseek(2, 0, os.SEEK_END)
    except OSError:
        return -1


def _stderr_since(mark: int) -> str:
    if mark < 0:
        return ""
    return os.pread(2, 1 << 20, mark).decode(errors="replace")


if __name__ == "__main__":
    main()
