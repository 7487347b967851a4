"""Many lowered kernels as a table: what each takes of its target, and how it loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.outcome import Lowering
from talk.rows import GLOBAL_LOAD, widest_load
from talk.terminal.clean import clean, styled, words
from talk.terminal.grid import Grid, Head


def lowerings(found: Sequence[Lowering]) -> RenderableType:
    """A row for each; kernel and size stand above the table where all have the same."""
    names = [clean(each.kernel or each.candidate) for each in found]
    sizes = [at_words(each) for each in found]
    above = [column[0] for column in (names, sizes) if len(set(column)) == 1 and column[0]]
    columns = [(Head("for"), [Text(clean(each.target)) for each in found])]
    if len(set(sizes)) > 1:
        columns.append((Head("with"), [Text(size) for size in sizes]))
    if len(set(names)) > 1:
        columns.insert(0, (Head("kernel"), [styled(name, "strong") for name in names]))
    columns += [(Head(name, True), [Text(of(each)) for each in found]) for name, of in FIGURES]
    columns.append((Head(""), [mark(each) for each in found]))
    rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    heading = [styled(" · ".join(above), "strong")] if above else []
    return Group(*heading, Grid([head for head, _ in columns], rows), *why(found))


FIGURES: tuple[tuple[str, Callable[[Lowering], str]], ...] = (
    ("registers", lambda one: look.quantity(one.registers, "count")),
    ("spills", lambda one: look.quantity(one.spills, "B")),
    ("shared", lambda one: "–" if one.failure else look.quantity(one.shared, "capacity")),
    ("instructions", lambda one: counted(sum(one.machine_code.values()))),
    ("loads", lambda one: counted(loads(one.machine_code))),
    ("widest", lambda one: look.quantity(widest_load(one.machine_code), "B")),
)
"""Heading → the figure; instructions are those of the PTX, or of AMD's code."""


def loads(counts: Mapping[str, int]) -> int:
    return sum(count for name, count in counts.items() if GLOBAL_LOAD.match(name))


def counted(number: int) -> str:
    return f"{number:,}" if number else "–"


def at_words(lowering: Lowering) -> str:
    return ", ".join(f"{clean(name)} {value:,}" for name, value in lowering.at.items())


def mark(lowering: Lowering) -> Text:
    return styled("" if lowering.fits else "✗", "missing")


def why(found: Sequence[Lowering]) -> list[RenderableType]:
    """Sentences below the table: what did not compile, and what no program can have there."""
    return [words(f"✗ {sentence(each)}", "missing") for each in found if not each.fits]


def sentence(lowering: Lowering) -> str:
    if lowering.failure:
        return lowering.failure
    required, available = (
        look.quantity(n, "capacity") for n in (lowering.shared, lowering.shared_limit)
    )
    return (
        f"{lowering.kernel} on {lowering.target}: one program needs {required} of shared memory, "
        f"and may have {available}."
    )


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    made_up = Lowering(
        candidate="up", kernel="up_kernel", target="sm_00", registers=1, spills=0, shared=2048,
        shared_limit=1024, num_warps=4, counts={"ptx": {"ld.global.b32": 1}},
    )  # fmt: skip
    look_at(lowerings([made_up]))
