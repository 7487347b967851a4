"""Two records side by side on a terminal or a pipe: their machines, then a row under each other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from talk.compare import (
    Comparison,
    Pair,
    by_step,
    ceilings_apart,
    machine_rows,
)
from talk.look import Badge
from talk.number import Number, weakest
from talk.record import Machine
from talk.terminal.badge import mark
from talk.terminal.clean import line, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.medium import lines_of, medium_of
from talk.terminal.screen import READABLE

LETTERS = ("A", "B")
WIDTHS = (8, 12, 6)
"""Cells of a time, a rate and a share: "1,000 ms", "98.4 TFLOP/s", "99.4 %"."""

NONE = "–"
MOST_NAMED = 12
"""Steps named on one line about rows that stand alone."""


def write(
    comparisons: Sequence[Comparison], *, every: bool = False, console: Console | None = None
) -> None:
    """Print each comparison. every: all rows, not only the decisive ones."""
    console = console or Console()
    width = min(console.width, READABLE)
    medium = medium_of(os.environ, console.file, tty=console.is_terminal)
    for comparison in comparisons:
        for block in compared(comparison, every=every):
            for drawn in lines_of(block, width, ground=medium.ground):
                console.file.write(medium.text(drawn).rstrip() + "\n")
        console.file.write("\n")
    console.file.flush()


def compared(comparison: Comparison, *, every: bool) -> Iterator[RenderableType]:
    """The machines, the rows of each section, and what could not be compared."""
    yield machines(comparison)
    shown = comparison.pairs if every else comparison.decisive
    for section in dict.fromkeys(pair.section for pair in shown):
        yield Text()
        yield styled(f"Section {section}", "strong")
        for pair in shown:
            if pair.section == section:
                yield from row(pair)
    yield Text()
    yield from ending(comparison, shown)


def machines(comparison: Comparison) -> RenderableType:
    """What either GPU was measured to reach, and with which software."""
    a, b = comparison.machines
    named = zip(LETTERS, comparison.names, strict=True)
    heads = [Head(""), *(Head(f"{letter}  {line(name).plain}") for letter, name in named)]
    heads.append(Head("B is"))
    rows = [
        [styled(what, "quiet"), line(mine or NONE), line(theirs or NONE), Text()]
        for (what, mine), (_, theirs) in zip(software(a), software(b), strict=True)
    ]
    rows.append([styled("", "quiet"), mark(Badge.RECORDED), mark(Badge.RECORDED), Text()])
    rows += [
        [styled(line(what).plain, "quiet"), number(mine), number(theirs), apart(mine, theirs)]
        for what, mine, theirs in machine_rows(comparison)
    ]
    return Grid(heads, rows)


def software(machine: Machine) -> tuple[tuple[str, str], ...]:
    used = machine.software
    return (
        ("recorded", machine.started[:10]),
        ("driver", used.driver),
        ("torch", used.torch),
        ("triton", used.triton),
    )


def number(value: Number | None) -> Text:
    return Text(str(value) if value else NONE)


def apart(mine: Number | None, theirs: Number | None) -> Text:
    return Text(ceilings_apart(mine, theirs))


def row(pair: Pair) -> Iterator[Text]:
    """The reference with the verdict; under it the two sides, and what to know of them."""
    verdict = styled(pair.verdict, "quiet" if pair.faster is None else "strong")
    yield line(pair.ref).append("  ").append_text(verdict)
    numbers = zip(LETTERS, pair.times, pair.rates, pair.shares, strict=True)
    sides = (f"{letter} {side(each)}" for letter, *each in numbers)
    yield styled("  " + "   ".join(sides))
    for note in pair.notes:
        yield styled("  ! ", "stale").append_text(line(note, "stale"))


def side(each: Sequence[Number | None]) -> str:
    words = (str(one) if one else NONE for one in each)
    return " ".join(right(word, width) for word, width in zip(words, WIDTHS, strict=True))


def right(word: str, width: int) -> str:
    return " " * (width - cell_len(word)) + word


def ending(comparison: Comparison, shown: Sequence[Pair]) -> Iterator[RenderableType]:
    """How many rows there are, which were not compared, and why."""
    count = len(comparison.pairs)
    more = f", {len(shown)} of them here: --all shows the others" if len(shown) < count else ""
    yield styled(f"{plural(count, 'row')} compared{more}.", "strong")
    yield legend(comparison)
    for reason, refs in reasons(comparison.apart).items():
        yield line(f"not compared, {reason}: {named(refs)}", "stale")
    for letter, name, alone in zip(LETTERS, comparison.names, comparison.alone, strict=True):
        if alone:
            known = f"{plural(len(alone), 'row')} that {letter} alone holds, {name}"
            yield line(f"{known}: {named(alone)}", "missing")


def legend(comparison: Comparison) -> Text:
    """What a share is of, and where the weakest of the figures comes from."""
    badges = (one.shown.badge for pair in comparison.pairs for one in pair.sides)
    said = Text("Shares are of each one's own ceiling; faster is said of B.  ", "quiet")
    return said.append_text(mark(weakest(badges))) if comparison.pairs else said


def reasons(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.differs, []).append(pair.ref)
    return found


def named(refs: Sequence[str]) -> str:
    """ "5/blocks (6), 6/tune (8), … and 3 steps more"."""
    steps = [f"{step} ({count})" for step, count in by_step(refs)]
    more = len(steps) - MOST_NAMED
    left = [f"… and {plural(more, 'step')} more"] if more > 0 else []
    return ", ".join((*steps[:MOST_NAMED], *left))


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"
