"""How good the predictions were: the model and the room as ratios to what was measured."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slides.drawing import Drawing
from slides.plots.axes import Canvas, Label, decades, widest
from slides.plots.chart import TOO_LARGE, Chart, Figures, Mark, Size, brief, plain
from slides.plots.place import LINE, around
from talk import collect, look
from talk.collect import Asked
from talk.reading import Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHARACTERS = 42
"""Of a question to a line; two lines."""

ROW = 66.0
HEAD = 40.0


@dataclass(frozen=True)
class Guess:
    """model, room: how many times the measurement; None where there was no such answer."""

    title: tuple[str, ...]
    model: float | None
    room: float | None


@dataclass(frozen=True)
class Guesses:
    """Those that surprised most, the farthest first. others: how many more were settled."""

    shown: tuple[Guess, ...]
    others: int


def chart(reading: Reading, size: Size) -> Chart | None:
    """None where nothing was predicted and measured."""
    outlines = reading.outlines
    choices = {
        (outline.number, step.slug): step.choices for outline in outlines for step in outline.steps
    }
    asked = [
        (each, guess(each, choices[each.address]))
        for each in collect.calibration(outlines, reading)
    ]
    settled = [(each, made) for each, made in asked if made.model or made.room]
    if not settled:
        return None
    settled.sort(key=lambda pair: -surprise(pair[1]))
    fits = int((size.height - HEAD) // ROW)
    made = Guesses(tuple(g for _, g in settled[:fits]), max(0, len(settled) - fits))
    drawing = Drawing(draw=draw, data=made, words=words(made), width=size.width, height=size.height)
    return Chart(
        drawing=drawing,
        figures=figures([each for each, _ in settled]),
        caption=caption(made, settled[fits:]),
        missing=tuple(missing(asked)),
    )


def missing(asked: Sequence[tuple[Asked, Guess]]) -> list[str]:
    measured = [each.question.measured for each, _ in asked]
    return [number.ref for number in measured if number and number.value is None]


def guess(asked: Asked, choices: dict[str, tuple[float, float]]) -> Guess:
    measured, room = asked.question.measured, asked.question.room
    ratio = None
    if room and measured and measured.value:
        middle = middle_of(choices.get(room.label))
        ratio = middle / measured.value if middle else None
    title = tuple(textwrap.wrap(plain(asked.title, 2 * CHARACTERS), CHARACTERS)[:2])
    model = asked.model_over_measured
    return Guess(title, bounded(model), bounded(ratio))


def bounded(ratio: float | None) -> float | None:
    """A ratio that an axis can hold."""
    return ratio if ratio and 1 / TOO_LARGE < ratio < TOO_LARGE else None


def middle_of(bounds: tuple[float, float] | None) -> float | None:
    """Of a range, as a ratio has it; its one end where the other is open."""
    ends = [end for end in bounds or () if end > 0 and math.isfinite(end)]
    return math.exp(sum(map(math.log, ends)) / len(ends)) if ends else None


def surprise(made: Guess) -> float:
    """How far the worse answer was off, in powers of ten."""
    return max(abs(math.log10(each)) for each in (made.model, made.room) if each)


def caption(made: Guesses, others: Sequence[tuple[Asked, Guess]]) -> str:
    if not others:
        return "what surprised most comes first; logarithmic, 1 is right"
    worst = surprise(others[0][1])
    within = look.quantity(10**worst, "ratio")
    return f"logarithmic, 1 is right; {made.others} more questions were within {within}"


def words(made: Guesses) -> str:
    rows = [
        " ".join(g.title)
        + ": "
        + ", ".join(
            f"{who} {look.quantity(ratio, 'ratio')}"
            for who, ratio in (("model", g.model), ("room", g.room))
            if ratio
        )
        for g in made.shown
    ]
    return "; ".join(["each answer over the measurement", *rows])


def figures(settled: Sequence[Asked]) -> Figures:
    body = tuple(
        (
            each.title,
            each.question.room.label if each.question.room else "–",
            each.question.model or "–",
            each.question.measured or "open",
        )
        for each in settled
    )
    return Figures(("question", "the room", "the model", "measured"), body)


# How it is drawn

MARKS = (("model", Mark("profile", "o")), ("room", Mark("naive", "^")))


def draw(figure: Figure, made: Guesses) -> None:
    canvas = Canvas(
        figure,
        left=widest([line for g in made.shown for line in g.title]) + 20,
        right=24,
        top=HEAD,
        bottom=0,
    )
    ratios = [r for g in made.shown for r in (g.model, g.room) if r]
    low, high = min([*ratios, 0.5]) / 4, max([*ratios, 2.0]) * 3
    axes = canvas.axes
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(made_height(canvas), 0)
    axes.spines["bottom"].set_visible(False)
    axes.set_yticks([])
    ticks = [t for t in decades(low, high) if t != 1]
    axes.set_xticks([*ticks, 1.0], [""] * (len(ticks) + 1))
    axes.minorticks_off()
    axes.tick_params(length=0)
    axes.grid(axis="x")
    heads(canvas, made, [1.0, *ticks])
    one, _ = canvas.pixel(1, 0)
    canvas.stroke([(one, 0), (one, canvas.top)], ink="text", linewidth=3)
    canvas.room.line(one, 0, one, canvas.top)
    for n, each in enumerate(made.shown):
        row(canvas, canvas.top - (n + 0.5) * ROW, each)


def made_height(canvas: Canvas) -> float:
    return canvas.top - canvas.bottom


def heads(canvas: Canvas, made: Guesses, ticks: Sequence[float]) -> None:
    taken = [around(-1000, 0)]
    for tick in ticks:
        at, _ = canvas.pixel(tick, 0)
        words = "measured" if tick == 1 else brief(tick, "ratio")
        ink = "text" if tick == 1 else "soft"
        box = around(at, canvas.height - 18, 64 if tick == 1 else 44)
        if not any(box.overlaps(other) for other in taken):
            canvas.say(at, canvas.height - 34, words, ink=ink, bold=tick == 1, align="center")
            taken.append(box)
    x = 10.0
    for name, mark in MARKS:
        if any(getattr(each, name) for each in made.shown):
            canvas.mark(x, canvas.height - 18, mark)
            x = (
                canvas.say(x + 16, canvas.height - 33, f"the {name}", ink=mark.ink, bold=True).right
                + 40
            )


def row(canvas: Canvas, middle: float, each: Guess) -> None:
    lines = each.title
    for n, line in enumerate(lines):
        canvas.say(0, middle + (len(lines) / 2 - 1 - n) * LINE, line)
    one, _ = canvas.pixel(1, 0)
    spots = []
    for name, mark in MARKS:
        ratio = getattr(each, name)
        if ratio:
            at, _ = canvas.pixel(ratio, 0)
            canvas.stroke([(one, middle), (at, middle)], ink=mark.ink, linewidth=4)
            spots.append((at, mark, ratio))
    for at, mark, _ in spots:
        canvas.mark(at, middle, mark)
    for at, mark, ratio in spots:
        sides = ((1, 0), (-1, 0)) if ratio >= 1 else ((-1, 0), (1, 0))
        canvas.label(Label(at, middle, look.quantity(ratio, "ratio"), mark.ink, True, sides=sides))
