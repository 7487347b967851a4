"""What performing a step leaves behind. Standard library only.

Measured facts alone are kept: rates, shares and speed-ups are computed on reading
(`talk.rows`), so a record never disagrees with itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

Cell = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class Code:
    """A definition as it ran. path: relative to the checkout. line: of its first line."""

    path: str
    name: str
    text: str
    line: int = 1
    shown: bool = True


@dataclass(frozen=True, kw_only=True)
class Check:
    """One comparison with the reference. error, tolerance: largest |got - expected|."""

    candidate: str
    inputs: str
    ok: bool
    at: dict[str, int] = field(default_factory=dict)
    error: float | None = None
    tolerance: float | None = None
    message: str = ""
    case: str = ""


LEAST_MS, MOST_MS = 1e-6, 1e9
"""A nanosecond and eleven days: outside, a time is a mistake, and a rate of it has no meaning."""
MOST = 2**63
"""Whole numbers beyond it are no measurement, and overflow a float."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The distribution of one candidate's time at one point.

    clock: `device` (events around the kernel, cold cache), `hot` (cache-resident)
    or `wall` (host). compile_ms: the first call, apart from the samples;
    None where it compiled no kernel. case: its name, where the step has several.
    items: what one call does many of, such as loads. arithmetic: whose roof the flops meet.
    """

    candidate: str
    median_ms: float
    p20_ms: float
    p80_ms: float
    min_ms: float
    n: int
    bytes: int
    mix: str
    clock: str = "device"
    at: dict[str, int] = field(default_factory=dict)
    flops: int = 0
    compile_ms: float | None = None
    shape: str = ""
    dtype: str = ""
    seed: int = 0
    config: dict[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    case: str = ""
    items: int = 0
    arithmetic: str = "fp32"

    def __post_init__(self) -> None:
        if not LEAST_MS <= self.min_ms <= self.p20_ms <= self.median_ms <= self.p80_ms <= MOST_MS:
            raise ValueError(
                f"timing of {self.candidate!r}: min ≤ p20 ≤ median ≤ p80 does not hold"
            )
        if not 0 <= (self.compile_ms or 0) <= MOST_MS:
            raise ValueError(f"timing of {self.candidate!r}: compile_ms is out of range")
        counts = (self.bytes, self.flops, self.items)
        if self.n < 1 or not all(0 <= count <= MOST for count in counts):
            raise ValueError(f"timing of {self.candidate!r}: n or a count is out of range")


@dataclass(frozen=True, kw_only=True)
class Column:
    """unit: one that `talk.look.quantity` knows, or empty for words."""

    name: str
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of typed columns. The first column names the row."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns")
            if not all(plausible(cell) for cell in row):
                raise ValueError(f"a cell beyond {MOST:,} in the row {str(row[0])[:40]!r}")


def plausible(number: object) -> bool:
    """Whether it is no number, or one that can be measured and drawn."""
    if not isinstance(number, (int, float)):
        return True
    return math.isfinite(number) and abs(number) <= MOST


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A model's answer, in the unit of what the question is about. None: no ceilings yet."""

    model: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if not plausible(self.model):
            raise ValueError(f"a model that expects {self.model}")


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """One reading of the GPU by NVML. None: it did not say. throttle: why it slows itself down."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    power_w: float | None = None
    temperature_c: int | None = None
    throttle: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a step left no result. kind: crash, deadline, memory, error, cancelled, worker."""

    kind: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One form of a lowered kernel.

    lines: (line of `text`, line of the kernel's own text), both from 1.
    """

    name: str
    text: str
    lines: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Lowering:
    """One kernel compiled for one target. shared, shared_limit, spills: bytes.

    at: the size it was launched with, where a step has several. signature: argument → its type
    and what the compiler was told of it. counts: stage → instructions by family, also of stages
    whose text is not kept.
    """

    candidate: str
    kernel: str
    target: str
    registers: int | None
    spills: int | None
    shared: int
    shared_limit: int
    num_warps: int
    stages: tuple[Stage, ...] = ()
    failure: str = ""
    at: dict[str, int] = field(default_factory=dict)
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def machine_code(self) -> dict[str, int]:
        """Instructions of the form nearest to the machine that has a public meaning."""
        return self.counts.get("ptx") or self.counts.get("amdgcn") or {}

    @property
    def fits(self) -> bool:
        """Whether the target has the shared memory that the kernel asks for."""
        return not self.failure and self.shared <= self.shared_limit


NEAR = 0.95
"""A rate within 5 % of the best is past the knee."""


def near_best(timings: list[Timing]) -> list[int]:
    """Where one candidate, timed over one parameter, is within 5 % of its best rate."""
    rates = {next(iter(t.at.values())): t.bytes / max(t.median_ms, 1e-9) for t in timings}
    return [value for value, rate in rates.items() if rate >= NEAR * max(rates.values())]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What performing one step left behind.

    mode: `live` (this GPU), `simulated` (Triton's interpreter: no timings) or `compiled` (for
    named targets, which needs no GPU).
    behind: every definition the step stands on, as it ran; those `shown` are on screen.
    clocks: before and after timing; empty where nothing was read.
    output: what the step printed.
    """

    section: int
    step: str
    mode: str
    commit: str = ""
    command: str = ""
    seconds: float = 0.0
    behind: tuple[Code, ...] = ()
    checks: tuple[Check, ...] = ()
    timings: tuple[Timing, ...] = ()
    clocks: tuple[Clocks, ...] = ()
    table: Table | None = None
    counters: Table | None = None
    counters_reason: str = ""
    prediction: Prediction | None = None
    lowerings: tuple[Lowering, ...] = ()
    text: str = ""
    output: str = ""
    note: str = ""
    failure: Failure | None = None

    @property
    def code(self) -> tuple[Code, ...]:
        """The definitions to show, in the order they were given."""
        return tuple(code for code in self.behind if code.shown)

    @property
    def traces(self) -> bool:
        """Whether there is a lowered kernel with its forms to walk through."""
        return any(lowering.stages and lowering.counts for lowering in self.lowerings)

    @property
    def plateaus(self) -> dict[str, tuple[int, int]]:
        """Candidate → the smallest and the largest value of its one swept parameter near its best
        rate: where a rise ends, and where a fall begins.
        """
        swept = [timing for timing in self.timings if len(timing.at) == 1]
        names = dict.fromkeys(timing.candidate for timing in swept)
        near = {name: near_best([t for t in swept if t.candidate == name]) for name in names}
        return {name: (min(values), max(values)) for name, values in near.items()}

    @property
    def measured(self) -> bool:
        """Whether the outcome holds figures of its own, not only checks."""
        return bool(
            self.timings
            or self.table
            or self.counters
            or self.prediction
            or any(lowering.counts for lowering in self.lowerings)
            or self.text
        )
