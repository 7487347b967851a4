"""A whole screen: state and reading → exactly as many lines as the terminal has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style

from talk.reading import Reading
from talk.stage import State
from talk.terminal import footer, growing, header, help, jump, progress
from talk.terminal.body import Scene, body
from talk.terminal.clean import clean, styled
from talk.terminal.medium import Line, lines_of
from talk.terminal.so_far import so_far
from talk.terminal.takeaway import takeaway

LEAST = (60, 16)
MARGIN = 1
READABLE = 104
"""Longer lines are hard to follow, so what is wider stays empty or takes the growing table."""
BESIDE = 58
"""Cells that the growing table needs to stand beside the step."""
HEADED = 3
"""Lines that name a form shown whole; they stay while it scrolls."""
PINNED = 3
"""Lines of a take-away that stay on screen; a longer one scrolls with the rest."""


@dataclass(frozen=True)
class Frame:
    """rows: height of the scrolled part. extent: lines in it. scroll: those above the window."""

    lines: Sequence[Line]
    rows: int = 1
    extent: int = 0
    scroll: int = 0


@dataclass(frozen=True)
class Canvas:
    """The size of a terminal, and its ground."""

    width: int
    height: int
    ground: str = "both"

    @property
    def inner(self) -> int:
        return self.width - 2 * MARGIN

    def lines(self, *parts: RenderableType, width: int = 0) -> list[Line]:
        """Renderables one below the other."""
        width = width or self.inner
        return [line for part in parts for line in lines_of(part, width, self.height, self.ground)]

    def blocks(self, parts: Iterable[RenderableType], width: int) -> list[Line]:
        """The same with a blank line between them."""
        found: list[Line] = []
        for part in parts:
            found += (
                [[], *self.lines(part, width=width)] if found else self.lines(part, width=width)
            )
        return found


def draw(state: State, reading: Reading, canvas: Canvas) -> Frame:
    """The screen of a state. The view tells the stage `Fitted(rows, extent, scroll)`."""
    if canvas.width < LEAST[0] or canvas.height < LEAST[1]:
        return Frame(whole(canvas, [cramped(canvas)]))
    if state.blank:
        return Frame(dark(canvas))
    top = canvas.lines(header.header(state, canvas.inner))
    pinned, scrolled = ending(state, reading, canvas)
    # Two rules and the line of keys.
    rows = max(1, canvas.height - len(top) - len(pinned) - 3)
    content = [*middle(state, reading, canvas, rows), *scrolled]
    if state.whole_form:
        top, content, rows = [*top, *content[:HEADED]], content[HEADED:], max(1, rows - HEADED)
    scroll = sought(content, rows) if state.whole_form and state.seeking else state.scroll
    scroll = max(0, min(scroll, len(content) - rows))
    keys = canvas.lines(footer.footer(state, canvas.inner, len(content) > rows))
    return Frame(
        whole(
            canvas,
            [
                *indented(top),
                *window(content, rows, scroll, canvas),
                *indented(pinned + keys),
            ],
        ),
        rows,
        len(content),
        scroll,
    )


def sought(content: list[Line], rows: int) -> int:
    """Where to look for what a Python line became, in a form shown whole: a third from the top."""
    marked = (i for i, line in enumerate(content) if line and line[0].text.startswith("▸"))
    return next(marked, 0) - rows // 3


def window(content: list[Line], rows: int, at: int, canvas: Canvas) -> list[Line]:
    """The part of the content in view, between two rules that say what lies beyond."""
    below = max(0, len(content) - rows - at)
    return [
        *indented([rule(canvas, f"↑ {plural(at)} above" if at else "")]),
        *indented(content[at : at + rows]),
        *([] for _ in range(rows - len(content))),
        *indented([rule(canvas, f"↓ {plural(below, 'more ')}" if below else "")]),
    ]


def trouble(error: Exception, canvas: Canvas) -> Frame:
    """What to show when a screen cannot be drawn: the talk goes on with the next key."""
    words = styled("This screen cannot be drawn; → and ← go on.\n", "strong")
    words.append(clean(f"{type(error).__name__}: {error}"))
    return Frame(whole(canvas, indented(canvas.lines(words, width=max(1, canvas.inner)))))


def middle(state: State, reading: Reading, canvas: Canvas, rows: int) -> list[Line]:
    """The part that scrolls."""
    if state.view == "help":
        return canvas.lines(help.help(state))
    if state.view == "jump":
        return canvas.lines(jump.jump(state, rows))
    if state.view == "picture":
        return canvas.blocks(so_far(state, reading), min(canvas.inner, READABLE))
    if state.step is None or state.outline is None:
        return canvas.lines(styled(f"{progress.spinner(state.now)} loading the section", "quiet"))
    scene = Scene(state, reading, state.outline, state.step, rows)
    if state.tracing:
        return canvas.blocks(body(scene), canvas.inner)
    table = growing.entries(state, reading) if not state.code else ()
    if not table:
        return canvas.blocks(body(scene), min(canvas.inner, READABLE))
    width = canvas.inner - BESIDE - 3
    if width >= READABLE - 20:
        width = min(width, READABLE)
        main = canvas.blocks(body(scene), width)
        side = canvas.lines(growing.growing(table), width=canvas.inner - width - 3)
        return beside(main, side, width + 3)
    shown = body(scene) if not scene.shown else (*body(scene), growing.growing(table))
    return canvas.blocks(shown, min(canvas.inner, READABLE))


def ending(state: State, reading: Reading, canvas: Canvas) -> tuple[list[Line], list[Line]]:
    """(what stands below the body, a take-away that is too long for that)."""
    message = canvas.lines(styled(clean(state.message), "stale")) if state.message else []
    message = capped(message, canvas.height // 3)
    if state.running:
        return [*canvas.lines(progress.progress(state)), *message], []
    said = takeaway(state, reading) if state.view == "step" and not state.code else None
    lines = canvas.lines(said) if said else [[]]
    if len(lines) > PINNED:
        return [[], *message], [[], *lines]
    return [*lines, *message], []


def capped(lines: list[Line], most: int) -> list[Line]:
    """At most so many lines, the last of which says what is left out."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], [Segment(f"… {plural(len(lines) - most + 1, 'more ')}")]]


def beside(left: list[Line], right: list[Line], width: int) -> list[Line]:
    """Two columns as one; the longer sets the height."""
    rows = range(max(len(left), len(right)))
    return [
        [
            *Segment.adjust_line_length(left[i] if i < len(left) else [], width),
            *(right[i] if i < len(right) else []),
        ]
        for i in rows
    ]


def rule(canvas: Canvas, words: str) -> Line:
    """A line across, with what lies beyond it."""
    text = styled("─" * (canvas.inner - cell_len(words) - (2 if words else 0)), "quiet")
    if words:
        text.append(f" {words} ", "strong")
    return canvas.lines(text)[0]


def plural(count: int, more: str = "") -> str:
    return f"{count} {more}line" + ("" if count == 1 else "s")


def cramped(canvas: Canvas) -> Line:
    width, height = LEAST
    words = f"{canvas.width}×{canvas.height}: give me {width}×{height}"
    return [Segment(words[: canvas.width])]


def dark(canvas: Canvas) -> list[Line]:
    """Black, and nothing on it: the eyes are on the presenter."""
    black = Style(bgcolor="#000000")
    return [[Segment(" " * canvas.width, black)] for _ in range(canvas.height)]


def indented(lines: Iterable[Line]) -> list[Line]:
    return [[Segment(" " * MARGIN), *line] for line in lines]


def whole(canvas: Canvas, lines: Sequence[Line]) -> list[Line]:
    """Exactly the terminal's height."""
    return [*lines[: canvas.height], *([] for _ in range(canvas.height - len(lines)))]


if __name__ == "__main__":
    from rich.segment import Segments

    from talk.terminal.made_up import READING, STATE, look_at

    lines = draw(STATE, READING, Canvas(80, 24)).lines
    look_at(Segments([part for line in lines for part in (*line, Segment.line())]))
