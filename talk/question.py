"""A prediction beside what came of it: the room, the model, the measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from talk.number import Number
from talk.reading import REFERENCE, Reading
from talk.record import StepOutline


@dataclass(frozen=True)
class Choice:
    """One answer. key: the digit that votes for it."""

    key: int
    label: str
    votes: int
    modelled: bool
    measured: bool


@dataclass(frozen=True)
class Question:
    """A multiple-choice question, with the answers that are known.

    reason: how the model reasons. measured: None where nothing settles the question.
    """

    choices: tuple[Choice, ...]
    model: Number | None
    measured: Number | None
    reason: str
    misconception: str

    @property
    def votes(self) -> int:
        return sum(choice.votes for choice in self.choices)

    @property
    def room(self) -> Choice | None:
        """What most voted for."""
        most = max(self.choices, key=lambda choice: choice.votes, default=None)
        return most if most and most.votes else None

    @property
    def expected(self) -> Choice | None:
        """The model's answer."""
        return next((choice for choice in self.choices if choice.modelled), None)

    @property
    def right(self) -> Choice | None:
        """The answer that was measured."""
        return next((choice for choice in self.choices if choice.measured), None)

    @property
    def strays(self) -> tuple[tuple[str, Number], ...]:
        """Answers that lie in no choice: a range that nobody offered, or a MISSING number."""
        answers = (("model", self.model, "modelled"), ("measured", self.measured, "measured"))
        return tuple(
            (name, number)
            for name, number, held in answers
            if number and not any(getattr(choice, held) for choice in self.choices)
        )


def question(
    reading: Reading, section: int, step: StepOutline, votes: Mapping[str, int] | None = None
) -> Question:
    """The question of a Predict step. Raises UnknownReference for what settles it.

    votes: those to show; None takes the record's.
    """
    measured = reading.number(step.about, section) if step.about else None
    model = expected(reading, section, step.slug)
    if votes is None:
        votes = reading.talk.votes(section, step.slug) if reading.talk else {}
    choices = tuple(
        Choice(
            key=key,
            label=label,
            votes=votes.get(label, 0),
            modelled=holds(bounds, model),
            measured=holds(bounds, measured),
        )
        for key, (label, bounds) in enumerate(step.choices.items(), start=1)
    )
    return Question(choices, model, measured, step.model_says, step.misconception)


def settled_by(section: int, step: StepOutline) -> tuple[int, str] | None:
    """The step whose measurement settles a question."""
    match = REFERENCE.match(step.about.strip())
    if not match or match["section"] == "machine":
        return None
    return (int(match["section"] or section), match["step"])


def expected(reading: Reading, section: int, slug: str) -> Number | None:
    """What the model expected; None where the record has no such outcome."""
    shown = reading.figures(section, slug)
    known = shown is not None and shown.outcome.prediction is not None
    return reading.number(f"{section}/{slug}.model") if known else None


def holds(bounds: tuple[float, float], number: Number | None) -> bool:
    """Whether a value lies in a half-open range [low, high)."""
    if number is None or number.value is None:
        return False
    return bounds[0] <= number.value < bounds[1]
