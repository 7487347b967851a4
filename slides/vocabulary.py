"""What a template may say: each word looks a record up and draws what it finds.

A template holds words and references. The values, the code, the charts and the sentences come
from a `Reading`; what is stale or missing is noted with the slide it is on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from slides import charts, listing, passport, tables
from slides.context import Context, split
from talk import collect, sentence
from talk.errors import UnknownReference
from talk.look import Badge
from talk.number import weakest
from talk.outcome import Code, Table
from talk.pace import planned
from talk.question import question
from talk.record import SectionOutline, StepOutline
from talk.rows import Shown, rate_field

WORDS = (
    "slide", "section", "step", "number", "figure", "code", "bars", "skyline", "table", "counters",
    "picture", "rate", "says", "question",
)  # fmt: skip
"""The methods of `Vocabulary` that templates may call."""

ELSEWHERE = re.compile(r"n\(['\"](\d+)/")
"""A sentence's reference into a section that it names."""


@dataclass(frozen=True, kw_only=True)
class Slide:
    """One slide as its template names it.

    step: what it is about; about: the addresses of all its steps; told: those whose notes belong
    to it. say, ask: the presenter's
    words. minutes: planned.
    """

    name: str
    title: str
    section: SectionOutline | None
    step: StepOutline | None
    about: tuple[str, ...]
    told: tuple[StepOutline, ...]
    layout: str
    say: str
    ask: str
    minutes: float


class Vocabulary:
    """The words about one step or one number."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.section = context.section
        self.step = context.step

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
        minutes: float | None = None,
    ) -> Markup:
        """A slide about a step (`5/blocks`), a section (`5`) or neither.

        also: further steps that it shows. name: of a second slide about an address, which has its
        own words and minutes. layout: one of the theme. minutes: those planned for its steps,
        unless a second slide takes some of them.
        """
        where = f"s{address}".replace("/", "-") if address else ""
        self._context.begin("-".join(part for part in (where, name) if part))
        if not self._context.wanted:
            return Markup("")
        section = self._context.section(address.split("/")[0]) if address else None
        told = self._told(address, also) if "/" in address and not name else ()
        step = self._context.step(address) if "/" in address else None
        slide = Slide(
            name=self._context.current,
            title=title or (step.title if step else section.title if section else ""),
            section=section,
            step=step,
            about=self._about(address, also) if "/" in address else (),
            told=told,
            layout=layout,
            say=say,
            ask=ask,
            minutes=sum(map(planned, told)) if minutes is None else minutes,
        )
        self._context.tells[slide.name] = slide.about
        body = caller()
        drawn = self._context.draw("slide", slide, body, self._context.sheet())
        self._context.drawn[slide.name] = drawn
        return drawn

    def _order(self, address: str) -> int:
        """The place of a step in its section."""
        return self.section(address.split("/")[0]).steps.index(self.step(address))

    def _about(self, address: str, also: Iterable[str]) -> tuple[str, ...]:
        """The addresses of a slide's steps, in running order."""
        return tuple(sorted({address, *also}, key=self._order))

    def _told(self, address: str, also: Iterable[str]) -> tuple[StepOutline, ...]:
        """The steps of a slide, in running order."""
        wanted = {address, *also}
        self._context.found.steps.update(wanted)
        steps = {id(step): step for step in map(self.step, wanted)}
        outline = self.section(address.split("/")[0])
        return tuple(step for step in outline.steps if id(step) in steps)

    def number(self, ref: str, name: str = "") -> Markup:
        """A figure, its unit, spread and badge. name: what it is, where the slide does not say."""
        number = self._context.reading.number(ref)
        return self._context.draw("number", number, self._context.key(number), name)

    def figure(self, ref: str) -> Markup:
        """A figure and its unit alone, for a line of text."""
        number = self._context.reading.number(ref)
        return self._context.draw("known", number, self._context.key(number))

    def code(
        self, address: str, *names: str, beats: Mapping[str, str] | None = None, at: int = 0
    ) -> Markup:
        """Definitions that ran: all that the step shows, or those named.

        beats: what to say about the lines that hold a text, in turn, from fragment `at` on.
        Raises TalkError for a text that no line holds.
        """
        codes, shown = self._code(address, names)
        badge = shown.badge if shown else self._context.standing(address, codes)
        for code in codes:
            self._context.enter(passport.of_code(code, badge, shown))
        self._context.note(badge, address)
        return self._context.draw("code", listing.listing(codes, beats or {}), badge, at)

    def _code(self, address: str, names: tuple[str, ...]) -> tuple[tuple[Code, ...], Shown | None]:
        """As it ran; of a step that is not performed, as its section was read."""
        step = self._context.step(address)
        shown = next(iter(self._context.reading.shown(*split(address))), None)
        codes = listing.named((shown.outcome.code if shown else ()) or step.code, names)
        if not codes:
            raise UnknownReference(f"{address} shows no code.")
        return codes, shown

    def rate(self, address: str) -> str:
        """The field that a step's bars are best drawn of."""
        shown = self._context.figures(address)
        return rate_field(shown.outcome.timings) if shown and shown.outcome.timings else "gbps"

    def bars(self, address: str, field: str = "gbps", only: Iterable[str] = ()) -> Markup:
        """A bar for every row of a step, or for rows that hold one of the names."""
        return self._chart("bars", address, field, tuple(str(name) for name in only))

    def skyline(self, address: str) -> Markup:
        """The same bars as a picture: side by side, under the ceiling."""
        return self._chart("skyline", address, "gbps", ())

    def table(self, address: str, rows: int = 8, columns: Iterable[str] = ()) -> Markup:
        """The first rows of a step's table; it says how many more there are.

        columns: names of those to show; all where none is given.
        """
        shown = self._context.figures(address)
        made = tables.of_outcome(shown, self._context.step(address).kind) if shown else None
        return self._table(address, rows, shown, tables.narrowed(made, tuple(columns)))

    def picture(self, address: str, rows: int = 12) -> Markup:
        """What a step gathers from the whole talk, as a table."""
        step = self._context.step(address)
        made, numbers = tables.of_picture(step, self._context.reading)
        for ref, _ in collect.rows(step.of, self._context.reading).missing:
            self._context.note(Badge.MISSING, ref)
        machine = self._context.reading.machine()
        if not numbers or machine is None:
            return self._context.absent(address)
        keys = " ".join(dict.fromkeys(self._context.key(number) for number in numbers))
        badge = weakest(number.badge for number in numbers)
        return self._context.draw("gathered", made, rows, machine, badge, keys)

    def counters(self, address: str, rows: int = 8) -> Markup:
        """The first rows of what the hardware counted."""
        shown = self._context.figures(address)
        if shown and shown.outcome.counters is None:
            return self._context.absent(address, shown.outcome.counters_reason)
        return self._table(address, rows, shown, shown.outcome.counters if shown else None)

    def says(self, address: str, name: str = "") -> Markup:
        """The take-away of a step, computed from its numbers. name: what it is about."""
        section, _ = split(address)
        template = self._context.step(address).says
        if not template:
            raise UnknownReference(f"{address} has no take-away.", hint="give its step a `says`")
        if lacking := self._lacking(template):
            return self._context.absent(address, f"it needs section {', '.join(lacking)}")
        said = sentence.say(template, self._context.reading, section)
        if said is None:
            return self._context.absent(address, "a figure of its take-away was not measured")
        return self._context.draw("says", said, [*map(self._context.key, said.numbers)], name)

    def _lacking(self, template: str) -> list[str]:
        """The sections that a sentence refers to, and that this record does not hold."""
        held = {str(outline.number) for outline in self._context.reading.outlines}
        return sorted(set(ELSEWHERE.findall(template)) - held)

    def question(self, address: str, brief: bool = False) -> Markup:
        """The choices of a prediction; then, in turn, the room, the model and the measurement.

        brief: without the model's reason and the belief that the usual wrong answer stands on.
        """
        section, _ = split(address)
        asked = question(self._context.reading, section, self._context.step(address))
        numbers = [number for number in (asked.model, asked.measured) if number]
        keys = {number.ref: self._context.key(number) for number in numbers}
        return self._context.draw("question", asked, keys, brief)

    def _chart(self, macro: str, address: str, field: str, only: tuple[str, ...]) -> Markup:
        shown = self._context.figures(address)
        if shown is None:
            return self._context.absent(address)
        chart = charts.bars(
            shown, self._context.reading, field, self._context.step(address).phase, only
        )
        keys = [self._context.key(number) for number in chart.numbers]
        return self._context.draw(macro, chart, keys, shown)

    def _table(self, address: str, rows: int, shown: Shown | None, table: Table | None) -> Markup:
        if shown is None or table is None:
            return self._context.absent(address)
        self._context.note(shown.badge, address)
        key = self._context.enter(passport.of_table(address, len(table.rows), shown))
        return self._context.draw("table", table, rows, shown, key)
