"""Timings as a view draws them: each with its numbers, its point in words and its ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from talk.number import Number
from talk.outcome import Timing
from talk.rows import OVERHEAD, Row, Shown, rate_field, row_of
from talk.terminal.clean import clean

FIELDS = ("gbps", "tflops", "time")


@dataclass(frozen=True)
class Result:
    """One timing with the numbers computed from it."""

    timing: Timing
    row: Row

    @property
    def point(self) -> str:
        """ "block 256", or nothing for a single measurement."""
        return ", ".join(f"{clean(name)} {value:,}" for name, value in self.timing.at.items())

    @property
    def name(self) -> str:
        case = f"{clean(self.timing.case)}:" if self.timing.case else ""
        return " ".join(part for part in (case, clean(self.timing.candidate), self.point) if part)

    def number(self, field: str) -> Number:
        return self.row.fields[field]

    @property
    def flags(self) -> tuple[str, ...]:
        return self.number("time").flags


def results(shown: Shown) -> tuple[Result, ...]:
    return tuple(Result(timing, row_of(timing, shown)) for timing in shown.outcome.timings)


def swept(found: Sequence[Result]) -> bool:
    return any(result.timing.at for result in found)


def field_of(found: Sequence[Result]) -> str:
    """The rate that fits: ns of each item, TFLOP/s of much arithmetic, GB/s, else the time."""
    fits = rate_field([result.timing for result in found])
    if fits != "gbps":
        return fits
    if any(OVERHEAD in result.flags and result.timing.bytes for result in found):
        return "gbps"
    return next(f for f in FIELDS if any(r.number(f).value is not None for r in found))


def ceiling(timing: Timing, shown: Shown) -> float | None:
    """GB/s that this machine was measured to reach for the same traffic mix."""
    ceilings = shown.machine.ceilings
    return ceilings.bandwidth_gbps.get(timing.mix) if ceilings else None
