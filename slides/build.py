"""A record → one HTML file. Nothing is measured, imported from a demo, or fetched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slides.context import Found
from slides.environment import HERE, TEMPLATES
from slides.medium import Medium
from slides.press import Press
from slides.typed import typed_figures
from talk import source
from talk.errors import TalkError
from talk.reading import Reading
from talk.record import Record

DECK = HERE / "build" / "deck.html"

SLIDES = Medium("deck.html.j2")


@dataclass(frozen=True)
class Deck:
    """The page, and what of it is stale or missing."""

    html: str
    found: Found


def build(
    record: Record,
    *,
    root: Path = source.ROOT,
    templates: Path = TEMPLATES,
    medium: Medium = SLIDES,
    beside: Record | None = None,
) -> Deck:
    """The deck of a record. root: the checkout that staleness is judged by.

    beside: of a second machine, whose figures stand under its own name.

    Raises TalkError, naming the template and the slide, for a reference that does not resolve,
    code that does not fit, or a figure typed in a template.
    """
    refuse_typed(templates)
    reading = Reading(talk=record, fresh=source.Standing(root))
    press = Press(record, reading, medium, templates, root, beside)
    return Deck(press.page(record), press.context.found)


def refuse_typed(templates: Path) -> None:
    found = typed_figures(templates)
    if found:
        listed = "".join(f"\n  {figure}" for figure in found)
        raise TalkError(
            f"figures are typed in templates:{listed}",
            hint="refer to what was measured: {{ number('5/blocks[256].gbps') }}",
        )
