"""Bars as data: what to draw, in shares of a zero-based axis. The template draws them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slides.labels import Item, candidates, chosen, items, labels
from talk import look
from talk.errors import TalkError
from talk.look import Badge
from talk.number import Number
from talk.reading import Reading
from talk.rows import CACHED, OVERHEAD, Shown

MOST_BARS = 12
"""Rows of 24 px text that fit under a title at 1280×720."""

HEADROOM = 1.02
"""The axis ends a little beyond its longest bar, so that the end of one is seen to be one."""

COLOURS = ("torch", *look.PHASE)


@dataclass(frozen=True)
class Bar:
    """One row. colour: one of `COLOURS`. length, low, high: percent of the axis."""

    label: str
    number: Number
    colour: str
    glyph: str
    length: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """A ceiling. at: percent of the axis."""

    number: Number
    at: float


@dataclass(frozen=True)
class Bars:
    """A chart. title: its one candidate, where the step has others. axis: what the labels are."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    title: str
    axis: str
    better: str
    badge: Badge
    reason: str

    @property
    def numbers(self) -> tuple[Number, ...]:
        return tuple(bar.number for bar in self.bars) + tuple(line.number for line in self.lines)

    @property
    def legend(self) -> str:
        """What a bar that is not there means."""
        short = any(OVERHEAD in bar.number.flags for bar in self.bars)
        return f"{OVERHEAD}: too short to time, the launch dominates" if short else ""

    @property
    def text(self) -> str:
        """The picture in words, for who cannot see it."""
        rows = ", ".join(f"{bar.label}: {bar.number}" for bar in self.bars)
        lines = ", ".join(f"ceiling {line.number}" for line in self.lines)
        return "; ".join(part for part in (rows, lines, self.better) if part)


def bars(shown: Shown, reading: Reading, field: str, phase: str, only: tuple[str, ...]) -> Bars:
    """A field of every row of an outcome, or of those whose names hold one of `only`.

    Raises UnknownReference for a field or row that is not there, TalkError for too many rows.
    """
    every = items(shown)
    rows = chosen(every, field, only)
    if len(rows) > MOST_BARS:
        hint = "name the rows: only=['256', …]"
        raise TalkError(f"{len(rows)} bars; a slide holds {MOST_BARS}.", hint=hint)
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    numbers = [row.number(field, address) for row in rows]
    lines = ceilings(shown, reading) if field == "gbps" else []
    most = longest([*numbers, *lines])
    return Bars(
        bars=tuple(map(bar, rows, labels(rows), numbers, [phase] * len(rows), [most] * len(rows))),
        lines=tuple(Line(number, percent(number.value, most)) for number in lines),
        title=title(rows, every),
        axis=rows[0].axis,
        better=look.BETTER.get(numbers[0].unit, ""),
        badge=shown.badge,
        reason=shown.reason,
    )


def title(rows: list[Item], every: list[Item]) -> str:
    """The one candidate drawn, where its step has others and the labels do not name it."""
    alone = len(candidates(rows)) == 1 < len(candidates(every))
    return rows[0].candidate if alone and rows[0].at else ""


def ceilings(shown: Shown, reading: Reading) -> list[Number]:
    """The machine's own bandwidth for each traffic mix among the timings."""
    mixes = dict.fromkeys(timing.mix for timing in shown.outcome.timings)
    known = shown.machine.ceilings.bandwidth_gbps if shown.machine.ceilings else {}
    return [reading.number(f"machine/bandwidth[{mix}].gbps") for mix in mixes if mix in known]


def bar(row: Item, label: str, number: Number, phase: str, most: float) -> Bar:
    colour = row.candidate if row.candidate in ("naive", "torch") else phase
    return Bar(
        label=label,
        number=number,
        colour=colour if colour in COLOURS else "rewrite",
        glyph=look.ink(row.candidate, phase).glyph,
        length=percent(number.value, most),
        low=percent(number.low, most),
        high=percent(number.high, most),
    )


def longest(numbers: Iterable[Number]) -> float:
    """The end of the axis; a rate that memory cannot reach does not stretch it."""
    believed = (number for number in numbers if CACHED not in number.flags)
    ends = [end for n in believed for end in (n.value, n.high) if end is not None]
    return max(ends, default=0.0) * HEADROOM


def percent(value: float | None, most: float) -> float:
    """Of the axis; an axis with nothing on it has no bars."""
    if value is None or most <= 0:
        return 0.0
    return round(100 * min(max(value / most, 0.0), 1.0), 3)
