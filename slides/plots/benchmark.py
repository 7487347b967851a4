"""A benchmark: for every case, how near each candidate comes to the wall that it meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slides.drawing import Drawing
from slides.labels import Item, items
from slides.plots.axes import Canvas, widest
from slides.plots.chart import Chart, Figures, Mark, Size, marks, plain
from slides.plots.place import LINE
from talk import look
from talk.errors import TalkError
from talk.number import Number
from talk.rows import CACHED, OVERHEAD, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WALLS = ("share", "arithmetic_share")
"""Of the bandwidth, or of the arithmetic: the higher one is the wall."""

DOUBT = {CACHED: "cache-resident?", OVERHEAD: OVERHEAD}


@dataclass(frozen=True)
class Bar:
    """share: of its wall, of 1; None with a reason where none is claimed."""

    candidate: str
    share: float | None
    said: str


@dataclass(frozen=True)
class Case:
    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Benchmark:
    cases: tuple[Case, ...]
    marks: tuple[tuple[str, Mark], ...]


def chart(shown: Shown, phase: str, size: Size) -> Chart:
    """Raises TalkError for a step without timings of cases."""
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    every = items(shown) if shown.outcome.timings else []
    rows = [(timing.case, item) for timing, item in zip(shown.outcome.timings, every, strict=False)]
    if not rows:
        raise TalkError(f"{address} times no cases.", hint="draw its table with table(…)")
    made = benchmark(rows, address, phase)
    drawing = Drawing(draw=draw, data=made, words=words(made), width=size.width, height=size.height)
    return Chart(
        drawing=drawing,
        figures=figures(rows, address),
        caption="longer is nearer to the measured ceiling, from zero",
    )


def benchmark(rows: Sequence[tuple[str, Item]], address: str, phase: str) -> Benchmark:
    groups = [[i.candidate for c, i in rows if c == case] for case in dict(rows)]
    # The case with the most candidates has them in their order.
    names = list(dict.fromkeys(n for group in sorted(groups, key=len, reverse=True) for n in group))
    cases = tuple(
        Case(
            name=plain(case or "one case"),
            bars=tuple(bar(item, wall(item, address)) for name, item in rows if name == case),
        )
        for case in dict.fromkeys(case for case, _ in rows)
    )
    inks = marks(names, phase)
    return Benchmark(cases, tuple((name, inks[name]) for name in names))


def wall(item: Item, address: str) -> Number:
    """Its share of the wall it meets: the higher of the two."""
    shares = [item.number(field, address) for field in WALLS]
    return max(shares, key=lambda share: share.value if share.value is not None else -1.0)


def bar(item: Item, share: Number) -> Bar:
    doubt = next((DOUBT[flag] for flag in DOUBT if flag in share.flags), "")
    value = None if doubt or share.value is None else min(share.value, 1.0)
    return Bar(item.candidate, value, doubt or (str(share) if value is not None else "no ceiling"))


def words(made: Benchmark) -> str:
    rows = [
        f"{case.name}: " + ", ".join(f"{plain(bar.candidate)} {bar.said}" for bar in case.bars)
        for case in made.cases
    ]
    return "; ".join(["share of the measured ceiling", *rows])


def figures(rows: Sequence[tuple[str, Item]], address: str) -> Figures:
    body = tuple(
        (case, item.candidate, item.number("time", address), wall(item, address))
        for case, item in rows
    )
    return Figures(("case", "candidate", "time", "of its wall"), body)


# How it is drawn

LEGEND = 36.0
FOOT = 34.0
LANES = 0.76
"""Of a case's height is filled with bars."""


def draw(figure: Figure, made: Benchmark) -> None:
    said = [case.bars[-1].said for case in made.cases]
    left = widest([case.name for case in made.cases]) + 16
    canvas = Canvas(figure, left=left, right=widest(said) + 20, top=LEGEND, bottom=FOOT)
    axes = canvas.axes
    axes.set_xlim(0, 1)
    axes.set_ylim(len(made.cases), 0)
    axes.set_yticks([])
    shares = [0, 0.5, 1]
    axes.set_xticks(shares, [""] * len(shares))
    axes.tick_params(length=0)
    axes.grid(axis="x")
    axes.spines["bottom"].set_visible(False)
    for share in shares[:-1]:
        at, _ = canvas.pixel(share, 0)
        canvas.say(
            at, 0, look.quantity(share, "share").replace(".0", ""), ink="soft", align="center"
        )
    legend(canvas, made)
    inks = dict(made.marks)
    for n, case in enumerate(made.cases):
        row(canvas, n, case, inks)
    x, foot = canvas.pixel(1, len(made.cases))
    canvas.stroke([(x, foot), (x, canvas.top)], ink="ceiling", linewidth=3, dashes=(3, 2))
    canvas.say(x, 0, "100 %: the ceiling", ink="ceiling", align="right")


def legend(canvas: Canvas, made: Benchmark) -> None:
    x = canvas.left
    for name, mark in made.marks:
        canvas.mark(x + 10, canvas.height - 18, mark)
        box = canvas.say(x + 26, canvas.height - LINE - 3, plain(name), ink=mark.ink, bold=True)
        x = box.right + 28


def row(canvas: Canvas, n: int, case: Case, inks: dict[str, Mark]) -> None:
    _, top = canvas.pixel(0, n)
    _, foot = canvas.pixel(0, n + 1)
    middle = (top + foot) / 2
    canvas.say(canvas.left - 14, middle - LINE / 2, case.name, align="right")
    canvas.say(canvas.width, middle - LINE / 2, case.bars[-1].said, bold=True, align="right")
    height = (top - foot) * LANES / len(case.bars)
    first = middle + height * (len(case.bars) - 1) / 2
    for lane, each in enumerate(case.bars):
        mark, y = inks[each.candidate], first - lane * height
        end, _ = canvas.pixel(each.share or 0.0, n)
        canvas.stroke(
            [(canvas.left, y), (end, y)],
            ink=mark.ink,
            linewidth=min(height - 2, 16),
            solid_capstyle="butt",
            zorder=3,
        )
        canvas.mark(end, y, mark, hollow=each.share is None, size=min(13.0, height + 4))
