"""What grading leaves: four verdicts that are never blurred, and what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass

RIGHT, WRONG, NOT_RUN = "right", "wrong", "not run"

SIMULATED, COMPILES, ON_GPU, FAST = "simulation", "compiles", "gpu", "fast"
KINDS = (SIMULATED, COMPILES, ON_GPU, FAST)
"""Right in simulation; compiles for a named GPU; right on this GPU; a share of its ceiling."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One of `KINDS`. state: of the three above. why: of a wrong or missing one; what was seen."""

    kind: str
    state: str
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Outside:
    """An access beyond an argument, or between its rows. index: in elements. line: 0 unknown."""

    what: str
    argument: str
    index: int
    size: int
    lanes: int
    program: tuple[int, ...]
    line: int


@dataclass(frozen=True, kw_only=True)
class Race:
    """Two programs, one element, and no order between them. what: `read` or `written`."""

    what: str
    argument: str
    index: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    line: int


@dataclass(frozen=True, kw_only=True)
class Miss:
    """The first wrong element. program: that stored it last; empty where none did.

    expected, got: as words, since no JSON has a NaN.
    """

    index: tuple[int, ...]
    shape: tuple[int, ...]
    expected: str
    got: str
    program: tuple[int, ...] = ()
    result: int = 0


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Where errors lie: rows of `.` right, `x` wrong, `_` never stored; each a part of the result.

    cells: elements of a glyph, across and down.
    """

    rows: tuple[str, ...]
    cells: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was seen in the case that failed; empty and 0 where there is nothing to tell.

    error, line, kernel_error: what the code raised, where, and whether in a kernel.
    kernels: that were launched. own: of the file itself. globals: plain, read in a kernel.
    odd: why the result could not be compared. nonfinite: wrong elements that are inf or NaN, where
        the right one is finite. near: every wrong element is right to within a percent or two.
    unwritten: elements of the result that no kernel stored. alone: whether what is stored lies
        singly, between gaps. overlapped: elements stored by several programs.
    changed: number of the input that was. not_stored: the result is not what a kernel stored.
    cached: it is the result of an earlier call. empty: an input has no elements.
    right_if: experiments after which it was right. slip: the known mistake whose result it is.
    ratio: got / expected, where that is the same everywhere. unread: arguments with elements
        that no program read. in_flight, needed: bytes. sectors, least: of 32 bytes.
    """

    case: str = ""
    error: str = ""
    line: int = 0
    kernel_error: bool = False
    kernels: tuple[str, ...] = ()
    stored: bool = True
    globals: tuple[str, ...] = ()
    odd: str = ""
    miss: Miss | None = None
    picture: Picture | None = None
    wrong: int = 0
    total: int = 0
    nonfinite: int = 0
    near: bool = False
    unwritten: int = 0
    alone: bool = False
    overlapped: int = 0
    outside: tuple[Outside, ...] = ()
    races: tuple[Race, ...] = ()
    changed: int = 0
    not_stored: bool = False
    cached: bool = False
    empty: bool = False
    halves: bool = False
    right_if: tuple[str, ...] = ()
    slip: str = ""
    ratio: float = 0.0
    unread: tuple[str, ...] = ()
    in_flight: int = 0
    needed: int = 0
    sectors: int = 0
    least: int = 0
    instruction: str = ""
    uncompiled: str = ""

    @property
    def fine(self) -> bool:
        """Whether the values are right and came about as they should."""
        return not (
            self.error
            or self.globals
            or self.odd
            or self.wrong
            or self.unwritten
            or self.outside
            or self.races
            or self.changed
            or self.not_stored
            or self.cached
            or self.starved
            or self.scattered
        )

    @property
    def starved(self) -> bool:
        return self.in_flight < self.needed

    @property
    def scattered(self) -> bool:
        """A quarter more sectors than neighbouring lanes would touch."""
        return self.sectors > 1.25 * self.least


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one process found: verdicts, and the evidence of what failed first.

    cases: tried. place, ceilings: of the GPU, as JSON, to be measured once.
    """

    verdicts: tuple[Verdict, ...] = ()
    evidence: Evidence | None = None
    cases: int = 0
    place: str = ""
    ceilings: str = ""
