"""A typed table: each cell in the unit of its column."""

from __future__ import annotations

from rich.text import Text

from talk import look
from talk.outcome import Cell, Column, Table
from talk.terminal.clean import clean, words
from talk.terminal.grid import Grid, Head

MOST_ROWS = 2_000
"""A frame of 100,000 rows takes seconds, and no key is heard meanwhile."""


def typed_table(table: Table) -> Grid:
    """Words to the left, figures to the right, three digits and a unit each."""
    heads = [Head(clean(column.name), figures(table, i)) for i, column in enumerate(table.columns)]
    rows = [
        [cell(c, column) for c, column in zip(row, table.columns, strict=True)]
        for row in table.rows[:MOST_ROWS]
    ]
    hidden = len(table.rows) - len(rows)
    if hidden:
        rows.append([words(f"… {hidden:,} more rows"), *(Text() for _ in heads[1:])])
    return Grid(heads, rows)


def figures(table: Table, column: int) -> bool:
    """Whether no cell of a column is words."""
    return not any(isinstance(row[column], (str, bool)) for row in table.rows)


def cell(value: Cell, column: Column) -> Text:
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, str):
        return words(value)
    return Text(look.quantity(value, clean(column.unit)))


if __name__ == "__main__":
    from talk.terminal.made_up import OUTCOME, look_at

    look_at(typed_table(OUTCOME.counters or Table(columns=(), rows=())))
