"""An exercise as data: what is asked for, and what an answer is held against.

>>> Lesson(
...     number=1, slug="ragged", title="A length that is no multiple of the block",
...     task="Write add_kernel, so that add(x, y) is x + y at any length.",
...     entry="add", kernels=("add_kernel",), case="demos.cases.exercises:RAGGED",
...     sizes=({"name": "length 1,000: no multiple of the block", "n": 1000},),
...     hints=("where to look", "what is missing", "almost the line"),
... )

Standard library only: a case is named here, and loaded by the process that grades.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("kernel", "function")

RUNGS = ("worked", "blank", "empty")
"""The ladder in an exercise's file: an example that runs, one blank, and the answer's place."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One exercise, or one challenge.

    number: of its section; challenges count on. entry: the function that is graded.
    kernels: those of which one must be launched. case: "module:NAME" of a `talk.Case`.
    sizes: keywords of the case's inputs, each with a `name` for people; its `hard` inputs follow.
    checks: of a plain function, (arguments, answer, words).
    targets: compiled for, with no GPU. least_share: of the measured ceiling, on a GPU.
    in_flight: a program must have its part of bandwidth × latency under way, which is that over
        the multiprocessors: bytes it loads before it waits, at a store.
    coalesced: neighbouring lanes must share their 32-byte sectors.
    instruction: must be in the PTX. slips: "module:NAME" of mistakes, by cause, as functions of
        the same inputs: where the result is theirs, that is the cause.
    hints: where to look, what is missing, almost the line.
    """

    number: int
    slug: str
    title: str
    task: str
    entry: str
    kind: str = "kernel"
    kernels: tuple[str, ...] = ()
    case: str = ""
    sizes: tuple[Mapping[str, Any], ...] = ()
    checks: tuple[tuple[tuple[Any, ...], Any, str], ...] = ()
    targets: tuple[str, ...] = ("sm_90", "gfx942")
    least_share: float = 0.8
    in_flight: bool = False
    coalesced: bool = False
    instruction: str = ""
    slips: str = ""
    hints: tuple[str, str, str]
    rungs: tuple[str, ...] = RUNGS

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} of {self.slug!r} is none of {', '.join(KINDS)}")
