"""Rows and columns that fit: words wrap, figures never, and too many columns are stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from talk.terminal.clean import styled

GAP = 2
NARROW = 14
"""Cells that a column of words keeps when it has to wrap."""


@dataclass(frozen=True)
class Head:
    """A column. figures: right-aligned and never wrapped."""

    name: str
    figures: bool = False


@dataclass(frozen=True)
class Grid:
    """Cells under heads; the first column names the row."""

    heads: Sequence[Head]
    rows: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.least > options.max_width:
            yield from self._stacked()
        else:
            yield self._table()

    @property
    def least(self) -> int:
        """Cells that it needs to stand side by side."""
        return sum(self._least(i) + GAP for i in range(len(self.heads))) - GAP

    def _width(self, column: int) -> int:
        texts = [self.heads[column].name, *(row[column].plain for row in self.rows)]
        return max(cell_len(line) for text in texts for line in text.split("\n"))

    def _least(self, column: int) -> int:
        width = self._width(column)
        return width if self.heads[column].figures else min(width, NARROW)

    def _table(self) -> Table:
        named = any(head.name for head in self.heads)
        table = Table(
            box=None,
            padding=(0, GAP, 0, 0),
            pad_edge=False,
            header_style="quiet",
            show_header=named,
        )
        for column, head in enumerate(self.heads):
            table.add_column(
                Text(head.name),
                justify="right" if head.figures else "left",
                overflow="fold",
                min_width=self._least(column),
            )
        for row in self.rows:
            table.add_row(*row)
        return table

    def _stacked(self) -> RenderResult:
        for row in self.rows:
            yield row[0]
            for head, cell in list(zip(self.heads, row, strict=True))[1:]:
                yield Padding(styled(f"{head.name}  ", "quiet").append_text(cell), (0, 0, 0, GAP))


@dataclass(frozen=True)
class Fitting:
    """The first of several grids that fits side by side; else the last."""

    grids: Sequence[Grid]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fits = (grid for grid in self.grids if grid.least <= options.max_width)
        yield next(fits, self.grids[-1])


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    made_up = [[Text("a_kernel_of_no_program"), Text("3"), Text("1.00 ms")]]
    look_at(Grid([Head("kernel"), Head("calls", True), Head("time", True)], made_up))
