"""The sections as data: their shape, their questions, and sentences that follow the numbers."""

from __future__ import annotations

import importlib
import math
import runpy

import numpy as np
import pytest
import torch

from talk import source
from talk.gpu.check import expect, judge
from talk.gpu.measure import interpretable
from talk.gpu.outline import outline
from talk.look import Badge
from talk.question import settled_by
from talk.reading import REFERENCE, Reading
from talk.section import Benchmark, Collect, Measure, Predict
from talk.sentence import say
from tests.interpreted import interpreting
from tests.worlds import World

with interpreting():
    SECTIONS = {
        source.number_of(name): importlib.import_module(f"demos.{name}").SECTION
        for name in source.order() + source.after()
    }
    from demos import s1_warm_up, s5_memory_wall

MINUTES = {1: 12, 2: 15, 3: 15, 4: 15, 5: 15, 6: 18, 7: 15, 8: 15, 9: 20}
"""As the workshop is planned: 120 in all, and challenges for who stays."""

STEPS = {f"{n}/{step.slug}": step for n, section in SECTIONS.items() for _, step in section.steps()}
MEASURED = {name: step for name, step in STEPS.items() if isinstance(step, Measure)}
BENCHMARKS = {name: step for name, step in STEPS.items() if isinstance(step, Benchmark)}
ENTRIES = {
    **{name: ((step.case, step.candidates),) for name, step in MEASURED.items()},
    **{name: step.entries for name, step in BENCHMARKS.items()},
}
CANDIDATES = {
    name: [
        (case, candidate)
        for case, candidates in entries
        for label, candidate in candidates.items()
        if label not in STEPS[name].gpu_only
    ]
    for name, entries in ENTRIES.items()
}
QUESTIONS = {name: step for name, step in STEPS.items() if isinstance(step, Predict)}


# Their shape


@pytest.mark.parametrize("number", SECTIONS)
def test_a_section_says_what_it_is(number):
    section, module = SECTIONS[number], importlib.import_module(source.section_module(number))
    assert (section.number, section.minutes) == (number, MINUTES[number])
    assert 0 < section.exercise.minutes < section.minutes
    assert len(module.__doc__.splitlines()[0]) <= 76  # the claim: one line of 80 columns


@pytest.mark.parametrize("number", SECTIONS)
def test_a_section_predicts_before_it_measures(number):
    slugs = [step.slug for _, step in SECTIONS[number].steps()]
    settled = {
        step.slug: REFERENCE.match(step.about)["step"]
        for _, step in SECTIONS[number].steps()
        if isinstance(step, Predict)
    }
    assert settled
    assert all(slugs.index(asked) < slugs.index(about) for asked, about in settled.items())


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_words_for_the_room_and_the_presenter(name):
    step = STEPS[name]
    assert len(step.title) <= 76  # one line of 80 columns
    assert step.notes.startswith(("Say: ", "Ask: "))
    silent = ("1/machine", "3/card", "6/overflow")  # a table is all that they say
    assert step.says or isinstance(step, (Predict, Collect)) or name in silent


@pytest.mark.parametrize("number", SECTIONS)
def test_the_minutes_of_the_steps_and_the_exercise_fill_the_section(number):
    section = SECTIONS[number]
    spent = sum(minutes(step.notes.splitlines()[-1]) for _, step in section.steps())
    assert spent + section.exercise.minutes == section.minutes


def minutes(words):
    """ "2 minutes." → 2, "30 seconds." → 0.5."""
    figure, unit = words.rstrip(".").split()
    return int(figure) / {"minute": 1, "minutes": 1, "seconds": 60}[unit]


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("number", SECTIONS)
def test_a_section_runs_by_itself(number, monkeypatch):
    asked = []
    monkeypatch.setattr("talk.__main__.main", lambda arguments: asked.append(arguments) or 3)
    monkeypatch.setattr("sys.argv", ["s", "--auto"])
    with interpreting(), pytest.raises(SystemExit, match="3"):
        runpy.run_module(source.section_module(number), run_name="__main__")
    assert asked == [["demo", str(number), "--auto"]]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_value_falls_in_one_answer(name):
    bounds = sorted(QUESTIONS[name].choices.values())
    edges = [bounds[0][0], *(high for _, high in bounds)]
    assert edges[0] == 0 and edges[-1] == math.inf
    assert [low for low, _ in bounds] == edges[:-1]
    assert QUESTIONS[name].misconception and QUESTIONS[name].model_says


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_candidate_is_right_on_the_small_and_the_hard_inputs(name, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    np.seterr(all="ignore")  # an infinite row is what NumPy would warn of
    for case, candidate in CANDIDATES[name]:
        torch.manual_seed(0)
        for inputs in (case.inputs(**case.small), *(hard for _, hard in case.hard())):
            verdict = judge(candidate, expect(case, interpretable(inputs)))
            assert verdict.ok, verdict.message


@pytest.mark.parametrize("name", MEASURED)
def test_a_step_stands_on_its_kernels_and_what_they_need(name):
    number, slug = name.split("/")
    found = {code.name for code in source.behind(source.section_module(int(number)), slug)}
    assert f"step:{slug}" in found and any(hard.startswith("hard_") for hard in found)
    launches = MEASURED[name].candidates.keys() - {"naive", "torch", "torch.compile"}
    assert not launches or any(kernel.endswith("_kernel") for kernel in found)


def test_the_card_of_this_machine_has_its_versions_and_a_kernel_that_ran(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    card = dict(s1_warm_up.machine_card().rows)
    assert card["PyTorch"] == torch.__version__ and card["GPU"] == "none"
    assert card["a first kernel"] == "interpreted, right"


def test_a_first_kernel_that_is_wrong_fails_its_step(monkeypatch):
    monkeypatch.setattr(s1_warm_up, "add_naive", lambda x, y: x)
    with pytest.raises(RuntimeError, match="its sum is wrong"):
        s1_warm_up.machine_card()


# Their numbers


def like_an_h200(case, candidate, n, block):
    moving, starting = 12 * n / 4.35e12, n / block / 1.66e9
    return {
        "naive": n / 1.66e9,
        "torch": moving if case == "x + y" else 1.8 * moving,
        "triton": max(moving, starting),
        "fused": moving,
        "unfused": 1.69 * moving,
    }[candidate]


def the_other_way_round(case, candidate, n, block):
    moving = 12 * n / 4.35e12
    return {
        "naive": moving + 20e-6,
        "torch": 2 * moving,
        "triton": 4 * moving * 512 / block,
        "fused": 6 * moving,
        "unfused": 5 * moving,
    }[candidate]


def on_meta(n):
    return torch.empty(n, device="meta"), torch.empty(n, device="meta")


def stopwatches(monkeypatch, **clocks):
    """The table that section 1 makes of these seconds: on the long kernel, on the short one."""
    seconds = {name: iter(pair) for name, pair in clocks.items()}
    monkeypatch.setattr(s1_warm_up, "vectors", on_meta)
    monkeypatch.setattr(s1_warm_up, "first_call", lambda launch: next(seconds["first_call"]))
    monkeypatch.setattr(s1_warm_up, "median", lambda clock, launch: next(seconds[clock.__name__]))
    return s1_warm_up.four_stopwatches()


def programs(monkeypatch, *seconds):
    """The table that section 5 makes of the seconds of its four kinds of programs."""
    taken = iter(seconds)
    monkeypatch.setattr(s5_memory_wall, "vectors", on_meta)
    monkeypatch.setattr(s5_memory_wall, "median", lambda clock, launch: next(taken))
    return s5_memory_wall.equal_programs()


@pytest.fixture
def expected_world(monkeypatch):
    """As on an H200, nearly."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    tables = {
        "machine": s1_warm_up.machine_card(),
        "stopwatches": stopwatches(
            monkeypatch,
            first_call=(0.205, 0.042),
            unsynchronised=(30e-6, 30e-6),
            synchronised=(0.162, 33e-6),
            events=(0.1617, 6e-6),
        ),
        "programs": programs(monkeypatch, *[s5_memory_wall.PROGRAMS / 1.66e9] * 4),
    }
    return World(seconds=like_an_h200, tables=tables, dram={"naive": 0.004, "triton": 0.85})


@pytest.fixture
def reversed_world(monkeypatch):
    """Where naive is near the ceiling, blocks have no wall, and fusing gains nothing."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    tables = {
        "machine": s1_warm_up.machine_card(),
        "stopwatches": stopwatches(
            monkeypatch,
            first_call=(0.205, 0.042),
            unsynchronised=(0.1, 30e-6),
            synchronised=(0.1, 33e-6),
            events=(0.1, 66e-6),
        ),
        "programs": programs(monkeypatch, 1e-3, 2e-3, 4e-3, 8e-3),
    }
    return World(seconds=the_other_way_round, tables=tables, dram={"naive": 0.85, "triton": 0.2})


def numbers_of(world, name):
    section = SECTIONS[int(name.split("/")[0])]
    return Reading(recording=world.record(section))


# Step → its sentence on the first of these machines, and on the second.
SENTENCES = {
    "1/baseline": (
        "3.22 GB in 162 ms: 19.9 GB/s, 0.458 % of the ceiling. Right, and slow.",
        "3.22 GB in 761 µs: 4,240 GB/s, 97.4 % of the ceiling. Right, and near the ceiling.",
    ),
    "1/lengths": (
        "1,024 times the elements: naive goes from 19.9 GB/s to 19.9 GB/s. "
        "It does not scale; torch reaches 100 % of the ceiling.",
        "1,024 times the elements: naive goes from 152 GB/s to 4,240 GB/s. "
        "It scales; torch reaches 50.0 % of the ceiling.",
    ),
    "1/stopwatches": (
        "Without a synchronise the clock reads 30.0 µs, with one 162 ms. "
        "On a short kernel even that reads ×5.50 the kernel's own time.",
        "Without a synchronise the clock reads 100 ms, with one 100 ms. "
        "On a short kernel even that reads ×0.500 the kernel's own time.",
    ),
    "1/block": (
        "×218 as fast as naive, at 100 % of the ceiling, level with torch.",
        "No faster than naive, at 25.0 % of the ceiling, behind torch.",
    ),
    "1/fused": (
        "Twice the operations in the time of one add; "
        "as two operations, torch takes ×1.80 as long.",
        "Fused, it takes ×1.50 the time of one add; as two operations, torch takes ×0.333 as long.",
    ),
    "5/baseline": (
        "19.9 GB/s, 0.458 % of the ceiling; the roofline expected 99.7 %. "
        "Something it does not know is in the way.",
        "4,240 GB/s, 97.4 % of the ceiling; the roofline expected 99.7 %. Memory is the wall here.",
    ),
    "5/profile": (
        "The naive kernel takes 162 ms. DRAM works at 0.400 % of its peak, "
        "with 0.400 % of the warps active: memory waits for work.",
        "The naive kernel takes 761 µs. DRAM works at 85.0 % of its peak, "
        "with 85.0 % of the warps active: memory is at work.",
    ),
    "5/programs": (
        "Nothing or 128 elements: the same time. The wall is the program rate, 1.66 billion/s.",
        "128 elements take ×8.00 as long as none. "
        "The wall is the work, not the program rate, 2.10 billion/s.",
    ),
    "5/blocks": (
        "32 times the block: ×32.0 the GB/s. The wall stands at 256; the model said 218.",
        "32 times the block: ×32.0 the GB/s. No wall in sight up to 1,024; the model said 218.",
    ),
    "5/fused": (
        "Two kernels take ×1.69 the time of one; bytes alone say ×1.69. Fewer bytes, less time.",
        "Two kernels take ×0.833 the time of one; bytes alone say ×1.69. "
        "Fewer bytes, and nothing gained.",
    ),
}

# Question → the model's answer, and what is measured on the first and on the second.
ANSWERS = {
    "1/guess-lengths": (
        "it grows, up to 10 times",
        "it stays as it is",
        "it grows more than 10 times",
    ),
    "1/guess-clock": (
        "more than 100 times",
        "more than 100 times",
        "the clock is right, or nearly",
    ),
    "1/guess-block": ("over 50 %", "over 50 %", "1 to 50 %"),
    "5/guess-share": ("over 50 %", "under 1 %", "over 50 %"),
    "5/guess-wall": ("256", "256", "512 or more"),
    "5/guess-fused": ("1.2 to 1.8 times", "1.2 to 1.8 times", "as long: the ReLU is free"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_follows_its_numbers(name, expected_world, reversed_world):
    section = int(name.split("/")[0])
    said = [
        say(STEPS[name].says, numbers_of(world, name), section)
        for world in (expected_world, reversed_world)
    ]
    assert tuple(sentence.text for sentence in said) == SENTENCES[name]
    assert {sentence.badge for sentence in said} == {Badge.RECORDED}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_question_is_settled_by_the_measurement(name, expected_world, reversed_world):
    question, section = QUESTIONS[name], int(name.split("/")[0])
    first, second = (numbers_of(world, name) for world in (expected_world, reversed_world))
    values = (
        first.number(f"{name}.model"),
        first.number(question.about, section),
        second.number(question.about, section),
    )
    assert tuple(answer(question, value) for value in values) == ANSWERS[name]


def answer(question, value):
    fits = (label for label, (low, high) in question.choices.items() if low <= value < high)
    return next(fits)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_view_knows_which_step_settles_a_question(name):
    number, slug = name.split("/")
    module = source.section_module(int(number))
    section = outline(SECTIONS[int(number)], module, "", source.ROOT)
    address = settled_by(section.number, section.step(slug))
    assert address and section.step(address[1])
