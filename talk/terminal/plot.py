"""Curves and points on two axes: plotille draws the dots, the axes say what they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from talk.terminal.clean import styled

BRAILLE = 0x2800
"""A cell of two by four dots; each is a bit."""

HEIGHT = 12
MARKS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """name: what it is, with its unit. ticks: values to write beside it; words: how to write one.

    low, high: its ends.
    """

    name: str
    low: float
    high: float
    ticks: tuple[float, ...]
    words: Callable[[float], str]
    log: bool = False

    def at(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        low, high, here = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return (here - low) / (high - low) if high > low else 0.0

    @property
    def title(self) -> str:
        return f"{self.name}, logarithmic" if self.log else self.name


@dataclass(frozen=True, kw_only=True)
class Series:
    """joined: a line through the points. mark: a character on each of them."""

    style: str
    points: tuple[tuple[float, float], ...]
    joined: bool = True
    mark: str = ""


@dataclass(frozen=True)
class Plot:
    """Series over two axes, the last one on top."""

    series: Sequence[Series]
    x: Axis
    y: Axis
    height: int = HEIGHT

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        gutter = max(cell_len(self.y.words(tick)) for tick in self.y.ticks) + 1
        width = max(10, options.max_width - gutter - 1)
        yield styled(" " * gutter + f"↑ {self.y.title}", "quiet")
        cells = Cells.drawn(self, width)
        labels = {self._row(tick): self.y.words(tick) for tick in self.y.ticks}
        for row in range(self.height):
            label = labels.get(row, "").rjust(gutter - 1)
            yield styled(f"{label} ", "quiet").append("│", "quiet").append_text(cells.line(row))
        yield styled(" " * gutter + "└" + "─" * width, "quiet")
        yield styled(" " * (gutter + 1) + self._below(width), "quiet")
        yield styled(" " * (gutter + 1) + f"→ {self.x.title}", "quiet")

    def _row(self, value: float) -> int:
        at = round((1 - self.y.at(value)) * (self.height - 1))
        return max(0, min(self.height - 1, at))

    def _below(self, width: int) -> str:
        """Labels under their values, as many as fit."""
        line = [" "] * width
        free = 0
        for tick in self.x.ticks:
            words = self.x.words(tick)
            first = round(self.x.at(tick) * (width - 1)) - len(words) // 2
            first = max(0, min(width - len(words), first))
            if first >= free:
                line[first : first + len(words)] = words
                free = first + len(words) + 1
        return "".join(line).rstrip()


class Cells:
    """The canvas: a character and a style in each cell, series over series."""

    def __init__(self, width: int, height: int) -> None:
        self._cells = [[(" ", "")] * width for _ in range(height)]

    @classmethod
    def drawn(cls, plot: Plot, width: int) -> Cells:
        cells = cls(width, plot.height)
        placed = [(s, [(plot.x.at(x), plot.y.at(y)) for x, y in s.points]) for s in plot.series]
        for series, places in placed:
            if series.joined:
                cells.dotted(dots(places, width, plot.height), series.style)
        # After every line: a mark says whose line it is, so none runs over it.
        for series, places in placed:
            if series.mark:
                cells.marked(places, series)
        return cells

    def dotted(self, lines: list[str], style: str) -> None:
        for row, line in enumerate(lines[: len(self._cells)]):
            for column, dot in enumerate(line[: len(self._cells[row])]):
                bits = ord(dot) - BRAILLE if ord(dot) >= BRAILLE else 0
                if bits:
                    below = ord(self._cells[row][column][0]) - BRAILLE
                    under = below if 0 < below <= 0xFF else 0
                    self._cells[row][column] = (chr(BRAILLE + (bits | under)), style)

    def marked(self, places: list[tuple[float, float]], series: Series) -> None:
        height, width = len(self._cells), len(self._cells[0])
        for x, y in places:
            row = max(0, min(height - 1, round((1 - y) * (height - 1))))
            column = max(0, min(width - 1, round(x * (width - 1))))
            self._cells[row][column] = (series.mark, series.style)

    def line(self, row: int) -> Text:
        return Text.assemble(*((character, style) for character, style in self._cells[row]))


def dots(places: list[tuple[float, float]], width: int, height: int) -> list[str]:
    """A line through points in the unit square, as rows of braille."""
    from plotille import Canvas

    canvas = Canvas(width, height)
    inside = [(min(max(x, 0.0), 0.999), min(max(y, 0.0), 0.999)) for x, y in places]
    for (x, y), (to_x, to_y) in pairwise(inside):
        canvas.line(x, y, to_x, to_y)
    return str(canvas.plot()).split("\n")


def can_plot() -> bool:
    """Whether the library is here: a machine that only records may lack it."""
    from importlib.util import find_spec

    return find_spec("plotille") is not None


def linear(name: str, values: Sequence[float], words: Callable[[float], str]) -> Axis:
    """From zero to a little above the largest."""
    high = max(values, default=1.0) * 1.05 or 1.0
    top = max(values, default=1.0) or 1.0
    return Axis(name=name, low=0.0, high=high, ticks=(0.0, top / 2, top), words=words)


def logarithmic(
    name: str,
    values: Sequence[float],
    words: Callable[[float], str],
    ticks: Sequence[float] | None = None,
) -> Axis:
    """From the smallest to the largest; whole powers of ten beside it unless told."""
    low, high = min(values), max(values)
    shown = tuple(ticks) if ticks is not None else tuple(decades(low, high))
    return Axis(name=name, low=low, high=high, ticks=shown, words=words, log=True)


def decades(low: float, high: float) -> Iterator[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    yield from (10.0**power for power in range(first, last + 1))


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    points = tuple((float(2**i), min(100.0, 2.0**i)) for i in range(11))
    made_up = Series(style="rewrite", points=points)
    roof = Series(style="ceiling", points=((1.0, 100.0), (1024.0, 100.0)))
    sizes = [x for x, _ in points]
    look_at(
        Plot(
            (roof, made_up),
            logarithmic("block", sizes, lambda v: f"{v:,.0f}", sizes),
            linear("GB/s", [100.0], lambda v: f"{v:,.0f}"),
        )
    )
