"""Where we are: the section, its phases as a trail, the clock, the mode and why."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.look import Badge
from talk.section import PHASES
from talk.stage import State
from talk.terminal.clean import clean, line, styled
from talk.terminal.palette import style_of_badge

MODES = {
    "live": style_of_badge(Badge.LIVE),
    "simulated": style_of_badge(Badge.SIMULATED),
    "replay": style_of_badge(Badge.RECORDED),
    "starting": "quiet",
}

WAITING = "PyTorch and Triton are loading; all keys work"


def header(state: State, width: int) -> RenderableType:
    return Group(
        ends(title(state), styled(clock(state), "strong"), width),
        ends(trail(state), styled(address(state), "quiet"), width),
        mode(state),
    )


def title(state: State) -> Text:
    if state.outline is None:
        return styled("Memory Wall", "strong")
    text = styled("Memory Wall  ", "quiet").append(f"{state.outline.number}  ", "strong")
    return text.append_text(line(state.outline.title, "strong"))


def clock(state: State) -> str:
    """Time on stage of the minutes planned."""
    planned = sum(outline.minutes for outline in state.sections)
    return elapsed(state.now - state.started) + (f" of {planned} min" if planned else "")


def elapsed(seconds: float) -> str:
    """ "12:31", "1:02:05"."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def trail(state: State) -> Text:
    """The four phases; the current one stands out, with the place of the step in it."""
    return styled("›", "quiet").join(phase(name, state) for name in PHASES)


def phase(name: str, state: State) -> Text:
    label = f" {look.PHASE[name].glyph} {name} "
    if state.step is None or state.outline is None or state.step.phase != name:
        return styled(label, name)
    slugs = [step.slug for step in state.outline.steps if step.phase == name]
    return styled(f"{label}{slugs.index(state.slug) + 1}/{len(slugs)} ", f"{name}.here")


def address(state: State) -> str:
    return f"{state.section}/{clean(state.slug)}" if state.step else ""


def mode(state: State) -> Text:
    text = styled(state.mode.upper(), MODES.get(state.mode, "quiet"))
    return text.append("  ").append_text(line(state.why or WAITING, "quiet"))


def ends(left: Text, right: Text, width: int) -> Text:
    """Two texts at the two ends of a line; the right one gives way."""
    gap = width - cell_len(left.plain) - cell_len(right.plain)
    return left.append(" " * gap).append_text(right) if gap >= 2 and right.plain else left


if __name__ == "__main__":
    from talk.terminal.made_up import STATE, look_at

    look_at(header(STATE, 78))
