"""The README's picture of the driver, drawn anew from a record: same record, same bytes.

python -m talk.terminal.picture OUT.svg [--step 5/blocks] [--record DIR]
"""

from __future__ import annotations

import argparse
import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme

from talk.errors import RecordError
from talk.opening import replay
from talk.record import write_atomically
from talk.runner import Talk
from talk.stage import Address, Command
from talk.terminal.palette import theme
from talk.terminal.screen import Canvas, draw

SIZE = (100, 30)

INK, PAPER = (230, 230, 230), (16, 16, 16)
# The sixteen colours that a terminal calls its own; the talk uses none of them.
DARK = TerminalTheme(PAPER, INK, [PAPER] * 8)

# No font is fetched: whoever opens the picture has a monospaced one.
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px monospace; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(talk: Talk, step: Address, *, size: tuple[int, int] = SIZE) -> str:
    """The screen of a step, every step before it performed, as SVG."""
    walk_to(talk, step)
    canvas = Canvas(*size, "dark")
    console = Console(
        file=io.StringIO(), record=True, width=size[0], theme=theme("dark"), legacy_windows=False,
        force_terminal=True, color_system="truecolor", _environ={},
    )  # fmt: skip
    # The clock stands at zero, however long the walk took.
    state = replace(talk.state, started=talk.state.now)
    lines = draw(state, talk.reading, canvas).lines
    console.print(Segments([part for line in lines for part in (*line, Segment.line())]), end="")
    title = f"just replay {step[0]}"
    return console.export_svg(title=title, theme=DARK, code_format=SVG, unique_id="memory-wall")


def walk_to(talk: Talk, step: Address) -> None:
    """Perform every step up to this one. Raises RecordError where there is none."""
    talk.pump()
    if step not in talk.state.addresses:
        known = ", ".join(f"{number}/{slug}" for number, slug in talk.state.addresses)
        raise RecordError(f"there is no step {step[0]}/{step[1]} in this record.", hint=known)
    for address in talk.state.addresses[: talk.state.addresses.index(step) + 1]:
        talk.tell(Command("go", *address))
        talk.pump()
        if not talk.state.finished:
            talk.tell(Command("run", *address))
            talk.pump()


def main() -> None:
    """Write the picture that the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m talk.terminal.picture")
    parser.add_argument("out", type=Path)
    parser.add_argument("--step", default="5/blocks", help="section/slug")
    parser.add_argument("--record", type=Path, help="a talk's folder; default the committed one")
    options = parser.parse_args()
    section, _, slug = options.step.partition("/")
    talk = replay([int(section)], options.record)
    write_atomically(options.out, picture(talk, (int(section), slug)))


if __name__ == "__main__":
    main()
