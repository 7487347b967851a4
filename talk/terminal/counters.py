"""Hardware counters, under a badge of their own: they need a permission that a run may lack."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType

from talk.reading import Reading
from talk.rows import Shown
from talk.terminal.badge import source
from talk.terminal.clean import styled, words
from talk.terminal.typed_table import typed_table


def counters(shown: Shown, reading: Reading) -> Iterator[RenderableType]:
    """The outcome's own counters; where it has none, the reason and the recorded ones."""
    outcome = shown.outcome
    if outcome.counters:
        yield Group(styled("Hardware counters", "strong"), typed_table(outcome.counters))
    if outcome.counters_reason:
        yield words(f"Hardware counters: {outcome.counters_reason}", "quiet")
    if outcome.counters is None and outcome.counters_reason:
        yield from recorded(shown, reading)


def recorded(shown: Shown, reading: Reading) -> Iterator[RenderableType]:
    alone = Reading(recording=reading.recording, fresh=reading.fresh)
    for other in alone.shown(shown.outcome.section, shown.outcome.step):
        if other.outcome.counters:
            yield Group(source(other), typed_table(other.outcome.counters))


if __name__ == "__main__":
    from talk.terminal.made_up import READING, look_at, shown

    look_at(*counters(shown(), READING))
