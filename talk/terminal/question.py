"""A prediction: its answers and the vote; afterwards the room, the model, the measurement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.errors import TalkError
from talk.number import Number
from talk.reading import REFERENCE, Reading
from talk.record import SectionOutline, StepOutline
from talk.stage import Address, State
from talk.terminal.badge import mark_of
from talk.terminal.clean import clean, line, styled, words
from talk.terminal.grid import Grid, Head


@dataclass(frozen=True)
class Question:
    """A prediction and all that is known of its answer. model: in the unit of `measured`."""

    step: StepOutline
    votes: Mapping[str, int]
    settled: bool
    model: float | None = None
    measured: Number | None = None

    def choice(self, value: float | None) -> str:
        """The answer whose half-open range holds a value."""
        fits = (
            c
            for c, (low, high) in self.step.choices.items()
            if value is not None and low <= value < high
        )
        return next(fits, "")

    @property
    def room(self) -> str:
        """What most voted for."""
        return max(self.votes, key=lambda choice: self.votes[choice], default="")

    @property
    def right(self) -> str:
        return self.choice(self.measured.value if self.measured else None)


def asked(state: State, reading: Reading, section: SectionOutline, step: StepOutline) -> Question:
    """The question with what this talk may already say about it."""
    address = (section.number, step.slug)
    votes = {state.votes[address]: 1} if address in state.votes else {}
    if reading.talk:
        votes = votes | reading.talk.votes(*address)
    if about(section, step) not in state.done:
        return Question(step, votes, settled=False)
    measured = number(reading, section, step)
    shown = reading.figures(*address)
    prediction = shown.outcome.prediction if shown else None
    return Question(step, votes, True, prediction.model if prediction else None, measured)


def about(section: SectionOutline, step: StepOutline) -> Address | None:
    """The step whose measurement settles a prediction."""
    match = REFERENCE.match(step.about.strip())
    if not match or match["section"] == "machine":
        return None
    return (int(match["section"] or section.number), match["step"])


def number(reading: Reading, section: SectionOutline, step: StepOutline) -> Number | None:
    try:
        return reading.number(step.about, section.number)
    except TalkError:
        return None


def question(asked: Question) -> RenderableType:
    """The answers to choose from, with air between them; afterwards what came of it."""
    lines = [answer(n, choice, asked) for n, choice in enumerate(asked.step.choices, 1)]
    if asked.settled:
        return Group(*lines, Text(), verdict(asked))
    spaced = [part for line in lines for part in (Text(), line)]
    return Group(*spaced[1:])


def answer(number: int, choice: str, asked: Question) -> Text:
    votes = asked.votes.get(choice, 0)
    text = styled(f"  {number}  ", "strong" if votes else "quiet")
    text.append(clean(choice), "strong" if votes or choice == asked.right else "")
    if votes:
        text.append("  ◀ your vote" if votes == 1 else f"  ◀ {votes} votes", "strong")
    return text.append("  ✓ right", "live") if choice == asked.right else text


def verdict(asked: Question) -> RenderableType:
    """The room, the model and the measurement, side by side."""
    choice = asked.choice(asked.model)
    model = look.quantity(asked.model, asked.measured.unit if asked.measured else "")
    rows = [
        [Text("the room"), line(asked.room or "no vote"), Text(), judged(asked.room, asked)],
        [Text("the model"), line(choice), Text(model), judged(choice, asked)],
        measured(asked),
    ]
    heads = [Head(""), Head(""), Head("", figures=True), Head("")]
    return Group(Grid(heads, rows), *said(asked))


def measured(asked: Question) -> list[Text]:
    who = styled("measured", "strong")
    if asked.measured is None:
        return [who, Text("no such figure"), Text(), Text()]
    value = styled(str(asked.measured), "strong")
    return [who, line(asked.right, "strong"), value, mark_of(asked.measured)]


def judged(choice: str, asked: Question) -> Text:
    if not choice or not asked.right:
        return Text()
    return styled("✓ right", "live") if choice == asked.right else styled("✗ not so", "missing")


def said(asked: Question) -> Iterator[Text]:
    """How the model reasons, and what the usual wrong answer believes."""
    if asked.step.model_says:
        yield words(f"The model: {asked.step.model_says}", "quiet")
    if asked.step.misconception:
        yield words(f"A common belief: {asked.step.misconception}", "quiet")


if __name__ == "__main__":
    from talk.look import Badge
    from talk.terminal.made_up import look_at

    choices = {"few": (0.0, 5.0), "many": (5.0, 99.0)}
    made_up = StepOutline(slug="up", title="", phase="naive", kind="predict", choices=choices)
    seven = Number(ref="", value=7, unit="count", badge=Badge.MISSING)
    look_at(question(Question(made_up, {"few": 9}, True, 6, seven)))
