"""A talk at the presenter's pace where no screen can be drawn: Enter goes on, q ends it."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading

from rich.console import Console

from talk.runner import Talk
from talk.stage import Press
from talk.terminal.clean import styled
from talk.terminal.plain import Walk

ASKED = "Enter goes on, q ends"


class Left(Exception):
    """The presenter has had enough."""


def walk(talk: Talk) -> int:
    """Until its last step, or until it is left; always 0: what failed is on screen."""
    with contextlib.suppress(Left):
        ByLine(talk, Console()).run()
    talk.tell(Press("q"))
    return 0


class ByLine(Walk):
    """A walk that waits after every step, while the talk's clock goes on."""

    def __init__(self, talk: Talk, console: Console) -> None:
        super().__init__(talk, console)
        self._typed: queue.SimpleQueue[str] = queue.SimpleQueue()
        # Windows cannot wait for a key and for the talk at once.
        threading.Thread(target=self._read, name="typed", daemon=True).start()

    def _step(self) -> None:
        super()._step()
        self.print([styled(ASKED, "strong")])
        while self._typed.empty():
            self._wait()
        if self._typed.get().strip().lower() == "q":
            raise Left

    def _read(self) -> None:
        for line in sys.stdin:
            self._typed.put(line)
        self._typed.put("q")
