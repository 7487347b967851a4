"""A talk whose steps take as long as a test wants: `python -m tests.slow_talk RESULTS [--auto]`.

It performs nothing: `baseline` reports and ends after two seconds, `rows` never ends by
itself, `blocks` takes one, a shell asks for one line. With --break the talk itself breaks at
the first step.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from talk import stage
from talk.errors import TalkError
from talk.outcome import Failure
from talk.runner import Talk
from tests import records

SECONDS = {"baseline": 2.0, "rows": 1e9, "blocks": 1.0}


class Slow:
    """A `talk.performer.Performer` by the clock."""

    def __init__(self) -> None:
        opened = stage.Opened("live", "a slow test", records.MACHINE)
        self._events: list[stage.Event] = [opened]
        self._running = ("", 0.0)

    def perform(self, section: int, slug: str) -> None:
        if "--break" in sys.argv:
            raise TalkError("the talk itself broke.")
        self._running = (slug, time.monotonic() + SECONDS.get(slug, 0.0))
        self._events.append(stage.Progressed("timing naive", 0.25))

    def cancel(self) -> None:
        self._arrive(Failure(kind="cancelled", reason="cancelled"))

    def shell(self, section: int, slug: str, terminal: int) -> None:
        os.write(terminal, b"\r\nthe shell of " + slug.encode() + b": \x1b[?2004h")
        line = os.read(terminal, 100)
        self._events.append(stage.Said(f"the shell was told {line.decode().strip()}"))

    def events(self) -> list[stage.Event]:
        slug, due = self._running
        if slug and time.monotonic() >= due:
            self._arrive(None)
        events, self._events = self._events, []
        return events

    def fds(self) -> tuple[int, ...]:
        return ()

    def timeout(self) -> float | None:
        if self._events:
            return 0.0
        slug, due = self._running
        return max(0.0, due - time.monotonic()) if slug else None

    def close(self) -> None:
        """Nothing to end."""

    def _arrive(self, failure: Failure | None) -> None:
        slug, _ = self._running
        self._running = ("", 0.0)
        done = next(o for o in records.outcomes() if o.step == slug)
        self._events.append(stage.Arrived(replace(done, failure=failure or done.failure)))


def main() -> int:
    held = records.record()
    state = stage.State(sections=held.outlines, section=5, slug="baseline")
    talk = Talk(Slow(), state, held, results=Path(sys.argv[1]))
    if "--auto" in sys.argv:
        from talk.terminal.plain import walk

        return walk(talk)
    from talk.terminal.driver import present

    return present(talk)


if __name__ == "__main__":
    raise SystemExit(main())
