"""One outcome, whole: whatever it holds, under its badge."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from talk.outcome import Outcome
from talk.reading import Reading
from talk.rows import Shown
from talk.terminal.badge import source
from talk.terminal.checks import checks
from talk.terminal.clean import styled, words
from talk.terminal.counters import counters
from talk.terminal.failure import failure
from talk.terminal.lowering import lowering
from talk.terminal.measurement import measurement
from talk.terminal.ruled import Ruled
from talk.terminal.typed_table import typed_table


def outcome(shown: Shown, reading: Reading, phase: str, again: str) -> Iterator[RenderableType]:
    """Blocks to be set apart by a blank line. again: what the keys offer after a failure."""
    first, *rest = [*parts(shown, reading, phase, again)] or [styled("nothing to show", "quiet")]
    yield Group(source(shown), first)
    yield from rest


def parts(shown: Shown, reading: Reading, phase: str, again: str) -> Iterator[RenderableType]:
    done = shown.outcome
    if done.failure:
        yield failure(done.failure, again)
    if done.timings:
        yield measurement(shown, phase)
    if done.table:
        yield typed_table(done.table)
    yield from counters(shown, reading)
    yield from (lowering(each) for each in done.lowerings)
    yield from said(shown)
    if done.checks:
        yield checks(done.checks)


def said(shown: Shown) -> Iterator[RenderableType]:
    """Words: of the step, of the worker, and what the step printed."""
    done = shown.outcome
    if done.text.strip():
        yield words(done.text.strip("\n"))
    if done.note.strip():
        yield words(done.note.strip(), "quiet")
    if done.output.strip():
        yield printed(done)


def printed(done: Outcome) -> RenderableType:
    """What the step printed: whole where it is the point, its length beside a measurement."""
    output = done.output.strip("\n")
    if done.failure or not done.checks:
        return Group(styled("It printed:", "quiet"), Ruled(words(output)))
    lines = output.count("\n") + 1
    return styled(f"It printed {lines:,} line{'s' * (lines > 1)}, kept in the record.", "quiet")


if __name__ == "__main__":
    from talk.terminal.made_up import READING, look_at, shown

    look_at(*outcome(shown(), READING, "rewrite", "r runs it again"))
