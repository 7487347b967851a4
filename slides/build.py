"""A record → one HTML file. Nothing is measured, imported from a demo, or fetched."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
)
from markupsafe import Markup

from slides import beside as second
from slides import diagrams, lines, lowered, reveal, vocabulary
from slides.context import Context, Found
from slides.medium import Chapter, Medium
from slides.palette import palette
from slides.plots import words as plots
from slides.typed import typed_figures
from talk import look, source
from talk.errors import TalkError
from talk.look import Badge
from talk.number import Number
from talk.outcome import Code, Table
from talk.reading import Reading
from talk.record import Record
from talk.rows import CACHED

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"
THEME = HERE / "theme"
DECK = HERE / "build" / "deck.html"

SLIDES = Medium("deck.html.j2")

PARTS = ("parts.html.j2", "diagrams/parts.svg.j2", "beside.html.j2", "plots.html.j2")
"""Macros that draw what the words of a template looked up."""

GENERIC = "section.html.j2"
"""Walks the outline of a section that has no template of its own."""


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
    environment = environment_of(templates)
    environment.globals.update(medium.words, record=record)
    reading = Reading(talk=record, fresh=source.Standing(root))
    context = Context(environment, reading, standing(root), (*PARTS, *medium.parts))
    for words, names in vocabularies(context, beside):
        environment.globals.update({name: getattr(words, name) for name in names})
    order = (medium.plan or plan)(record, templates)
    chapters = [Chapter(g.get("outline"), render(context, name, **g)) for name, g in order]
    page = environment.get_template(medium.page)
    html = page.render(chapters=chapters, parts=[chapter.html for chapter in chapters])
    # JSON can hold half of a character; UTF-8 cannot.
    html = html.encode("utf-8", "replace").decode().translate(REORDERING)
    return Deck(html, context.found)


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


REORDERING = dict.fromkeys((0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""Characters that reorder what stands beside them: a record could turn a number round."""


def plan(record: Record, templates: Path) -> list[tuple[str, dict[str, Any]]]:
    """The templates in running order, with what each is about."""
    sections = [(of_section(o.number, templates), {"outline": o}) for o in record.outlines]
    return [("title.html.j2", {}), *sections, ("wrap_up.html.j2", {})]


def of_section(number: int, templates: Path) -> str:
    own = f"s{number}.html.j2"
    return own if (templates / own).is_file() else GENERIC


def environment_of(templates: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        phases=tuple(look.PHASE),
        glyphs={phase: ink.glyph for phase, ink in look.PHASE.items()},
        shapes={badge: ink.glyph for badge, ink in look.SHAPE.items()},
        missing=Badge.MISSING,
        palette=Markup(palette()),
        printed=printed,
        spread=spread,
        withheld=withheld,
        quantity=look.quantity,
        numeric=numeric,
        zip=zip,
        reveal_script=reveal.script,
        reveal_style=reveal.style,
        licence=reveal.licence,
        theme_script=lambda name: reveal.safe_script((THEME / name).read_text("utf-8")),
        theme_style=lambda name: reveal.safe_style((THEME / name).read_text("utf-8")),
    )
    return environment


def printed(number: Number) -> tuple[str, str]:
    """(figure, unit) of a number that has a value."""
    return look.parts(float(number), number.unit)


def spread(number: Number) -> str:
    """ "4,340–4,380 GB/s", p20 to p80; the unit once, and no two ends that read the same."""
    if number.low is None or number.high is None:
        return ""
    (low, unit), (high, other) = (look.parts(end, number.unit) for end in (number.low, number.high))
    if (low, unit) == (high, other):
        return "±<1 %"  # three digits agree
    return f"{low}–{high} {other}".rstrip() if unit == other else number.spread


def withheld(number: Number) -> str:
    """Why no figure is printed, or nothing: none was measured, or none can be believed."""
    if number.value is None:
        return ", ".join(number.flags) or "not measured"
    return CACHED if number.unit == "share" and CACHED in number.flags else ""


def numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers, and nothing else but gaps."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and all(type(cell) in (int, float) for cell in cells)


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


def refuse_typed(templates: Path) -> None:
    found = typed_figures(templates)
    if found:
        listed = "".join(f"\n  {figure}" for figure in found)
        raise TalkError(
            f"figures are typed in templates:{listed}",
            hint="refer to what was measured: {{ number('5/blocks[256].gbps') }}",
        )


def standing(root: Path) -> Callable[[int, str, tuple[Code, ...]], bool]:
    """Whether the code of a step that leaves no outcome still stands in the checkout."""

    def stands(section: int, slug: str, codes: tuple[Code, ...]) -> bool:
        try:
            now = source.behind(source.section_module(section, root), slug, root)
        except TalkError:
            return False
        return source.texts(codes) <= source.texts(now)

    return stands
