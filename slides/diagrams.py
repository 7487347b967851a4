"""Diagrams of ideas: shapes and words of a template, shown in beats, with figures by reference."""

from __future__ import annotations

from markupsafe import Markup

from slides import anatomy, followed, passport
from slides.context import Context, split
from slides.followed import Followed
from talk.errors import UnknownReference
from talk.look import Badge
from talk.number import Number, quotient, weakest

WORDS = ("diagram",)

NAMES = ("grid", "hiding", "lanes", "hierarchy", "trips", "coalesced", "tiles", "lowering")
"""In the order in which the talk needs them."""


class Diagrams:
    """The word for a diagram."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def diagram(self, name: str) -> Markup:
        """One of `NAMES`, with the belief that it puts right. Raises UnknownReference."""
        if name not in NAMES:
            hint = f"there is: {', '.join(NAMES)}"
            raise UnknownReference(f"there is no diagram {name!r}.", hint=hint)
        template = self._context.environment.get_template(f"diagrams/{name}.svg.j2")
        drawn = template.render(name=name, pen=Pen(self._context))
        return Markup(drawn)


class Pen:
    """What a diagram may ask for. Remembers its numbers: their badge stands for the drawing."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._badges: list[Badge] = []
        self.anatomy = anatomy.of(context.reading)

    def value(self, wanted: str | Number) -> Markup:
        """A figure and its unit inside an SVG text."""
        return self._known("drawn_value", wanted)

    def figure(self, wanted: str | Number) -> Markup:
        """The same in a line of HTML."""
        return self._known("known", wanted)

    def product(self, a: str, b: str) -> Number:
        """Of two references. Raises TypeError for units without a product."""
        factors = self.number(a), self.number(b)
        if any(factor.value is None for factor in factors):
            return anatomy.missing(f"{a} * {b}")
        return factors[0] * factors[1]

    def quotient(self, above: Number | None, below: Number | None) -> Number:
        """No value where one of them has none."""
        if above is None or below is None or not (above.value and below.value):
            lacking = above if below and below.value else below
            return anatomy.missing(lacking.ref if lacking else "")
        return quotient(above, below)

    def number(self, wanted: str | Number) -> Number:
        if isinstance(wanted, Number):
            return wanted
        return anatomy.lookup(self._context.reading, wanted)

    def source(self) -> Markup:
        """The machine and the badge of what was asked for so far; nothing where all is missing."""
        known = [badge for badge in self._badges if badge is not Badge.MISSING]
        machine = anatomy.machine_of(self._context.reading)
        if not known or machine is None:
            return Markup()
        return self._context.draw("drawn_source", machine.device.name, weakest(known))

    @property
    def measured(self) -> bool:
        """Whether something in the drawing can be asked where it comes from."""
        return bool(self._badges)

    def followed(self, address: str) -> tuple[Followed, str]:
        """A Python line in every form that the compiler made of it, and the id of its passport."""
        shown = self._context.reading.figures(*split(address))
        found = followed.followed(shown.outcome) if shown else None
        badge = shown.badge if shown and found else Badge.MISSING
        self._badges.append(badge)
        self._context.note(badge, address)
        if shown is None or found is None:
            return followed.NOTHING, ""
        key = self._context.enter(passport.of_table(address, len(found.forms), shown))
        return found, key

    def _known(self, macro: str, wanted: str | Number) -> Markup:
        number = self.number(wanted)
        self._badges.append(number.badge)
        return self._context.draw(macro, number, self._context.key(number))
