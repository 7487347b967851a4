"""One line of code that ran, for a sheet that has no room for the definition around it."""

from __future__ import annotations

from markupsafe import Markup

from slides import passport
from slides.context import Context, split
from slides.listing import highlighted
from talk.errors import TalkError
from talk.outcome import Code

WORDS = ("line",)


class Lines:
    """The word about a line."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def line(self, address: str, text: str) -> Markup:
        """The first line behind a step that holds a text, highlighted and without its indent.

        Raises TalkError where none does.
        """
        shown = next(iter(self._context.reading.shown(*split(address))), None)
        codes = (shown.outcome.code if shown else ()) or self._context.step(address).code
        code, line = first(codes, text)
        badge = shown.badge if shown else self._context.standing(address, codes)
        self._context.note(badge, address)
        self._context.enter(passport.of_code(code, badge, shown))
        return line


def first(codes: tuple[Code, ...], text: str) -> tuple[Code, Markup]:
    """The definition and the line. Raises TalkError where no line holds the text."""
    wanted = "".join(text.split())
    for code in codes:
        for line in code.text.split("\n"):
            if wanted in "".join(line.split()):
                return code, highlighted(line.strip())[0]
    raise TalkError(f"no line behind this step holds {text!r}.", hint="name a part of a line")
