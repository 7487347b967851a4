"""A prediction: its answers and the vote; afterwards the room, the model, the measurement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.console import Group, RenderableType
from rich.text import Text

from talk.errors import TalkError
from talk.question import Choice, Question, settled_by
from talk.question import question as known
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.stage import State
from talk.terminal.badge import mark_of
from talk.terminal.clean import clean, line, styled, words
from talk.terminal.grid import Grid, Head


@dataclass(frozen=True)
class Asked:
    """A question, and whether this talk may already say what came of it."""

    question: Question
    settled: bool

    def right(self, choice: Choice | None) -> bool:
        return self.settled and choice is not None and choice.measured


def asked(state: State, reading: Reading, section: SectionOutline, step: StepOutline) -> Asked:
    """The question with what this talk may already say about it."""
    vote = state.votes.get((section.number, step.slug))
    votes = {vote: 1} if vote else None
    settled = settled_by(section.number, step) in state.done
    try:
        return Asked(known(reading, section.number, step, votes), settled)
    except TalkError:
        unsettled = replace(step, about="")
        return Asked(known(reading, section.number, unsettled, votes), settled)


def question(asked: Asked) -> RenderableType:
    """The answers to choose from, with air between them; afterwards what came of it."""
    lines = [answer(choice, asked) for choice in asked.question.choices]
    if asked.settled:
        return Group(*lines, Text(), verdict(asked))
    spaced = [part for line in lines for part in (Text(), line)]
    return Group(*spaced[1:])


def answer(choice: Choice, asked: Asked) -> Text:
    right = asked.right(choice)
    text = styled(f"  {choice.key}  ", "strong" if choice.votes else "quiet")
    text.append(clean(choice.label), "strong" if choice.votes or right else "")
    if choice.votes:
        text.append("  ◀ your vote" if choice.votes == 1 else f"  ◀ {choice.votes} votes", "strong")
    return text.append("  ✓ right", "live") if right else text


def verdict(asked: Asked) -> RenderableType:
    """The room, the model and the measurement, side by side."""
    room, model = asked.question.room, asked.question.expected
    value = str(asked.question.model) if asked.question.model else "–"
    rows = [
        *([[Text("the room"), label(room), Text(), judged(room, asked)]] if room else []),
        [Text("the model"), label(model), Text(value), judged(model, asked)],
        measured(asked.question),
    ]
    heads = [Head(""), Head("answer"), Head("value", figures=True), Head("")]
    return Group(Grid(heads, rows), *said(asked.question))


def label(choice: Choice | None, style: str = "") -> Text:
    return line(choice.label if choice else "–", style)


def measured(question: Question) -> list[Text]:
    who = styled("measured", "strong")
    if question.measured is None:
        return [who, Text("no such figure"), Text(), Text()]
    value = styled(str(question.measured), "strong")
    return [who, label(question.right, style="strong"), value, mark_of(question.measured)]


def judged(choice: Choice | None, asked: Asked) -> Text:
    if choice is None or asked.question.right is None:
        return Text()
    return styled("✓ right", "live") if choice.measured else styled("✗ not so", "missing")


def said(question: Question) -> Iterator[Text]:
    """How the model reasons, and what the usual wrong answer believes."""
    if question.reason:
        yield words(f"The model: {question.reason}", "quiet")
    if question.misconception:
        yield words(f"The usual wrong belief: {question.misconception}", "quiet")


if __name__ == "__main__":
    from talk.look import Badge
    from talk.number import Number
    from talk.terminal.made_up import look_at

    seven = Number(ref="", value=7, unit="count", badge=Badge.MISSING)
    few = Choice(key=1, label="few", votes=9, modelled=False, measured=False)
    many = Choice(key=2, label="many", votes=1, modelled=True, measured=True)
    look_at(question(Asked(Question((few, many), seven, seven, "count them", "few"), True)))
