"""What the running step does now: that it lives, for how long, how far."""

from __future__ import annotations

from rich.text import Text

from talk import look
from talk.stage import State
from talk.terminal.chart import blocks
from talk.terminal.clean import clean, styled

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧"
PER_SECOND = 4
BAR = 16


def progress(state: State) -> Text:
    """A spinner, seconds, words, a bar where the share is known, and whether a press waits."""
    text = styled(f"{spinner(state.now)} ", "profile")
    text.append(f"{int(state.now - state.since)} s", "strong")
    text.append(f"  {clean(state.progress) or 'running'}")
    if state.fraction is not None:
        share = min(1.0, max(0.0, state.fraction))
        text.append(f"  {blocks(share, 1.0, BAR).ljust(BAR, '─')} ", "profile")
        text.append(look.quantity(round(share, 2), "share"))
    return text.append("  · 1 press waits", "strong") if state.queued else text


def spinner(now: float) -> str:
    return FRAMES[int(now * PER_SECOND) % len(FRAMES)]


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    look_at(progress(State(now=12.3, progress="made up", fraction=0.4, queued=True)))
