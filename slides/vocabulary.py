"""What a template may say: each word looks a record up and draws what it finds.

A template holds words and references. The values, the code, the charts and the sentences come
from a `Reading`; what is stale or missing is noted with the slide it is on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from slides import charts, listing, passport, tables
from slides.passport import Entry
from talk import collect, sentence
from talk.errors import TalkError, UnknownReference
from talk.look import Badge
from talk.number import Number, weakest
from talk.outcome import Code, Table
from talk.question import question
from talk.reading import Reading, nearest
from talk.record import SectionOutline, StepOutline
from talk.rows import Shown, rate_field
from talk.section import SLUG

WORDS = (
    "slide", "section", "step", "number", "figure", "code", "bars", "skyline", "table", "counters",
    "minutes", "picture", "rate", "says", "question",
)  # fmt: skip
"""The methods of `Vocabulary` that templates may call."""

PLANNED = re.compile(r"(\d+) (minutes?|seconds?)\.")

Standing = Callable[[int, str, tuple[Code, ...]], bool]


@dataclass(frozen=True, kw_only=True)
class Slide:
    """One slide as its template names it.

    step: what it is about; told: the steps whose notes belong to it. say, ask: the presenter's
    words. minutes: planned.
    """

    name: str
    title: str
    section: SectionOutline | None
    step: StepOutline | None
    told: tuple[StepOutline, ...]
    layout: str
    say: str
    ask: str
    minutes: float


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


class Vocabulary:
    """The words of one deck. stands: whether code of a step that is not performed still stands."""

    def __init__(self, environment: Environment, reading: Reading, stands: Standing) -> None:
        self.reading = reading
        self.found = Found()
        self.current = ""
        self._stands = stands
        self._entries: list[Entry] = []
        environment.globals.update({word: getattr(self, word) for word in WORDS})
        self._parts: Any = environment.get_template("parts.html.j2").module

    def slide(
        self,
        address: str = "",
        *,
        caller: Callable[[], str],
        also: Iterable[str] = (),
        name: str = "",
        title: str = "",
        layout: str = "",
        say: str = "",
        ask: str = "",
        minutes: float = 0,
    ) -> Markup:
        """A slide about a step (`5/blocks`), a section (`5`) or neither.

        also: further steps that it shows, before its own. name: tells slides about one address
        apart. layout: one of the theme.
        """
        self._begin(address, name)
        section = self.section(address.split("/")[0]) if address else None
        told = [*also, *([address] if "/" in address else [])]
        self.found.steps.update(told)
        step = self.step(address) if "/" in address else None
        slide = Slide(
            name=self.current,
            title=title or (step.title if step else section.title if section else ""),
            section=section,
            step=step,
            told=tuple(map(self.step, told)),
            layout=layout,
            say=say,
            ask=ask,
            minutes=minutes,
        )
        body = caller()
        return self._draw("slide", slide, body, passport.sheet(tuple(self._entries)))

    def _begin(self, address: str, name: str) -> None:
        where = f"s{address}".replace("/", "-") if address else ""
        self.current = "-".join(part for part in (where, name) if part)
        if not re.fullmatch(r"[a-z0-9-]+", self.current) or self.current in self.found.slides:
            raise TalkError(
                f"{self.current!r} is no name for a slide, or there is one already.",
                hint="names are of a-z, 0-9 and -; tell two slides about a step apart: name='code'",
            )
        self.found.slides.append(self.current)
        self._entries = []

    def section(self, number: str | int) -> SectionOutline:
        """A section's outline. Raises UnknownReference."""
        outlines = self.reading.talk.outlines if self.reading.talk else ()
        for outline in outlines:
            if str(outline.number) == str(number):
                return outline
        held = ", ".join(str(outline.number) for outline in outlines) or "none"
        raise UnknownReference(f"the record has no section {number}.", hint=f"there is: {held}")

    def step(self, address: str) -> StepOutline:
        """A step's outline. Raises UnknownReference, with the nearest names."""
        section, slug = split(address)
        step = self.section(section).step(slug)
        if step is None or not SLUG.fullmatch(slug):
            hint = nearest(address, self.reading.addresses())
            raise UnknownReference(f"{address!r} names no step of the record.", hint=hint)
        return step

    def number(self, ref: str, name: str = "") -> Markup:
        """A figure, its unit, spread and badge. name: what it is, where the slide does not say."""
        number = self.reading.number(ref)
        return self._draw("number", number, self._key(number), name)

    def figure(self, ref: str) -> Markup:
        """A figure and its unit alone, for a line of text."""
        number = self.reading.number(ref)
        return self._draw("known", number, self._key(number))

    def code(self, address: str, *names: str, brief: bool = False) -> Markup:
        """Definitions that ran: all that the step shows, or those named.

        brief: as many of them as a slide holds.
        """
        section, slug = split(address)
        step = self.step(address)
        shown = next(iter(self.reading.shown(section, slug)), None)
        # As it ran; of a step that is not performed, as its section was read.
        codes = listing.named((shown.outcome.code if shown else ()) or step.code, names)
        codes = listing.fitting(codes) if brief else codes
        if not codes:
            raise UnknownReference(f"{address} shows no code.")
        badge = shown.badge if shown else self._standing(section, slug, codes)
        for code in codes:
            self._enter(passport.of_code(code, badge, shown))
        self.found.note(badge, address, self.current)
        return self._draw("code", listing.listing(codes), badge)

    def minutes(self, address: str) -> float:
        """What the notes of a step plan for it: their last line, "2 minutes." or "30 seconds."."""
        notes = self.step(address).notes.splitlines()
        found = PLANNED.fullmatch(notes[-1]) if notes else None
        if not found:
            return 1
        return float(found[1]) / (60 if found[2].startswith("second") else 1)

    def rate(self, address: str) -> str:
        """The field that a step's bars are best drawn of."""
        shown = self._figures(address)
        return rate_field(shown.outcome.timings) if shown and shown.outcome.timings else "gbps"

    def bars(self, address: str, field: str = "gbps", only: Iterable[str] = ()) -> Markup:
        """A bar for every row of a step, or for rows that hold one of the names."""
        return self._chart("bars", address, field, tuple(str(name) for name in only))

    def skyline(self, address: str) -> Markup:
        """The same bars as a picture: side by side, under the ceiling."""
        return self._chart("skyline", address, "gbps", ())

    def table(self, address: str, rows: int = 8) -> Markup:
        """The first rows of a step's table; it says how many more there are."""
        shown = self._figures(address)
        made = tables.of_outcome(shown, self.step(address).kind) if shown else None
        return self._table(address, rows, shown, made)

    def picture(self, address: str, rows: int = 12) -> Markup:
        """What a step gathers from the whole talk, as a table."""
        step = self.step(address)
        made, numbers = tables.of_picture(step, self.reading)
        for ref, _ in collect.rows(step.of, self.reading).missing:
            self.found.note(Badge.MISSING, ref, self.current)
        if not numbers or self.reading.talk is None:
            return self._absent(address)
        keys = " ".join(dict.fromkeys(self._key(number) for number in numbers))
        badge = weakest(number.badge for number in numbers)
        return self._draw("gathered", made, rows, self.reading.talk.machine, badge, keys)

    def counters(self, address: str, rows: int = 8) -> Markup:
        """The first rows of what the hardware counted."""
        shown = self._figures(address)
        if shown and shown.outcome.counters is None:
            return self._absent(address, shown.outcome.counters_reason)
        return self._table(address, rows, shown, shown.outcome.counters if shown else None)

    def says(self, address: str) -> Markup:
        """The take-away of a step, computed from its numbers."""
        section, _ = split(address)
        template = self.step(address).says
        if not template:
            raise UnknownReference(f"{address} has no take-away.", hint="give its step a `says`")
        said = sentence.say(template, self.reading, section)
        if said is None:
            return self._absent(address, "a figure of its take-away was not measured")
        return self._draw("says", said, [self._key(number) for number in said.numbers])

    def question(self, address: str, brief: bool = False) -> Markup:
        """The choices of a prediction; then, in turn, the room, the model and the measurement.

        brief: without the model's reason and the belief that the usual wrong answer stands on.
        """
        section, _ = split(address)
        asked = question(self.reading, section, self.step(address))
        numbers = [number for number in (asked.model, asked.measured) if number]
        keys = {number.ref: self._key(number) for number in numbers}
        return self._draw("question", asked, keys, brief)

    def _draw(self, macro: str, *arguments: Any) -> Markup:
        drawn: Markup = getattr(self._parts, macro)(*arguments)
        return drawn

    def _key(self, number: Number) -> str:
        self.found.note(number.badge, number.ref, self.current)
        return self._enter(passport.of_number(number))

    def _enter(self, entry: Entry) -> str:
        """The id of a passport on this slide. One number under two names has one passport."""
        same = (known for known in self._entries if alike(known, entry))
        known = next(same, entry)
        if known is entry:
            self._entries.append(entry)
        return f"{self.current}-{self._entries.index(known)}"

    def _standing(self, section: int, slug: str, codes: tuple[Code, ...]) -> Badge:
        return Badge.RECORDED if self._stands(section, slug, codes) else Badge.STALE

    def _figures(self, address: str) -> Shown | None:
        self.step(address)
        return self.reading.figures(*split(address))

    def _chart(self, macro: str, address: str, field: str, only: tuple[str, ...]) -> Markup:
        shown = self._figures(address)
        if shown is None:
            return self._absent(address)
        chart = charts.bars(shown, self.reading, field, self.step(address).phase, only)
        keys = [self._key(number) for number in chart.numbers]
        return self._draw(macro, chart, keys, shown)

    def _table(self, address: str, rows: int, shown: Shown | None, table: Table | None) -> Markup:
        if shown is None or table is None:
            return self._absent(address)
        self.found.note(shown.badge, address, self.current)
        key = self._enter(passport.of_table(address, len(table.rows), shown))
        return self._draw("table", table, rows, shown, key)

    def _absent(self, address: str, why: str = "") -> Markup:
        """What stands where a picture would be, with the reason."""
        self.found.note(Badge.MISSING, address, self.current)
        outcome = self.reading.talk.outcome(*split(address)) if self.reading.talk else None
        failure = outcome.failure.reason if outcome and outcome.failure else ""
        return self._draw("absent", address, failure or why or NOT_MEASURED)


NOT_MEASURED = "not measured in this record"


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
