"""The jump prompt: what was typed, and the steps it can mean."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from talk.stage import Address, State
from talk.terminal.clean import clean, styled

ABOVE = 4
"""Lines of the prompt and its margins."""


def jump(state: State, room: int) -> RenderableType:
    """room: lines to draw in; the picked step is always among them."""
    found = state.matches()
    prompt = styled("Jump to  ", "quiet").append(clean(state.typed), "strong").append("▌", "strong")
    if not state.typed:
        prompt.append("  letters of its name or title", "quiet")
    if not found:
        return Group(prompt, Text(), styled("no step of that name or title", "missing"))
    rows = max(1, room - ABOVE)
    first = max(0, min(state.picked - rows // 2, len(found) - rows))
    shown = [
        match(a, state, first + i == state.picked)
        for i, a in enumerate(found[first : first + rows])
    ]
    return Group(prompt, Text(), *shown, *more(first, rows, len(found)))


def more(first: int, rows: int, total: int) -> list[Text]:
    hidden = first + max(0, total - first - rows)
    return [styled(f"{hidden} more; type to narrow down", "quiet")] if hidden else []


def match(address: Address, state: State, picked: bool) -> Text:
    outline = next(s for s in state.sections if s.number == address[0])
    step = outline.step(address[1])
    text = styled("▸ " if picked else "  ", "strong")
    text.append(f"{address[0]}/{clean(address[1])}", "bold reverse" if picked else "strong")
    return text.append(f"  {clean(step.title) if step else ''}")


if __name__ == "__main__":
    from talk.terminal.made_up import STATE, look_at

    look_at(jump(STATE, 10))
