"""Bars as data: what to draw, in shares of a zero-based axis. The template draws them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from talk import look
from talk.errors import TalkError, UnknownReference
from talk.look import Badge
from talk.number import Number, Reading, Row, Shown, nearest, row_of, table_rows
from talk.outcome import Timing

MOST_BARS = 14
"""Rows of 24 px text that fit under a title at 1280×720."""

HEADROOM = 1.02
"""The axis ends a little beyond its longest bar, so that the end of one is seen to be one."""

COLOURS = ("torch", *look.PHASE)


@dataclass(frozen=True)
class Bar:
    """One row. colour: a key of `COLOURS`. length, low, high: percent of the axis."""

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
    label: str
    at: float


@dataclass(frozen=True)
class Bars:
    """A chart. labels: what the rows are, such as `block`."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    labels: str
    unit: str
    better: str
    badge: Badge
    reason: str

    @property
    def numbers(self) -> tuple[Number, ...]:
        return tuple(bar.number for bar in self.bars) + tuple(line.number for line in self.lines)

    @property
    def text(self) -> str:
        """The picture in words, for who cannot see it."""
        rows = ", ".join(f"{bar.label}: {bar.number}" for bar in self.bars)
        lines = ", ".join(f"{line.label} {line.number}" for line in self.lines)
        return "; ".join(part for part in (rows, lines, self.better) if part)


def bars(shown: Shown, reading: Reading, field: str, phase: str, only: tuple[str, ...]) -> Bars:
    """A field of every row of an outcome, or of those whose names hold one of `only`.

    Raises UnknownReference for a field or row that is not there, TalkError for too many rows.
    """
    rows = [row for row in labelled(shown) if not only or set(only) & set(row.row.names)]
    rows = [row for row in rows if field in row.row.fields]
    if not rows:
        known = {name: None for row in labelled(shown) for name in row.row.fields}
        raise UnknownReference(
            f"nothing to draw for {field!r} of {', '.join(only) or 'any row'}.",
            hint=nearest(field, tuple(known)),
        )
    if len(rows) > MOST_BARS:
        raise TalkError(
            f"{len(rows)} bars; a slide holds {MOST_BARS}.", hint="name the rows: only=['256', …]"
        )
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    numbers = [row.number(field, address) for row in rows]
    lines = ceilings(shown, reading) if field == "gbps" else []
    most = longest([*numbers, *lines])
    return Bars(
        bars=tuple(bar(row, n, phase, most) for row, n in zip(rows, numbers, strict=True)),
        lines=tuple(Line(n, "this GPU's ceiling", percent(n.value, most)) for n in lines),
        labels=rows[0].axis,
        unit=numbers[0].unit,
        better=look.BETTER.get(numbers[0].unit, ""),
        badge=shown.badge,
        reason=shown.reason,
    )


@dataclass(frozen=True)
class Labelled:
    """A row with what to write beside its bar."""

    row: Row
    label: str
    axis: str
    candidate: str

    def number(self, field: str, address: str) -> Number:
        from dataclasses import replace

        ref = f"{address}[{', '.join(self.row.names)}].{field}"
        return replace(self.row.fields[field], ref=ref)


def labelled(shown: Shown) -> list[Labelled]:
    """Timings by what tells them apart, else the rows of the table by their first cell."""
    timings = shown.outcome.timings
    if timings:
        several = len({timing.candidate for timing in timings}) > 1
        return [of_timing(timing, shown, several) for timing in timings]
    tables = (shown.outcome.table, shown.outcome.counters)
    rows = (row for table in tables if table for row in table_rows(table, shown))
    return [Labelled(row, row.names[0] if row.names else "", "", "") for row in rows]


def of_timing(timing: Timing, shown: Shown, several: bool) -> Labelled:
    at = ", ".join(f"{value:,}" for value in timing.at.values())
    parts = [timing.candidate] if several or not at else []
    label = " ".join([*parts, at]).strip()
    return Labelled(row_of(timing, shown), label, ", ".join(timing.at), timing.candidate)


def ceilings(shown: Shown, reading: Reading) -> list[Number]:
    """The machine's own bandwidth for each traffic mix among the timings."""
    mixes = dict.fromkeys(timing.mix for timing in shown.outcome.timings)
    known = shown.machine.ceilings.bandwidth_gbps if shown.machine.ceilings else {}
    return [reading.number(f"machine/bandwidth[{mix}].gbps") for mix in mixes if mix in known]


def bar(row: Labelled, number: Number, phase: str, most: float) -> Bar:
    colour = row.candidate if row.candidate in ("naive", "torch") else phase
    return Bar(
        label=row.label,
        number=number,
        colour=colour if colour in COLOURS else "rewrite",
        glyph=look.ink(row.candidate, phase).glyph,
        length=percent(number.value, most),
        low=percent(number.low, most),
        high=percent(number.high, most),
    )


def longest(numbers: Iterable[Number]) -> float:
    ends = [end for n in numbers for end in (n.value, n.high) if end is not None]
    return max(ends, default=0.0) * HEADROOM


def percent(value: float | None, most: float) -> float:
    return round(100 * value / most, 3) if value and most > 0 else 0.0
