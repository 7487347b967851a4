"""Lowering in a process of its own: never interpreting, and free to abort.

`python -m talk.gpu.lowering` reads a `Request` a line as JSON on stdin and writes, per target, one
line of JSON: the `talk.outcome.Lowering` of every kernel launched. `lower_apart` is the other side.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

from talk.gpu.compiling import lower
from talk.gpu.launches import Launch, launches
from talk.gpu.process import end_with_parent
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
    The targets after one that ended the process are lowered in another.
    """
    found: list[tuple[Lowering, ...]] = []
    until = time.monotonic() + request.timeout_s
    while len(found) < len(request.targets):
        left = replace(
            request,
            targets=request.targets[len(found) :],
            timeout_s=max(until - time.monotonic(), 0.1),
        )
        compiler = compiler_of(left)
        rows, why = compiler.answers(left)
        found += rows
        # One that was kept may have ended since: the first target is not to blame for that.
        if why and not (compiler.kept and not rows and time.monotonic() < until):
            lost = left.targets[len(rows) :]
            lost = lost if time.monotonic() >= until else lost[:1]
            found += [(_unanswered(name, request, why),) for name in lost]
    return tuple(lowering for row in found for lowering in row)


def _unanswered(name: str, request: Request, why: str) -> Lowering:
    return _failed(name, sentence(f"No answer for {name}: {why}"), candidate=request.function)


_kept: list[Compiler] = []


def compiler_of(request: Request) -> Compiler:
    """The process that is kept for further requests: importing torch and Triton takes 2 s.

    Another one where it has ended, or where a module that it may have imported was edited.
    """
    stamp = sources(request.module)
    if _kept and (_kept[0].ended or _kept[0].stamp != stamp):
        _kept.pop().end()
    if not _kept:
        _kept.append(Compiler(stamp))
    else:
        _kept[0].kept = True
    return _kept[0]


@atexit.register
def end_compiler() -> None:
    """End the process that is kept, if there is one."""
    while _kept:
        _kept.pop().end()


def sources(module: str) -> frozenset[tuple[str, int, int]]:
    """(path, time of change, size) of each file beside a module and below."""
    top = importlib.util.find_spec(module.split(".")[0])
    folders = (top.submodule_search_locations or ()) if top else ()
    files = (path for folder in folders for path in Path(folder).rglob("*.py"))
    stats = ((str(path), path.stat()) for path in files)
    return frozenset((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)


class Compiler:
    """The other process. stamp: of the sources it may have imported. kept: it has served before."""

    def __init__(self, stamp: frozenset[tuple[str, int, int]]) -> None:
        self.stamp = stamp
        self.kept = False
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._child: subprocess.Popen[bytes] | None = None
        self._problem = ""
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "talk.gpu.lowering"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=_environment(),
            )
        except OSError as error:
            self._problem = f"the compiling process did not start: {error}"

    @property
    def ended(self) -> bool:
        return self._child is None or self._child.poll() is not None

    def _stop(self) -> None:
        if self._child:
            self._child.kill()
            self._child.wait()

    def end(self) -> None:
        self._stop()
        if self._child:
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._complaints.close()

    def answers(self, request: Request) -> tuple[list[tuple[Lowering, ...]], str]:
        """A row for each target, and why there are no more of them, or nothing."""
        if self._child is None:
            return [], self._problem
        heard = os.fstat(self._complaints.fileno()).st_size
        try:
            rows, in_time = self._asked(self._child, request)
        except BaseException:
            self._stop()  # else its late answer would be taken for that of the next request
            raise
        if len(rows) == len(request.targets):
            return rows, ""
        if not in_time:
            self._stop()
            return rows, f"it took more than {request.timeout_s:.3g} s"
        said = os.pread(self._complaints.fileno(), 1 << 20, heard)
        return rows, ended(self._child.wait(), said.decode(errors="replace"))

    def _asked(
        self, child: subprocess.Popen[bytes], request: Request
    ) -> tuple[list[tuple[Lowering, ...]], bool]:
        """The rows that came, and whether the process said or ended all of it in time."""
        assert child.stdin and child.stdout
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(dumps(request).encode() + b"\n")
            child.stdin.flush()
        out, waiting, lines = child.stdout.fileno(), b"", list[bytes]()
        until = time.monotonic() + request.timeout_s
        some, ready = b"", [out]
        while len(lines) < len(request.targets):
            ready, _, _ = select.select([out], [], [], max(until - time.monotonic(), 0.0))
            some = os.read(out, 1 << 16) if ready else b""
            if not some:
                break
            *whole, waiting = (waiting + some).split(b"\n")
            lines += whole
        rows = [from_plain(tuple[Lowering, ...], json.loads(line)) for line in lines]
        return rows, bool(ready)


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
    """Answer the requests on stdin, one a line. What anything else prints goes to stderr."""
    end_with_parent()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        for line in sys.stdin:
            for row in answer(from_plain(Request, json.loads(line))):
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
    kept = {n: fn for n, fn in step.candidates.items() if n not in step.gpu_only}
    return kept, lambda **_: step.case.inputs(**size)


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
