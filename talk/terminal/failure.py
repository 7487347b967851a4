"""Why a step left no result, and what to do about it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from talk.outcome import Failure
from talk.terminal.clean import clean, styled, words
from talk.terminal.ruled import Ruled

LINES = 12
"""Of a traceback the last lines name the error."""


def failure(what: Failure, again: str) -> RenderableType:
    """The reason, the end of the detail, and the keys. again: what a new run would do."""
    verdict = styled("✗ FAILED  ", "missing").append(clean(what.kind), "missing")
    parts: list[RenderableType] = [verdict, words(what.reason, "strong")]
    if what.detail.strip():
        parts.append(Ruled(detail(what.detail), "missing"))
    return Group(*parts, styled(again, "quiet"))


def detail(text: str) -> Text:
    lines = clean(text).strip("\n").split("\n")
    left_out = len(lines) - LINES
    said = [f"… {left_out} lines before these are in the record"] if left_out > 0 else []
    return Text("\n".join(said + lines[-LINES:]))


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    look_at(failure(Failure(kind="crash", reason="made up", detail="up()"), "r runs it again"))
