"""Bars against a ceiling: zero at the left, the ceiling as a line with its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from talk import look
from talk.terminal.clean import styled

EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
GAP = 2


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One row. value: None draws no bar, and `figure` says why. aside: beside the figure.

    beyond: the value is not to be believed, and is drawn to the edge in a quiet colour.
    detail: a quiet line below.
    """

    label: str
    style: str
    value: float | None
    figure: str
    aside: str = ""
    ceiling: float | None = None
    beyond: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Chart:
    """Bars on one scale. legend: what better is, and the ceilings in words."""

    bars: Sequence[Bar]
    legend: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layout = Layout.fit(self.bars, options.max_width)
        for bar in self.bars:
            yield from layout.rows(bar)
        if self.legend:
            yield Padding(styled(f"0  {self.legend}", "quiet"), (0, 0, 0, layout.indent))


@dataclass(frozen=True)
class Layout:
    """Columns of a chart in cells. labels: 0 where labels stand above their bars."""

    labels: int
    room: int
    figures: int
    asides: int
    top: float

    @classmethod
    def fit(cls, bars: Sequence[Bar], width: int) -> Layout:
        """The columns that a width leaves."""
        labels = longest(bar.label for bar in bars)
        labels = labels if labels <= width // 3 else 0
        figures = longest(bar.figure for bar in bars if bar.value is not None)
        asides = longest(bar.aside for bar in bars)
        taken = (labels + GAP if labels else 0) + GAP + figures + (asides + GAP if asides else 0)
        values = (v for bar in bars for v in (bar.ceiling, None if bar.beyond else bar.value))
        top = max((v for v in values if v is not None), default=0.0)
        return cls(labels, max(8, width - taken), figures, asides, top)

    @property
    def indent(self) -> int:
        return self.labels + GAP if self.labels else 0

    def rows(self, bar: Bar) -> Iterator[Text | Padding]:
        """The bar's line, and the lines below it."""
        if not self.labels:
            yield styled(bar.label, bar.style)
        label = bar.label + " " * (self.indent - cell_len(bar.label)) if self.labels else ""
        line = styled(label, bar.style)
        if bar.value is None:
            yield line.append(bar.figure, "quiet")
        else:
            yield line.append_text(self.drawn(bar)).append_text(self.figure(bar))
        if bar.detail:
            yield Padding(styled(bar.detail, "quiet"), (0, 0, 0, self.indent))

    def figure(self, bar: Bar) -> Text:
        words = styled(" " * GAP + bar.figure.rjust(self.figures), "strong")
        return words.append(" " * GAP + bar.aside.rjust(self.asides) if self.asides else "")

    def drawn(self, bar: Bar) -> Text:
        """The bar in `room` cells, and the ceiling across it."""
        value = self.top if bar.beyond else bar.value or 0.0
        cells = blocks(value, self.top, self.room).ljust(self.room)
        text = styled(cells, "quiet" if bar.beyond else bar.style)
        if bar.ceiling is None or not self.top:
            return text
        at = min(self.room - 1, round(bar.ceiling / self.top * self.room))
        mark = styled(look.CEILING.glyph, "ceiling")
        return text[:at].append_text(mark).append_text(text[at + 1 :])


def blocks(value: float, top: float, room: int) -> str:
    """A bar of `room` cells at `top`, to an eighth of a cell; anything above zero is seen."""
    eighths = round(value / top * room * 8) if top else 0
    eighths = max(eighths, 1) if value > 0 else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8]


def longest(texts: Iterator[str] | Sequence[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    made_up = [
        Bar(label="naive", style="naive", value=30.0, figure="30 GB/s", aside="30 %", ceiling=99.0),
        Bar(label="torch", style="torch", value=98.0, figure="98 GB/s", aside="99 %", ceiling=99.0),
        Bar(label="tiny", style="rewrite", value=None, figure="overhead-bound"),
    ]
    look_at(Chart(made_up, "higher is faster"))
