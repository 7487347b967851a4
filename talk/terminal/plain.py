"""Every step without a key press, as plain text: for `--auto`, pipes and logs."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType

from rich.console import Console, RenderableType
from rich.text import Text

from talk.runner import Talk
from talk.stage import Address, Command
from talk.terminal.body import Scene, body
from talk.terminal.clean import clean, styled, words
from talk.terminal.growing import entries, growing
from talk.terminal.guard import guarded
from talk.terminal.header import elapsed, mode, title
from talk.terminal.medium import Line, lines_of, medium_of
from talk.terminal.screen import READABLE
from talk.terminal.summary import failed, summary
from talk.terminal.takeaway import takeaway

FIRST_S, EVERY_S = 5.0, 10.0
"""A line of progress after so long, and then at most so often."""
TWICE_S = 2.0
"""A second Ctrl-C within this ends the walk instead of one more step."""
PATIENCE_S = 0.25
"""How long a Ctrl-C waits to be noticed."""


def walk(talk: Talk, *, console: Console | None = None) -> int:
    """Perform every step and print it.

    Returns 0, or 1 when a step failed or something was not recorded, or 130 when interrupted.

    Ctrl-C cancels the running step; twice in a row it ends the walk.
    """
    walker = Walk(talk, console or Console())
    before = signal.signal(signal.SIGINT, walker.interrupt)
    try:
        walker.run()
    except KeyboardInterrupt:
        walker.print([Text("Interrupted.")])
        return 130
    finally:
        signal.signal(signal.SIGINT, before)
    return 1 if failed(talk.state, talk.reading) or talk.unrecorded else 0


def undrawn(error: Exception) -> Text:
    return words(f"This cannot be drawn: {type(error).__name__}: {error}", "missing")


class Walk:
    """One talk, walked from its first step to its last."""

    def __init__(
        self, talk: Talk, console: Console, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._talk = talk
        self._console = console
        self._clock = clock
        self._width = min(console.width, READABLE)
        self._medium = medium_of(os.environ, console.file, tty=console.is_terminal)
        self._interrupted = float("-inf")
        self._cancelling = False
        self._said: set[str] = set()

    def run(self) -> None:
        while self._talk.state.mode == "starting" or not self._talk.state.sections:
            self._wait()
        self.print([mode(self._talk.state)])
        section, address = 0, self._following(None)
        while address:
            self._talk.tell(Command("go", *address))
            if address[0] != section:
                self.print([title(self._talk.state)])
            self._step()
            section, address = address[0], self._following(address)
        found = entries(self._talk.state, self._talk.reading)
        table = [growing(found)] if found else []
        self.print([*table, summary(self._talk.state, self._talk.reading)])
        if self._talk.unrecorded:
            self.print([words(self._talk.unrecorded, "missing")])

    def print(self, blocks: Iterable[RenderableType]) -> None:
        """Each block, and a blank line after it."""
        for block in blocks:
            for line in guarded(partial(self._lines, block), self._trouble):
                self._console.file.write(self._medium.text(line).rstrip() + "\n")
            self._console.file.write("\n")
        self._console.file.flush()

    def _lines(self, block: RenderableType) -> list[Line]:
        return lines_of(block, self._width, ground=self._medium.ground)

    def _trouble(self, error: Exception) -> list[Line]:
        return self._lines(undrawn(error))

    def _following(self, address: Address | None) -> Address | None:
        """The step after, as the outlines stand now: a file may be edited meanwhile."""
        addresses = self._talk.state.addresses
        at = addresses.index(address) + 1 if address in addresses else 0
        return addresses[at] if at < len(addresses) else None

    def _step(self) -> None:
        """Perform the step where the talk stands, and print it with its take-away."""
        heading, *_ = self._blocks()
        self.print([heading])
        if not (self._talk.state.finished or self._talk.state.running):
            self._talk.tell(Command("run", *self._talk.state.address))
        self._until_done()
        said = takeaway(self._talk.state, self._talk.reading)
        self.print([*self._blocks()[1:], *([said] if said else [])])

    def _blocks(self) -> list[RenderableType]:
        """The step's heading, and what there is to show under it."""
        state = self._talk.state
        assert state.outline is not None and state.step is not None
        scene = Scene(state, self._talk.reading, state.outline, state.step)
        return guarded(lambda: list(body(scene)), lambda error: [Text(), undrawn(error)])

    def _until_done(self) -> None:
        say_at, said = self._clock() + FIRST_S, ""
        while self._talk.state.running:
            self._wait()
            state, now = self._talk.state, self._clock()
            if state.running and now >= say_at and state.progress != said:
                said, say_at = state.progress, now + EVERY_S
                self.print(
                    [styled(f"  … {elapsed(state.now - state.since)}  {clean(said)}", "quiet")]
                )

    def _wait(self) -> None:
        """Until the performer reports, or for a short while."""
        due = self._talk.performer.timeout()
        seconds = PATIENCE_S if due is None else min(PATIENCE_S, due)
        fds = self._talk.performer.fds()
        if fds:
            select.select(fds, [], [], seconds)
        else:
            time.sleep(seconds)
        if self._cancelling:
            self._cancel()
        self._talk.pump()
        message = self._talk.state.message
        if message and message not in self._said:
            self._said.add(message)
            self.print([words(message, "strong")])

    def _cancel(self) -> None:
        if not self._talk.state.running:
            raise KeyboardInterrupt
        self._cancelling = False
        self._talk.tell(Command("cancel"))

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """A signal's handler: only a second one interrupts whatever goes on."""
        now, before = self._clock(), self._interrupted
        self._interrupted, self._cancelling = now, True
        if now - before < TWICE_S:
            raise KeyboardInterrupt
