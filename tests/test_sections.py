"""The sections as data: their shape, their questions, and sentences that follow the numbers."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import dataclass
from functools import partial

import pytest
import torch

from talk import number, sentence, source
from talk.gpu.check import expect, judge
from talk.gpu.outline import outline
from talk.number import REFERENCE, Reading
from talk.outcome import Outcome, Prediction, Table, Timing
from talk.record import Ceilings, Event, Record
from talk.section import PHASES, Measure, Predict, Run, Sweep
from tests.interpreted import interpreting
from tests.records import AT, MACHINE

with interpreting():
    SECTIONS = {
        source.number_of(name): importlib.import_module(f"demos.{name}").SECTION
        for name in source.order()
    }
    from demos import s1_warm_up, s5_memory_wall

# As ../shared/sections.md plans them: 120 in all.
MINUTES = {1: 12, 2: 15, 3: 15, 4: 15, 5: 15, 6: 18, 7: 15, 8: 15}
STEPS = [
    pytest.param(number, phase, step, id=f"{number}/{step.slug}")
    for number, section in SECTIONS.items()
    for phase, step in section.steps()
]
MEASURED = [param for param in STEPS if isinstance(param.values[2], Measure)]
QUESTIONS = [param for param in STEPS if isinstance(param.values[2], Predict)]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    # Triton's interpreter asks again at the first launch.
    monkeypatch.setenv("TRITON_INTERPRET", "1")


# Their shape


@pytest.mark.parametrize("at", SECTIONS)
def test_a_section_says_what_it_is(at):
    section, module = SECTIONS[at], importlib.import_module(source.section_module(at))
    assert section.number == at and section.minutes == MINUTES[at]
    assert 0 < section.exercise.minutes < section.minutes
    assert len((module.__doc__ or "").splitlines()[0]) <= 100
    slugs = {(type(section), step.slug) for _, step in section.steps()}
    assert len(slugs) == len(section.steps()) and [p for p, _ in section.steps()] == sorted(
        (p for p, _ in section.steps()), key=PHASES.index
    )


@pytest.mark.parametrize("at", SECTIONS)
def test_a_section_predicts_before_it_measures(at):
    slugs = [step.slug for _, step in SECTIONS[at].steps()]
    questions = [step for _, step in SECTIONS[at].steps() if isinstance(step, Predict)]
    assert questions
    for question in questions:
        settled = slugs.index(REFERENCE.match(question.about)["step"])
        assert slugs.index(question.slug) < settled, question.slug


@pytest.mark.parametrize(("at", "phase", "step"), STEPS)
def test_a_step_has_words_for_the_room_and_for_the_presenter(at, phase, step):
    assert len(step.title) <= 76
    assert "Say: " in step.notes or "Ask: " in step.notes
    assert any(unit in step.notes for unit in ("minute.", "minutes.", "seconds."))
    assert step.says or isinstance(step, Predict) or step.slug == "machine"


@pytest.mark.parametrize(("at", "phase", "step"), QUESTIONS)
def test_every_value_falls_in_one_answer(at, phase, step):
    bounds = sorted(step.choices.values())
    edges = [bounds[0][0], *(high for _, high in bounds)]
    assert edges[0] == 0 and edges[-1] == float("inf")
    assert [low for low, _ in bounds] == edges[:-1]
    assert step.misconception and step.model_says
