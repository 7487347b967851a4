"""Figures that somebody typed into a template: a number with a unit must be a reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UNIT = r"""
    [KMGT]i?B(?:/s)? | [KMGT]?FLOPS?(?:/s)? | [GM]Hz | W
    | ns | [µμu]s | ms | s | sec(?:onds?)?
    | %(?!\}) | per\s?cent | × | x | times | fold
    | thousand | million | billion
    | (?:giga|tera|mega)bytes? | (?:milli|micro|nano)seconds?
"""
FIGURE = re.compile(
    rf"(?<![\w.\#&])(?:\d[\d,.]*(?:\s|&nbsp;|-)?(?:{UNIT})(?!\w) | ×\s?\d[\d,.]*)", re.VERBOSE
)
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


@dataclass(frozen=True)
class Typed:
    """Where a figure was typed. line: from 1."""

    template: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.template}:{self.line}: {self.text!r}"


def typed_figures(folder: Path) -> tuple[Typed, ...]:
    """Every figure typed in the templates of a folder, comments apart."""
    paths = sorted(folder.rglob("*.j2"))
    named = ((path.relative_to(folder).as_posix(), path) for path in paths)
    return tuple(found for name, path in named for found in typed(name, path.read_text("utf-8")))


def typed(template: str, text: str) -> Iterator[Typed]:
    words = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    for match in FIGURE.finditer(words):
        yield Typed(template, words.count("\n", 0, match.start()) + 1, match.group())
