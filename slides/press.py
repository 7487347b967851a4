"""Templates and a reading of records → slides; all of them, or again those that changed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError
from markupsafe import Markup

from slides import beside as second
from slides import diagrams, lines, lowered, vocabulary
from slides.context import Context
from slides.environment import environment_of
from slides.medium import Chapter, Medium
from slides.plots import words as plots
from talk import source
from talk.collect import of_the_talk
from talk.errors import TalkError
from talk.outcome import Code
from talk.reading import Reading
from talk.record import Record

PARTS = ("parts.html.j2", "diagrams/parts.svg.j2", "beside.html.j2", "plots.html.j2")
"""Macros that draw what the words of a template looked up."""

GENERIC = "section.html.j2"
"""Walks the outline of a section that has no template of its own."""

Order = list[tuple[str, dict[str, Any]]]


class Press:
    """One medium's templates, compiled once, and the words that they may say."""

    def __init__(
        self,
        record: Record,
        reading: Reading,
        medium: Medium,
        templates: Path,
        root: Path,
        beside: Record | None = None,
    ) -> None:
        self._medium = medium
        self._templates = templates
        self._environment = environment_of(templates)
        self._environment.globals.update(medium.words, record=record)
        parts = (*PARTS, *medium.parts)
        self.context = Context(self._environment, reading, standing(root), parts)
        for words, names in vocabularies(self.context, beside):
            self._environment.globals.update({name: getattr(words, name) for name in names})
        self._homes: dict[str, str] = {}

    def page(self, record: Record) -> str:
        """All of it. Raises TalkError with the template, its line and the slide."""
        chapters = [self._chapter(name, given) for name, given in self._order(record)]
        template = self._environment.get_template(self._medium.page)
        html = template.render(chapters=chapters, parts=[chapter.html for chapter in chapters])
        return clean(html)

    def other(self, template: str) -> str:
        """A page of another template, of which the words are the same."""
        return clean(self._environment.get_template(template).render())

    def slides(self, record: Record, reading: Reading, names: Iterable[str]) -> dict[str, str]:
        """The slides of these names anew, of which a `page` was made before."""
        wanted = frozenset(names)
        homes = {self._homes[name] for name in wanted if name in self._homes}
        self._environment.globals["record"] = record
        self.context.renew(reading, wanted)
        for template, given in self._order(record):
            if template in homes or (template == GENERIC and homes):
                render(self.context, template, **given)
        return {name: clean(html) for name, html in self.context.drawn.items()}

    def _order(self, record: Record) -> Order:
        return (self._medium.plan or plan)(record, self._templates)

    def _chapter(self, template: str, given: dict[str, Any]) -> Chapter:
        before = len(self.context.found.slides)
        html = render(self.context, template, **given)
        self._homes |= dict.fromkeys(self.context.found.slides[before:], template)
        return Chapter(given.get("outline"), html)


REORDERING = dict.fromkeys((0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Characters that reorder what stands beside them: a record could turn a number round."""


def clean(html: str) -> str:
    """JSON can hold half of a character; UTF-8 cannot."""
    return html.encode("utf-8", "replace").decode().translate(REORDERING)


def vocabularies(
    context: Context, beside: Record | None
) -> tuple[tuple[object, tuple[str, ...]], ...]:
    """What templates may say: the words, and the object whose methods they are."""
    return (
        (vocabulary.Vocabulary(context), vocabulary.WORDS),
        (lowered.Traces(context), lowered.WORDS),
        (plots.Plots(context), plots.WORDS),
        (lines.Lines(context), lines.WORDS),
        (diagrams.Diagrams(context), diagrams.WORDS),
        (second.Beside(context, beside), second.WORDS),
    )


def plan(record: Record, templates: Path) -> list[tuple[str, dict[str, Any]]]:
    """The templates in running order, with what each is about."""
    sections = [
        (of_section(o.number, templates), {"outline": o}) for o in of_the_talk(record.outlines)
    ]
    return [("title.html.j2", {}), *sections, ("wrap_up.html.j2", {})]


def of_section(number: int, templates: Path) -> str:
    own = f"s{number}.html.j2"
    return own if (templates / own).is_file() else GENERIC


def render(context: Context, name: str, **given: Any) -> Markup:
    """One template's slides. Raises TalkError with the template, its line and the slide."""
    context.current = ""
    try:
        return Markup(context.environment.get_template(name).render(**given))
    except (TalkError, TemplateError) as error:
        where = f"{name}:{line_in(error, name)}"
        slide = f", slide {context.current}" if context.current else ""
        hint = error.hint if isinstance(error, TalkError) else ""
        message = error.args[0] if error.args else type(error).__name__
        raise TalkError(f"{where}{slide}: {message}", hint=hint) from error


def line_in(error: BaseException, template: str) -> int:
    """The line of a template at which an error arose; Jinja puts its lines into the traceback."""
    if isinstance(error, TemplateSyntaxError) and error.name == template:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if Path(f.filename).name == template), 0)


def standing(root: Path) -> Callable[[int, str, tuple[Code, ...]], bool]:
    """Whether the code of a step that leaves no outcome still stands in the checkout."""

    def stands(section: int, slug: str, codes: tuple[Code, ...]) -> bool:
        try:
            now = source.behind(source.section_module(section, root), slug, root)
        except TalkError:
            return False
        return source.texts(codes) <= source.texts(now)

    return stands
