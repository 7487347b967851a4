"""What the record has of a step, as Markdown: where from, the figures, the sentence."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from talk import look
from talk.errors import TalkError
from talk.look import Badge
from talk.number import Passport
from talk.outcome import Table
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.rows import Shown, rate_field, row_of
from talk.sentence import Sentence, say


def recorded(reading: Reading, outline: SectionOutline, step: StepOutline) -> Iterator[str]:
    """What the record has of a step: where from, its figures, its sentence."""
    shown = reading.figures(outline.number, step.slug)
    try:
        said = say(step.says, reading, outline.number) if step.says else None
    except TalkError:
        said = None
    if shown is None and said is None:
        return
    yield heading(shown, said)
    yield from tables(shown) if shown else ()
    if said:
        yield f"> {said.text}"


def heading(shown: Shown | None, said: Sentence | None) -> str:
    """The badge, and where the figures come from: the outcome, or what the sentence stands on."""
    if shown and shown.outcome.mode == "compiled":
        return f"{badge_of(shown.badge)}: compiled for the targets named, which needs no GPU"
    if shown:
        return f"{badge_of(shown.badge)}, {shown.machine.device.name}, {shown.at[:10]}"
    numbers = said.numbers if said else ()
    passport = next((n.passport for n in numbers if said and n.badge is said.badge), Passport())
    badge = badge_of(said.badge if said else Badge.MISSING)
    return ", ".join(part for part in (badge, passport.gpu, passport.date[:10]) if part)


def badge_of(badge: Badge) -> str:
    return f"{look.SHAPE[badge].glyph} **{badge.value}**"


def tables(shown: Shown) -> Iterator[str]:
    """Its figures as Markdown."""
    outcome = shown.outcome
    if outcome.timings:
        yield timing_table(shown)
    for table in (outcome.table, outcome.counters):
        if table:
            yield typed_table(table)


def timing_table(shown: Shown) -> str:
    timings = shown.outcome.timings
    rate = rate_field(timings)
    share = {"gbps": "share", "tflops": "arithmetic_share"}.get(rate, "")
    fields = ("time", rate, *((share,) if share else ()))
    rows = [row_of(timing, shown) for timing in timings]
    names = [" ".join(row.names) for row in rows]
    cells = [[str(row.fields[name]) for name in fields] for row in rows]
    heads = ["", "time", {"each": "each"}.get(rate, "rate"), *(["of the ceiling"] if share else [])]
    return markdown(heads, [[name, *figures] for name, figures in zip(names, cells, strict=True)])


def typed_table(table: Table) -> str:
    units = [column.unit for column in table.columns]
    rows = [
        [cell_text(cell, unit) for cell, unit in zip(cells, units, strict=True)]
        for cells in table.rows
    ]
    return markdown([column.name for column in table.columns], rows)


def cell_text(cell: object, unit: str) -> str:
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return look.quantity(float(cell), unit)
    return "–" if cell is None else look.harmless(str(cell))


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; what would end a cell is escaped."""
    lines = [heads, ["---", *("---:" for _ in heads[1:])], *rows]
    cells = ([text.replace("|", "\\|") for text in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def provenance(shown: Shown) -> str:
    return f"{shown.badge.value}, {shown.machine.device.name}, {shown.at[:10]}"


def folded(paragraphs: Iterable[str]) -> Iterator[str]:
    """The first line shown, the rest behind it: it answers a question that is open."""
    first, *rest = paragraphs
    yield f"<details><summary>{in_html(first)}</summary>"
    yield from rest
    yield "</details>"


def in_html(text: str) -> str:
    """Bold as a summary has it: Markdown is not read there."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
