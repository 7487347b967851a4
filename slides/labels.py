"""The rows of an outcome as a chart takes them: a number each, and what tells the rows apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from talk.errors import UnknownReference
from talk.number import Number
from talk.outcome import Timing
from talk.reading import nearest
from talk.rows import Row, Shown, row_of, table_rows

LARGE = 2**20
"""From here on powers of two are written in short: 256 Mi and not 268,435,456."""

SHORT = ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


@dataclass(frozen=True)
class Item:
    """One row. at: the values it was measured at; axis: what these are, such as `block`."""

    row: Row
    candidate: str
    at: tuple[int, ...]
    axis: str

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
    return Item(row_of(timing, shown), timing.candidate, tuple(timing.at.values()), axis)


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
    write = power if powers(value for item in rows for value in item.at) else "{:,}".format
    return [label(item, several, ", ".join(write(value) for value in item.at)) for item in rows]


def label(item: Item, several: bool, at: str) -> str:
    return " ".join(part for part in (item.candidate if several or not at else "", at) if part)


def candidates(rows: Iterable[Item]) -> set[str]:
    return {item.candidate for item in rows}


def powers(values: Iterable[int]) -> bool:
    """Whether all are powers of two and the largest is too long to be read at a glance."""
    known = list(values)
    return all(v > 0 and v & (v - 1) == 0 for v in known) and max(known, default=0) >= LARGE


def power(value: int) -> str:
    """268435456 → "256 Mi", exactly."""
    unit, name = next((short for short in SHORT if value >= short[0]), (1, ""))
    return f"{value // unit} {name}".rstrip()
