"""A grading process from this side: started, timed, heard, and ended whatever it does."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from talk.attend.request import Message, Request
from talk.attend.verdict import (
    COMPILES,
    FAST,
    NOT_RUN,
    ON_GPU,
    SIMULATED,
    WRONG,
    Evidence,
    Found,
    Verdict,
)
from talk.child import how_it_ended, with_path
from talk.source import ROOT
from talk.wire import dumps, from_plain

START_S = 90.0
"""Importing PyTorch takes a second, and a minute from a cold network disk."""

ASKED_S = 0.3
"""For the line at which it is, before it is ended."""

PRINTED = 16 * 2**20
"""Bytes of output after which a process is ended."""

SHOWN = 600
"""Characters of output that are shown: its last."""

KINDS = {"simulate": (SIMULATED,), "compile": (COMPILES,), "gpu": (ON_GPU, FAST)}


@dataclass(frozen=True)
class Heard:
    """What one process left. printed: the end of its output. doing: what it said last."""

    found: Found
    printed: str = ""


class Apart:
    """One process, in a session of its own so that all it starts can be ended with it."""

    def __init__(self, request: Request, folder: Path, table_root: Path = ROOT) -> None:
        self._request, self._folder = request, folder
        self._began: float | None = None
        self._started = time.monotonic()
        self._read = 0
        self._found: Found | None = None
        self._doing = ""
        self._out = self._file("printed").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "talk.gpu.grading"],
            cwd=table_root,
            env=with_path(os.environ, table_root, ROOT),
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as theirs:
            theirs.write(dumps(request).encode() + b"\n")

    def _file(self, kind: str) -> Path:
        return self._folder / f"{self._request.part}.{kind}"

    @property
    def doing(self) -> str:
        return self._doing

    def poll(self) -> Heard | None:
        """What it found, or why it found nothing; None while it is at work."""
        over = self._process.poll() is not None
        self._hear()
        if self._found is not None:
            return self._heard(self._found)
        if over:
            return self._lost(self._end())
        if self._file("printed").stat().st_size > PRINTED:
            return self._lost(f"it printed more than {PRINTED >> 20} MB, and was ended")
        if self._late():
            self._ask_for_its_line()
            return self._lost(self._too_long())
        return None

    def _late(self) -> bool:
        if self._began is None:
            return time.monotonic() - self._started > START_S
        return time.monotonic() - self._began > self._request.deadline_s

    def _ask_for_its_line(self) -> None:
        """Its answer is in the trace within milliseconds, or never: in a loop in C as well."""
        if self._began is None or not hasattr(signal, "SIGUSR1"):
            return
        self._process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + ASKED_S
        trace = self._file("trace")
        while time.monotonic() < until and not line_in(trace, self._request.path):
            time.sleep(0.01)

    def _hear(self) -> None:
        """Whole lines with the nonce. Anything else in the file is not from our code."""
        path = self._file("answer")
        if not path.exists():
            return
        with path.open("rb") as answers:
            answers.seek(self._read)
            *lines, _ = answers.read().split(b"\n")
        self._read += sum(len(line) + 1 for line in lines)
        for line in lines:
            with contextlib.suppress(ValueError):
                self._take(from_plain(Message, json.loads(line)))

    def _take(self, message: Message) -> None:
        if message.nonce != self._request.nonce:
            return
        if message.begun:
            self._began = time.monotonic()
        self._doing = message.doing or self._doing
        self._found = message.found or self._found

    def _heard(self, found: Found) -> Heard:
        self.end()
        return Heard(found, self._printed())

    def _lost(self, why: str) -> Heard:
        """It came to no end of its own: wrong where the file was at work, else not run."""
        self.end()
        begun = self._began is not None
        line = line_in(self._file("trace"), self._request.path)
        state = WRONG if begun else NOT_RUN
        verdicts = tuple(
            Verdict(kind=k, state=state, why=why) for k in KINDS[self._request.part][:1]
        )
        rest = KINDS[self._request.part][1:]
        verdicts += tuple(Verdict(kind=k, state=NOT_RUN, why=why) for k in rest)
        evidence = Evidence(error=why, line=line) if begun else None
        return Heard(Found(verdicts=verdicts, evidence=evidence), self._printed())

    def _too_long(self) -> str:
        if self._began is None:
            return f"PyTorch and Triton were not imported within {START_S:.0f} s"
        return f"it was still running after {self._request.deadline_s:g} s, and was ended"

    def _end(self) -> str:
        status = self._process.wait()
        if self._began is not None and status >= 0:
            return f"it ended the whole process with exit status {status}"
        return f"its process {how_it_ended(status)}"

    def _printed(self) -> str:
        with self._file("printed").open("rb") as out:
            size = out.seek(0, os.SEEK_END)
            out.seek(max(0, size - SHOWN))
            text = out.read().decode(errors="replace")
        return f"[…] {text}" if size > SHOWN else text

    def end(self) -> None:
        """With everything that it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._out.close()


def line_in(trace: Path, path: str) -> int:
    """The innermost line of the file in what `faulthandler` wrote; 0 where there is none."""
    if not trace.exists():
        return 0
    found = re.search(rf'File "{re.escape(path)}", line (\d+)', trace.read_text(errors="replace"))
    return int(found[1]) if found else 0
