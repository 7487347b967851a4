"""The help overlay: every key, and where this talk's numbers come from."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from talk.look import Badge
from talk.stage import KEYS, State
from talk.terminal.badge import mark
from talk.terminal.clean import line, styled
from talk.terminal.grid import Grid, Head

COMMANDS = {
    "next": "run this step, then the next one",
    "back": "the step before",
    "run": "run this step again",
    "jump": "jump to a step",
    "code": "the code alone",
    "notes": "the presenter's notes",
    "picture": "the roofline and the table so far",
    "blank": "a black screen; any key ends it",
    "shell": "IPython with this step's inputs and functions",
    "cancel": "cancel the running step",
    "scroll": "scroll; to the top, to the end",
    "help": "this page",
    "quit": "leave; just demo joins the talk again",
}

NAMES = {
    "right": "→",
    "left": "←",
    "down": "↓",
    "up": "↑",
    "ctrl-c": "Ctrl-C",
    "pagedown": "PageDown",
    "pageup": "PageUp",
}

BADGES = {
    Badge.LIVE: "measured here, in this talk",
    Badge.RECORDED: "measured earlier, on the GPU and date beside it",
    Badge.SIMULATED: "run in Triton's interpreter: right or wrong, no timing",
    Badge.STALE: "measured with code that has changed since",
    Badge.MISSING: "not measured",
}


def help(state: State) -> RenderableType:
    rows = [[styled(pressed(name), "strong"), Text(words)] for name, words in COMMANDS.items()]
    trace = "in a trace: Python line, form, variant, target, form whole"
    rows.append([styled("↑↓ Tab v t w", "strong"), Text(trace)])
    rows.append([styled("1 … 9", "strong"), Text("vote for an answer")])
    badges = [[mark(badge), Text(words)] for badge, words in BADGES.items()]
    why = line(f"This talk: {state.mode}. {state.why}")
    return Group(two(rows), Text(), two(badges), Text(), why)


def two(rows: list[list[Text]]) -> Grid:
    return Grid([Head(""), Head("")], rows)


def pressed(command: str) -> str:
    """Every key that means a command, or a kind of it."""
    return " ".join(NAMES.get(key, key) for key, name in KEYS.items() if name.startswith(command))


if __name__ == "__main__":
    from talk.terminal.made_up import STATE, look_at

    look_at(help(STATE))
