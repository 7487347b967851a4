"""Where a Python line of a kernel goes: its lines in every form. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from talk.outcome import Lowering, Stage
from talk.rows import GLOBAL_LOAD

FORMS = {
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMDGCN",
}
"""A form's name → how it is called: Triton's two, LLVM's, NVIDIA's two, AMD's."""
ASSEMBLY = ("ptx", "amdgcn")

TELLING = (
    re.compile(
        r"\btt\.(?:load|store|atomic|descriptor)|= load |^store "
        r"|\b(?:ld|st|red|atom|cp)\.(?!param)[a-z]"
        r"|\b(?:LD|ST|LDG|STG|LDS|STS|LDSM|LDGSTS|RED|ATOM|ATOMG)\b"
        r"|\b(?:buffer|global|flat|ds)_[a-z]|\bbuffer\.(?:load|store)"
    ),
    re.compile(
        r"\barith\.\w+f\b|\bmath\.|\btt\.dot|\bf(?:add|sub|mul|div|neg)\b|mma|\bmax(?:imum|num)"
        r"|\b(?:add|sub|mul|div|fma|mad|max|min|ex2|lg2|rcp|sqrt)\.[a-z.]*(?:f|bf)\d"
        r"|\b(?:F(?:ADD|MUL|FMA|MNMX)|MUFU)|\bv_(?:pk_)?(?:add|sub|mul|fma|max|exp)_f"
    ),
)
"""What a line of code is about: first what it moves, then what it computes in floating point."""

Variant = tuple[str, str, tuple[tuple[str, int], ...]]


def kept(lowerings: Iterable[Lowering]) -> list[Lowering]:
    """Those whose forms are at hand, each once."""
    found: list[Lowering] = []
    for lowering in lowerings:
        if lowering.stages and lowering.counts and lowering not in found:
            found.append(lowering)
    return found


def variant(lowering: Lowering) -> Variant:
    """(candidate, kernel, size): what was launched, whatever the target."""
    return lowering.candidate, lowering.kernel, tuple(lowering.at.items())


def variants(found: Iterable[Lowering]) -> list[Variant]:
    return list(dict.fromkeys(variant(lowering) for lowering in found))


def chosen(found: Sequence[Lowering], at: int, target: int) -> Lowering:
    """Both are counted on and on, so each is taken within what there is."""
    names = variants(found)
    mine = [lowering for lowering in found if variant(lowering) == names[at % len(names)]]
    return mine[target % len(mine)]


def counterpart(one: Lowering, found: Iterable[Lowering]) -> Lowering | None:
    """The same launch for the other maker, to stand beside."""
    others = (
        each
        for each in found
        if variant(each) == variant(one) and is_nvidia(each) != is_nvidia(one)
    )
    return next(others, None)


def is_nvidia(lowering: Lowering) -> bool:
    return lowering.target.startswith("sm_")


def form_at(lowering: Lowering, form: int) -> Stage:
    """The form that is looked at, counted on from PTX (or AMD's code)."""
    names = [stage.name for stage in lowering.stages]
    first = next((i for i, name in enumerate(names) if name in ASSEMBLY), 0)
    return lowering.stages[(first + form) % len(names)]


def form_like(stage: Stage, lowering: Lowering) -> Stage:
    """The same form of another lowering; PTX and SASS face AMD's code."""
    same = (each for each in lowering.stages if each.name == stage.name)
    return next(same, form_at(lowering, 0))


def python_lines(one: Lowering, found: Iterable[Lowering]) -> list[int]:
    """Lines of the kernel that left something behind, for any target and size."""
    same = (each for each in found if each.kernel == one.kernel)
    return sorted({line for each in same for stage in each.stages for _, line in stage.lines})


def line_at(one: Lowering, found: Sequence[Lowering], traced: int) -> int:
    """The Python line that is looked at, counted on from the first that loads; 0 for none."""
    lines = python_lines(one, found)
    if not lines:
        return 0
    first = next(each for each in found if each.kernel == one.kernel)
    return lines[(lines.index(first_load(first) or lines[0]) + traced) % len(lines)]


def first_load(lowering: Lowering) -> int:
    """The first Python line that loads from memory, or 0."""
    stage = form_at(lowering, 0)
    text = stage.text.split("\n")
    loads = (to for at, to in stage.lines if at <= len(text) and GLOBAL_LOAD.search(text[at - 1]))
    return next(loads, 0)


def lines_of(stage: Stage, text: Sequence[str], line: int) -> list[tuple[int, str]]:
    """(number, text) of the lines of a form that came from a Python line."""
    return [(at, tidy(text[at - 1])) for at, to in stage.lines if to == line and at <= len(text)]


def tidy(text: str) -> str:
    """Without indents, columns and the address of a machine instruction."""
    return " ".join(re.sub(r"^\s*/\*[0-9a-f]{4,}\*/", "", text).split())


def rank(text: str) -> int:
    """How little a line tells: 0 moves data, 1 computes, 2 is neither."""
    return next((i for i, told in enumerate(TELLING) if told.search(text)), len(TELLING))


def most_telling(found: Sequence[tuple[int, str]], room: int) -> list[tuple[int, str]]:
    """As many as there is room for, in their order; what moves data is left out last."""
    ranked = sorted(found, key=lambda each: (rank(each[1]), each[0]))
    return sorted(ranked[: max(0, room)])


def families(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Instructions by family; those that move data first, then those that compute."""
    return sorted(counts.items(), key=lambda each: (rank(each[0]), -each[1]))


def told(one: Lowering, found: Iterable[Lowering]) -> dict[str, str]:
    """What the compiler knew of the arguments: of those that differ between the variants shown.

    Of all, where none does.
    """
    same = [each for each in found if (each.kernel, each.target) == (one.kernel, one.target)]
    differ = {
        name: kind
        for name, kind in one.signature.items()
        if any(each.signature.get(name) != kind for each in same)
    }
    return differ or dict(one.signature)
