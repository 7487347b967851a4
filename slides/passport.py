"""Where a slide's figures and code come from: what they share once, what is their own in rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from talk.look import Badge
from talk.number import Number, Passport
from talk.outcome import Code
from talk.rows import Shown, of_machine

LABELS = {"gpu": "GPU", "date": "measured", "n": "samples", "command": "again with"}
"""Words for the fields of a `Passport` whose names do not read by themselves."""

PLAIN = ("spread", "config")
"""Fields that name themselves: "median 742 µs, …", "block 256"."""


@dataclass(frozen=True)
class Entry:
    """One thing on a slide that was measured, or ran. words: what is printed of it."""

    ref: str
    words: str
    badge: Badge
    passport: Passport


def of_number(number: Number) -> Entry:
    return Entry(number.ref, str(number), number.badge, number.passport)


def of_table(address: str, rows: int, shown: Shown) -> Entry:
    return Entry(address, f"table of {rows}", shown.badge, of_outcome(shown))


def of_code(code: Code, badge: Badge, shown: Shown | None) -> Entry:
    passport = of_outcome(shown) if shown else Passport()
    return Entry(code.name, f"{code.path}:{code.line}", badge, passport)


def of_outcome(shown: Shown) -> Passport:
    outcome = shown.outcome
    machine = of_machine(shown.machine)
    return replace(machine, date=shown.at, commit=outcome.commit, command=outcome.command)


@dataclass(frozen=True)
class Row:
    """An entry as the sheet lists it. key: its place on the slide."""

    key: int
    entry: Entry
    own: str


@dataclass(frozen=True)
class Sheet:
    """The passports of a slide. shared: (label, words) that nothing on it disagrees with."""

    shared: tuple[tuple[str, str], ...]
    badges: tuple[Badge, ...]
    rows: tuple[Row, ...]


def sheet(entries: tuple[Entry, ...]) -> Sheet | None:
    """None for a slide on which nothing was measured."""
    if not entries:
        return None
    lines = [dict(entry.passport.lines()) for entry in entries]
    shared = agreed(lines)
    rows = (
        Row(k, e, own(line, shared)) for k, (e, line) in enumerate(zip(entries, lines, strict=True))
    )
    return Sheet(
        shared=tuple((LABELS.get(name, name), words) for name, words in shared.items()),
        badges=tuple(dict.fromkeys(entry.badge for entry in entries)),
        rows=tuple(rows),
    )


def agreed(lines: list[dict[str, str]]) -> dict[str, str]:
    """Fields on which all agree that have them: a ceiling, without samples, disagrees with none."""
    names = [name for name in Passport.__dataclass_fields__ if any(name in line for line in lines)]
    words = {name: {line[name] for line in lines if name in line} for name in names}
    return {name: found.pop() for name, found in words.items() if len(found) == 1}


def own(line: dict[str, str], shared: dict[str, str]) -> str:
    """What a thing does not share with all others, in words."""
    parts = {name: words for name, words in line.items() if name not in shared}
    labelled = (
        w if name in PLAIN else f"{LABELS.get(name, name)} {w}" for name, w in parts.items()
    )
    return ", ".join(labelled)
