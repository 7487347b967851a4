"""The worker's end of the pipe, and the interrupts that come past it."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Iterator
from types import FrameType

from talk import stage
from talk.gpu.trouble import Interrupted
from talk.messages import Ask, Begun, Report, decode, encode
from talk.performer import Hello


class Link:
    """Asks come in through a thread of their own, reports go out whole.

    fd: of the socket. An interrupt ends what runs inside `interruptible` and nothing else.
    """

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        # A grandchild that held the socket open would hide the worker's end.
        os.set_inheritable(fd, False)
        os.register_at_fork(after_in_child=self._socket.close)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._armed = self._sending = self._late = False
        threading.Thread(target=self._read, name="asks", daemon=True).start()

    def hello(self) -> Hello:
        return decode(Hello, self._lines.get())

    def asks(self) -> Iterator[Ask]:
        while True:
            yield decode(Ask, self._lines.get())

    def report(self, report: Report) -> None:
        # An interrupt in the middle would leave half a line behind.
        line = encode(report)
        self._sending = True
        try:
            self._socket.sendall(line)
        finally:
            self._sending = False
        if self._late:
            self._late = False
            raise Interrupted

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.report(Report(progressed=stage.Progressed(text, fraction)))

    def begin(self, deadline_s: float) -> None:
        self.report(Report(begun=Begun(deadline_s=deadline_s)))

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        self._armed = True
        try:
            yield
        finally:
            self._armed = self._late = False

    def disarm(self) -> None:
        """The interrupt may have struck before `interruptible` could."""
        self._armed = self._late = False

    def on_interrupt(self, number: int, frame: FrameType | None) -> None:
        """The handler of SIGINT."""
        if not self._armed:
            return
        if self._sending:
            self._late = True
        else:
            raise Interrupted

    def _read(self) -> None:
        with self._socket.makefile("rb") as lines:
            for line in lines:
                self._lines.put(line)
        # The driver is gone, whatever this process is doing.
        os._exit(0)
