"""Bars as data: what to draw, in shares of a zero-based axis. The template draws them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from talk import look
from talk.errors import TalkError, UnknownReference
from talk.look import Badge
from talk.number import CACHED, Number, Reading, Row, Shown, nearest, row_of, table_rows
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
    rows = chosen(rows_of(shown), field, only)
    if len(rows) > MOST_BARS:
        hint = "name the rows: only=['256', …]"
        raise TalkError(f"{len(rows)} bars; a slide holds {MOST_BARS}.", hint=hint)
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    numbers = [row.number(field, address) for row in rows]
    lines = ceilings(shown, reading) if field == "gbps" else []
    most = longest([*numbers, *lines])
    several = len({row.candidate for row in rows}) > 1
    return Bars(
        bars=tuple(bar(r, n, phase, most, several) for r, n in zip(rows, numbers, strict=True)),
        lines=tuple(Line(n, "this GPU's ceiling", percent(n.value, most)) for n in lines),
        labels=rows[0].axis,
        unit=numbers[0].unit,
        better=look.BETTER.get(numbers[0].unit, ""),
        badge=shown.badge,
        reason=shown.reason,
    )


def chosen(rows: list[Drawn], field: str, only: tuple[str, ...]) -> list[Drawn]:
    """Rows that have the field and, where names are given, one of these. Raises UnknownReference."""
    names = dict.fromkeys(name for row in rows for name in row.row.names)
    fields = dict.fromkeys(name for row in rows for name in row.row.fields)
    for wanted, known in ((field, fields), *((name, names) for name in only)):
        if wanted not in known:
            raise UnknownReference(f"nothing to draw for {wanted!r}.", hint=nearest(wanted, tuple(known)))
    found = (row for row in rows if not only or set(only) & set(row.row.names))
    return [row for row in found if field in row.row.fields]


@dataclass(frozen=True)
class Drawn:
    """A row with what to write beside its bar. axis: what `at` is, such as `block`."""

    row: Row
    candidate: str
    at: str
    axis: str

    def number(self, field: str, address: str) -> Number:
        return replace(self.row.fields[field], ref=f"{address}[{', '.join(self.row.names)}].{field}")

    def label(self, several: bool) -> str:
        """What tells the row apart: its candidate where there are several, and where it stands."""
        return " ".join(part for part in (self.candidate if several or not self.at else "", self.at) if part)


def rows_of(shown: Shown) -> list[Drawn]:
    """Timings, or else the rows of the tables, each named by its first cell."""
    if shown.outcome.timings:
        return [of_timing(timing, shown) for timing in shown.outcome.timings]
    tables = (shown.outcome.table, shown.outcome.counters)
    rows = (row for table in tables if table for row in table_rows(table, shown))
    return [Drawn(row, "", row.names[0] if row.names else "", "") for row in rows]


def of_timing(timing: Timing, shown: Shown) -> Drawn:
    at = ", ".join(f"{value:,}" for value in timing.at.values())
    return Drawn(row_of(timing, shown), timing.candidate, at, ", ".join(timing.at))


def ceilings(shown: Shown, reading: Reading) -> list[Number]:
    """The machine's own bandwidth for each traffic mix among the timings."""
    mixes = dict.fromkeys(timing.mix for timing in shown.outcome.timings)
    known = shown.machine.ceilings.bandwidth_gbps if shown.machine.ceilings else {}
    return [reading.number(f"machine/bandwidth[{mix}].gbps") for mix in mixes if mix in known]


def bar(row: Drawn, number: Number, phase: str, most: float, several: bool) -> Bar:
    colour = row.candidate if row.candidate in ("naive", "torch") else phase
    return Bar(
        label=row.label(several),
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
