"""Sections 6, 7 and 8: their sentences follow the numbers, whichever way these point."""

from __future__ import annotations

from dataclasses import replace

import pytest

from talk import runner
from talk.outcome import Outcome
from talk.reading import Reading
from talk.record import Event
from talk.sentence import say
from tests.interpreted import interpreting

with interpreting():
    from demos import models, s6_patterns, s7_first_kernel, s8_fusion

SECTIONS = {6: s6_patterns.SECTION, 7: s7_first_kernel.SECTION, 8: s8_fusion.SECTION}
STEPS = {f"{n}/{step.slug}": step for n, section in SECTIONS.items() for _, step in section.steps()}
TALES = [name for name, step in STEPS.items() if step.says]
MEASURED = [name for name in TALES if STEPS[name].kind not in ("show", "collect")]


@pytest.fixture(scope="module")
def recorded():
    found = runner.recording()
    assert found is not None
    return found


def reversed_times(outcome: Outcome) -> Outcome:
    """Of each case the fastest becomes the slowest, and the other way round."""
    timings = []
    for timing in outcome.timings:
        rivals = [t.median_ms for t in outcome.timings if t.case == timing.case]
        scale = min(rivals) * max(rivals) / timing.median_ms**2
        # Far from the ceilings, so that a share is believed.
        timings.append(scaled(timing, 1.5 * scale))
    return replace(outcome, timings=tuple(timings))


def scaled(timing, by):
    return replace(
        timing,
        median_ms=timing.median_ms * by,
        p20_ms=timing.median_ms * by * 0.999,
        p80_ms=timing.median_ms * by * 1.001,
        min_ms=timing.median_ms * by * 0.99,
    )


def slowed(candidate, by):
    """One candidate of a step made slower, the others left."""

    def change(outcome: Outcome) -> Outcome:
        return replace(
            outcome,
            timings=tuple(
                scaled(t, by if t.candidate == candidate else 1) for t in outcome.timings
            ),
        )

    return change


def reading(record, change, *steps):
    """The recording with the outcomes of some steps changed."""

    def changed(event: Event) -> Event:
        if event.outcome is None or f"{event.section}/{event.step}" not in steps:
            return event
        return replace(event, outcome=change(event.outcome))

    return Reading(recording=replace(record, events=tuple(map(changed, record.events))))


def said(name, read):
    return say(STEPS[name].says, read, int(name.split("/")[0])).text


@pytest.mark.parametrize("name", TALES)
def test_a_sentence_is_said_of_any_numbers(name, recorded):
    """With the times the other way round it still says something, and something else."""
    straight = Reading(recording=recorded)
    turned = reading(recorded, reversed_times, *STEPS)
    assert said(name, straight)
    assert said(name, turned)
    timed = any(e.outcome and e.outcome.timings for e in recorded.events if own(e, name))
    if timed and name != "7/operator":  # its candidates take the same time
        assert said(name, turned) != said(name, straight)


def own(event, name):
    return f"{event.section}/{event.step}" == name


@pytest.mark.parametrize(
    ("name", "change", "words", "otherwise"),
    [
        ("6/tensor", reversed_times, "tl.dot is what reaches", "No tensor cores through Triton"),
        ("6/grouped", slowed("in rows", 1.5), "In rows takes", "In rows takes ×1.4"),
        ("7/ragged", slowed("nobody", 1.0), "nobody waits for them", "nobody waits for them"),
        ("8/parts", slowed("torch", 0.4), "a reason of its own", "PyTorch's broadcast add"),
        ("8/gelu", slowed("triton", 0.63), "A new wall", "No new wall"),
    ],
)
def test_what_a_number_decides_is_decided_anew(name, change, words, otherwise, recorded):
    # case E2 is the first: a card on which both are plain arithmetic.
    assert words in said(name, Reading(recording=recorded))
    turned = said(name, reading(recorded, change, name))
    assert otherwise in turned
    assert words == otherwise or words in otherwise or words not in turned


def test_a_card_on_which_all_is_slow_has_no_new_wall(recorded):
    """As far from its ceiling with a ReLU: then it is not the erf that stands in the way."""
    slow = reading(recorded, slowed("triton", 1.6), "8/relu")
    assert "No new wall" in said("8/gelu", slow)


def test_no_fused_multiply_add_is_claimed_where_there_is_none(recorded):
    def apart(outcome: Outcome) -> Outcome:
        (lowering,) = outcome.lowerings
        counts = {
            stage: {name: n for name, n in families.items() if "fma" not in name}
            for stage, families in lowering.counts.items()
        }
        return replace(outcome, lowerings=(replace(lowering, counts=counts),))

    straight = said("7/fma", Reading(recording=recorded))
    assert straight.startswith("4 fused multiply-adds")
    assert said("7/fma", reading(recorded, apart, "7/fma")).startswith("No fused multiply-add")


def test_what_is_taken_home_is_computed_from_the_whole_talk(recorded):
    home = said("8/table", Reading(recording=recorded))
    assert home.startswith("A block for each program: ×2") and home.count("×") == 4
    turned = reading(recorded, reversed_times, "6/fused")
    assert said("8/table", turned) != home


def test_a_slower_ragged_length_is_called_slower(recorded):
    def slow(outcome: Outcome) -> Outcome:
        one, two = outcome.timings
        ragged = (one, two) if one.at["n"] % 16 else (two, one)
        kept = scaled(ragged[1], 1)
        return replace(outcome, timings=(kept, scaled(ragged[0], 1.6)))

    turned = said("7/ragged", reading(recorded, slow, "7/ragged"))
    assert "The extra instructions cost time here" in turned


def test_equal_orders_are_called_a_tie(recorded):
    def level(outcome: Outcome) -> Outcome:
        first = outcome.timings[0]
        same = (replace(first, candidate=t.candidate) for t in outcome.timings)
        return replace(outcome, timings=tuple(same))

    assert said("6/grouped", reading(recorded, level, "6/grouped")).startswith("A tie")
    assert "A tie with torch" in said("7/write", reading(recorded, level, "7/write"))


@pytest.mark.parametrize("name", MEASURED)
def test_nothing_is_said_of_what_was_not_measured(name, recorded):
    kept = tuple(e for e in recorded.events if not (e.outcome and own(e, name)))
    without = Reading(recording=replace(recorded, events=kept))
    assert say(STEPS[name].says, without, int(name.split("/")[0])) is None


def test_a_softmax_without_its_maximum_overflows(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    import numpy as np

    with np.errstate(all="ignore"):
        rows = {row: (without, with_it) for row, without, with_it in s6_patterns.overflow().rows}
    assert rows["four times 80"] == ("0.25", "0.25")
    assert rows["four times 90"] == ("not a number", "0.25")
    assert rows["four times 300"] == ("not a number", "0.25")


def test_the_models_count_what_they_say(recorded):
    ceilings = recorded.machine.ceilings
    assert models.five_trips(ceilings) == 4
    assert models.half_the_bytes(ceilings) == 2 and models.at_the_roof(ceilings) == 1
    assert models.two_trips(ceilings) == pytest.approx(1.5, rel=0.05)
    assert models.tensor_cores(ceilings) > 5
    plain = replace(ceilings, tflops={"fp32": 8.0})
    assert models.tensor_cores(plain) == 1.0  # case E2: a T4


def test_every_candidate_of_the_final_benchmark_is_there(recorded):
    final = recorded.outcome(8, "final")
    cases = {case.name: set(candidates) for case, candidates in STEPS["8/final"].entries}
    found: dict[str, set[str]] = {}
    for timing in final.timings:
        found.setdefault(timing.case, set()).add(timing.candidate)
    assert found == cases and len(cases) == 9
    assert all("triton" in names for names in cases.values())
