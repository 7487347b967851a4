"""The attendee's folder `my/`: files that are never overwritten, and how far each exercise is."""

from __future__ import annotations

import contextlib
import itertools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from talk.errors import TalkError
from talk.record import write_atomically
from talk.source import ROOT
from talk.wire import dumps, from_plain

PROGRESS = ".progress.json"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Of one exercise. hints: shown so far. attempted: something of one's own was graded."""

    hints: int = 0
    attempted: bool = False
    solved: bool = False


@dataclass(frozen=True, kw_only=True)
class Book:
    """Of all exercises, by slug."""

    exercises: dict[str, Progress] = field(default_factory=dict)


@dataclass(frozen=True)
class Folder:
    """path: of `my/`. root: what `demos/` is in."""

    path: Path = ROOT / "my"
    root: Path = ROOT

    def file(self, slug: str) -> Path:
        return self.path / f"{slug}.py"

    def shown(self, slug: str) -> str:
        """As people type it."""
        return f"{self.path.name}/{slug}.py"

    def given(self, slug: str) -> Path:
        return self.root / "demos" / "exercises" / f"{slug}.py"

    def solution(self, slug: str) -> Path:
        return self.root / "demos" / "exercises" / "solutions" / f"{slug}.py"

    def copy(self, slug: str) -> bool:
        """Bring the exercise here; False where it is here already, and stays as it is."""
        if self.file(slug).exists():
            return False
        self.path.mkdir(exist_ok=True)
        text = self.given(slug).read_text(encoding="utf-8")
        # Exclusively: a file that came meanwhile is not ours to write over.
        with (
            contextlib.suppress(FileExistsError),
            self.file(slug).open("x", encoding="utf-8", newline="\n") as out,
        ):
            out.write(text)
            return True
        return False

    def reset(self, slug: str) -> str:
        """Begin anew; what was there is kept under a name of its own, which is returned."""
        file = self.file(slug)
        if not file.exists():
            self.copy(slug)
            return ""
        numbered = (self.path / f"{slug}.{n}.py" for n in itertools.count(1))
        aside = next(path for path in numbered if not path.exists())
        file.rename(aside)
        self.copy(slug)
        return f"{self.path.name}/{aside.name}"

    def untouched(self, slug: str, text: str) -> bool:
        return text == self.given(slug).read_text(encoding="utf-8")

    def progress(self, slug: str) -> Progress:
        return self._book().exercises.get(slug, Progress())

    def note(self, slug: str, **changes: object) -> Progress:
        """Remember, and return what is now remembered."""
        book = self._book()
        after = replace(book.exercises.get(slug, Progress()), **changes)  # type: ignore[arg-type]
        self.path.mkdir(exist_ok=True)
        whole = replace(book, exercises={**book.exercises, slug: after})
        write_atomically(self.path / PROGRESS, dumps(whole))
        return after

    def _book(self) -> Book:
        """Empty where there is none, or none that can be read: it holds nobody's work."""
        try:
            return from_plain(Book, json.loads((self.path / PROGRESS).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return Book()


def need(path: Path, what: str) -> str:
    """The text of a file that must be there. Raises TalkError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TalkError(f"{what} cannot be read: {error.strerror}.") from None
