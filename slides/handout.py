"""The handout: every slide of the deck on one long page, in order, to be read and printed.

The sections' templates are the deck's own. What differs is how parts are drawn, and the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from markupsafe import Markup

from slides.medium import Medium
from slides.palette import palette
from slides.vocabulary import Slide
from talk.pace import PLANNED

THEME = Path(__file__).resolve().parent / "theme"

OTHERS = ("handout.css", "cheatsheet.css", "print.css", "live.css", "presenter.css")
"""Sheets of one medium alone."""

FIRST = ("deck.css", "parts.css", "code.css")
"""Sheets that all others build on."""

LABELS = ("Say", "Ask", "Usual wrong answer")
"""What a line of a presenter's notes begins with; a line that does not is said."""


@dataclass(frozen=True)
class Note:
    """What the presenter says in a row. label: one of `LABELS`."""

    label: str
    texts: tuple[str, ...]


def spoken(slide: Slide) -> tuple[Note, ...]:
    """A slide's notes as prose, without the minutes, which are said once."""
    lines = [slide.say, *(line for step in slide.told for line in step.notes.splitlines())]
    said = [labelled(line) for line in lines if line and not PLANNED.fullmatch(line)]
    said += [("Ask", slide.ask)] if slide.ask else []
    beliefs = (step.misconception for step in slide.told)
    said += [("Usual wrong answer", belief) for belief in beliefs if belief]
    rows = groupby(said, key=lambda each: each[0])
    return tuple(Note(label, tuple(text for _, text in row)) for label, row in rows)


def labelled(line: str) -> tuple[str, str]:
    """ "Say: five lines." → "Say", "Five lines."."""
    label, colon, text = line.partition(": ")
    if not colon or label not in LABELS:
        return "Say", line
    return label, text[:1].upper() + text[1:]


QUESTION = re.compile("<!--question-->.*?<!--/question-->", re.DOTALL)
DRAWING = re.compile(r'<figure [^>]*class="(?:diagram|plot).*?</figure>', re.DOTALL)
WIDE = re.compile('<figure class="(?=bars|table|plot|diagram|lowered|heat|sides)')
ALT = re.compile(r'<svg [^>]*?aria-label="([^"]*)"')


def linear(body: str) -> Markup:
    """A slide's body as one reads it on: the question before all that answers it.

    A record's own words cannot stand for what is sought here, since `<` in them is escaped.
    """
    asked = "".join(QUESTION.findall(body))
    rest = DRAWING.sub(told, scrolling(calm(deeper(QUESTION.sub("", body)))))
    return Markup(asked + rest)


def deeper(body: str) -> str:
    """Headings one level down, as the slide's own is one of the page's."""
    return re.sub(r"<(/?)h([2-5])(?=[ >])", lambda h: f"<{h[1]}h{int(h[2]) + 1}", body)


def calm(body: str) -> str:
    """Figures without a stop of the Tab key: there are hundreds on the page."""
    return re.sub(r' tabindex="0"(?= data-key=)', "", body)


def scrolling(body: str) -> str:
    """What may be wider than a telephone, within reach of the keyboard; data beside its chart."""
    body = WIDE.sub('<figure tabindex="0" class="', body)
    beside = '<div class="data" tabindex="0" role="group" aria-label="the values drawn">'
    return body.replace('<div class="data" hidden>', beside)


def told(drawing: re.Match[str]) -> str:
    """A diagram with its words for who cannot see it below it, as they say it best."""
    figure, alt = drawing[0], ALT.search(drawing[0])
    if alt is None or "<figcaption" in figure:
        return figure
    return figure.replace("</figure>", f"<figcaption>{alt[1].strip()}</figcaption></figure>")


def sheets() -> tuple[str, ...]:
    """The theme's style sheets, in order."""
    found = sorted(path.name for path in THEME.glob("*.css"))
    return (*FIRST, *(name for name in found if name not in (*FIRST, *OTHERS)))


DARK = re.compile(r'([^{}]*)\[data-theme="?dark"?\]([^{}]*)\{([^{}]*)\}')


def preferred(sheet: str) -> str:
    """Rules for the dark theme as rules for who asks their system for one, paper apart."""
    return DARK.sub(r"@media screen and (prefers-color-scheme: dark) {\1\2{\3}}", sheet)


def style() -> Markup:
    """All of the theme in one sheet. ValueError where it would end its own element."""
    texts = [palette(), *((THEME / name).read_text("utf-8") for name in sheets())]
    texts = [preferred(text) for text in texts] + [(THEME / "handout.css").read_text("utf-8")]
    joined = "\n".join(texts)
    if "</style" in joined.lower():
        raise ValueError("a style sheet holds </style")
    return Markup(joined)


HEADING = re.compile(r'<article id="([a-z0-9-]+)".*?<h[23][^>]*>(.*?)</h[23]>', re.DOTALL)


def contents(html: str) -> Iterator[tuple[str, Markup]]:
    """(id, title) of every slide that a template drew."""
    for found in HEADING.finditer(html):
        yield found[1], Markup(found[2])


MEDIUM = Medium(
    page="handout.html.j2",
    parts=("handout_parts.html.j2",),
    words={
        "spoken": spoken,
        "linear": linear,
        "contents": contents,
        "handout_style": style,
    },
)
