"""Where the numbers of a slide come from: what they share once, what tells them apart in a table."""

from __future__ import annotations

from dataclasses import dataclass

from talk.number import Number

# What a reader asks first comes first; `Passport.lines` keeps the order of its fields.
LABELS = {
    "gpu": "GPU",
    "capability": "capability",
    "date": "measured",
    "software": "software",
    "case": "case",
    "clock": "clock",
    "n": "samples",
    "spread": "spread",
    "config": "at",
    "commit": "commit",
    "command": "again with",
}


@dataclass(frozen=True)
class Row:
    """One number. key: its place on the slide. apart: what others on the slide do not share."""

    key: int
    number: Number
    apart: str


@dataclass(frozen=True)
class Sheet:
    """The passports of a slide. shared: (label, words) that all its numbers have in common."""

    shared: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def sheet(numbers: tuple[Number, ...]) -> Sheet | None:
    """None for a slide without numbers; one that is MISSING has no passport to share."""
    if not numbers:
        return None
    lines = [dict(number.passport.lines()) for number in numbers]
    known = [line for line in lines if line] or [{}]
    names = dict.fromkeys(name for line in known for name in line)
    shared = {name: known_words(known, name)[0] for name in names if len(known_words(known, name)) == 1}
    rows = tuple(
        Row(key, number, ", ".join(apart(line, shared)))
        for key, (number, line) in enumerate(zip(numbers, lines, strict=True))
    )
    return Sheet(tuple((LABELS.get(name, name), words) for name, words in shared.items()), rows)


def known_words(lines: list[dict[str, str]], name: str) -> list[str]:
    """The different words under one label; a ceiling, say, has no samples and disagrees with none."""
    return list(dict.fromkeys(line[name] for line in lines if name in line))


def apart(line: dict[str, str], shared: dict[str, str]) -> list[str]:
    """A number's own words; its spread speaks for itself, others need their label."""
    own = {name: words for name, words in line.items() if name not in shared}
    return [words if name == "spread" else f"{LABELS.get(name, name)} {words}" for name, words in own.items()]
