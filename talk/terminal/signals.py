"""Signals as something to wait for beside keys and outcomes."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType

WATCHED = (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCONT)
FATAL = (signal.SIGTERM, signal.SIGHUP)


class Ended(SystemExit):
    """A signal that ends the talk; the code is 128 plus its number, as in a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


class Signals:
    """A context in which signals are collected, and a byte arrives at `fd` with each.

    urgent: while true a fatal signal raises `Ended` at once, for code that waits on its own.
    """

    def __init__(self) -> None:
        self.urgent = False
        self._got: list[int] = []
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Signals:
        self.fd, woken = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(woken, False)
        self._restore.callback(os.close, self.fd)
        self._restore.callback(os.close, woken)
        before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self._restore.callback(signal.set_wakeup_fd, before)
        for number in WATCHED:
            self._handle(number, self._arrived)
        # Taking the terminal back from a shell is a write from the background.
        self._handle(signal.SIGTTOU, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore.close()

    def taken(self) -> list[int]:
        """Signals since the last call."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, 4096)
        got, self._got = self._got, []
        return got

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None] | int) -> None:
        before = signal.signal(number, handler)
        self._restore.callback(signal.signal, number, before)

    def _arrived(self, number: int, _: FrameType | None) -> None:
        if self.urgent and number in FATAL:
            raise Ended(number)
        self._got.append(number)
