"""The take-away: a sentence computed from the numbers, under the weakest of their badges."""

from __future__ import annotations

from rich.text import Text

from talk.errors import TalkError
from talk.look import Badge
from talk.reading import Reading
from talk.sentence import Sentence, say
from talk.stage import State
from talk.terminal.badge import mark, mark_of
from talk.terminal.clean import line


def takeaway(state: State, reading: Reading) -> Text | None:
    """None before the step is performed, and while a number is missing."""
    if (
        state.step is None
        or not state.step.says
        or not state.finished
        or state.running == state.address
    ):
        return None
    try:
        said = say(state.step.says, reading, state.section)
    except TalkError as error:
        return line(f"No take-away: {error}", "missing")
    return sentence(said) if said else None


def sentence(said: Sentence) -> Text:
    text = line(said.text, "strong")
    return text.append("  ").append_text(standing(said)) if said.numbers else text


def standing(said: Sentence) -> Text:
    """The weakest badge; a recorded figure names its GPU and date."""
    weakest = [number for number in said.numbers if number.badge is said.badge]
    return mark(said.badge) if said.badge is Badge.LIVE else mark_of(weakest[0])


if __name__ == "__main__":
    from talk.terminal.made_up import READING, STATE, look_at

    look_at(takeaway(STATE, READING) or "")
