"""Helpers for tests of the terminal: talks to draw, and a real pseudo-terminal with a screen."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pexpect
import pyte

from talk import stage
from talk.performer import Performer, Replayer
from talk.record import Journal, Record
from talk.runner import Talk
from talk.source import ROOT
from talk.terminal.medium import Medium
from talk.terminal.screen import Canvas, draw
from tests import records

SIZES = [(80, 24), (100, 30), (160, 45)]

KEYS = {
    "right": "\x1b[C",
    "left": "\x1bOD",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pagedown": "\x1b[6~",
    "pageup": "\x1b[5~",
    "end": "\x1b[F",
    "home": "\x1b[H",
    "escape": "\x1b",
    "f5": "\x1b[15~",
    "enter": "\r",
    "ctrl-c": "\x03",
}


def talk_of(record: Record | None = None, performer: Performer | None = None) -> Talk:
    """A replay of a record whose code still stands, its clock at 100 s."""
    held = record or records.record()
    first = held.outlines[0]
    state = stage.State(sections=held.outlines, section=first.number, slug=first.steps[0].slug)
    talk = Talk(performer or Replayer(held, "a test"), state, held, clock=lambda: 100.0)
    talk.reading = replace(talk.reading, fresh=lambda section, outcome: True)
    talk.pump()
    return talk


def press(talk: Talk, *keys: str) -> Talk:
    for key in keys:
        talk.tell(stage.Press(key))
        talk.pump()
    return talk


def at(slug: str, record: Record | None = None) -> Talk:
    """A replay whose steps were performed up to and with this one."""
    talk = talk_of(record)
    while talk.state.slug != slug or not talk.state.finished:
        press(talk, "right")
    return talk


def drawn(talk: Talk, size: tuple[int, int] = (100, 30), medium: Medium | None = None) -> list[str]:
    """The screen as lines of text; the stage is told how it fitted, as the driver does."""
    frame = draw(talk.state, talk.reading, Canvas(*size))
    talk.tell(stage.Fitted(frame.rows, frame.extent, frame.scroll))
    return [(medium or Medium()).text(line) for line in frame.lines]


def shown(talk: Talk, size: tuple[int, int] = (100, 30), medium: Medium | None = None) -> str:
    return "\n".join(drawn(talk, size, medium))


def scrolled(talk: Talk, size: tuple[int, int]) -> str:
    """Every line of a step, by scrolling through it."""
    press(talk, "home")
    seen = drawn(talk, size)
    while talk.state.scroll < talk.state.most_scroll:
        press(talk, "down")
        seen += [line for line in drawn(talk, size) if line not in seen]
    return "\n".join(seen)


def saved(folder: Path, record: Record | None = None) -> Path:
    """The record written to a folder."""
    held = record or records.record()
    journal = Journal(folder, held.machine)
    for event in held.events:
        journal.append(event)
    return folder


HOSTILE = "[bold red]{}[/] \x1b]0;pwned\x07\x1b[31m\x9b2J<script>alert(1)</script>\x07\r\x00\u202e"


def hostile(value: Any, keep: Iterable[str] = ()) -> Any:
    """The same data with an attack in every string, the fields named in `keep` apart."""
    if isinstance(value, str):
        return HOSTILE.replace("{}", value)
    if isinstance(value, Mapping):
        return {hostile(k, keep): hostile(v, keep) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(hostile(item, keep) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value) if f.name not in keep]
        return replace(value, **{name: hostile(getattr(value, name), keep) for name in names})
    return value


class Screen:
    """A command on a real pseudo-terminal, and what a terminal would show of it."""

    def __init__(
        self,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        program: Sequence[str] = (sys.executable, "-m"),
        cwd: Path = ROOT,
        **environ: str,
    ) -> None:
        inherited = {
            k: v for k, v in os.environ.items() if not re.match("LC_|LANG|NO_COLOR|COL", k)
        }
        given = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
        self.raw = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.process = pexpect.spawn(
            program[0], [*program[1:], *arguments], cwd=str(cwd), env=inherited | given,  # type: ignore[arg-type]
            dimensions=(size[1], size[0]), timeout=20,
        )  # fmt: skip
        self.process.delaybeforesend = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close(force=True)

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.process.send(KEYS.get(key, key))

    def until(self, words: str, seconds: float = 10.0) -> str:
        """The screen once it shows these words; AssertionError with what it shows instead."""
        end = time.monotonic() + seconds
        while words not in self.text or self._mid_frame():
            assert time.monotonic() < end, f"{words!r} is not on the screen:\n{self.text}"
            self._read()
        return self.text

    def heard(self, words: str, seconds: float = 10.0) -> None:
        """Wait until these words were written, wherever they have scrolled since."""
        end = time.monotonic() + seconds
        while words.encode() not in self.raw:
            assert time.monotonic() < end, f"{words!r} was never written:\n{self.text}"
            self._read()

    def settle(self) -> str:
        """The screen once nothing has come for a fifth of a second."""
        while self._read(0.2):
            pass
        return self.text

    def resize(self, width: int, height: int) -> None:
        self._screen.resize(height, width)
        self.process.setwinsize(height, width)

    def ended(self) -> int:
        """The exit status, or minus the signal, once the process has ended."""
        while self._read(5.0):
            pass
        self.process.wait()
        return (
            self.process.exitstatus
            if self.process.signalstatus is None
            else -self.process.signalstatus
        )

    def _mid_frame(self) -> bool:
        return self.raw.rfind(b"\x1b[?2026h") > self.raw.rfind(b"\x1b[?2026l")

    def _read(self, seconds: float = 0.1) -> bool:
        try:
            data = self.process.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True
