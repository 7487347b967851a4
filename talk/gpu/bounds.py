"""What one step may leave: enough for a screen and a record, and no burden for either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from talk.errors import TalkError
from talk.messages import decode, encode
from talk.outcome import Outcome, Table

TEXT = 65_536
ROWS = 2_000
COLUMNS = 32
CELL = 200
"""Characters, rows, columns, characters: at the very most some 13 MB on the pipe."""


def bounded(outcome: Outcome) -> Outcome:
    """The same within these bounds; its note says what was left out.

    Raises TalkError for a value that no record can hold, such as a tensor in a table.
    """
    parts = (f"{most:,} of {there:,} {what}" for there, most, what in sizes(outcome))
    only = f"Only {', '.join(kept)} are kept." if (kept := tuple(parts)) else ""
    small = replace(
        outcome,
        text=outcome.text[:TEXT],
        table=shortened(outcome.table) if outcome.table else None,
        note=f"{outcome.note} {only}".strip(),
    )
    return recordable(small)


def sizes(outcome: Outcome) -> Iterator[tuple[int, int, str]]:
    """What is too large: its size, what is kept of it, and its unit."""
    found = [(len(outcome.text), TEXT, "characters of text")]
    if outcome.table:
        rows, columns = outcome.table.rows, outcome.table.columns
        cells = (len(c) for row in rows[:ROWS] for c in row[:COLUMNS] if isinstance(c, str))
        names = (len(column.name) for column in columns[:COLUMNS])
        found += [(len(rows), ROWS, "rows"), (len(columns), COLUMNS, "columns")]
        found += [(max((*cells, *names), default=0), CELL, "characters of a cell")]
    return (size for size in found if size[0] > size[1])


def shortened(table: Table) -> Table:
    columns = (replace(column, name=cut(column.name, CELL)) for column in table.columns[:COLUMNS])
    rows = (
        tuple(cut(cell, CELL) if isinstance(cell, str) else cell for cell in row[:COLUMNS])
        for row in table.rows[:ROWS]
    )
    return Table(columns=tuple(columns), rows=tuple(rows))


def recordable(outcome: Outcome) -> Outcome:
    """Unchanged if it can be sent and understood; else the driver would end this process."""
    try:
        decode(Outcome, encode(outcome))
    except (TypeError, ValueError) as error:
        raise TalkError(f"what it left cannot be recorded: {error}.") from None
    return outcome


def cut(text: str, most: int) -> str:
    """At most that many characters, the last an ellipsis where some are missing."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
