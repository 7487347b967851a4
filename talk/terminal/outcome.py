"""One outcome, whole: whatever it holds, under its badge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Group, RenderableType

from talk.look import Badge
from talk.outcome import Check, Outcome
from talk.reading import Reading
from talk.rows import Shown
from talk.terminal.badge import source
from talk.terminal.checks import checks
from talk.terminal.clean import styled, words
from talk.terminal.counters import counters
from talk.terminal.failure import failure, prints
from talk.terminal.lowering import lowering
from talk.terminal.measurement import fine_print, measurement
from talk.terminal.ruled import Ruled
from talk.terminal.trace import Look, trace
from talk.terminal.traffic import is_traffic, traffic
from talk.terminal.typed_table import typed_table


def outcome(
    shown: Shown, reading: Reading, phase: str, again: str, look: Look | None = None
) -> Iterator[RenderableType]:
    """Blocks to be set apart by a blank line, the figures in the first.

    again: what the keys offer after a failure. look: where in a trace; None on a page.
    """
    done = shown.outcome
    failed = [failure(done.failure, again, done.output)] if done.failure else []
    found = [*parts(shown, reading, phase, look)]
    if not found and not failed:
        found = [styled("nothing to show", "quiet")]
    yield Group(source(shown), *failed, *found[:1])
    yield from found[1:]


def parts(
    shown: Shown, reading: Reading, phase: str, look: Look | None
) -> Iterator[RenderableType]:
    done, judged = shown.outcome, untold(shown.outcome)
    interpreted = shown.badge is Badge.SIMULATED
    if judged and interpreted:
        yield checks(judged)
    if done.timings:
        yield measurement(shown, phase)
        yield fine_print(shown)
    if done.table:
        yield traffic(done.table) if is_traffic(done.table) else typed_table(done.table)
    yield from counters(shown, reading)
    if any(each.counts for each in done.lowerings):
        yield trace(done.lowerings, done.code, look)
    else:
        yield from (lowering(each) for each in done.lowerings)
    yield from said(shown)
    if judged and not interpreted:
        yield checks(judged)


def untold(done: Outcome) -> tuple[Check, ...]:
    """The checks, without the one that only repeats why the step failed."""
    reason = done.failure.reason if done.failure else ""
    return tuple(c for c in done.checks if f"{c.candidate}: {c.message}" != reason)


def unrepeated(found: Sequence[Shown]) -> list[Shown]:
    """A recording's checks are left out where those made here say the same."""
    own, *rest = found
    return [own, *(without_checks(other) if agree(own, other) else other for other in rest)]


def agree(own: Shown, other: Shown) -> bool:
    """Whether both find the same candidates right, and nothing wrong."""
    mine, theirs = own.outcome.checks, other.outcome.checks
    return all(c.ok for c in (*mine, *theirs)) and names(mine) == names(theirs)


def names(found: Sequence[Check]) -> set[str]:
    return {check.candidate for check in found}


def without_checks(shown: Shown) -> Shown:
    return replace(shown, outcome=replace(shown.outcome, checks=()))


def said(shown: Shown) -> Iterator[RenderableType]:
    """Words: of the step, of the worker, and what the step printed."""
    done = shown.outcome
    if done.text.strip():
        yield words(done.text.strip("\n"))
    if done.note.strip():
        yield words(done.note.strip(), "quiet")
    if done.output.strip() and not (done.failure and prints(done.failure, done.output)):
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
