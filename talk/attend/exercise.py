"""`just exercise N`: bring the exercise, say what to do, grade it, and help on."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from talk.attend.folder import Folder, need
from talk.attend.grade import Grader, Report
from talk.attend.lesson import Lesson
from talk.attend.tell import fitting, folded, told
from talk.errors import TalkError
from talk.look import harmless

POLL_S = 0.2
"""Between looks at a file that is watched."""

TABLE = "demos.exercises"
PART = "# 3. "
"""What an attendee writes stands under this heading."""


def lessons(table: str = TABLE) -> tuple[Lesson, ...]:
    found: tuple[Lesson, ...] = importlib.import_module(table).LESSONS
    return found


def chosen(which: str, known: tuple[Lesson, ...]) -> Lesson:
    """By number or name. Raises TalkError."""
    for lesson in known:
        if which in (str(lesson.number), lesson.slug):
            return lesson
    problem = f"no exercise {harmless(which)[:40]!r}." if which else "which exercise?"
    raise TalkError(problem, hint="; ".join(f"{lesson.number} {lesson.slug}" for lesson in known))


def print_fitting(line: str) -> None:
    print(fitting(line, sys.stdout.encoding or "utf-8"), flush=True)


@dataclass(frozen=True)
class Desk:
    """folder, grader: of one attendee. say: writes a line. sleep: waits, in seconds."""

    folder: Folder = field(default_factory=Folder)
    grader: Grader = field(default_factory=Grader)
    say: Callable[[str], None] = print_fitting
    sleep: Callable[[float], None] = time.sleep

    def run(self, lesson: Lesson) -> int:
        """Copy it or leave it, and grade it. Returns 0 where it is solved, else 1."""
        if self.folder.copy(lesson.slug):
            self._welcome(lesson)
        return 0 if self.graded(lesson).solved else 1

    def _welcome(self, lesson: Lesson) -> None:
        for line in (
            *folded("", f"Copied to {self.folder.shown(lesson.slug)}. {lesson.task}"),
            *folded("", f"Edit it, then run `{command(lesson)}` again, or leave it running with "
                        "--watch: it grades at each save."),
            "",
        ):  # fmt: skip
            self.say(line)

    def graded(self, lesson: Lesson) -> Report:
        slug = lesson.slug
        file, shown = self.folder.file(slug), self.folder.shown(slug)
        report = self.grader.grade(lesson, file, shown)
        changed = not self.folder.untouched(slug, need(file, shown))
        before = self.folder.progress(slug)
        after = self.folder.note(
            slug,
            attempted=before.attempted or changed,
            solved=before.solved or report.solved,
        )
        for line in told(report, command=command(lesson), hints=after.hints):
            self.say(line)
        return report

    def hint(self, lesson: Lesson) -> int:
        """The next rung; after the last, all of them again."""
        before = self.folder.progress(lesson.slug).hints
        shown = min(before + 1, len(lesson.hints))
        self.folder.note(lesson.slug, hints=shown)
        first = 0 if before == len(lesson.hints) else shown - 1
        for number, words in enumerate(lesson.hints[first:shown], first + 1):
            for line in folded("", f"Hint {number} of {len(lesson.hints)}: {words}"):
                self.say(line)
        more = f"{command(lesson)} --hint" if shown < len(lesson.hints) else ""
        after = f"One more: {more}" if more else f"After an attempt: {command(lesson)} --solution"
        self.say(after)
        return 0

    def solution(self, lesson: Lesson) -> int:
        """Raises TalkError where nothing of one's own was graded yet."""
        if not self.folder.progress(lesson.slug).attempted:
            raise TalkError(
                f"the solution of {lesson.slug} comes after an attempt.",
                hint=f"change {self.folder.shown(lesson.slug)}, then run '{command(lesson)}'",
            )
        path = self.folder.solution(lesson.slug)
        text = need(path, f"solutions/{lesson.slug}.py")
        _, found, part = text.partition(PART)
        for line in (found + part if found else text).rstrip().splitlines():
            self.say(line)
        return 0

    def reset(self, lesson: Lesson) -> int:
        kept = self.folder.reset(lesson.slug)
        shown = self.folder.shown(lesson.slug)
        self.say(f"{shown} is as it was given." + (f" Yours is now {kept}." if kept else ""))
        return 0

    def watch(self, lesson: Lesson, *, most: int = 0) -> int:
        """Grade at each save until Ctrl-C. most: gradings after which to end; 0 for none."""
        if self.folder.copy(lesson.slug):
            self._welcome(lesson)
        solved, done = False, 0
        try:
            for _ in saves(self.folder.file(lesson.slug), self.sleep):
                solved = self.graded(lesson).solved
                self.say("")
                self.say(f"Watching {self.folder.shown(lesson.slug)}; Ctrl-C ends it.")
                done += 1
                if done == most:
                    break
        except KeyboardInterrupt:
            self.say("")
        return 0 if solved else 1


def command(lesson: Lesson) -> str:
    return f"just exercise {lesson.number if lesson.number <= 8 else lesson.slug}"


def saves(file: Path, sleep: Callable[[float], None]) -> Iterator[None]:
    """At once, and after each change, when the file has been the same for two looks."""
    graded: tuple[int, int] | None = None
    before: tuple[int, int] | None = None
    while True:
        now = stamp(file)
        # Some editors empty a file, or take it away, before they write it.
        if now is not None and now[1] and now == before and now != graded:
            graded = now
            yield
        before = now
        sleep(POLL_S if graded else 0.0)


def stamp(file: Path) -> tuple[int, int] | None:
    """(time of change, size); None where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def listed(known: tuple[Lesson, ...], folder: Folder) -> Iterator[str]:
    for lesson in known:
        progress = folder.progress(lesson.slug)
        state = (
            "solved" if progress.solved else "begun" if folder.file(lesson.slug).exists() else ""
        )
        yield f"{lesson.number:>2}  {lesson.slug:<13} {lesson.title:<46} {state}".rstrip()
