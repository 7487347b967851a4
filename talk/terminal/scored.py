"""How many of one's own predictions were right, beside the model's."""

from __future__ import annotations

from talk.reading import Reading
from talk.stage import State
from talk.terminal.question import asked


def scored(state: State, reading: Reading) -> str:
    """Of the questions that were answered in this sitting and are settled; empty of none."""
    answered = [
        asked(state, reading, section, step)
        for section in state.sections
        for step in section.steps
        if (section.number, step.slug) in state.votes
    ]
    settled = [each for each in answered if each.settled and each.question.right]
    if not settled:
        return ""
    right = sum(each.right(each.question.room) for each in settled)
    model = sum(each.right(each.question.expected) for each in settled)
    of = len(settled)
    return f"Your predictions: {right} of {of} right; the model's {model} of {of}."


if __name__ == "__main__":
    from talk.terminal.made_up import READING, STATE

    print(scored(STATE, READING) or "nothing was answered")
