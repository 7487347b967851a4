"""Made-up records for tests of what reads them. No figure here was measured."""

from __future__ import annotations

from dataclasses import replace

from talk.outcome import Check, Code, Column, Failure, Outcome, Prediction, Table, Timing
from talk.record import (
    Ceilings,
    Device,
    Event,
    Machine,
    Record,
    SectionOutline,
    Software,
    StepOutline,
)

AT = "2026-01-02T03:04:05Z"

CEILINGS = Ceilings(
    bandwidth_gbps={"read": 2000.0, "write": 2100.0, "1:1": 1900.0, "2:1": 2000.0, "3:1": 2050.0},
    launch_us=2.0,
    programs_per_s=1e9,
    array_bytes=2**30,
)
MACHINE = Machine(
    talk="2026-01-02T030405Z-test-gpu",
    started=AT,
    mode="live",
    host="test",
    device=Device(name="Test GPU 9000", kind="cuda", capability="9.0", sms=100, l2_bytes=2**25),
    software=Software(python="3.12", torch="2.11.0", triton="3.6.0", driver="580"),
    ceilings=CEILINGS,
)

NAIVE = Code(
    path="demos/kernels/example.py",
    name="add_one",
    text="@triton.jit\ndef add_one(out_ptr, x_ptr):\n    i = tl.program_id(0)\n"
    "    tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)",
)
LONG = Code(
    path="demos/kernels/example.py",
    name="sixty_lines",
    text="def sixty_lines(x):\n"
    + "\n".join(f"    x = x + {i}  # line {i + 2}" for i in range(58))
    + "\n    return x",
)


def timing(candidate: str, ms: float, **more: object) -> Timing:
    """A timing with a spread of 1 % either way; 12 GB moved at 2:1 unless said otherwise."""
    given = {
        "bytes": 12_000_000_000,
        "mix": "2:1",
        "n": 20,
        "shape": "1,000,000,000",
        "dtype": "float32",
    }
    return Timing(
        candidate=candidate,
        median_ms=ms,
        p20_ms=ms * 0.99,
        p80_ms=ms * 1.01,
        min_ms=ms * 0.98,
        **{**given, **more},  # type: ignore[arg-type]
    )


STEPS = (
    StepOutline(
        slug="words",
        title="What we are after",
        phase="naive",
        kind="show",
        text="Add one.",
        notes="Say hello.",
    ),
    StepOutline(
        slug="guess",
        title="What share of the ceiling?",
        phase="naive",
        kind="predict",
        about="baseline[naive].share",
        choices={"under 10 %": (0.0, 0.1), "10 to 80 %": (0.1, 0.8), "over 80 %": (0.8, 9.0)},
        misconception="A GPU is always fast.",
        model_says="bytes / bandwidth",
    ),
    StepOutline(
        slug="baseline",
        title="One element per program",
        phase="naive",
        kind="measure",
        candidates=("naive", "torch"),
        code=(replace(NAIVE, shown=True),),
        says="{{ n('baseline[naive].gbps') }} is {{ n('baseline[naive].share') }} of the ceiling, "
        "{% if n('baseline[naive].time') > n('baseline[torch].time') %}slower{% else %}faster"
        "{% endif %} than torch.",
        notes="Ask the room first.",
    ),
    StepOutline(
        slug="rows",
        title="What the profiler saw",
        phase="profile",
        kind="profile",
        candidates=("naive",),
    ),
    StepOutline(
        slug="blocks",
        title="A block per program",
        phase="rewrite",
        kind="sweep",
        candidates=("triton",),
        over={"block": (1, 32, 1024)},
        code=(LONG,),
        says="A block of 1,024 is {{ n('blocks[1].time') / n('blocks[1024].time') }} "
        "as fast as one.",
    ),
    StepOutline(
        slug="broken",
        title="A step that fails",
        phase="fuse",
        kind="measure",
        candidates=("naive",),
    ),
    StepOutline(
        slug="now-you",
        title="Now you: add one",
        phase="fuse",
        kind="now-you",
        text="Finish the kernel.",
        minutes=3,
    ),
)
SECTION = SectionOutline(
    number=5,
    title="Hit the memory wall",
    minutes=15,
    module="demos.s5_memory_wall",
    claim="Bytes are what costs.",
    steps=STEPS,
)

ROWS = Table(
    columns=(
        Column(name="kernel"),
        Column(name="calls", unit="count"),
        Column(name="time", unit="s"),
    ),
    rows=tuple((f"kernel_{i}", i + 1, 1e-6 * (i + 1)) for i in range(40)),
)


def outcome(step: str, **parts: object) -> Outcome:
    return Outcome(
        section=5, step=step, mode="live", commit="abc1234", command="just demo 5", **parts
    )  # type: ignore[arg-type]


def outcomes(naive_ms: float = 600.0, torch_ms: float = 6.1) -> tuple[Outcome, ...]:
    return (
        outcome("guess", prediction=Prediction(model=0.9)),
        outcome(
            "baseline",
            behind=(replace(NAIVE, shown=True),),
            checks=(
                Check(
                    candidate="naive",
                    inputs="the case's inputs",
                    ok=True,
                    error=0.0,
                    tolerance=1e-6,
                ),
            ),
            timings=(timing("naive", naive_ms), timing("torch", torch_ms)),
        ),
        outcome("rows", table=ROWS),
        outcome(
            "blocks",
            behind=(LONG,),
            timings=tuple(
                timing("triton", ms, at={"block": b})
                for b, ms in ((1, 600.0), (32, 20.0), (1024, 6.05))
            ),
        ),
        outcome(
            "broken",
            failure=Failure(kind="crash", reason="the worker was ended by signal 11", detail="…"),
        ),
    )


def record(section: SectionOutline = SECTION, **more: float) -> Record:
    """A talk of one section; `naive_ms` and `torch_ms` change what the baseline measured."""
    events = [Event(kind="outline", at=AT, section=section.number, outline=section)]
    events += [
        Event(kind="outcome", at=AT, section=5, step=o.step, outcome=o) for o in outcomes(**more)
    ]
    return Record(MACHINE, tuple(events))


def whole(**more: float) -> Record:
    """The same talk without its failing step."""
    steps = tuple(step for step in STEPS if step.slug != "broken")
    kept = record(replace(SECTION, steps=steps), **more)
    return replace(kept, events=tuple(e for e in kept.events if e.step != "broken"))
