"""The keys that matter now, as many as fit."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from talk.question import settled_by
from talk.record import StepOutline
from talk.stage import State
from talk.terminal.clean import styled

Key = tuple[str, str]
GAP = "   "
TRACE = (("↑↓", "line"), ("Tab", "form"), ("w", "whole"), ("v", "variant"), ("t", "target"))


def footer(state: State, width: int, scrolls: bool) -> Text:
    """The most useful first; help and quit stay whatever the width."""
    last = (("?", "help"), ("q", "quit")) if state.view == "step" else ()
    room = width - length(last)
    kept: list[Key] = []
    for key in keys(state, scrolls):
        if length((*kept, key)) + len(GAP) <= room:
            kept.append(key)
    return Text(GAP).join(
        styled(key, "strong").append(f" {word}", "quiet") for key, word in (*kept, *last)
    )


def length(shown: tuple[Key, ...]) -> int:
    return cell_len(GAP.join(f"{key} {word}" for key, word in shown))


def keys(state: State, scrolls: bool) -> Iterator[Key]:
    """In order of use at this moment."""
    if state.view == "jump":
        yield from (("enter", "go"), ("↑↓", "choose"), ("Esc", "leave"))
        return
    first, *others = of_step(state) if state.view == "step" else [("any key", "back")]
    yield first
    yield from TRACE if state.tracing else ()
    yield from others
    if scrolls:
        yield ("j k", "scroll") if state.tracing else ("↑↓", "scroll")
    if state.view == "step":
        yield from (("g", "jump"), ("c", "code"), ("n", "notes"), ("o", "roofline"), ("b", "blank"))
        yield from [] if state.mode == "replay" else [("i", "IPython")]


def of_step(state: State) -> Iterator[Key]:
    if state.running:
        yield ("Ctrl-C", "cancel")
        return
    if state.step and votable(state, state.step):
        yield (f"1–{len(state.step.choices)}", "vote")
    yield ("→", "next" if state.finished else "run")
    yield ("←", "back")
    if state.step and runnable(state.step) and state.finished and state.mode != "replay":
        yield ("r", "run again")


def votable(state: State, step: StepOutline) -> bool:
    """Whether a question is still open."""
    return bool(step.choices) and settled_by(state.section, step) not in state.done


def runnable(step: StepOutline) -> bool:
    return step.performed and step.kind != "predict"


if __name__ == "__main__":
    from talk.terminal.made_up import STATE, look_at

    look_at(footer(STATE, 78, scrolls=True))
