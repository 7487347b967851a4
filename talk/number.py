"""A number that knows its run: value, unit, spread, badge, flags and passport."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import SupportsFloat

from talk import look
from talk.errors import NoValue
from talk.look import Badge


@dataclass(frozen=True, kw_only=True)
class Passport:
    """What a number needs to be believed, and repeated.

    clock: which of the stopwatches. clocks: of the GPU, and what slowed them.
    """

    gpu: str = ""
    capability: str = ""
    date: str = ""
    software: str = ""
    case: str = ""
    clock: str = ""
    clocks: str = ""
    n: int | None = None
    spread: str = ""
    config: str = ""
    commit: str = ""
    command: str = ""

    def lines(self) -> tuple[tuple[str, str], ...]:
        """(label, words) of what is known."""
        pairs = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return tuple(
            (label, f"{value}") for label, value in pairs.items() if value not in ("", None)
        )


@dataclass(frozen=True, kw_only=True)
class Number:
    """A value in its base unit, with its badge, its flags and its passport.

    Compares and counts as a float, so that sentences can depend on it.
    """

    ref: str
    value: float | None
    unit: str
    badge: Badge
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    passport: Passport = Passport()

    def __float__(self) -> float:
        if self.value is None:
            raise NoValue(f"{self.ref} has no value: {', '.join(self.flags) or 'not measured'}.")
        return float(self.value)

    def __lt__(self, other: SupportsFloat) -> bool:
        return float(self) < float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return float(self) > float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return float(self) <= float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return float(self) >= float(other)

    def __truediv__(self, other: SupportsFloat) -> Number:
        """By a number: their `quotient`. By a constant: scaled, in the same unit."""
        value = float(self) / float(other)
        if isinstance(other, Number):
            return quotient(self, other)
        return replace(self, value=value, low=None, high=None)

    def __mul__(self, other: Number) -> Number:
        """Their `product`. Raises TypeError for units whose product has no name here."""
        return product(self, other)

    def __str__(self) -> str:
        return look.quantity(self.value, self.unit)

    @property
    def spread(self) -> str:
        """p20 to p80, or nothing for a single value."""
        if self.low is None or self.high is None:
            return ""
        return f"{look.quantity(self.low, self.unit)} – {look.quantity(self.high, self.unit)}"


QUOTIENTS = {("count", "s"): "/s"}
"""Units over units that make a unit of their own; all others are a ratio."""


def quotient(above: Number, below: Number) -> Number:
    """One number by another, with the weaker badge; no value where one of them has none."""
    known = above.value is not None and below.value
    return replace(
        above,
        ref=f"{above.ref} / {below.ref}",
        value=above.value / below.value if known else None,  # type: ignore[operator]
        unit=QUOTIENTS.get((above.unit, below.unit), "ratio"),
        badge=weakest((above.badge, below.badge)),
        low=None,
        high=None,
        flags=tuple(dict.fromkeys((*above.flags, *below.flags))),
    )


PRODUCTS = {("GB/s", "s"): ("B", 1e9)}
"""Units times units: the unit of the product, and what one of it is in that unit."""


def product(a: Number, b: Number) -> Number:
    """Two numbers multiplied, with the weaker badge; no value where one of them has none."""
    if (a.unit, b.unit) not in PRODUCTS:
        raise TypeError(f"{a.ref} in {a.unit} times {b.ref} in {b.unit} has no unit")
    unit, scale = PRODUCTS[a.unit, b.unit]
    known = a.value is not None and b.value is not None
    return replace(
        a,
        ref=f"{a.ref} * {b.ref}",
        value=a.value * b.value * scale if known else None,  # type: ignore[operator]
        unit=unit,
        badge=weakest((a.badge, b.badge)),
        low=None,
        high=None,
        flags=tuple(dict.fromkeys((*a.flags, *b.flags))),
    )


# From the strongest to the weakest claim.
STRENGTH = (Badge.LIVE, Badge.RECORDED, Badge.STALE, Badge.SIMULATED, Badge.MISSING)


def weakest(badges: Iterable[Badge]) -> Badge:
    """What can be claimed of several numbers together; LIVE of none."""
    return max(badges, key=STRENGTH.index, default=Badge.LIVE)


def tie(a: Number, b: Number) -> bool:
    """Whether two results cannot be told apart: their p20–p80 overlap."""
    spans = (a.low, a.high, b.low, b.high)
    if any(edge is None for edge in spans):
        return False
    return a.low <= b.high and b.low <= a.high  # type: ignore[operator]  # None is ruled out above
