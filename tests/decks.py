"""Decks and their records for tests: made-up talks, a test's own templates, markup as malice."""

from __future__ import annotations

import dataclasses
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from slides.build import TEMPLATES, Deck, build
from talk.outcome import Code
from talk.record import Journal, Record
from talk.source import number_of, order
from tests import records

EVIL = (
    """</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'"&amp;\u202e"""
)

STRUCTURE = ("slug", "kind", "phase", "mode", "mix", "about", "candidate", "step", "says")
"""Fields that name things, which a reference must still find."""


def short(code: Code) -> Code:
    """The same definition cut to what a slide holds."""
    return replace(code, text="\n".join(code.text.split("\n")[:12]))


def talk(section: int = 9, record: Record | None = None) -> Record:
    """A complete made-up talk of one section that has no template of its own."""
    return changed(record or records.whole(), section=section, number=section, code=short)


def changed(value: Any, *, code: Any = None, **fields: Any) -> Any:
    """The same value with some fields replaced at every depth, and every `Code` passed through."""
    if isinstance(value, tuple):
        return tuple(changed(item, code=code, **fields) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    if isinstance(value, Code) and code:
        value = code(value)
    known = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    deeper = {name: changed(part, code=code, **fields) for name, part in known.items()}
    return replace(value, **deeper | {name: fields[name] for name in fields if name in known})


def evil(value: Any, name: str = "") -> Any:
    """The same value with markup in every string, apart from `STRUCTURE`."""
    if isinstance(value, str):
        return value if name in STRUCTURE else f"{EVIL}\n{value}"  # a line more of code
    if isinstance(value, tuple):
        return tuple(evil(item, name) for item in value)
    if isinstance(value, dict):
        return {key if name == "at" else evil(key): evil(part) for key, part in value.items()}
    if not dataclasses.is_dataclass(value):
        return value
    parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return replace(value, **{name: evil(part, name) for name, part in parts.items()})


def write(folder: Path, record: Record) -> Path:
    """A talk's folder, as a live talk leaves it."""
    journal = Journal(folder, record.machine)
    for event in record.events:
        journal.append(event)
    return folder


def complete(**machine: Any) -> Record:
    """A made-up talk that holds every section there is."""
    numbers = [number_of(name) for name in order()]
    events = tuple(event for number in numbers for event in talk(number).events)
    return Record(replace(records.MACHINE, **machine), events)


def deck(folder: Path, slides: str, record: Record | None = None) -> Deck:
    """A deck whose section 9 consists of the slides given."""
    templates = folder / "templates"
    if not templates.exists():
        shutil.copytree(TEMPLATES, templates)
    (templates / "s9.html.j2").write_text(slides, encoding="utf-8")
    return build(record or talk(), templates=templates, root=folder)


def slide(body: str, address: str = "9/baseline") -> str:
    return f'{{% call slide("{address}") %}}{body}{{% endcall %}}'


def on(deck: Deck, name: str = "s9-baseline") -> str:
    """The HTML of one slide."""
    found = re.search(rf'<section id="{name}".*?</section>', deck.html, re.DOTALL)
    assert found, f"no slide {name}"
    return found.group()


def words(html: str) -> str:
    """HTML as one reads it."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())
