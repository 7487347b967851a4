"""Bytes that each candidate moves, operation by operation, beside those that must move."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from talk import look
from talk.outcome import Cell, Table
from talk.terminal.grid import Grid, Head
from talk.terminal.typed_table import MOST_ROWS, cell

COLUMNS = ("candidate", "operation", "read", "written", "bytes")
LEAST = "must move"
TOTAL = "total"


def is_traffic(table: Table) -> bool:
    """Whether it has a `Traffic` step's columns, and rows few enough to be drawn at once."""
    named = tuple(column.name for column in table.columns) == COLUMNS
    return named and len(table.rows) <= MOST_ROWS


def traffic(table: Table) -> Grid:
    """A candidate's name once, its total last, as a multiple of what must move."""
    heads = [Head(""), Head("operation"), *(Head(name, True) for name in COLUMNS[2:])]
    least = next((row[-1] for row in table.rows if row[0] == LEAST), None)
    rows = [row for _, own in groupby(table.rows, lambda row: row[0]) for row in of(own, table)]
    ratios = [Text(ratio(row, least)) for row in table.rows]
    return Grid(
        [*heads, Head("of must move", True)],
        [[*row, times] for row, times in zip(rows, ratios, strict=True)],
    )


def of(own: Iterator[tuple[Cell, ...]], table: Table) -> Iterator[list[Text]]:
    for i, row in enumerate(own):
        shown = [cell(value, column) for value, column in zip(row, table.columns, strict=True)]
        if row[1] == TOTAL:
            for text in shown[1:]:
                text.stylize("strong")
        yield [shown[0] if i == 0 else Text(), *shown[1:]]


def ratio(row: tuple[Cell, ...], least: Cell) -> str:
    """ "×4.00" of a total; nothing for one operation, or where nothing must move."""
    total, must = figure(row[-1]), figure(least)
    return look.quantity(total / must, "ratio") if row[1] == TOTAL and total and must else ""


def figure(value: Cell) -> float:
    """The number in a cell; 0 for words."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value or 0) if number else 0.0


if __name__ == "__main__":
    from talk.terminal.made_up import TRAFFIC, look_at

    look_at(traffic(TRAFFIC))
