"""What was measured in the shell of a step, beside the step's own figures."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType

from talk.improvised import words
from talk.rows import Shown
from talk.terminal.badge import mark
from talk.terminal.clean import line, styled

MOST = 9
"""The newest; the record has all."""


def improvised(found: Sequence[Shown]) -> RenderableType:
    """A badge and the figures of each, under a heading that sets them apart."""
    rows = [mark(each.badge).append("  ").append_text(line(words(each))) for each in found[-MOST:]]
    return Group(styled("Improvised here, beside the talk's own steps:", "strong"), *rows)


if __name__ == "__main__":
    from talk.terminal.made_up import look_at, shown

    look_at(improvised([shown()]))
