"""Where a template stands: its slide, the passports entered on it, what is stale or missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from slides import passport
from slides.passport import Entry
from talk.errors import TalkError, UnknownReference
from talk.look import Badge
from talk.number import Number
from talk.outcome import Code
from talk.reading import Reading, nearest
from talk.record import SectionOutline, StepOutline
from talk.rows import Shown
from talk.section import SLUG

ADDRESS = re.compile(r"(?<![\w/])(\d+/[a-z0-9-]+|machine)(?![\w])")
"""What a reference refers to: a step, or the machine."""

NOT_MEASURED = "not measured in this record"

Standing = Callable[[int, str, tuple[Code, ...]], bool]


@dataclass
class Found:
    """Slides and the steps that they tell of; reference or step → slides where it is in trouble."""

    slides: list[str] = field(default_factory=list)
    steps: set[str] = field(default_factory=set)
    stale: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)

    def troubles(self) -> list[str]:
        """One line for each step with something stale or missing: what, and on which slides."""
        named = (("STALE", self.stale), ("MISSING", self.missing))
        return [line for word, found in named for line in by_step(word, found)]

    def note(self, badge: Badge, ref: str, slide: str) -> None:
        """Remember what is stale or missing, and where."""
        notable = {Badge.STALE: self.stale, Badge.MISSING: self.missing}
        slides = notable[badge].setdefault(ref, []) if badge in notable else [slide]
        if slide not in slides:
            slides.append(slide)

    def left_out(self, outlines: Iterable[SectionOutline]) -> list[str]:
        """Steps that no slide tells of."""
        every = (f"{outline.number}/{step.slug}" for outline in outlines for step in outline.steps)
        return [f"{address} is on no slide" for address in every if address not in self.steps]


def by_step(word: str, found: dict[str, list[str]]) -> list[str]:
    """ "STALE 5/blocks on title, s5-blocks: [triton, 256].gbps, …"; a step alone is its code."""
    steps: dict[str, list[str]] = {}
    for ref in found:
        steps.setdefault(re.split(r"[\[.]", ref)[0], []).append(ref)
    return [f"{word} {step} on {of(step, refs, found)}" for step, refs in steps.items()]


def of(step: str, refs: list[str], found: dict[str, list[str]]) -> str:
    slides = ", ".join(dict.fromkeys(slide for ref in refs for slide in found[ref]))
    figures = ", ".join(ref.removeprefix(step) for ref in refs if ref != step)
    return f"{slides}: {figures}" if figures else slides


class Context:
    """What all words share. stands: whether code of a step that is not performed still stands.

    current: the slide being drawn. parts: the template whose macros draw what was looked up.
    drawn: slides by name. tells: the steps that each is about; stands_on: all that it refers to,
    `machine` for its ceilings.
    """

    def __init__(
        self,
        environment: Environment,
        reading: Reading,
        stands: Standing,
        parts: tuple[str, ...] = ("parts.html.j2",),
    ) -> None:
        self.environment = environment
        self.reading = reading
        self.found = Found()
        self.current = ""
        self.drawn: dict[str, str] = {}
        self.tells: dict[str, tuple[str, ...]] = {}
        self.stands_on: dict[str, set[str]] = {}
        self._only: frozenset[str] | None = None
        self._stands = stands
        self._entries: list[Entry] = []
        modules = [environment.get_template(name).module for name in parts]
        self._macros = {name: part for module in modules for name, part in vars(module).items()}

    def renew(self, reading: Reading, only: frozenset[str]) -> None:
        """Draw the slides of these names anew, of another reading."""
        self.reading, self._only = reading, only
        self.found, self.drawn = Found(), {}

    @property
    def wanted(self) -> bool:
        """Whether the current slide is to be drawn at all."""
        return self._only is None or self.current in self._only

    def begin(self, name: str) -> None:
        """Start a slide. Raises TalkError for a name that is taken, or is none."""
        self.current = name
        if not re.fullmatch(r"[a-z0-9-]+", name) or name in self.found.slides:
            raise TalkError(
                f"{name!r} is no name for a slide, or there is one already.",
                hint="names are of a-z, 0-9 and -; tell two slides about a step apart: name='code'",
            )
        self.found.slides.append(name)
        self.stands_on.setdefault(name, set())
        self._entries = []

    def draw(self, macro: str, *arguments: Any) -> Markup:
        """What a macro of the parts makes of values."""
        drawn: Markup = self._macros[macro](*arguments)
        return drawn

    def sheet(self) -> passport.Sheet | None:
        """The passports of the slide being drawn."""
        return passport.sheet(tuple(self._entries))

    def section(self, number: str | int) -> SectionOutline:
        """A section's outline. Raises UnknownReference."""
        for outline in self.reading.outlines:
            if str(outline.number) == str(number):
                return outline
        held = ", ".join(str(outline.number) for outline in self.reading.outlines) or "none"
        raise UnknownReference(f"the record has no section {number}.", hint=f"there is: {held}")

    def step(self, address: str) -> StepOutline:
        """A step's outline. Raises UnknownReference, with the nearest names."""
        section, slug = split(address)
        self.stands_on.setdefault(self.current, set()).add(address)
        step = self.section(section).step(slug)
        if step is None or not SLUG.fullmatch(slug):
            hint = nearest(address, self.reading.addresses())
            raise UnknownReference(f"{address!r} names no step of the record.", hint=hint)
        return step

    def figures(self, address: str) -> Shown | None:
        """The outcome that a step's figures are taken from. Raises UnknownReference."""
        self.step(address)
        return self.reading.figures(*split(address))

    def standing(self, address: str, codes: tuple[Code, ...]) -> Badge:
        """Of code whose step leaves no outcome."""
        return Badge.RECORDED if self._stands(*split(address), codes) else Badge.STALE

    def note(self, badge: Badge, ref: str) -> None:
        """Remember what is stale or missing on this slide."""
        self.found.note(badge, ref, self.current)

    def key(self, number: Number) -> str:
        """The id of a number's passport on this slide; notes what is stale or missing."""
        self.note(number.badge, number.ref)
        self.stands_on.setdefault(self.current, set()).update(ADDRESS.findall(number.ref))
        return self.enter(passport.of_number(number))

    def enter(self, entry: Entry) -> str:
        """The id of a passport on this slide. One number under two names has one passport."""
        same = (known for known in self._entries if alike(known, entry))
        known = next(same, entry)
        if known is entry:
            self._entries.append(entry)
        return f"{self.current}-{self._entries.index(known)}"

    def absent(self, address: str, why: str = "") -> Markup:
        """What stands where a picture would be, with the reason."""
        self.note(Badge.MISSING, address)
        outcome = self.reading.talk.outcome(*split(address)) if self.reading.talk else None
        failure = outcome.failure.reason if outcome and outcome.failure else ""
        return self.draw("absent", address, failure or why or NOT_MEASURED)


def alike(a: Entry, b: Entry) -> bool:
    """Whether two entries are one: the same figure of the same run, under whatever reference."""
    same_run = bool(a.passport.spread) and (a.badge, a.passport) == (b.badge, b.passport)
    return a == b or (same_run and a.words == b.words)


def split(address: str) -> tuple[int, str]:
    """`5/blocks` → (5, "blocks"). Raises UnknownReference."""
    section, slash, slug = address.partition("/")
    if not section.isdecimal() or not slash or not slug:
        hint = "write section/step, as in 5/blocks"
        raise UnknownReference(f"{address!r} is no step.", hint=hint)
    return int(section), slug
