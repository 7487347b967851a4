"""The rows of an outcome as a chart takes them: a number each, and what tells the rows apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from talk import look
from talk.errors import UnknownReference
from talk.number import Number
from talk.outcome import Timing
from talk.reading import nearest
from talk.rows import Row, Shown, row_of, table_rows

LARGE = ((10**9, "G"), (10**6, "M"))
"""From a million on values are written in short: 268 M and not 268,435,456."""


@dataclass(frozen=True)
class Item:
    """One row. at: the values it was measured at; axis: what these are, such as `block`.

    case: of a benchmark of several.
    """

    row: Row
    candidate: str
    at: tuple[int, ...]
    axis: str
    case: str = ""

    def number(self, field: str, address: str) -> Number:
        ref = f"{address}[{', '.join(self.row.names)}].{field}"
        return replace(self.row.fields[field], ref=ref)


def items(shown: Shown) -> list[Item]:
    """Timings, or else the rows of the tables, each named by its first cell."""
    if shown.outcome.timings:
        return [of_timing(timing, shown) for timing in shown.outcome.timings]
    tables = [t for t in (shown.outcome.table, shown.outcome.counters) if t and t.columns]
    rows = ((row, table.columns[0].name) for table in tables for row in table_rows(table, shown))
    return [Item(row, row.names[0] if row.names else "", (), axis) for row, axis in rows]


def of_timing(timing: Timing, shown: Shown) -> Item:
    axis = ", ".join(timing.at)
    return Item(
        row_of(timing, shown), timing.candidate, tuple(timing.at.values()), axis, timing.case
    )


def chosen(rows: list[Item], field: str, only: tuple[str, ...]) -> list[Item]:
    """Rows that have the field and hold one of the names given. Raises UnknownReference."""
    names = dict.fromkeys(name for item in rows for name in item.row.names)
    fields = dict.fromkeys(name for item in rows for name in item.row.fields)
    for wanted, known in ((field, fields), *((name, names) for name in only)):
        if wanted not in known:
            hint = nearest(wanted, tuple(known))
            raise UnknownReference(f"nothing to draw for {wanted!r}.", hint=hint)
    found = (item for item in rows if not only or set(only) & set(item.row.names))
    return [item for item in found if field in item.row.fields]


def labels(rows: list[Item]) -> list[str]:
    """What to write beside each bar: the candidate where several compete, and where it stands."""
    several = len(candidates(rows)) > 1
    cases = len({item.case for item in rows}) > 1
    write = writer({value for item in rows for value in item.at})
    where = (", ".join(write(value) for value in item.at) for item in rows)
    return [label(item, several, cases, at) for item, at in zip(rows, where, strict=True)]


def label(item: Item, several: bool, cases: bool, at: str) -> str:
    candidate = item.candidate if several or not at else ""
    return " ".join(part for part in (f"{item.case}," * cases, candidate, at) if part)


def candidates(rows: Iterable[Item]) -> set[str]:
    return {item.candidate for item in rows}


def writer(values: set[int]) -> Callable[[int], str]:
    """How to write values beside bars: in short, unless two would then read the same."""
    return short if len(set(map(short, values))) == len(values) else "{:,}".format


def short(value: int) -> str:
    """268435456 → "268 M", of three digits; less than a million in full."""
    unit, name = next((large for large in LARGE if value >= large[0]), (1, ""))
    return f"{look.digits(value / unit)} {name}" if name else f"{value:,}"
