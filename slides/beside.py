"""A second machine beside the first: its figures under its own name, never mixed with the others.

Nothing here is drawn where no second record was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from slides import charts
from slides.choose import Choice, Shelf, choose, shortened
from slides.context import Context
from slides.vocabulary import Vocabulary
from talk import look
from talk.compare import (
    Comparison,
    Measured,
    Pair,
    ceilings_apart,
    compare,
    machine_rows,
    refuse_unfounded,
)
from talk.errors import RecordError
from talk.look import Badge
from talk.number import Number, weakest
from talk.reading import Reading
from talk.record import Machine, Record

WORDS = ("beside", "machines", "other")

MOST_ROWS = 9
"""Pairs of bars of 24 px text that fit under a title at 1280×720."""

BENCHMARKS = ("1/block", "5/blocks", "5/fused", "6/fused", "7/write", "8/relu", "8/final")
"""What the sections come down to; the last rows of each stand on the slide of both machines."""


def second(shelf: Shelf, wanted: str, first: Record) -> Choice:
    """The record to stand beside the first: a talk's folder, or part of a GPU's name.

    Raises RecordError where none will do, or where it is the first again.
    """
    folder = Path(wanted)
    found = choose(shelf, named=folder) if folder.is_dir() else choose(shelf, gpu=wanted)
    refuse_unfounded(found.record)
    mine, theirs = first.folder, found.record.folder
    if mine and theirs and mine.resolve() == theirs.resolve():
        raise RecordError(
            f"{shortened(theirs)} would stand beside itself.",
            hint="name another talk's folder, or another GPU: --beside DIR",
        )
    return found


@dataclass(frozen=True)
class Half:
    """One machine's part of a row. length, low, high, ceiling: percent of the axis; keys: of the
    passports of the figure and of its share.
    """

    number: Number
    key: str
    share: Number | None
    share_key: str
    length: float
    low: float
    high: float
    ceiling: float


@dataclass(frozen=True)
class Line:
    """A row: what was measured, on both, and how the second compares."""

    label: str
    colour: str
    glyph: str
    halves: tuple[Half, Half]
    verdict: str


@dataclass(frozen=True)
class Sides:
    """Two machines' figures of one step. notes: what to doubt. apart: not compared, and why.

    axis: what the bars are. left: how many rows are not shown.
    """

    names: tuple[str, str]
    lines: tuple[Line, ...]
    badges: tuple[Badge, Badge]
    axis: str
    left: int
    notes: tuple[str, ...]
    apart: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """A row of the slide of both machines. numbers, keys: None and "" where one has no such."""

    label: str
    numbers: tuple[Number | None, Number | None]
    keys: tuple[str, str]
    verdict: str


class Beside:
    """The words about a second machine. other: that machine; None where there is no second."""

    def __init__(self, context: Context, other: Record | None) -> None:
        self._context = context
        self._record = other
        self.other: Machine | None = other.machine if other else None
        fresh = context.reading.fresh
        self._reading = Reading(talk=other, fresh=fresh)
        first = context.reading.talk
        self._comparison = compare(first, other, fresh=fresh) if first and other else None

    def beside(self, address: str, name: str = "beside") -> Markup:
        """A slide of its own: the rows of a step on both machines."""
        if self._comparison is None:
            return Markup("")
        step = self._context.step(address)
        return Vocabulary(self._context).slide(
            address,
            caller=lambda: self._sides(address),
            name=name,
            title=f"{step.title}, on two machines",
            minutes=0,
            say="Say: what is a property of the kernel stays, what is one of the machine moves.",
        )

    def _sides(self, address: str) -> Markup:
        assert self._comparison is not None
        section, slug = address.split("/")
        step = [p for p in self._comparison.pairs if (str(p.section), p.step) == (section, slug)]
        apart = [p for p in self._comparison.apart if (str(p.section), p.step) == (section, slug)]
        chosen = rows_of(step)
        if not chosen:
            return self._absent(address, apart)
        scale = scale_of(chosen)
        phase = self._context.step(address).phase
        sides = Sides(
            names=self._comparison.names,
            lines=tuple(self._line(p, label, phase, scale) for p, label in labelled(chosen)),
            badges=(chosen[0].first.shown.badge, chosen[0].second.shown.badge),
            axis=scale.axis,
            left=len(step) - len(chosen),
            notes=tuple(dict.fromkeys(note for pair in chosen for note in pair.notes))[:2],
            apart=tuple(f"{pair.ref}: {pair.differs}" for pair in apart[:1]),
        )
        return self._context.draw("sides", sides)

    def _absent(self, address: str, apart: Sequence[Pair]) -> Markup:
        """What stands where no row can be compared; noted of the machine that lacks it."""
        assert self._comparison is not None
        if apart:
            return self._context.draw("not_compared", address, apart[0].differs)
        drawn = Markup("")
        readings = (self._context.reading, self._reading)
        for name, reading in zip(self._comparison.names, readings, strict=True):
            section, slug = address.split("/")
            if reading.figures(int(section), slug) is None:
                self._context.note(Badge.MISSING, f"{name}: {address}")
                drawn += self._context.draw("absent", f"{name}: {address}", "not measured there")
        return drawn or self._context.draw("not_compared", address, "they share no row")

    def _line(self, pair: Pair, label: str, phase: str, scale: Scale) -> Line:
        candidate = pair.first.timing.candidate
        known = candidate in ("naive", "torch")
        halves = (
            self._half(pair, 0, scale),
            self._half(pair, 1, scale),
        )
        return Line(
            label=label,
            colour=candidate if known else phase if phase in charts.COLOURS else "rewrite",
            glyph=look.ink(candidate, phase).glyph,
            halves=halves,
            verdict=pair.verdict,
        )

    def _half(self, pair: Pair, at: int, scale: Scale) -> Half:
        number = self._named(pair.rates[at], f"{pair.ref}.{pair.field}", at)
        share = pair.shares[at]
        owned = self._named(share, f"{pair.ref}.share", at) if share else None
        drawn = share if scale.shares else number
        ceiling = 1.0 if scale.shares else ceiling_of(pair.sides[at], pair.field)
        return Half(
            number=number,
            key=self._context.key(number),
            share=owned,
            share_key=self._context.key(owned) if owned else "",
            length=charts.percent(drawn.value if drawn else None, scale.most),
            low=charts.percent(drawn.low if drawn else None, scale.most),
            high=charts.percent(drawn.high if drawn else None, scale.most),
            ceiling=charts.percent(ceiling, scale.most),
        )

    def _named(self, number: Number, ref: str, at: int) -> Number:
        """A number under its reference; that of the second machine, under its name too."""
        assert self._comparison is not None
        return replace(number, ref=f"{self._comparison.names[at]}: {ref}" if at else ref)

    def machines(self) -> Markup:
        """A table of both machines: their ceilings, and what the sections come down to."""
        if self._comparison is None:
            return Markup("")
        ceilings = tuple(self._ceilings(self._comparison))
        rows = tuple(self._rows(self._comparison))
        shown = [pair.sides for pair in self._comparison.decisive]
        badges = [weakest(sides[at].shown.badge for sides in shown) for at in (0, 1)]
        return self._context.draw("both", self._comparison.names, ceilings, rows, badges)

    def _ceilings(self, comparison: Comparison) -> Iterator[Told]:
        for name, *pair in machine_rows(comparison):
            verdict = ceilings_apart(*pair)
            yield self._told(name, (pair[0], pair[1]), verdict, ("", ""))

    def _rows(self, comparison: Comparison) -> Iterator[Told]:
        """The last row of each benchmark that both hold."""
        for address in BENCHMARKS:
            found = [p for p in comparison.decisive if f"{p.section}/{p.step}" == address]
            for pair in found[-1:]:
                label = f"{address} {pair.first.timing.case}".strip()
                yield self._told(label, pair.times, pair.verdict, (f"{pair.ref}.time",) * 2)

    def _told(
        self,
        label: str,
        pair: tuple[Number | None, Number | None],
        verdict: str,
        refs: tuple[str, str],
    ) -> Told:
        numbers = tuple(
            self._named(number, ref or number.ref, at) if number else None
            for at, (number, ref) in enumerate(zip(pair, refs, strict=True))
        )
        keys = tuple(self._context.key(number) if number else "" for number in numbers)
        return Told(label, (numbers[0], numbers[1]), (keys[0], keys[1]), verdict)


def rows_of(pairs: Sequence[Pair]) -> list[Pair]:
    """All rows of a step, or the decisive and the last of them where they are too many."""
    if len(pairs) <= MOST_ROWS:
        return list(pairs)
    decisive = [pair for pair in pairs if pair.decisive]
    return (decisive if len(decisive) > 1 else list(pairs))[-MOST_ROWS:]


def labelled(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, str]]:
    """Each with what tells it from the others: its case or its point, and its candidate."""
    several = len({pair.first.timing.candidate for pair in pairs}) > 1
    for pair in pairs:
        timing = pair.first.timing
        at = ", ".join(f"{name} {value:,}" for name, value in timing.at.items())
        parts = (timing.case, timing.candidate if several or not (timing.case or at) else "", at)
        yield pair, " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Scale:
    """One axis for both machines. shares: of each one's own ceiling, where units differ."""

    most: float
    axis: str
    shares: bool = False


def scale_of(pairs: Sequence[Pair]) -> Scale:
    """GB/s and TFLOP/s share no axis; shares of a ceiling do."""
    fields = {pair.field for pair in pairs}
    if len(fields) > 1:
        return Scale(charts.HEADROOM, "bars: the share of its own measured ceiling", shares=True)
    rates = [number for pair in pairs for number in pair.rates]
    known = (ceiling_of(side, pair.field) for pair in pairs for side in pair.sides)
    most = max(charts.longest(rates), *(top * charts.HEADROOM for top in known if top), 0.0)
    better = look.BETTER.get(rates[0].unit, "")
    return Scale(most, f"{better}, both on one axis")


def ceiling_of(side: Measured, field: str) -> float | None:
    """GB/s that the machine was measured to reach for the row's mix of traffic."""
    ceilings = side.shown.machine.ceilings if field == "gbps" else None
    return ceilings.bandwidth_gbps.get(side.timing.mix) if ceilings else None
