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

from slides import charts, listing, passport
from slides.question import question
from talk import sentence
from talk.errors import TalkError, UnknownReference
from talk.look import Badge
from talk.number import Number, Reading, Shown, nearest
from talk.outcome import Code, Table
from talk.record import SectionOutline, StepOutline
from talk.section import SLUG

WORDS = (
    "slide", "section", "step", "number", "figure", "code", "bars", "skyline", "table", "counters",
    "says", "question",
)  # fmt: skip
"""The methods of `Vocabulary` that templates may call."""

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
    """Slide names in order; reference or step → the slides on which it is stale or missing."""

    slides: list[str] = field(default_factory=list)
    stale: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)

    def troubles(self) -> list[str]:
        """One line for everything that a presenter should know of."""
        named = (("STALE", self.stale), ("MISSING", self.missing))
        return [
            f"{word}: {ref} (slide {', '.join(slides)})"
            for word, found in named
            for ref, slides in found.items()
        ]


class Vocabulary:
    """The words of one deck. stands: whether code of a step that is not performed still stands."""

    def __init__(self, environment: Environment, reading: Reading, stands: Standing) -> None:
        self.reading = reading
        self.found = Found()
        self.current = ""
        self._stands = stands
        self._numbers: list[Number] = []
        environment.globals.update({word: getattr(self, word) for word in WORDS})
        self._draw: Any = environment.get_template("parts.html.j2").module

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
        section = self.section(address.split("/")[0]) if address else None
        step = self.step(address) if "/" in address else None
        slide = Slide(
            name=self._begin(address, name),
            title=title or (step.title if step else section.title if section else ""),
            section=section,
            step=step,
            told=(*map(self.step, also), *([step] if step else [])),
            layout=layout,
            say=say,
            ask=ask,
            minutes=minutes,
        )
        body = caller()
        return self._drawn("slide", slide, body, passport.sheet(tuple(self._numbers)))

    def _begin(self, address: str, name: str) -> str:
        where = f"s{address}" if address[:1].isdigit() else address
        self.current = "-".join(part for part in (where.replace("/", "-"), name) if part)
        if not re.fullmatch(r"[a-z0-9-]+", self.current) or self.current in self.found.slides:
            raise TalkError(f"a deck has one slide of each name, in [a-z0-9-]: {self.current!r}.")
        self.found.slides.append(self.current)
        self._numbers = []
        return self.current

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
        return self._drawn("number", number, self._key(number), name)

    def figure(self, ref: str) -> Markup:
        """A figure and its unit alone, for a line of text."""
        number = self.reading.number(ref)
        return self._drawn("known", number, self._key(number))

    def code(self, address: str, *names: str) -> Markup:
        """Definitions that ran: all that the step shows, or those named."""
        codes = listing.named(self._codes(address), names)
        if not codes:
            raise UnknownReference(f"{address} shows no code.")
        return self._drawn("code", listing.listing(codes), self._code_badge(address, codes))

    def bars(self, address: str, field: str = "gbps", only: Iterable[str] = ()) -> Markup:
        """A bar for every row of a step, or for rows that hold one of the names."""
        return self._chart("bars", address, field, only)

    def skyline(self, address: str) -> Markup:
        """The same bars as a picture: side by side, under the ceiling, without their words."""
        return self._chart("skyline", address, "gbps", ())

    def table(self, address: str, rows: int = 8) -> Markup:
        """The first rows of a step's table; it says how many more there are."""
        return self._table(address, rows, lambda shown: shown.outcome.table)

    def counters(self, address: str, rows: int = 8) -> Markup:
        """The first rows of what the hardware counted."""
        return self._table(address, rows, lambda shown: shown.outcome.counters)

    def says(self, address: str) -> Markup:
        """The take-away of a step, computed from its numbers."""
        section, _ = split(address)
        template = self.step(address).says
        if not template:
            raise UnknownReference(f"{address} has no take-away.", hint="give its step a `says`")
        said = sentence.say(template, self.reading, section)
        if said is None:
            return self._absent(address)
        keys = [self._key(number) for number in said.numbers]
        return self._drawn("says", said, keys)

    def question(self, address: str, brief: bool = False) -> Markup:
        """The choices of a prediction; then, in turn, the room, the model and the measurement.

        brief: without the model's reason and the belief that the usual wrong answer stands on.
        """
        section, _ = split(address)
        asked = question(self.reading, section, self.step(address))
        numbers = [number for number in (asked.model, asked.measured) if number]
        keys = {number.ref: self._key(number) for number in numbers}
        return self._drawn("question", asked, keys, brief)

    def _drawn(self, macro: str, *arguments: Any) -> Markup:
        drawn: Markup = getattr(self._draw, macro)(*arguments)
        return drawn

    def _key(self, number: Number) -> str:
        """The id of a number's passport on this slide; what is stale or missing is noted."""
        if number.badge is Badge.STALE:
            self._note(self.found.stale, number.ref)
        if number.badge is Badge.MISSING:
            self._note(self.found.missing, number.ref)
        refs = [known.ref for known in self._numbers]
        if number.ref not in refs:
            self._numbers.append(number)
            refs.append(number.ref)
        return f"{self.current}-{refs.index(number.ref)}"

    def _note(self, where: dict[str, list[str]], ref: str) -> None:
        slides = where.setdefault(ref, [])
        if self.current not in slides:
            slides.append(self.current)

    def _figures(self, address: str) -> Shown | None:
        section, slug = split(address)
        self.step(address)
        return self.reading.figures(section, slug)

    def _absent(self, address: str) -> Markup:
        """What stands where a picture would be, with the reason."""
        self._note(self.found.missing, address)
        section, slug = split(address)
        outcome = self.reading.talk.outcome(section, slug) if self.reading.talk else None
        reason = outcome.failure.reason if outcome and outcome.failure else ""
        return self._drawn("absent", address, reason)

    def _codes(self, address: str) -> tuple[Code, ...]:
        """As it ran; of a step that is not performed, as its section was read."""
        section, slug = split(address)
        step = self.step(address)
        shown = self.reading.shown(section, slug)
        return (shown[0].outcome.code if shown else ()) or step.code

    def _code_badge(self, address: str, codes: tuple[Code, ...]) -> Badge:
        section, slug = split(address)
        shown = self.reading.shown(section, slug)
        if shown:
            badge = shown[0].badge
        else:
            badge = Badge.RECORDED if self._stands(section, slug, codes) else Badge.STALE
        if badge is Badge.STALE:
            self._note(self.found.stale, address)
        return badge

    def _chart(self, macro: str, address: str, field: str, only: Iterable[str]) -> Markup:
        shown = self._figures(address)
        if shown is None:
            return self._absent(address)
        phase = self.step(address).phase
        chart = charts.bars(shown, self.reading, field, phase, tuple(str(key) for key in only))
        keys = [self._key(number) for number in chart.numbers]
        return self._drawn(macro, chart, keys, shown)

    def _table(self, address: str, rows: int, of: Callable[[Shown], Table | None]) -> Markup:
        shown = self._figures(address)
        table = of(shown) if shown else None
        if shown is None or table is None:
            return self._absent(address)
        if shown.badge is Badge.STALE:
            self._note(self.found.stale, address)
        return self._drawn("table", table, rows, shown)


def split(address: str) -> tuple[int, str]:
    """`5/blocks` → (5, "blocks"). Raises UnknownReference."""
    section, slash, slug = address.partition("/")
    if not section.isdecimal() or not slash or not slug:
        raise UnknownReference(f"{address!r} is no step.", hint="write section/step, as in 5/blocks")
    return int(section), slug
