"""Code for a slide: the text that ran, highlighted at build, and never cut."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from talk.errors import TalkError
from talk.outcome import Code

# What fits at 1280×720 under a title: 18 px, the smallest size read from the back row.
MOST_LINES = 24
MOST_COLUMNS = 100

# Larger sizes for what leaves room: (name, lines, columns).
SIZES = (("large", 14, 50), ("medium", 19, 90))


@dataclass(frozen=True)
class Listing:
    """Definitions to show, each line highlighted. names: of the definitions."""

    names: tuple[str, ...]
    lines: tuple[Markup, ...]
    columns: int

    @property
    def size(self) -> str:
        """The largest of the theme's code sizes in which it fits."""
        fits = (n for n, rows, wide in SIZES if len(self.lines) <= rows and self.columns <= wide)
        return next(fits, "small")


def fitting(codes: tuple[Code, ...]) -> tuple[Code, ...]:
    """The first ones, as many as fit on a slide together."""
    kept: list[Code] = []
    lines = 0
    for code in codes:
        more = code.text.strip("\n").count("\n") + 1 + bool(kept)
        if lines + more > MOST_LINES:
            break
        kept.append(code)
        lines += more
    return tuple(kept)


def listing(codes: tuple[Code, ...]) -> Listing:
    """Definitions one below the other. Raises TalkError for more than a slide holds."""
    lines = highlighted("\n\n".join(code.text.strip("\n") for code in codes))
    found = Listing(
        names=tuple(code.name for code in codes),
        lines=tuple(lines),
        columns=max(len(line.striptags()) for line in lines),
    )
    if len(found.lines) > MOST_LINES or found.columns > MOST_COLUMNS:
        raise TalkError(
            f"{', '.join(found.names)}: {len(found.lines)} lines of {found.columns} columns; "
            f"a slide holds {MOST_LINES} of {MOST_COLUMNS}.",
            hint="show fewer definitions at once, code('5/step', 'name'), or shorten the longest",
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
