"""A grading in words, at most 80 columns wide: what was run, what is wrong, and what comes next."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from talk.attend.causes import program
from talk.attend.grade import Report
from talk.attend.lesson import Lesson
from talk.attend.verdict import (
    COMPILES,
    FAST,
    NOT_RUN,
    ON_GPU,
    RIGHT,
    SIMULATED,
    WRONG,
    Evidence,
    Miss,
    Picture,
    Verdict,
)
from talk.look import harmless

WIDTH = 80

NAMES = {
    SIMULATED: "right in simulation",
    COMPILES: "compiles for a GPU",
    ON_GPU: "right on this GPU",
    FAST: "fast enough",
}

MARKS = {RIGHT: "✓", WRONG: "✗", NOT_RUN: "–"}
ASCII = str.maketrans("✓✗–·█░×…→√", "ox-.x_x.>v")
"""Where the terminal's encoding has none of these."""


def told(report: Report, *, command: str, hints: int = 0) -> Iterator[str]:
    """Lines. command: that grades this exercise. hints: shown so far."""
    yield f"{report.path}: {report.lesson.title}"
    for verdict in report.verdicts:
        yield from folded(f" {MARKS[verdict.state]} ", standing(verdict, report.lesson))
    if report.solved:
        yield ""
        yield "Solved."
        return
    if report.evidence is not None:
        yield from trouble(report, report.evidence)
    if report.printed.strip():
        yield ""
        yield "It printed:"
        yield from printed(report.printed)
    if report.restored:
        yield ""
        yield f"{report.path} was deleted while it ran; it is back as it was."
    yield from next_step(report, command, hints)


def standing(verdict: Verdict, lesson: Lesson) -> str:
    name = "right" if lesson.kind == "function" else NAMES[verdict.kind]
    if verdict.state == RIGHT:
        return f"{name}: yes, {verdict.why}"
    if verdict.state == WRONG:
        return f"{name}: no, {verdict.why}" if verdict.why else f"{name}: no"
    return f"{name}: not run, {verdict.why}"


def trouble(report: Report, evidence: Evidence) -> Iterator[str]:
    """The case, the line, the first wrong element, where errors lie, and the likely cause."""
    yield ""
    if evidence.error:
        where = f"{report.path}, line {evidence.line}" if evidence.line else report.path
        case = f", in “{evidence.case}”" if evidence.case else ""
        yield from folded("", f"{where}{case}: {evidence.error}.")
    if evidence.odd:
        yield from folded("", f"In “{evidence.case}”: {evidence.odd}.")
    if evidence.miss is not None:
        yield from folded(
            "",
            f"In “{evidence.case}”, {evidence.wrong:,} of {evidence.total:,} elements are wrong.",
        )
        yield from folded("", first_wrong(evidence.miss))
    if evidence.case and not (evidence.error or evidence.odd or evidence.miss):
        yield from folded("", f"In “{evidence.case}” every element is right, and yet:")
    if evidence.picture is not None and evidence.wrong:
        yield from drawn(evidence.picture)
    if report.cause is not None:
        yield from folded(
            "Likely cause: ", f"{report.cause.name}. {capital(report.cause.because)}."
        )


def first_wrong(miss: Miss) -> str:
    at = ", ".join(f"{n:,}" for n in miss.index)
    of = f" of result {miss.result}" if miss.result else ""
    by = f"stored by program {program(miss.program)}" if miss.program else "which no program stored"
    return f"The first: [{at}]{of}, {by}: expected {miss.expected}, got {miss.got}."


def drawn(picture: Picture) -> Iterator[str]:
    signs = str.maketrans(".x_", "·█░")
    for row in picture.rows:
        yield f"  {row.translate(signs)}"
    across, down = picture.cells
    size = f"{across:,}" if len(picture.rows) == 1 else f"{down:,} × {across:,}"
    noun = "element" if across * down == 1 else "elements"
    yield f"  a sign is {size} {noun}: · right, █ wrong, ░ never stored"


def printed(text: str, most: int = 6) -> Iterator[str]:
    lines = harmless(text).strip().splitlines()
    kept = lines[-most:]
    if len(lines) > most:
        yield f"  … {len(lines) - most:,} lines before"
    yield from (f"  {line[: WIDTH - 2]}" for line in kept)


def next_step(report: Report, command: str, hints: int) -> Iterator[str]:
    left = len(report.lesson.hints) - hints
    yield ""
    if all(verdict.state == NOT_RUN for verdict in report.verdicts):
        yield from folded(
            "", f"Hints work here: {command} --hint. So does `just notebook`, for Colab."
        )
    elif left:
        yield f"Next: {command} --hint ({left} of {len(report.lesson.hints)} left)"
    else:
        yield f"Next: {command} --solution"


def folded(first: str, words: str) -> Iterator[str]:
    """A paragraph, its further lines under its first word."""
    indent = " " * len(first) if first.isspace() or len(first) < 4 else "  "
    yield from textwrap.wrap(
        first + " ".join(harmless(words).split()),
        WIDTH,
        subsequent_indent=indent,
        break_on_hyphens=False,
    ) or [first]


def capital(words: str) -> str:
    """A name that begins a sentence stays as it is spelt."""
    first = words.split(" ", 1)[0]
    return words[:1].upper() + words[1:] if first.isalpha() and first.islower() else words


def fitting(line: str, encoding: str) -> str:
    """The line in what the terminal can show."""
    try:
        line.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        line = line.translate(ASCII).replace("“", '"').replace("”", '"')
        return line.encode("ascii", "replace").decode()
    return line
