"""The quiz on a terminal or a pipe: a question, an answer, and the measurement that settles it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from talk import record
from talk.errors import TalkError
from talk.terminal.badge import mark_of
from talk.terminal.clean import line, styled, words
from talk.terminal.medium import lines_of, medium_of
from talk.terminal.screen import READABLE

if TYPE_CHECKING:
    from talk.attend.quiz import Item, Score, Skipped

INDENT = (0, 0, 0, 2)
QUIT = ("q", "quit", "exit")


def typed() -> str | None:
    """A line of the keyboard; None at its end or when interrupted."""
    try:
        return sys.stdin.readline() or None
    except (KeyboardInterrupt, UnicodeDecodeError):
        return None


@dataclass
class Paper:
    """Where the quiz is written. ask: the next line that was typed, None when there is no more."""

    console: Console
    ask: Callable[[], str | None] = typed

    def print(self, *blocks: RenderableType) -> None:
        console = self.console
        medium = medium_of(os.environ, console.file, tty=console.is_terminal)
        for block in blocks:
            for drawn in lines_of(block, min(console.width, READABLE), ground=medium.ground):
                console.file.write(medium.text(drawn).rstrip() + "\n")
        console.file.flush()

    def prompt(self, text: str) -> str | None:
        """What was typed after the prompt, bare and in lower case."""
        self.console.file.write(text)
        self.console.file.flush()
        got = self.ask()
        return None if got is None else got.strip().lower()


def read_aloud(items: Sequence[Item], skipped: Sequence[Skipped], console: Console) -> None:
    """Every question with its answer, and no key press."""
    paper = Paper(console)
    for number, item in enumerate(items, start=1):
        paper.print(*posed(item, number, len(items)), *answered(item, None), Text())
    paper.print(*left_out(skipped), counted(len(items), "question"))


def take(items: Sequence[Item], skipped: Sequence[Skipped], paper: Paper, date: str) -> Score:
    """Ask them all, or until one has had enough."""
    from talk.attend.quiz import Answer, score

    answers: list[Answer] = []
    paper.print(*left_out(skipped))
    for number, item in enumerate(items, start=1):
        paper.print(*posed(item, number, len(items)))
        picked = pick(item, paper)
        if picked is None:
            break
        answers.append(Answer(item=item, picked=picked))
        paper.print(*answered(item, picked), Text())
    return score(answers, of=len(items), date=date)


def pick(item: Item, paper: Paper) -> int | None:
    """The number of a choice; None to end the quiz."""
    most = len(item.choices)
    while True:
        got = paper.prompt(f"Your answer, 1 to {most} (q ends): ")
        if got is None or got in QUIT:
            return None
        if got.isascii() and got.isdecimal() and len(got) < 3 and 1 <= int(got) <= most:
            return int(got)
        paper.print(styled(f"A digit from 1 to {most}, then Enter.", "quiet"))


def posed(item: Item, number: int, of: int) -> Iterator[RenderableType]:
    """The question and its choices."""
    where = f"{number} of {of}  ·  section {item.section}  ·  {item.slug}"
    yield line(where, "quiet")
    yield line(item.title, "strong")
    for key, choice in enumerate(item.choices, start=1):
        yield Padding(styled(f"{key}  ", "quiet").append_text(line(choice)), INDENT)


def answered(item: Item, picked: int | None) -> Iterator[RenderableType]:
    """Right or not, and the measurement. picked: None where nobody was asked."""
    yield verdict(item, picked)
    yield Padding(line(item.says), INDENT)
    if item.weakest:
        yield Padding(mark_of(item.weakest), INDENT)
    if item.model:
        yield Padding(line(f"The model: {item.model}", "quiet"), INDENT)
    if item.believes:
        yield Padding(line(f"The usual wrong belief: {item.believes}", "quiet"), INDENT)


def verdict(item: Item, picked: int | None) -> Text:
    right = line(f"{item.right} {item.choices[item.right - 1]}")
    if picked is None:
        return styled("✓ ", "live").append_text(right)
    if picked == item.right:
        return styled("✓ right", "live")
    return styled("✗ not so: ", "missing").append_text(right)


def left_out(skipped: Sequence[Skipped]) -> Iterator[RenderableType]:
    """Every question that is not asked, with its reason."""
    for each in skipped:
        yield line(f"not asked, {each.name}: {each.why}", "missing")
    if skipped:
        yield Text()


def ending(score: Score, before: tuple[int, int] | None) -> Iterator[RenderableType]:
    """The score by section, and which of them to see again."""
    rest = score.of - score.asked
    unanswered = f", {rest} not answered" if rest else ""
    yield styled(f"{score.right} of {counted(score.asked, 'answer')} right{unanswered}.", "strong")
    for section, (right, asked) in score.sections.items():
        again = f"  just replay {section}" if right < asked else ""
        told = line(f"section {section}: {right} of {asked}").append(again, "strong")
        yield Padding(told, INDENT)
    if before:
        yield line(f"Best before: {before[0]} of {before[1]}.", "quiet")


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def run(sections: Sequence[int], *, every: bool, auto: bool) -> int:
    """The whole quiz, as the command line starts it."""
    from talk.attend import quiz

    console = Console()
    items, skipped = quiz.items(quiz.readings(), sections=sections, every=every)
    if auto:
        read_aloud(items, skipped, console)
        return 0
    paper = Paper(console)
    score = take(items, skipped, paper, record.now())
    try:
        before = quiz.best(quiz.remembered())
        paper.print(Text(), *ending(score, before))
        if score.asked:
            quiz.remember(score)
            paper.print(line("Remembered in my/quiz.json.", "quiet"))
    except TalkError as error:
        paper.print(Text(), *ending(score, None), words(f"Not remembered: {error}", "missing"))
    return 0
