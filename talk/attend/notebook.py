"""A section or an exercise as a Jupyter notebook in `my/`: words, code, questions, measurements.

It carries its own code, read from the sources, and needs PyTorch and Triton alone. Figures beside
it are those of the record, so labelled; its own it measures where it is run.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from talk import look
from talk.attend.cells import Cell, written
from talk.attend.chapter import section_cells
from talk.attend.worksheet import exercise_cells, tasks
from talk.errors import TalkError
from talk.reading import Reading
from talk.record import write_atomically
from talk.source import ROOT, number_of, order

MY = ROOT / "my"

OPEN = (
    "Open it in Jupyter or VS Code, or in Colab: File, Upload notebook.\n"
    "It needs PyTorch and Triton alone. With no GPU it checks the kernels, and times nothing."
)


def write(which: str, reading: Reading, *, root: Path = ROOT, my: Path = MY) -> str:
    """Write what was asked for: a section's number or name, an exercise's name, or `all`.

    Returns what to tell. Raises TalkError for anything else.
    """
    made = [
        f"{name}.ipynb  {saved(my / f'{name}.ipynb', written(cells))}"
        for name, cells in wanted(which, reading, root)
    ]
    return "\n".join((*(f"my/{line}" for line in made), OPEN))


def wanted(which: str, reading: Reading, root: Path) -> list[tuple[str, tuple[Cell, ...]]]:
    """(name, cells) of each."""
    exercises = {task.slug: task for task in tasks(root)}
    sections = {number_of(name): name for name in order(root)}
    named = {name: n for n, name in sections.items()}
    named |= {name.split("_", 1)[1]: n for n, name in sections.items()}
    named |= {str(n): n for n in sections}
    if which == "all":
        every = [(name, section_cells(n, reading, root)) for n, name in sections.items()]
        return every + [(slug, exercise_cells(task, root)) for slug, task in exercises.items()]
    if which in named:
        return [(sections[named[which]], section_cells(named[which], reading, root))]
    if which in exercises:
        return [(which, exercise_cells(exercises[which], root))]
    raise TalkError(
        f"no section or exercise {look.harmless(which)[:40]!r}." if which else "which notebook?",
        hint=f"a section, {min(sections)} to {max(sections)}; 'all'; or {', '.join(exercises)}",
    )


def saved(path: Path, text: str) -> str:
    """Write one file; what is there and differs is kept. Returns what was done."""
    if not path.exists():
        write_atomically(path, text)
        return "written"
    if path.read_bytes() == text.encode():
        return "unchanged"
    aside = next(
        p for n in itertools.count(1) if not (p := path.with_suffix(f".{n}.ipynb")).exists()
    )
    path.rename(aside)
    write_atomically(path, text)
    return f"written; yours is now {aside.name}"
