"""Sections 2, 3 and 4: what they say follows their numbers, also where those are turned round.

Two made-up machines. One resembles an H200; on the other nothing hides latency, no cache is near,
occupancy pays, and the ridge lies left of an add. No figure is real.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pytest
import torch

from talk import collect
from talk.gpu.outline import outline
from talk.hardware import BY_TARGET, GPUS
from talk.look import Badge
from talk.outcome import Column, Outcome, Prediction, Table, Timing
from talk.reading import Reading
from talk.record import Ceilings, Event, Record
from talk.section import Benchmark, Case, Collect, Measure, Predict, Run, Step, Sweep, Traffic
from talk.sentence import say
from talk.source import ROOT, section_module
from tests.interpreted import interpreting
from tests.records import AT, MACHINE
from tests.worlds import CEILINGS

with interpreting():
    SECTIONS = {
        number: importlib.import_module(section_module(number)).SECTION for number in (2, 3, 4)
    }
    from demos import models, s3_hardware, s4_roofline

STEPS = {f"{n}/{step.slug}": step for n, section in SECTIONS.items() for _, step in section.steps()}

LIKE_AN_H200 = replace(
    CEILINGS, tflops={"fp32": 65.0, "bf16": 880.0, "fp16": 840.0}, latency_ns=330.0
)
# So little arithmetic that even an add is right of the ridge, and a launch of next to nothing.
WEAK = replace(LIKE_AN_H200, tflops={"fp32": 0.1}, launch_us=0.1, latency_ns=20.0)

Clock = Callable[[str, str, Mapping[str, int], Timing], float]
"""(section/step, candidate, at, the case's bytes and operations) → seconds."""


def roof(timing: Timing, ceilings: Ceilings) -> float:
    """Seconds at the roof: of memory or of arithmetic."""
    flat = ceilings.tflops.get(timing.arithmetic, ceilings.tflops["fp32"])
    return max(timing.bytes / ceilings.bandwidth(timing.mix), timing.flops / flat / 1e12)


def like_an_h200(step: str, candidate: str, at: Mapping[str, int], timing: Timing) -> float:
    best = roof(timing, LIKE_AN_H200)
    match step:
        case "2/chain":
            kib = at["kib"]
            return timing.items * (20e-9 if kib < 256 else 150e-9 if kib < 2**16 else 330e-9)
        case "2/programs" | "2/in-flight":
            return best * max(1.0, 400 * 1024 / (at["programs"] * at.get("block", 1024)))
        case "3/lanes":
            return best * {"1 lane": 220, "32 lanes": 7}[candidate]
        case "3/hierarchy":
            return timing.bytes / (10e12 if at["kib"] < 60 * 1024 else 4.4e12)
        case "3/warps":
            return best * (2 if at == {"num_warps": 16, "block": 256} else 1)
        case "4/tiny":
            return 3e-6
    many = 32 if step == "2/fused" else 5 / 3
    return best * {"naive": 218, "unfused": many}.get(candidate, 1)


def the_other_way_round(step: str, candidate: str, at: Mapping[str, int], timing: Timing) -> float:
    best = roof(timing, WEAK)
    match step:
        case "2/chain":
            return timing.items * 20e-9
        case "2/programs":
            return best * 1056 / at["programs"]
        case "2/in-flight":
            return best * at["block"] / 256
        case "3/warps":
            return best * 16 / at["num_warps"]
        case "4/tiny":
            return 5e-6
        case "4/blocked":
            return 2 * best
    return best * {"fused": 4, "triton": 3 if step.startswith("4/") else 1}.get(candidate, 1)


def in_between(step: str, candidate: str, at: Mapping[str, int], timing: Timing) -> float:
    """Near the H200, with the middle course of the sentences that have three."""
    best = roof(timing, LIKE_AN_H200)
    match step:
        case "2/in-flight" | "4/baseline":
            return 1.05 * best
        case "3/warps":
            return best * (1.02 if at == {"num_warps": 16, "block": 1024} else 1)
        case "4/blocked":
            return 1.5 * best
    return like_an_h200(step, candidate, at, timing)


REGISTERS = {(1, 256): 26, (1, 1024): 70, (1, 4096): 255}
"""(warps, block) → registers a thread; 32 for the rest."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What would be measured there. trips: the bytes of two kernels over those of one."""

    ceilings: Ceilings
    clock: Clock
    trips: float

    def record(self) -> Record:
        """One talk of the three sections."""
        events = []
        for number, section in SECTIONS.items():
            described = outline(section, section_module(number), "", ROOT)
            events.append(Event(kind="outline", at=AT, section=number, outline=described))
            for _, step in section.steps():
                if isinstance(step, Collect):
                    continue
                outcome = self.outcome(number, step)
                events.append(
                    Event(kind="outcome", at=AT, section=number, step=step.slug, outcome=outcome)
                )
        return Record(replace(MACHINE, ceilings=self.ceilings), tuple(events))

    def outcome(self, section: int, step: Step) -> Outcome:
        blank = Outcome(section=section, step=step.slug, mode="live")
        address = f"{section}/{step.slug}"
        match step:
            case Predict():
                return replace(blank, prediction=Prediction(model=step.model(self.ceilings)))
            case Run():
                with interpreting():
                    return replace(blank, table=step.fn())
            case Traffic():
                return replace(blank, table=self.moved())
            case Benchmark():
                measured = [
                    replace(self.timed(address, case, name, {}), case=case.name)
                    for case, candidates in step.entries
                    for name in candidates
                ]
                return replace(blank, timings=tuple(measured))
            case Measure():
                return replace(blank, timings=tuple(self.measured(address, step)))
        return blank

    def measured(self, address: str, step: Measure) -> Iterator[Timing]:
        points = [dict[str, int]()]
        for name, values in step.over.items() if isinstance(step, Sweep) else ():
            points = [{**at, name: value} for at in points for value in values]
        for at in points:
            for candidate in step.candidates:
                yield self.timed(address, step.case, candidate, at)

    def timed(self, address: str, case: Case, candidate: str, at: dict[str, int]) -> Timing:
        counted = replace(counts(case, at), candidate=candidate, at=at)
        ms = self.clock(address, candidate, at, counted) * 1e3
        warps = at.get("num_warps", 4)
        config = {
            "num_warps": warps,
            "registers": REGISTERS.get((warps, at.get("block", 0)), 32),
            "shared": 0,
        }
        times = {"median_ms": ms, "p20_ms": 0.999 * ms, "p80_ms": 1.001 * ms, "min_ms": 0.998 * ms}
        return replace(counted, config=config, **times)

    def moved(self) -> Table:
        must = 3 * 2**30
        totals = {"unfused": round(must * self.trips), "fused": must, "must move": must}
        names = (Column(name="candidate"), Column(name="operation"))
        return Table(
            columns=(*names, Column(name="bytes", unit="B")),
            rows=tuple((name, "total", total) for name, total in totals.items()),
        )


def counts(case: Case, at: dict[str, int]) -> Timing:
    """Bytes, operations and items of a case at that size, without its inputs' memory."""
    size = {name: at.get(name, value) for name, value in case.size.items()}
    with torch.device("meta"):
        inputs = case.inputs(**size)
    return Timing(
        candidate="",
        median_ms=1.0,
        p20_ms=1.0,
        p80_ms=1.0,
        min_ms=1.0,
        n=20,
        bytes=case.bytes_moved(*inputs),
        flops=case.flops(*inputs),
        items=case.items(*inputs),
        mix=case.mix,
        clock=case.clock,
        arithmetic=case.arithmetic,
    )


EXPECTED = World(ceilings=LIKE_AN_H200, clock=like_an_h200, trips=5 / 3)
REVERSED = World(ceilings=WEAK, clock=the_other_way_round, trips=1)
BETWEEN = World(ceilings=LIKE_AN_H200, clock=in_between, trips=5 / 3)


@pytest.fixture(scope="module")
def expected():
    return Reading(recording=EXPECTED.record())


@pytest.fixture(scope="module")
def turned_round():
    return Reading(recording=REVERSED.record())


@pytest.fixture(scope="module")
def between():
    return Reading(recording=BETWEEN.record())


def said(name: str, reading: Reading) -> str:
    sentence = say(STEPS[name].says, reading, int(name[0]))
    assert sentence and sentence.badge is Badge.RECORDED
    return sentence.text


# Step → its sentence on the first of these machines, and on the second.
SENTENCES = {
    "2/arithmetic": (
        "32 times the arithmetic takes ×1.00 the time. Up to K = 64 it is free: "
        "memory is still at work. At the end, 65.0 TFLOP/s.",
        "32 times the arithmetic takes ×32.0 the time. Nothing is free here: "
        "each operation costs time. At the end, 0.100 TFLOP/s.",
    ),
    "2/chain": (
        "20.0 ns a load from a set of 16 KiB, 330 ns from one of 1 GiB. "
        "4,350 GB/s × 330 ns: 1.44 MB must be under way at once to keep memory busy.",
        "20.0 ns a load from a set of 16 KiB, 20.0 ns from one of 1 GiB. "
        "4,350 GB/s × 20.0 ns: 87.0 kB must be under way at once to keep memory busy.",
    ),
    "2/programs": (
        "One program: 10.9 GB/s. 132: 1,440 GB/s. "
        "The wall stands at 528, ×5.28 as many as multiprocessors; Little's law said 175.",
        "One program: 1.14 GB/s. 132: 150 GB/s. "
        "No wall in sight up to 1,056; Little's law said 10.6.",
    ),
    "2/in-flight": (
        "132 programs: 359 GB/s with blocks of 256, 4,350 GB/s with 4,096. "
        "More loads under way, more bandwidth.",
        "132 programs: 1,200 GB/s with blocks of 256, 75.0 GB/s with 4,096. "
        "More loads under way, and less bandwidth: they are not what it lacks here.",
    ),
    "2/fused": (
        "32 kernels take ×32.0 as long as one, which takes ×1.00 the time of a single operation. "
        "31 came for free.",
        "32 kernels take ×0.250 as long as one, which takes ×128 the time of a single operation. "
        "They are not free here.",
    ),
    "3/lanes": (
        "19.8 GB/s with one lane, 621 GB/s with 32: ×31.4. "
        "The other lanes were there all the time.",
        "1,200 GB/s with one lane, 1,200 GB/s with 32: ×1.00. Lanes are not what it lacks here.",
    ),
    "3/hierarchy": (
        "A set of 16 MiB: 10.0 TB/s. Of 1 GiB: 4,400 GB/s. Near is ×2.27 as fast as far.",
        "A set of 16 MiB: 400 GB/s. Of 1 GiB: 400 GB/s. 16 MiB are no nearer than 1 GiB here.",
    ),
    "3/ladder": (
        "A load takes 20.0 ns from a set of 16 KiB, 150 ns from 4 MiB, 330 ns from 1 GiB. "
        "The last is ×16.5 as far as the first.",
        "A load takes 20.0 ns from a set of 16 KiB, 20.0 ns from 4 MiB, 20.0 ns from 1 GiB. "
        "The last is no farther than the first here.",
    ),
    "3/warps": (
        "Blocks of 256 on one warp: 4,350 GB/s at 50.0 % occupancy. "
        "On sixteen: 2,180 GB/s at 100 %. Higher occupancy, and slower.",
        "Blocks of 256 on one warp: 75.0 GB/s at 50.0 % occupancy. "
        "On sixteen: 1,200 GB/s at 100 %. No counter-example here, nor with blocks of 1,024.",
    ),
    "3/occupancies": (
        "The same kernel: 100 % of a T4's warps, 100 % of an RTX 4090's, 75.0 % of an H200's.",
    )
    * 2,
    "3/trips": (
        "Through memory: 5.37 GB, ×1.67 the 3.22 GB through registers.",
        "Through memory: 3.22 GB, ×1.00 the 3.22 GB through registers.",
    ),
    "3/fused": (
        "Through memory takes ×1.67 as long; the bytes said ×1.67.",
        "Through memory takes ×0.250 as long; the bytes said ×1.00.",
    ),
    "4/count": (
        "An add does 1 operation for 12.0 B: 0.0833 FLOP/B. "
        "0.167 FLOP/B with a ReLU in the same kernel.",
    )
    * 2,
    "4/baseline": (
        "Left of the ridge: memory is its roof, and it reaches 0.459 % of it. "
        "Something else is wrong.",
        "Right of the ridge: arithmetic is its roof, and it reaches 100 % of it.",
    ),
    "4/roofs": (
        "Memory decides under 14.1 FLOP/B, float32 arithmetic, 65.0 TFLOP/s, above it. "
        "×170 the operations of an add would fit beside its bytes.",
        "Memory decides under 0.0217 FLOP/B, float32 arithmetic, 0.100 TFLOP/s, above it. "
        "An add is beyond it.",
    ),
    "4/blocked": (
        "100 % of the bandwidth, with 0.558 % of the arithmetic; the model said 0.558 %. "
        "It is at its roof: better code cannot help.",
        "13.8 % of the bandwidth, with 50.0 % of the arithmetic; the model said 100 %. "
        "There is still room below its roof.",
    ),
    "4/tiny": (
        "3.00 µs; a kernel that does nothing takes 2.00 µs. "
        "The launch is its wall: no roof of the roofline is near.",
        "5.00 µs; a kernel that does nothing takes 100 ns. The launch is not its wall here.",
    ),
    "4/fused": (
        "Twice the operations on the same bytes, ×2.00 the intensity, "
        "in ×1.00 the time of the add. The second operation came for free.",
        "Twice the operations on the same bytes, ×2.00 the intensity, "
        "in ×3.00 the time of the add. It is not free here.",
    ),
    "4/others": (
        "Softmax reaches 100 % of the bandwidth, "
        "the product of 8,192 × 8,192 matrices 100 % of the arithmetic.",
        "Softmax reaches 0.635 % of the bandwidth, "
        "the product of 8,192 × 8,192 matrices 33.3 % of the arithmetic.",
    ),
}

# Sentences with a middle course.
MIDDLE = {
    "2/in-flight": "132 programs: 4,140 GB/s with blocks of 256, 4,140 GB/s with 4,096. "
    "The block makes no difference here.",
    "3/warps": "Blocks of 256 on one warp: 4,350 GB/s at 50.0 % occupancy. "
    "On sixteen: 4,350 GB/s at 100 %. "
    "Higher occupancy is slower with blocks of 1,024: 4,260 GB/s instead of 4,350 GB/s.",
    "4/baseline": "Left of the ridge: memory is its roof, and it reaches 95.2 % of it. "
    "Memory is its wall.",
    "4/blocked": "66.7 % of the bandwidth, with 0.372 % of the arithmetic; the model said 0.558 %. "
    "There is still room below its roof.",
}

# Question → the model's answer and the measured one, on the first of these machines and the second.
ANSWERS = {
    "2/guess-arithmetic": ("as long, or nearly",) * 2 + ("8 times or more",) * 2,
    "2/guess-latency": ("100 ns to 1 µs",) * 2 + ("10 to 100 ns",) * 2,
    "2/guess-programs": ("64 to 255", "256 to 1,023", "under 64", "1,024 or more"),
    "3/guess-lanes": ("more than 16 times",) * 3 + ("up to 2 times",),
    "3/guess-occupancy": ("no faster", "slower", "no faster", "more than 1.5 times"),
    "4/guess-share": ("far left: under 1 %",) * 2
    + ("right: over 50 %, arithmetic is its wall",) * 2,
}


def test_every_sentence_and_every_question_is_tried_here():
    assert [name for name, step in STEPS.items() if step.says] == list(SENTENCES)
    assert [name for name, step in STEPS.items() if isinstance(step, Predict)] == list(ANSWERS)


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_follows_its_numbers(name, expected, turned_round):
    assert (said(name, expected), said(name, turned_round)) == SENTENCES[name]


@pytest.mark.parametrize("name", MIDDLE)
def test_a_sentence_has_a_middle_course(name, between):
    assert said(name, between) == MIDDLE[name]


@pytest.mark.parametrize("name", SENTENCES)
def test_no_sentence_is_said_without_its_numbers(name, expected):
    """Of each step that the sentence names, in turn, nothing was measured."""
    named = re.findall(r"n\('(?:(\d)/)?([a-z-]+)[\[.]", STEPS[name].says)
    for section, slug in set(named):
        less = without(expected, int(section or name[0]), slug)
        assert say(STEPS[name].says, less, int(name[0])) is None


@pytest.mark.parametrize("name", ANSWERS)
def test_a_question_is_settled_by_the_measurement(name, expected, turned_round):
    question, section = STEPS[name], int(name[0])
    values = [
        reading.number(reference, section)
        for reading in (expected, turned_round)
        for reference in (f"{name}.model", question.about)
    ]
    assert tuple(answer(question, float(value)) for value in values) == ANSWERS[name]


def answer(question: Predict, value: float) -> str:
    fits = (label for label, (low, high) in question.choices.items() if low <= value < high)
    return next(fits)


def without(reading: Reading, section: int, slug: str) -> Reading:
    """The same talk, in which that step was not performed."""
    kept = [
        event
        for event in reading.recording.events
        if not (event.outcome and (event.section, event.step) == (section, slug))
    ]
    return Reading(recording=replace(reading.recording, events=tuple(kept)))


# The pictures


PICTURES = {name: step for name, step in STEPS.items() if isinstance(step, Collect)}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_finds_all_that_it_names(name, expected):
    found = collect.rows(PICTURES[name].of, expected)
    assert found.missing == () and len(found.known) == len(PICTURES[name].of)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_names_only_what_came_before_it(name):
    order = list(STEPS)
    for ref in PICTURES[name].of:
        assert order.index(ref.split("[")[0]) < order.index(name)


def test_each_kernel_stands_at_its_own_wall(expected):
    picture = collect.roofline(PICTURES["4/all"].of, expected)
    walls = {point.row.ref: point.wall for point in (*picture.points, *picture.launch_bound)}
    assert walls == {
        "4/baseline[naive]": "memory",
        "4/blocked[triton]": "memory",
        "4/tiny[triton]": "launch",
        "4/fused[triton]": "memory",
        "4/others[softmax, triton]": "memory",
        "4/others[LayerNorm, triton]": "memory",
        "4/others[a · b, triton]": "arithmetic, bf16",
    }


def test_a_point_goes_with_its_outcome_and_the_picture_says_so(expected):
    less = without(expected, 4, "blocked")
    picture = collect.roofline(PICTURES["4/up"].of, less)
    assert [point.row.ref for point in picture.points] == ["4/baseline[naive]"]
    assert picture.unplaced == (("4/blocked[triton]", "not measured"),)


def test_blocks_move_the_add_up_and_fusing_moves_it_right(expected):
    points = collect.roofline(PICTURES["4/all"].of, expected).points
    at = {point.row.ref: (point.intensity, point.tflops) for point in points}
    naive, blocked = at["4/baseline[naive]"], at["4/blocked[triton]"]
    fused = at["4/fused[triton]"]
    assert naive[0] == blocked[0] == pytest.approx(1 / 12) and blocked[1] > 100 * naive[1]
    assert fused == pytest.approx((2 * blocked[0], 2 * blocked[1]))


# The tables and the models


def test_the_sweep_of_programs_is_addressable(expected):
    assert expected.number("2/programs[132].gbps").value == pytest.approx(4350 * 132 / 400)
    assert expected.number("2/programs[triton].knee").value == 528


def test_the_card_without_a_gpu_is_of_the_sourced_table():
    with interpreting():
        card = dict(s3_hardware.device_card().rows)
    hopper = BY_TARGET["sm_90"]
    assert card["GPU"].startswith("none here")
    assert card["multiprocessors"] == GPUS["H200"][1]
    assert card["warps on a multiprocessor"] == hopper.warps
    assert card["shared memory there, KiB"] * 1024 == hopper.shared
    assert dict(s3_hardware.of_architecture(None)) == {}  # a GPU that the table does not know


@pytest.mark.parametrize(
    ("registers", "warps", "gpu", "share", "limiter"),
    [  # as NVIDIA's calculator counts: registers in units of 256 a warp, warps by fours
        (40, 4, "T4", 1.0, "warps"),
        (40, 4, "H200", 0.75, "registers"),
        (40, 4, "RTX 4090", 1.0, "warps"),
        (255, 4, "A100", 0.125, "registers"),
        (16, 1, "H200", 0.5, "blocks"),
        (16, 1, "RTX 3090", 16 / 48, "blocks"),
    ],
)
def test_an_occupancy_is_what_the_calculator_says(registers, warps, gpu, share, limiter):
    rows = {row[0]: row for row in s3_hardware.occupancies(registers, warps).rows}
    assert rows.keys() == GPUS.keys()
    assert rows[gpu][3:] == (pytest.approx(share), limiter)


def test_bytes_and_operations_are_counted_as_by_hand():
    with interpreting():
        rows = {row[0]: row[2:] for row in s4_roofline.count_by_hand().rows}
    assert rows["x + y"] == (12.0, 1.0, pytest.approx(1 / 12))
    assert rows["relu(x + y)"] == (12.0, 2.0, pytest.approx(1 / 6))
    assert rows["x · y + z"] == (16.0, 2.0, pytest.approx(1 / 8))


@pytest.mark.parametrize(
    ("intensity", "flops_per_s"), [(1 / 12, 1e12 / 12), (10, 1e13), (20, 2e13), (1000, 2e13)]
)
def test_what_is_attainable_is_the_lower_of_the_two_roofs(intensity, flops_per_s):
    assert models.attainable(intensity, 1e12, 2e13) == pytest.approx(flops_per_s)


def test_little_s_law_counts_the_programs():
    ceilings = replace(LIKE_AN_H200, latency_ns=500.0)
    ceilings = replace(ceilings, bandwidth_gbps={**ceilings.bandwidth_gbps, "2:1": 2048.0})
    # 2,048 bytes a nanosecond for 500 ns, by programs with 8 KiB under way.
    assert models.programs_in_flight(ceilings) == pytest.approx(125)
    assert models.programs_in_flight(ceilings, block=4096) == pytest.approx(125 / 4)


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (models.latency, "the latency of memory was not measured"),
        (models.programs_in_flight, "the latency of memory was not measured"),
        (models.usable_arithmetic, "no roof of fp32 arithmetic was measured"),
    ],
)
def test_a_model_says_what_was_not_measured(model, missing):
    with pytest.raises(LookupError, match=missing):
        model(CEILINGS)
