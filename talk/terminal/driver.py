"""The full-screen driver: keys, signals and outcomes in, frames out."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from talk import stage
from talk.runner import Talk
from talk.terminal.guard import guarded
from talk.terminal.keyboard import PATIENCE_S, Keyboard
from talk.terminal.medium import Medium, medium_of
from talk.terminal.plain import walk
from talk.terminal.progress import PER_SECOND
from talk.terminal.screen import Canvas, Frame, draw, trouble
from talk.terminal.signals import FATAL, Ended, Signals
from talk.terminal.summary import kept_in
from talk.terminal.tty import BEGIN, END, Terminal


def present(talk: Talk) -> int:
    """Show the talk until it is quit; 0, or 128 + the signal that ended it.

    Where there is no terminal to draw on, walks every step in plain text instead.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return walk(talk)
    medium = medium_of(os.environ, sys.stdout, tty=True)
    if medium.colours is None:
        print(f"TERM={os.environ.get('TERM', '')} draws no screens: every step as plain text.\n")
        return walk(talk)
    terminal = Terminal(sys.stdin.fileno(), sys.stdout.fileno())
    with Signals() as signals:
        code = Driver(talk, terminal, medium, signals).run()
    if code == 0:
        for line in kept_in(talk.state, talk.reading).split("\n"):
            print(medium.shown(line))
    return code


class Driver:
    """One talk on one terminal."""

    def __init__(self, talk: Talk, terminal: Terminal, medium: Medium, signals: Signals) -> None:
        self._talk = talk
        self._terminal = terminal
        self._medium = medium
        self._signals = signals
        self._shown: list[str] = []
        self._flush_at: float | None = None
        talk.on_shell(self._shell)

    def run(self) -> int:
        try:
            self._terminal.enter()
            self._talk.pump()
            self._paint()
            self._keyboard = Keyboard()
            while not self._talk.state.over:
                self._wait()
                self._paint()
            return 0
        except Ended as ended:
            return 128 + ended.number
        finally:
            self._terminal.leave()

    def _wait(self) -> None:
        """Until something happens, then tell the talk."""
        keys, woken = self._terminal.keys, self._signals.fd
        waited = [keys, woken, *self._talk.fds()]
        ready = select.select(waited, [], [], self._timeout())[0]
        if woken in ready:
            self._take_signals()
        self._talk.pump()
        if keys in ready:
            self._read()
        elif self._flush_at and time.monotonic() >= self._flush_at:
            self._flush_at = None
            self._press(self._keyboard.flush())

    def _timeout(self) -> float:
        """Seconds until the clock, the spinner, an unfinished key or the performer needs a look."""
        tick = 1 / PER_SECOND if self._talk.state.running or not self._talk.state.sections else 1.0
        flush = self._flush_at - time.monotonic() if self._flush_at else tick
        due = self._talk.performer.timeout()
        return max(0.0, min(tick, flush, tick if due is None else due))

    def _read(self) -> None:
        data = self._terminal.read()
        if not data:
            raise Ended(signal.SIGHUP)
        self._flush_at = time.monotonic() + PATIENCE_S
        self._press(self._keyboard.feed(data))

    def _press(self, keys: list[str]) -> None:
        for key in keys:
            if key == "c-l":
                self._shown = []
            self._talk.tell(stage.Press(key))
            self._talk.pump()

    def _take_signals(self) -> None:
        for number in self._signals.taken():
            if number in FATAL:
                raise Ended(number)
            if number == signal.SIGINT:
                self._press(["ctrl-c"])
            if number == signal.SIGCONT:
                self._terminal.enter()
            self._shown = []

    def _paint(self) -> None:
        """Only what has changed, in one synchronised update."""
        frame = self._frame()
        lines = [self._medium.text(line) for line in frame.lines]
        if lines == self._shown:
            return
        whole = len(lines) != len(self._shown)
        changed = b"".join(
            f"\x1b[{row};1H\x1b[0m\x1b[2K{line}".encode(self._medium.encoding, "replace")
            for row, line in enumerate(lines, 1)
            if whole or line != self._shown[row - 1]
        )
        self._terminal.write(BEGIN + (b"\x1b[2J" if whole else b"") + changed + END)
        self._shown = lines

    def _frame(self) -> Frame:
        """The screen of this moment; the stage learns how much of it scrolls."""
        width, height = self._terminal.size()
        canvas = Canvas(width, height, self._medium.ground)
        frame = guarded(
            lambda: draw(self._talk.state, self._talk.reading, canvas),
            lambda error: trouble(error, canvas),
        )
        if frame.extent:
            self._talk.tell(stage.Fitted(frame.rows, frame.extent, frame.scroll))
        return frame

    def _shell(self, section: int, slug: str) -> None:
        """Lend the terminal to IPython, and take it back whatever became of it."""
        self._terminal.leave()
        words = f"IPython with what the step {section}/{slug} works on; the talk waits here."
        self._terminal.fresh(self._medium.shown(words).encode(self._medium.encoding))
        self._signals.urgent = True
        try:
            self._talk.performer.shell(section, slug, self._terminal.keys)
        finally:
            self._signals.urgent = False
            self._terminal.mend()
            self._terminal.enter()
            self._shown = []
