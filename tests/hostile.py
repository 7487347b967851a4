"""A small valid record of every kind of step, as plain JSON, and what malice makes of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from talk import wire
from talk.outcome import Code, Lowering, Stage
from talk.record import Event, Record, SectionOutline, StepOutline
from tests import decks, records
from tests.decks import EVIL
from tests.records import AT, outcome, timing

Path_ = tuple[str | int, ...]

HUGE = 10**400

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**18, HUGE, 0.0, -0.0, 5e-324, 1e-300,
    -1.5, 1e300, float("nan"), float("inf"), float("-inf"), "inf", "-inf", "", " ", "x", EVIL,
    "\x00\x1b[2J\x1b]0;pwned\x07\x9b31m", "\u202egnp.exe", "\ud800", "a\nb\r\nc\u2028d",
    "../../etc/passwd",
    "{{ 7 * 7 }}", "{% for x in n %}{% endfor %}", "{{ n }}", "{{ n('x.time') / 0 }}", "{{",
    "9/blocks[1].time", "9/baseline[naive].gbps / 9/blocks[1].time", "machine/launch.time",
    "machine/bandwidth[2:1].gbps", "9" * 5000 + "/x.time", "9/guess.model", "predict", "measure",
    "sweep", "tune", "benchmark", "collect", "traffic", "trace", "profile", "run", "show",
    "now-you",
    "live", "simulated", "compiled", "hot", "wall", "roofline", "calibration", "table", "deadline",
    [], [[]], {}, {"a": 1}, {"": ""}, [None], [1, 2], ["x", 1], {EVIL: EVIL}, "w" * 3000,
    [EVIL] * 3, {"block": 1, "n": 2}, {"2:1": 0.0}, {"2:1": 1.0},
)  # fmt: skip
"""What a field of a record from elsewhere may hold instead of what belongs there."""


def steps() -> tuple[StepOutline, ...]:
    """Those of `records`, and one of each kind that they lack."""
    rows = ("9/baseline[naive]", "9/blocks[triton, 32]", "9/bench[add, triton]")
    kinds = {
        "tuned": "tune",
        "bench": "benchmark",
        "moved": "traffic",
        "traced": "trace",
        "ran": "run",
    }
    performed = (
        StepOutline(slug=slug, title=slug, phase="rewrite", kind=kind)
        for slug, kind in kinds.items()
    )
    pictures = (
        StepOutline(slug=name, title=name, phase="fuse", kind="collect", picture=name, of=rows)
        for name in ("table", "roofline", "calibration")
    )
    told = StepOutline(
        slug="told", title="Told", phase="fuse", kind="show", text="Words.", code=(records.NAIVE,)
    )
    kept = [step for step in records.STEPS if step.slug not in ("broken", "now-you")]
    return (*kept, *performed, told, *pictures, records.STEPS[-1])


def outcomes() -> Iterator[Any]:
    config = {"block": 128, "num_warps": 4}
    yield from (o for o in records.outcomes() if o.step != "broken")
    yield outcome(
        "tuned",
        timings=tuple(
            timing("triton", ms, at={"block": block, "num_warps": 4}, config=config, flops=10**9)
            for block, ms in ((128, 6.2), (256, 6.1))
        ),
    )
    yield outcome(
        "bench",
        timings=tuple(
            timing(candidate, ms, case=case, flops=10**10)
            for case in ("add", "relu")
            for candidate, ms in (("torch", 7.0), ("triton", 6.0))
        ),
    )
    yield outcome("moved", table=replace(records.ROWS, rows=records.ROWS.rows[:3]))
    yield outcome("ran", text="it ran", output="printed")
    stage = Stage(name="ptx", text="ld.global.v4.b32 a;\nst.global.b32 b;", lines=((1, 4), (2, 4)))
    lowering = Lowering(
        candidate="triton", kernel="add_one", target="sm_90", registers=20, spills=0, shared=0,
        shared_limit=2**17, num_warps=4, stages=(stage,), at={"n": 1024}, signature={"n": "i32"},
        counts={"ptx": {"ld.global.v4.b32": 2, "fma.rn.f32": 1}},
    )  # fmt: skip
    behind = (Code(path="demos/x.py", name="add_one", text=records.NAIVE.text),)
    yield outcome("traced", behind=behind, lowerings=(lowering,))


def record() -> Record:
    """A made-up talk of one section, with every kind of step."""
    section = SectionOutline(
        number=9, title="Everything", minutes=15, module="demos.s9", claim="A claim.", steps=steps()
    )
    events = [Event(kind="outline", at=AT, section=9, outline=section)]
    events += [Event(kind="vote", at=AT, section=9, step="guess", votes={"over 80 %": 3})]
    events += [Event(kind="outcome", at=AT, section=9, step=o.step, outcome=o) for o in outcomes()]
    ceilings = replace(records.CEILINGS, tflops={"fp32": 60.0}, latency_ns=300.0)
    machine = replace(records.MACHINE, ceilings=ceilings)
    return decks.changed(Record(machine, tuple(events)), section=9, code=decks.short)


def plain(talk: Record) -> dict[str, Any]:
    """A record as JSON holds it: `machine`, and `events` in a list."""
    machine = wire.to_plain(talk.machine) | {"schema": 1}
    return {"machine": machine, "events": [wire.to_plain(event) for event in talk.events]}


def write(folder: Path, talk: dict[str, Any]) -> Path:
    """JSON as anyone may write it, NaN included."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(talk["machine"]), encoding="utf-8")
    lines = "".join(json.dumps(event) + "\n" for event in talk["events"])
    (folder / "events.jsonl").write_text(lines, encoding="utf-8")
    return folder


def paths(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Where something stands in JSON, at every depth."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(pairs):
        yield (*at, key)
        if isinstance(part, (dict, list)):
            yield from paths(part, (*at, key))


def mutated(talk: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    """The JSON with another value there; with nothing there for `...`."""
    changed = copy.deepcopy(talk)
    *before, last = path
    inside: Any = changed
    for key in before:
        inside = inside[key]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return changed
