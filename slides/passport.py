"""Where a slide's figures and code come from: what they share once, what is their own in rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from talk.look import Badge
from talk.number import Number, Passport
from talk.outcome import Code
from talk.rows import Shown, of_shown

LABELS = {"gpu": "GPU", "clock": "timed by", "n": "samples", "command": "again with"}
"""Words for the fields of a `Passport` whose names do not read by themselves."""

PLAIN = ("spread", "config")
"""Fields that name themselves: "median 742 µs, …", "block 256"."""

OWN = ("spread",)
"""Never shared: above the rows it would tell a result that the slide does not show yet."""


@dataclass(frozen=True)
class Entry:
    """One thing on a slide that was measured, or ran.

    words: what is printed of it. how: it came about, where it was not measured itself.
    """

    ref: str
    words: str
    badge: Badge
    passport: Passport
    how: str = ""


def of_number(number: Number) -> Entry:
    """A quotient has no samples of its own, and a model none at all."""
    passport, how = number.passport, ""
    if " / " in number.ref:
        passport, how = replace(passport, case="", n=None, spread="", config=""), "computed of two"
    elif number.ref.endswith(".model"):
        passport, how = replace(passport, case=""), passport.case
    return Entry(number.ref, str(number), number.badge, passport, how)


def of_table(address: str, rows: int, shown: Shown) -> Entry:
    return Entry(address, f"table of {rows}", shown.badge, of_shown(shown))


def of_code(code: Code, badge: Badge, shown: Shown | None) -> Entry:
    passport = of_shown(shown) if shown else Passport()
    return Entry(code.name, f"{code.path}:{code.line}", badge, passport)


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
        Row(key, entry, own(entry.how, line, shared))
        for key, (entry, line) in enumerate(zip(entries, lines, strict=True))
    )
    return Sheet(
        shared=tuple((LABELS.get(name, name), words) for name, words in shared.items()),
        badges=tuple(dict.fromkeys(entry.badge for entry in entries)),
        rows=tuple(rows),
    )


def agreed(lines: list[dict[str, str]]) -> dict[str, str]:
    """Fields on which all agree that have them: a ceiling, without samples, disagrees with none."""
    known = (name for name in Passport.__dataclass_fields__ if name not in OWN)
    names = [name for name in known if any(name in line for line in lines)]
    words = {name: {line[name] for line in lines if name in line} for name in names}
    return {name: found.pop() for name, found in words.items() if len(found) == 1}


def own(how: str, line: dict[str, str], shared: dict[str, str]) -> str:
    """What a thing does not share with all others, in words."""
    parts = {name: words for name, words in line.items() if name not in shared}
    labelled = (
        w if name in PLAIN else f"{LABELS.get(name, name)} {w}" for name, w in parts.items()
    )
    return ", ".join((*([how] if how else []), *labelled))
