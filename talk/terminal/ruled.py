"""Anything with a line down its left side, set apart from the words around it."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment


@dataclass(frozen=True)
class Ruled:
    inside: RenderableType
    style: str = "quiet"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        edge = Segment("│ ", console.get_style(self.style))
        inner = options.update_width(max(1, options.max_width - 2))
        for line in console.render_lines(self.inside, inner, pad=False):
            yield from (edge, *line, Segment.line())


if __name__ == "__main__":
    from rich.text import Text

    from talk.terminal.made_up import look_at

    look_at(Ruled(Text("made up\nof two lines")))
