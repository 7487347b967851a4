"""The terminal itself: its modes, its size, and writing all of a frame."""

from __future__ import annotations

import contextlib
import os
import select
import termios
import tty
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# xterm's names: alternate screen, hidden cursor, no wrap at the right edge.
ENTER = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
LEAVE = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
# What a shell that died may have left on: bracketed paste, application keys, colours.
MEND = b"\x1b[?2004l\x1b[?1l\x1b>\x1b[?7h\x1b[0m"
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"
"""Synchronised output: a terminal that knows it shows the frame at once."""


@dataclass
class Terminal:
    """A terminal to read keys from and to draw on.

    Every method is harmless once the terminal has gone away.
    """

    keys: int
    screen: int
    _cooked: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        with gone_is_fine():
            self._cooked = termios.tcgetattr(self.keys)

    def size(self) -> tuple[int, int]:
        """Columns and rows; 80×24 where the terminal does not say."""
        try:
            size = os.get_terminal_size(self.screen)
        except OSError:
            return (80, 24)
        return (size.columns or 80, size.lines or 24)

    def enter(self) -> None:
        """Raw keys, Ctrl-C among them, and the alternate screen."""
        with gone_is_fine():
            tty.setraw(self.keys)
        self.write(ENTER)

    def leave(self) -> None:
        """The terminal as it was."""
        self.write(LEAVE)
        with gone_is_fine():
            termios.tcsetattr(self.keys, termios.TCSADRAIN, self._cooked)

    def fresh(self, line: bytes) -> None:
        """A page of its own for another program, below a line; what was there scrolls up."""
        self.write(b"\r\n" * self.size()[1] + b"\x1b[H" + line + b"\r\n\r\n")

    def mend(self) -> None:
        """After another program had it: its modes off, its unread keys forgotten."""
        self.write(MEND)
        with gone_is_fine():
            termios.tcflush(self.keys, termios.TCIFLUSH)

    def read(self) -> bytes:
        """What was typed; nothing once the terminal has gone away."""
        with gone_is_fine():
            return os.read(self.keys, 4096)
        return b""

    def write(self, data: bytes) -> None:
        with gone_is_fine():
            while data:
                try:
                    data = data[os.write(self.screen, data) :]
                except BlockingIOError:
                    select.select([], [self.screen], [], 1.0)


@contextlib.contextmanager
def gone_is_fine() -> Iterator[None]:
    """A closed window raises EIO or ENOTTY, which is no reason for a traceback."""
    with contextlib.suppress(OSError, termios.error):
        yield
