"""Grade one file: simulated and compiled side by side, then on the GPU where there is one."""

from __future__ import annotations

import ast
import json
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from talk import runner
from talk.attend.apart import Apart, Heard
from talk.attend.causes import Cause, cause_of
from talk.attend.lesson import Lesson
from talk.attend.request import Request
from talk.attend.verdict import (
    COMPILES,
    FAST,
    KINDS,
    NOT_RUN,
    ON_GPU,
    RIGHT,
    SIMULATED,
    WRONG,
    Evidence,
    Found,
    Verdict,
)
from talk.errors import TalkError
from talk.reading import Reading
from talk.record import write_atomically
from talk.source import ROOT

DEADLINE_S = 10.0
"""For the attendee's code in simulation, from when its file is run."""

COMPILE_S = 40.0
GPU_S = 240.0
"""The ceilings of a GPU are measured with its first exercise: some twelve seconds."""

NODES = ("/dev/nvidiactl", "/dev/kfd")
POLL_S = 0.02
TABLE = "demos.exercises"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What there is to tell of one grading. restored: the file was gone, and is back."""

    lesson: Lesson
    path: str
    verdicts: tuple[Verdict, ...]
    evidence: Evidence | None = None
    cause: Cause | None = None
    printed: str = ""
    restored: bool = False
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        """Right in simulation, and nothing that was run is wrong."""
        states = {verdict.kind: verdict.state for verdict in self.verdicts}
        return states[SIMULATED] == RIGHT and WRONG not in states.values()


@dataclass(frozen=True, kw_only=True)
class Grader:
    """table: the module with the lessons. root: what holds it. ceilings: a file to keep them in."""

    table: str = TABLE
    root: Path = ROOT
    deadline_s: float = DEADLINE_S
    ceilings: Path | None = None
    system: str = sys.platform
    doing: Callable[[str], None] = lambda words: None

    def grade(self, lesson: Lesson, file: Path, shown: str) -> Report:
        """shown: the file's name for people. Raises TalkError where it cannot be read."""
        began = time.monotonic()
        text = text_of(file, shown)
        report = self._unparsed(lesson, text, shown) or self._run(lesson, text, shown)
        restored = not file.exists()
        if restored:
            write_atomically(file, text)
        seconds = time.monotonic() - began
        return replace(report, restored=restored, seconds=round(seconds, 2))

    def _unparsed(self, lesson: Lesson, text: str, shown: str) -> Report | None:
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0) or 0
            said = getattr(error, "msg", "") or str(error)
            evidence = Evidence(error=f"{type(error).__name__}: {said}", line=line)
            wrong = Verdict(kind=SIMULATED, state=WRONG, why="it does not parse")
            return Report(
                lesson=lesson, path=shown, verdicts=complete(lesson, (wrong,)), evidence=evidence
            )
        return None

    def _run(self, lesson: Lesson, text: str, shown: str) -> Report:
        if lesson.kind == "kernel" and self.system != "linux":
            why = "Triton runs on Linux only: Windows has WSL for it, or use Colab"
            missing = tuple(Verdict(kind=kind, state=NOT_RUN, why=why) for kind in KINDS)
            return Report(lesson=lesson, path=shown, verdicts=missing)
        with tempfile.TemporaryDirectory(prefix="exercise-") as folder:
            request = self._request(lesson, text, shown, folder)
            heard = self._heard(lesson, request)
        return self._report(lesson, text, shown, heard)

    def _request(self, lesson: Lesson, text: str, shown: str, folder: str) -> Request:
        return Request(
            part="simulate",
            table=self.table,
            slug=lesson.slug,
            text=text,
            path=shown,
            folder=folder,
            nonce=secrets.token_hex(16),
            seed=secrets.randbelow(2**31),
            needed=needed_bytes() if lesson.in_flight else 0,
            deadline_s=self.deadline_s,
        )

    def _heard(self, lesson: Lesson, request: Request) -> list[Heard]:
        kernel = lesson.kind == "kernel"
        wanted = [request]
        if kernel:
            wanted.append(replace(request, part="compile", deadline_s=COMPILE_S))
        heard = self._together(wanted)
        right = all(v.state == RIGHT for one in heard for v in one.found.verdicts)
        if kernel and right and gpu_here():
            place, ceilings = kept(self.ceilings)
            on_gpu = replace(request, part="gpu", deadline_s=GPU_S, place=place, ceilings=ceilings)
            heard += self._together([on_gpu])
            keep(self.ceilings, heard[-1].found)
        return heard

    def _together(self, requests: list[Request]) -> list[Heard]:
        """All at once; what one says meanwhile is passed on."""
        with running(requests, self.root) as parts:
            heard: list[Heard | None] = [None] * len(parts)
            said = ""
            while None in heard:
                for n, part in enumerate(parts):
                    heard[n] = heard[n] or part.poll()
                    if part.doing and part.doing != said:
                        said = part.doing
                        self.doing(said)
                time.sleep(POLL_S)
        return [one for one in heard if one is not None]

    def _report(self, lesson: Lesson, text: str, shown: str, heard: list[Heard]) -> Report:
        verdicts = tuple(v for one in heard for v in one.found.verdicts)
        # What compiles is told of where the simulation found nothing.
        evidence = next((one.found.evidence for one in heard if one.found.evidence), None)
        cause = cause_of(text, evidence, lesson.entry) if evidence else None
        return Report(
            lesson=lesson,
            path=shown,
            verdicts=complete(lesson, verdicts),
            evidence=evidence,
            cause=cause,
            printed=heard[0].printed,
        )


@contextmanager
def running(requests: list[Request], root: Path) -> Iterator[list[Apart]]:
    """Processes that are gone afterwards, whatever happens here."""
    parts: list[Apart] = []
    try:
        for request in requests:
            parts.append(Apart(request, Path(request.folder), root))
        yield parts
    finally:
        for part in parts:
            part.end()


def text_of(file: Path, shown: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise TalkError(f"{shown} is not text in UTF-8.", hint="save it as UTF-8") from None
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise TalkError(f"cannot read {shown}: {said}.") from None


def complete(lesson: Lesson, found: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """All four, in order: what was not run says why."""
    by_kind = {verdict.kind: verdict for verdict in found}
    if lesson.kind == "function":
        return (by_kind[SIMULATED],)
    return tuple(by_kind.get(kind) or absent(kind, by_kind) for kind in KINDS)


def absent(kind: str, found: dict[str, Verdict]) -> Verdict:
    if kind in (ON_GPU, FAST) and not gpu_here():
        return Verdict(kind=kind, state=NOT_RUN, why="no GPU here")
    before = (
        "it compiles" if kind != COMPILES and found[SIMULATED].state == RIGHT else "it is right"
    )
    return Verdict(kind=kind, state=NOT_RUN, why=f"not before {before}")


def gpu_here() -> bool:
    return any(Path(node).exists() for node in NODES)


def needed_bytes() -> int:
    """That each program has to have under way on the recorded GPU, one for a multiprocessor."""
    reading = Reading(recording=runner.recording())
    asked = ("machine/bandwidth[2:1].gbps", "machine/latency.time", "machine/device.sms")
    gbps, seconds, count = (reading.number(reference).value or 0.0 for reference in asked)
    if not (gbps and seconds and count):
        raise TalkError("the recording has no latency, by which this exercise is graded.")
    return int(gbps * 1e9 * seconds / count)


def kept(file: Path | None) -> tuple[str, str]:
    """(GPU, its ceilings) of an earlier grading."""
    try:
        held = json.loads(file.read_text(encoding="utf-8")) if file else {}
        return str(held["place"]), str(held["ceilings"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""


def keep(file: Path | None, found: Found) -> None:
    if file and found.place and found.ceilings:
        write_atomically(file, json.dumps({"place": found.place, "ceilings": found.ceilings}))
