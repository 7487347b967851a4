"""What every chart consists of: a picture, the figures behind it, and its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slides.drawing import Drawing
from talk import look
from talk.number import Number

Cell = str | Number

TOO_LARGE = 1e18
"""No rate, time or size of a machine is beyond it."""

LONGEST = 26
"""Characters of a label; more would crowd the picture out, and is in the table."""


@dataclass(frozen=True)
class Size:
    """Pixels."""

    width: int
    height: int


FULL = Size(1152, 370)
"""Under a title, over a take-away."""
NARROW = Size(832, 310)
"""Beside the choices of a question."""


@dataclass(frozen=True)
class Figures:
    """The table behind a chart. The first cell names the row.

    fragments: of each row, with which it appears; None for those that stand from the start.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    fragments: tuple[int | None, ...] = ()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether a column holds numbers."""
        columns = zip(*self.rows, strict=True)
        return tuple(any(isinstance(cell, Number) for cell in column) for column in columns)

    @property
    def numbers(self) -> Iterator[Number]:
        return (cell for row in self.rows for cell in row if isinstance(cell, Number))


@dataclass(frozen=True, kw_only=True)
class Chart:
    """caption: what better is, and how the axes run. missing: what it should show and cannot."""

    drawing: Drawing
    figures: Figures
    caption: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    """How a candidate is drawn. marker: matplotlib's name. filled: or hollow."""

    ink: str
    marker: str
    filled: bool = True


MARKERS = {"naive": "^", "profile": "o", "rewrite": "s", "fuse": "D"}
"""The glyphs of `talk.look`, as matplotlib calls them."""

OTHERS = ("profile", "rewrite", "fuse", "ceiling")


def marks(candidates: Sequence[str], phase: str) -> dict[str, Mark]:
    """naive and torch keep theirs everywhere; torch's kin is its colour; others: the phase's."""
    own = phase if phase in MARKERS else "rewrite"
    free = [own, *(name for name in OTHERS if name != own)]
    known = {"naive": Mark("naive", "^"), "torch": Mark("torch", "o", filled=False)}
    made: dict[str, Mark] = {}
    for name in candidates:
        if name in known:
            made[name] = known[name]
        elif name.startswith("torch"):
            made[name] = Mark("torch", "v")
        else:
            ink = free.pop(0) if len(free) > 1 else free[0]
            made[name] = Mark(ink, MARKERS.get(ink, "P"))
    return made


def plain(text: str, most: int = LONGEST) -> str:
    """A record's words as one short line."""
    line = look.harmless(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def brief(value: float, unit: str) -> str:
    """A round value as an axis says it: "10 TB/s", not "10.0 TB/s"."""
    return re.sub(r"(\d)\.0+(?!\d)|(\.\d*?[1-9])0+(?!\d)", r"\1\2", look.quantity(value, unit))


def drawable(number: Number | None) -> float | None:
    """A value that an axis can hold; a record may say anything."""
    value = number.value if number else None
    return value if value is not None and 0 < value < TOO_LARGE else None


def lined(lines: Iterable[Number]) -> tuple[tuple[float, str], ...]:
    """Ceilings, each with its words."""
    known = ((drawable(number), f"ceiling {number}") for number in lines)
    return tuple((value, words) for value, words in known if value is not None)


def better(unit: str) -> str:
    return look.BETTER.get(unit, "higher is nearer to the ceiling" if unit == "share" else "")
