"""What a terminal or a pipe can show, and the gate that every line passes on its way there."""

from __future__ import annotations

import functools
import io
import locale
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment

from talk import look
from talk.terminal.clean import visible
from talk.terminal.palette import ground_of, theme

Line = list[Segment]

# The phases last: the live badge shares a glyph with one of them, and has its word beside it.
INKS = (*look.SHAPE.values(), look.CEILING, look.TORCH, *look.PHASE.values())
LIKE = (
    ("µ×", "ux"),
    ("–—·…", "--.."),
    ("≤≥→←↑↓", "<>><^v"),
    ("▸›◀✓✗", ">><+x"),
    ("‘’“”", "''\"\""),
    ("█▉▊▋▌▍▎▏", "########"),
    ("─│┃└", "-||+"),
    ("⠋⠙⠹⠸⠼⠴⠦⠧", "|/-\\|/-\\"),
)
PLAIN = {ink.glyph: ink.ascii for ink in INKS} | {
    rich: plain for riches, plains in LIKE for rich, plain in zip(riches, plains, strict=True)
}
PLAIN |= {"★": "*", "▸": ">"} | {chr(0x2800 + dots): ":" if dots else " " for dots in range(256)}
"""Character → its stand-in of one cell, for an encoding that lacks it.

Any dots are a colon, which no mark on a curve is.
"""


@dataclass(frozen=True, kw_only=True)
class Medium:
    """encoding: of the characters. colours: None for no styles at all. ground: see `palette`."""

    encoding: str = "utf-8"
    colours: ColorSystem | None = None
    no_color: bool = False
    ground: str = "both"

    def text(self, line: Iterable[Segment]) -> str:
        """A line as it is written, styles included; no escape but our own leaves here."""
        kept = (segment for segment in line if not segment.control)
        segments = Segment.remove_color(kept) if self.no_color else kept
        parts = ((self.shown(text), style) for text, style, _ in segments)
        if self.colours is None:
            return "".join(text for text, _ in parts)
        return "".join(
            style.render(text, color_system=self.colours) if style else text
            for text, style in parts
        )

    def shown(self, text: str) -> str:
        """Every character visible, and one that the encoding has."""
        text = visible(text)
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return "".join(self._substitute(c) for c in text)
        return text

    def _substitute(self, character: str) -> str:
        try:
            character.encode(self.encoding)
        except UnicodeEncodeError:
            return PLAIN.get(character, "?" * cell_len(character))
        return character


def medium_of(environ: Mapping[str, str], stream: IO[str], *, tty: bool) -> Medium:
    """What a stream can show, by TERM, COLORTERM, NO_COLOR, COLORFGBG and the locale."""
    return Medium(
        encoding=encoding_of(environ, stream),
        colours=colours_of(environ) if tty else None,
        no_color=bool(environ.get("NO_COLOR")),
        ground=ground_of(environ),
    )


def colours_of(environ: Mapping[str, str]) -> ColorSystem | None:
    """How many colours, by the terminal's own name."""
    term = environ.get("TERM", "").lower()
    if term in ("", "dumb", "unknown"):
        return None
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return ColorSystem.TRUECOLOR
    return ColorSystem.EIGHT_BIT if "256" in term else ColorSystem.STANDARD


ASCII = ("ANSI_X3.4-1968", "US-ASCII", "ASCII", "646")
"""What glibc, macOS, musl and Solaris call the codeset of the locale C."""


def encoding_of(environ: Mapping[str, str], stream: IO[str]) -> str:
    """The locale's, unless Python was told otherwise.

    Under LC_ALL=C Python writes UTF-8 all the same (PEP 540), to a terminal that may not read it.
    """
    told = environ.get("PYTHONIOENCODING") or environ.get("PYTHONUTF8") == "1"
    if not told and codeset() in ASCII:
        return "ascii"
    return getattr(stream, "encoding", None) or sys.getdefaultencoding()


def codeset() -> str:
    """The locale's own encoding, whatever Python makes of it; Windows has none."""
    return locale.nl_langinfo(locale.CODESET) if hasattr(locale, "nl_langinfo") else ""


@functools.lru_cache(maxsize=8)
def canvas(width: int, height: int, ground: str) -> Console:
    """A console to lay out on; nothing is written to it."""
    return Console(
        file=io.StringIO(),
        width=width,
        height=height,
        theme=theme(ground),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )


def lines_of(
    renderable: RenderableType, width: int, height: int = 25, ground: str = "both"
) -> list[Line]:
    """A renderable as lines of at most `width` cells."""
    console = canvas(width, height, ground)
    return console.render_lines(renderable, console.options.update_width(width), pad=False)
