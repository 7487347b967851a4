"""What was measured in the shell beside the steps, in words. Its name is the outcome's text."""

from __future__ import annotations

from collections.abc import Iterator

from talk.look import Badge
from talk.outcome import Check, Outcome, Timing
from talk.rows import CACHED, Shown, row_of

NO_GPU = "no timings: there is no GPU here"


def words(shown: Shown) -> str:
    """ "mine: right, 183 µs, p20–p80 182 µs – 184 µs, n 40, 4,230 GB/s, 96.1 % of the ceiling"."""
    return f"{shown.outcome.text}: {', '.join(parts(shown))}"


def parts(shown: Shown) -> Iterator[str]:
    done = shown.outcome
    if done.failure:
        yield f"failed: {done.failure.reason.removeprefix(f'{done.text}: ')}"
        return
    yield verdict(done)
    for timing in done.timings:
        yield from timed(timing, shown)
    if shown.badge is Badge.SIMULATED:
        yield NO_GPU
    elif not done.timings:
        yield "not timed"


def verdict(done: Outcome) -> str:
    """Whether it is right; a check that was not asked for is said to be missing."""
    wrong = next((check for check in done.checks if not check.ok), None)
    if wrong:
        return f"wrong: {wrong.message}"
    return right(done.checks[0]) if done.checks else "not checked"


def right(check: Check) -> str:
    if check.error is None or check.tolerance is None:
        return "right"
    return f"right (error {check.error:.1e} of {check.tolerance:.1e} allowed)"


def timed(timing: Timing, shown: Shown) -> Iterator[str]:
    """The median and its spread, then the rate and its share where its bytes are known.

    No share of what cannot have come from memory: its flag says so.
    """
    fields = row_of(timing, shown).fields
    yield f"{fields['time']}"
    yield f"p20–p80 {fields['time'].spread}, n {timing.n}"
    if fields["gbps"].value is not None:
        yield f"{fields['gbps']}"
    if fields["share"].value is not None and CACHED not in fields["time"].flags:
        yield f"{fields['share']} of the ceiling of {timing.mix} traffic"
    yield from fields["time"].flags
