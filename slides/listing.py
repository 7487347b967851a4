"""Code for a slide: the text that ran, highlighted at build, and never cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from talk.errors import TalkError
from talk.outcome import Code

# What fits at 1280×720 under a title: 18 px, the smallest size read from the back row.
MOST_LINES = 24
MOST_COLUMNS = 100

# Larger sizes for what leaves room: (name, lines, columns).
SIZES = (("large", 14, 50), ("medium", 19, 90))

NO_BEATS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Line:
    """beats: at which of a listing's beats it is lit."""

    html: Markup
    beats: tuple[int, ...] = ()


@dataclass(frozen=True)
class Listing:
    """Definitions to show, each line highlighted. names: of the definitions.

    captions: what is said at each beat.
    """

    names: tuple[str, ...]
    lines: tuple[Line, ...]
    columns: int
    captions: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """The largest of the theme's code sizes in which it fits."""
        fits = (n for n, rows, wide in SIZES if len(self.lines) <= rows and self.columns <= wide)
        return next(fits, "small")


def listing(codes: tuple[Code, ...], beats: Mapping[str, str] = NO_BEATS) -> Listing:
    """Definitions one below the other. beats: a text → what is said of the lines that hold it.

    Raises TalkError for more than a slide holds, and for a text that no line holds.
    """
    lines = highlighted("\n\n".join(code.text.strip("\n") for code in codes))
    words = [str(line.striptags()) for line in lines]
    lit = [holding(text, words) for text in beats]
    found = Listing(
        names=tuple(code.name for code in codes),
        lines=tuple(
            Line(line, tuple(beat for beat, rows in enumerate(lit) if row in rows))
            for row, line in enumerate(lines)
        ),
        columns=max(map(len, words)),
        captions=tuple(beats.values()),
    )
    if len(found.lines) > MOST_LINES or found.columns > MOST_COLUMNS:
        raise TalkError(
            f"{', '.join(found.names)}: {len(found.lines)} lines of {found.columns} columns; "
            f"a slide holds {MOST_LINES} of {MOST_COLUMNS}.",
            hint="show fewer definitions at once, code('5/step', 'name'), or shorten the longest",
        )
    return found


def holding(text: str, lines: list[str]) -> set[int]:
    """The lines that hold a text, spaces apart. Raises TalkError where none does."""
    wanted = "".join(text.split())
    found = {row for row, line in enumerate(lines) if wanted in "".join(line.split())}
    if not found:
        raise TalkError(
            f"no line of the code on this slide holds {text!r}.",
            hint="beats name a part of a line as it ran",
        )
    return found


def highlighted(text: str) -> list[Markup]:
    """Each line as HTML, its tokens in spans of Pygments' short class names."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False, tabsize=4)
    html = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return [Markup(line) for line in html.removesuffix("\n").split("\n")]


def named(codes: tuple[Code, ...], names: tuple[str, ...]) -> tuple[Code, ...]:
    """Those of the given names, in that order; all where none is given. Raises TalkError."""
    by_name = {code.name: code for code in codes}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise TalkError(
            f"no code {', '.join(unknown)} behind this step.",
            hint=f"there is: {', '.join(by_name) or 'none'}",
        )
    return tuple(by_name[name] for name in names) if names else codes
