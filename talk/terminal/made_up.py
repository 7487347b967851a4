"""Made-up data, to look at one renderable alone: `python -m talk.terminal.chart`.

No figure here was measured.
"""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console, RenderableType

from talk.look import Badge
from talk.outcome import Check, Code, Column, Outcome, Table, Timing
from talk.reading import Reading
from talk.record import Ceilings, Device, Event, Machine, Record, SectionOutline, StepOutline
from talk.rows import Shown
from talk.stage import State
from talk.terminal.palette import theme

CEILINGS = Ceilings(bandwidth_gbps={"2:1": 100.0}, launch_us=1.0, programs_per_s=1e6, array_bytes=1)
MACHINE = Machine(mode="live", device=Device(name="Made-up GPU", kind="cuda"), ceilings=CEILINGS)

CODE = Code(path="made/up.py", name="up", text='def up(x):\n    return x + 1  # "one" more')

STEP = StepOutline(
    slug="up",
    title="A made-up step",
    phase="naive",
    kind="measure",
    notes="Say that this is made up.",
    says="A made-up sentence: {{ n('up[naive].gbps') }}.",
    code=(CODE,),
)
SECTION = SectionOutline(
    number=0,
    title="Made up",
    minutes=1,
    module="",
    claim="Nothing here was measured.",
    steps=(STEP,),
)


def timing(candidate: str, ms: float) -> Timing:
    return Timing(
        candidate=candidate, median_ms=ms, p20_ms=ms * 0.9, p80_ms=ms * 1.1, min_ms=ms * 0.8,
        n=10, bytes=10**9, mix="2:1",
    )  # fmt: skip


OUTCOME = Outcome(
    section=0,
    step="up",
    mode="live",
    behind=(CODE,),
    checks=(Check(candidate="naive", inputs="the case's inputs", ok=True),),
    timings=(timing("naive", 200.0), timing("torch", 12.0), timing("triton", 11.0)),
    counters=Table(
        columns=(Column(name="counter"), Column(name="value", unit="share")), rows=(("up", 0.5),)
    ),
)
EVENTS = (
    Event(kind="outline", section=0, outline=SECTION),
    Event(kind="outcome", at="0001-01-01", section=0, step="up", outcome=OUTCOME),
)
READING = Reading(recording=Record(MACHINE, EVENTS))
STATE = State(
    sections=(SECTION,), slug="up", mode="replay", why="made up", done=frozenset({(0, "up")})
)


def shown() -> Shown:
    """The made-up outcome as a view draws it."""
    return READING.shown(0, "up")[0]


def measured(*timings: Timing) -> Shown:
    """Made-up timings as a view draws them."""
    outcome = Outcome(section=0, step="up", mode="live", timings=timings)
    return Shown(outcome, Badge.RECORDED, MACHINE, "0001-01-01")


SWEPT = measured(
    *(
        replace(timing("up", 900 / block + 11), at={"block": block})
        for block in (1, 8, 32, 64, 256)
    ),
    *(replace(timing("torch", 14.0), at={"block": block}) for block in (1, 8, 32, 64, 256)),
)
TILES = measured(
    *(
        replace(timing("up", 900 / (m + n)), at={"m": m, "n": n})
        for m in (16, 32)
        for n in (16, 32, 64)
    )
)
TUNED = measured(
    *(
        replace(timing("up", ms), at={"block": block, "num_warps": warps})
        for ms, block, warps in ((11.0, 64, 4), (11.5, 128, 4), (20.0, 128, 8))
    )
)
TRAFFIC = Table(
    columns=(
        Column(name="candidate"),
        Column(name="operation"),
        *(Column(name=name, unit="B") for name in ("read", "written", "bytes")),
    ),
    rows=(
        ("naive", "up", 2 * 10**9, 10**9, 3 * 10**9),
        ("naive", "down", 10**9, 10**9, 2 * 10**9),
        ("naive", "total", 3 * 10**9, 2 * 10**9, 5 * 10**9),
        ("must move", "total", None, None, 3 * 10**9),
    ),
)
CASES = measured(
    *(
        replace(timing(name, ms), case=case)
        for case, name, ms in (("x", "naive", 90.0), ("x", "up", 11.0), ("y", "up", 12.0))
    )
)


def look_at(*renderables: RenderableType) -> None:
    """Print them in the talk's own styles."""
    Console(theme=theme("both"), markup=False, highlight=False).print(*renderables, sep="\n")
