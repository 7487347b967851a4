"""Made-up machines for the sections: what each would have measured. No figure is real.

One resembles an H200; on the other everything that the sections expect is the other way round.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch

from talk.gpu import counters, profiling
from talk.gpu.outline import outline
from talk.gpu.profiling import Kernel
from talk.outcome import Outcome, Prediction, Table, Timing
from talk.record import Ceilings, Event, Record
from talk.section import Case, Measure, Predict, Profile, Run, Section, Step, Sweep
from talk.source import ROOT, section_module
from tests.records import AT, MACHINE

CEILINGS = Ceilings(
    bandwidth_gbps={"read": 4400.0, "write": 4600.0, "1:1": 4200.0, "2:1": 4350.0, "3:1": 4400.0},
    launch_us=2.0,
    programs_per_s=1.66e9,
    array_bytes=2**30,
)


@dataclass(frozen=True, kw_only=True)
class World:
    """What would be measured there.

    seconds: (case, candidate, elements, block) → s. tables: what each `Run` returns, by slug.
    dram: candidate → its share of DRAM's peak.
    """

    seconds: Callable[[str, str, int, int], float]
    tables: dict[str, Table]
    dram: dict[str, float]

    def record(self, section: Section) -> Record:
        """A talk of that section on this machine."""
        described = outline(section, section_module(section.number), "", ROOT)
        events = [Event(kind="outline", at=AT, section=section.number, outline=described)]
        for _, step in section.steps():
            outcome = self.outcome(section.number, step)
            where = {"section": section.number, "step": step.slug}
            events.append(Event(kind="outcome", at=AT, outcome=outcome, **where))
        return Record(replace(MACHINE, ceilings=CEILINGS), tuple(events))

    def outcome(self, section: int, step: Step) -> Outcome:
        blank = Outcome(section=section, step=step.slug, mode="live")
        match step:
            case Predict():
                return replace(blank, prediction=Prediction(model=step.model(CEILINGS)))
            case Run():
                return replace(blank, table=self.tables[step.slug])
            case Profile():
                return replace(blank, table=self.kernels(step), counters=self.counters(step))
            case Measure():
                return replace(blank, timings=tuple(self.timings(step)))
        return blank

    def kernels(self, step: Profile) -> Table:
        seen = {t.candidate: t.median_ms / 1e3 for t in self.timings(step)}
        return profiling.table(
            {name: (Kernel(f"{name}_kernel", 1.0, seconds),) for name, seconds in seen.items()}
        )

    def counters(self, step: Profile) -> Table | None:
        launches = []
        for name in step.candidates:
            read = dict.fromkeys(counters.METRICS, 100 * self.dram[name])
            launches += [(counters.MARK, {}), (f"{name}_kernel", read)]
        return counters.table(launches, tuple(step.candidates))

    def timings(self, step: Measure) -> Iterator[Timing]:
        over = step.over if isinstance(step, Sweep) else {}
        for values in itertools.product(*over.values()):
            at = dict(zip(over, values, strict=True))
            for candidate in step.candidates:
                yield self.timing(step.case, candidate, at)

    def timing(self, case: Case, candidate: str, at: dict[str, int]) -> Timing:
        size = {name: at.get(name, value) for name, value in case.size.items()}
        with torch.device("meta"):
            inputs = case.inputs(**size)
        ms = self.seconds(case.name, candidate, inputs[0].numel(), at.get("block", 512)) * 1e3
        return Timing(
            candidate=candidate,
            median_ms=ms,
            p20_ms=0.999 * ms,
            p80_ms=1.001 * ms,
            min_ms=0.998 * ms,
            n=20,
            bytes=case.bytes_moved(*inputs),
            flops=case.flops(*inputs),
            mix=case.mix,
            at=at,
        )
