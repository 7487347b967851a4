"""A pair of axes in pixels, and words on it that keep out of each other's way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slides.drawing import INKS, TEXT_PX
from slides.plots.chart import Mark
from slides.plots.place import LINE, SIDES, Box, Room, Sides, Wanted, around, arranged, leader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAD = 36.0
"""Above the axes: what the upright one is."""
FOOT = 2 * LINE + 16
"""Under them: ticks, their values, the name of the level one."""

BASELINE = 7.0
"""Of text, above the lower edge of its line."""


def width_of(words: str, bold: bool = False) -> float:
    """Pixels; the page's fonts are a little narrower than matplotlib's own."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=TEXT_PX, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, False)
    return float(width)


def widest(words: Sequence[str]) -> float:
    return max(map(width_of, words), default=0.0)


@dataclass(frozen=True)
class Label:
    """Words for a pixel: a line, or several."""

    x: float
    y: float
    words: str
    ink: str = "text"
    bold: bool = False
    gid: str | None = None
    sides: Sides = SIDES

    @property
    def lines(self) -> list[str]:
        return self.words.split("\n")


class Canvas:
    """A figure with one pair of axes inside margins of so many pixels."""

    def __init__(
        self, figure: Figure, *, left: float, right: float, top: float, bottom: float
    ) -> None:
        self.figure = figure
        self.width, self.height = (float(side) * 72 for side in figure.get_size_inches())
        self.left, self.bottom = left, bottom
        self.right, self.top = self.width - right, self.height - top
        across, up = (self.right - left) / self.width, (self.top - bottom) / self.height
        self.axes: Axes = figure.add_axes((left / self.width, bottom / self.height, across, up))
        self.axes.set_facecolor("none")
        self.room = Room(Box(0, bottom, self.width, self.height))

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Where a value is drawn. Only after the axes' limits are set."""
        across, up = self.axes.transData.transform((x, y))
        return float(across), float(up)

    def say(
        self,
        x: float,
        y: float,
        words: str,
        *,
        ink: str = "text",
        bold: bool = False,
        align: str = "left",
        gid: str | None = None,
    ) -> Box:
        """A line of words at a pixel, its lower edge at y; takes its room."""
        self.figure.text(
            x / self.width,
            (y + BASELINE) / self.height,
            words,
            ha=align,
            va="baseline",
            color=INKS[ink],
            fontweight="bold" if bold else "normal",
            gid=gid,
        )
        wide = width_of(words, bold)
        start = x - wide * {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        box = Box(start, y, start + wide, y + LINE)
        self.room.say(box)
        return box

    def label(self, *labels: Label) -> None:
        """Words beside pixels, where there is room; far away, a thin line joins the two."""
        wanted = [
            Wanted(
                each.x,
                each.y,
                max(width_of(line, each.bold) for line in each.lines),
                LINE * len(each.lines),
                each.sides,
            )
            for each in labels
        ]
        for each, box in zip(labels, arranged(self.room, wanted), strict=True):
            if box is not None:
                self.put(each, box)

    def put(self, label: Label, box: Box) -> None:
        """A label in its place, anchored on the side of its point."""
        align = "left" if box.left >= label.x else "right" if box.right <= label.x else "center"
        at = {"left": box.left, "right": box.right, "center": (box.left + box.right) / 2}[align]
        if line := leader(label.x, label.y, box):
            self.stroke(line, ink="soft", linewidth=1.5, gid=label.gid, zorder=1)
            self.room.line(*line[0], *line[1])
        for n, words in enumerate(label.lines):
            up = box.top - (n + 1) * LINE
            self.say(at, up, words, ink=label.ink, bold=label.bold, align=align, gid=label.gid)

    def stroke(self, pixels: Sequence[tuple[float, float]], *, ink: str, **style: Any) -> None:
        """A line through pixels."""
        from matplotlib.lines import Line2D

        across = [x / self.width for x, _ in pixels]
        up = [y / self.height for _, y in pixels]
        line = Line2D(across, up, color=INKS[ink], transform=self.figure.transFigure, **style)
        self.figure.add_artist(line)

    def mark(
        self,
        x: float,
        y: float,
        mark: Mark,
        *,
        hollow: bool = False,
        gid: str | None = None,
        size: float = 14.0,
    ) -> None:
        """A marker at a pixel; takes its room."""
        face = INKS[mark.ink] if mark.filled and not hollow else INKS["ground"]
        self.stroke(
            [(x, y)],
            ink=mark.ink,
            marker=mark.marker,
            markersize=size,
            markerfacecolor=face,
            markeredgewidth=3,
            linestyle="none",
            gid=gid,
            zorder=5,
        )
        self.room.take(around(x, y, size / 2 + 2))

    def across(self, y: float, words: str, *, ink: str = "ceiling") -> None:
        """A dashed line at a value, and its words on it: a ceiling."""
        _, up = self.pixel(self.axes.get_xlim()[0], y)
        self.stroke([(self.left, up), (self.right, up)], ink=ink, linewidth=3, dashes=(3, 2))
        self.room.line(self.left, up, self.right, up)
        wide = width_of(words)
        for above in (up + 5, up - LINE - 5):
            for start in range(int(self.left) + 8, int(self.right - wide) + 1, 12):
                if self.room.free(Box(start, above, start + wide, above + LINE)):
                    self.say(start, above, words, ink=ink)
                    return

    def upwards(self, ticks: Sequence[float], words: Sequence[str]) -> None:
        """The values of the upright axis, left of it, and a thin line across at each."""
        self.axes.set_yticks(ticks, [""] * len(ticks))
        for tick, text in zip(ticks, words, strict=True):
            _, up = self.pixel(self.axes.get_xlim()[0], tick)
            self.say(self.left - 10, up - LINE / 2, text, ink="soft", align="right")

    def along(self, ticks: Sequence[float], words: Sequence[str], name: str) -> None:
        """The values of the level axis, where they do not touch, and its name under them."""
        self.axes.set_xticks(ticks, [""] * len(ticks))
        self.axes.minorticks_off()
        free = -math.inf
        for tick, text in zip(ticks, words, strict=True):
            at, _ = self.pixel(tick, self.axes.get_ylim()[0])
            wide = width_of(text)
            if at - wide / 2 > free:
                self.say(at, LINE, text, ink="soft", align="center")
                free = at + wide / 2 + 14
        self.say(self.right, 0, name, ink="soft", align="right")

    def head(self, words: str) -> None:
        """What the upright axis is, above it."""
        self.say(0, self.height - LINE - 2, words, ink="soft")


def decades(low: float, high: float) -> list[float]:
    """Round values of a logarithmic axis: powers of ten, or 1, 2, 5 where these are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        found = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(found) >= 2:
            return found
    return found


def rounds(high: float, most: int = 4) -> list[float]:
    """Round values of an axis that starts at zero."""
    if high <= 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(high / most))
    step = next(f * power for f in (1, 2, 5, 10, 20) if high / (f * power) <= most)
    return [step * n for n in range(int(high / step + 1e-9) + 1)]
