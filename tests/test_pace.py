"""Minutes planned against minutes spent."""

from __future__ import annotations

import pytest

from talk.pace import LONGEST_S, Spent, pace, planned
from talk.record import SectionOutline, StepOutline


def step(slug: str, notes: str = "", minutes: int = 0) -> StepOutline:
    return StepOutline(
        slug=slug, title=slug, phase="naive", kind="show", notes=notes, minutes=minutes
    )


def section(number: int, *steps: StepOutline, minutes: int = 10) -> SectionOutline:
    return SectionOutline(
        number=number, title=f"part {number}", minutes=minutes, module="m", claim="", steps=steps
    )


TALK = (
    section(1, step("a", "Say.\n2 minutes."), step("b", "30 seconds."), step("now", minutes=3)),
    section(2, step("c", "Ask.\n4 minutes."), step("d")),
)


@pytest.mark.parametrize(
    ("step_", "minutes"),
    [(TALK[0].steps[0], 2), (TALK[0].steps[1], 0.5), (TALK[0].steps[2], 3), (step("x", "Say."), 0)],
)
def test_minutes_are_those_that_the_notes_end_on(step_, minutes):
    assert planned(step_) == minutes


def test_a_talk_on_time_is_neither_ahead_nor_behind():
    found = pace(TALK, {(1, "a"): 120, (1, "b"): 15}, (1, "b"))
    assert found.ahead == pytest.approx(0)
    assert found.left == pytest.approx(0.25 + 3 + 4)
    assert found.total == pytest.approx(9.5)


def test_time_beyond_the_plan_of_a_step_is_behind_it():
    found = pace(TALK, {(1, "a"): 300}, (1, "a"))
    assert found.ahead == pytest.approx(-3)
    assert found.left == pytest.approx(0.5 + 3 + 4)
    assert [part.spent for part in found.parts] == [pytest.approx(5), 0]


def test_a_step_that_was_left_out_is_time_won():
    assert pace(TALK, {(1, "a"): 60}, (2, "c")).ahead == pytest.approx(4.5)


def test_seconds_are_counted_where_the_talk_was():
    spent = Spent()
    for address, now in (((1, "a"), 0.0), ((1, "a"), 10.0), ((1, "b"), 30.0), ((1, "a"), 31.0)):
        spent.look(address, now)
    assert spent.seconds == {(1, "a"): 30.0, (1, "b"): 1.0}


def test_a_laptop_that_slept_did_not_speak_and_a_clock_that_jumps_back_takes_nothing():
    spent = Spent()
    for now in (0.0, 4000.0, 3000.0):
        spent.look((1, "a"), now)
    assert spent.seconds == {(1, "a"): LONGEST_S}


def test_a_talk_without_sections_has_no_plan():
    assert pace((), {}, (1, "a")).total == 0
