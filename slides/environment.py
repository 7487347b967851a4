"""What every template may use besides its words: the theme, and how figures are written."""

from __future__ import annotations

import os
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from slides import reveal
from slides.palette import palette
from talk import look
from talk.look import Badge
from talk.number import Number
from talk.outcome import Table
from talk.rows import CACHED

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"
THEME = HERE / "theme"
COMPILED = HERE / "build" / "templates"


def compiled() -> FileSystemBytecodeCache | None:
    """Templates as they were compiled last, a third of a build; none where nothing can be kept."""
    try:
        COMPILED.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return FileSystemBytecodeCache(str(COMPILED)) if os.access(COMPILED, os.W_OK) else None


def environment_of(templates: Path) -> Environment:
    environment = Environment(
        bytecode_cache=compiled(),
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
