"""The stage: scripted events against states. No terminal, no worker, no clock."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talk import stage
from talk.outcome import Failure
from talk.stage import (
    SEEN_S,
    Arrived,
    Command,
    Fitted,
    Opened,
    Outlined,
    Press,
    Said,
    Tick,
    advance,
)
from tests.records import SECTION, STEPS, outcome

SLUGS = [step.slug for step in STEPS]


def at(slug: str, **more: object) -> stage.State:
    state = stage.State(sections=(SECTION,), section=5, slug=slug, mode="live")
    return replace(state, **more)  # type: ignore[arg-type]


def play(state: stage.State, *events: stage.Event | str) -> tuple[stage.State, list[stage.Effect]]:
    """Events in turn, a string being a key; the effects of all."""
    done: list[stage.Effect] = []
    for event in events:
        state, effects = advance(state, Press(event) if isinstance(event, str) else event)
        done += effects
    return state, done


def performed(effects: list[stage.Effect]) -> list[str]:
    return [effect.slug for effect in effects if isinstance(effect, stage.Perform)]


def test_next_runs_a_step_before_it_leaves_it():
    state, effects = play(at("baseline"), "right")
    assert (state.slug, performed(effects)) == ("baseline", ["baseline"])
    state, _ = play(state, Arrived(outcome("baseline")), "right")
    assert state.slug == "rows"


def test_words_need_no_run():
    state, effects = play(at("words"), "space")
    assert state.slug == "guess"
    assert performed(effects) == ["guess"], "the model's answer is asked for on arrival"


def test_a_section_that_opens_with_a_question_asks_it_at_once():
    state, effects = play(at("guess", mode="starting"), Opened("live", "a GPU"))
    assert performed(effects) == ["guess"]
    _, again = play(state, Opened("live", "a GPU"), Arrived(outcome("guess")), Opened("live", ""))
    assert performed(again) == [], "once"
    assert performed(play(at("baseline"), Opened("live", "a GPU"))[1]) == []


def test_back_returns_to_the_previous_step():
    assert play(at("baseline"), "pageup")[0].slug == "guess"
    assert "first step" in play(at("words"), "left")[0].message
    assert "last step" in play(at("now-you"), "right")[0].message


def test_a_dark_hall_stays_dark_for_a_remote_s_stray_keys():
    assert play(at("baseline", blank=True), "escape", "f5")[0].blank
    assert not play(at("baseline", blank=True), "pagedown")[0].blank


def test_help_scrolls_and_any_other_key_ends_it():
    state, _ = play(at("baseline"), "?", Fitted(5, 9), "down", "down")
    assert (state.view, state.scroll) == ("help", 2)
    assert play(state, "x")[0].view == "step"


@pytest.mark.parametrize("key", ["escape", "f5", "x", "tab"])
def test_a_remote_s_stray_keys_do_nothing(key):
    before = at("baseline")
    after, effects = play(before, key)
    assert (after, effects) == (before, [])


def test_a_press_during_a_run_is_queued_once_and_shown():
    state, effects = play(at("baseline"), "right", "right", "right")
    assert state.queued and performed(effects) == ["baseline"]
    state, _ = play(state, Tick(10.0), Arrived(outcome("baseline")), Tick(10.0 + SEEN_S / 2))
    assert (state.slug, state.queued) == ("baseline", True), "the hall has not seen it yet"
    assert play(state, Tick(10.1 + SEEN_S))[0].slug == "rows"
    assert play(state, "right")[0].slug == "rows", "a second press does not wait"
    again, effects = play(state, "r", Tick(99.0))
    assert (again.slug, performed(effects), again.queued) == ("baseline", ["baseline"], False)


def test_a_queued_press_does_not_skip_a_failure():
    failure = Failure(kind="crash", reason="gone")
    state, _ = play(at("baseline"), "right", "right", Arrived(outcome("baseline", failure=failure)))
    assert (state.slug, state.running, state.failed) == ("baseline", None, {(5, "baseline")})
    state, effects = play(state, "r")
    assert performed(effects) == ["baseline"] and not state.failed


def test_ctrl_c_cancels_the_step_and_never_the_talk():
    state, effects = play(at("baseline"), "right", "ctrl-c")
    assert isinstance(effects[-1], stage.Cancel) and not state.over
    state, effects = play(at("baseline"), "ctrl-c")
    assert effects == [] and "q ends" in state.message


def test_going_elsewhere_during_a_run_keeps_its_outcome():
    state, _ = play(at("baseline"), "right", "left", Arrived(outcome("baseline")))
    assert state.slug == "guess"
    assert (5, "baseline") in state.done and state.running is None


def test_a_digit_is_a_vote_only_at_a_question():
    state, effects = play(at("guess"), "2")
    assert state.votes == {(5, "guess"): "10 to 80 %"}
    assert [e.event.votes for e in effects if isinstance(e, stage.Keep)] == [{"10 to 80 %": 1}]
    assert "1 to 3" in play(at("guess"), "9")[0].message
    assert play(at("baseline"), "2")[1] == []


def test_a_vote_is_closed_once_it_was_measured():
    state, effects = play(at("guess", done=frozenset({(5, "baseline")})), "2")
    assert (state.votes, effects) == ({}, [])
    assert "closed" in state.message


def test_blank_hides_until_any_key_and_moves_nothing():
    state, _ = play(at("baseline"), ".")
    assert state.blank
    state, effects = play(state, "right")
    assert (state.blank, state.slug, effects) == (False, "baseline", [])


def test_jump_finds_a_step_by_what_is_typed():
    state, _ = play(at("words"), "g", *"blo", "enter")
    assert (state.slug, state.view) == ("blocks", "step")
    state, _ = play(at("words"), "g", *"5/", "down", "down", "enter")
    assert state.slug == "baseline"
    state, _ = play(at("words"), "g", *"profiler", "enter")
    assert state.slug == "rows", "found by its title"
    state, _ = play(at("words"), "g", *"zzz", "enter")
    assert (state.slug, state.view) == ("words", "step")


def test_a_remote_command_needs_no_key():
    state, _ = play(at("words"), Command("go", 5, "blocks"))
    assert state.slug == "blocks"
    state, effects = play(state, Command("run", 5, "rows"))
    assert (state.slug, performed(effects)) == ("blocks", ["rows"])
    assert "no step" in play(state, Command("go", 7, "x"))[0].message
    assert play(state, Command("rm -rf"))[1] == []


def test_an_edited_section_keeps_the_place_or_the_nearest():
    fewer = replace(SECTION, steps=STEPS[:3])
    assert play(at("guess"), Outlined(fewer))[0].slug == "guess"
    assert play(at("blocks"), Outlined(fewer))[0].slug == "baseline"
    renamed = replace(SECTION, steps=(STEPS[0], replace(STEPS[1], slug="asked"), *STEPS[2:]))
    state, _ = play(at("guess"), Outlined(renamed))
    assert state.slug == "asked" and "guess is gone" in state.message


def test_a_digit_that_is_no_number_is_no_vote():
    assert play(at("guess"), "²", "٣")[0].votes == {}


def test_ctrl_c_leaves_the_jump_prompt():
    assert play(at("words"), "g", "b", "ctrl-c")[0].view == "step"


def test_scrolling_stays_within_what_there_is():
    state, _ = play(at("rows"), Fitted(rows=10, extent=25), *["down"] * 30)
    assert state.scroll == 15
    assert play(state, "home")[0].scroll == 0
    assert play(state, Fitted(rows=20, extent=25))[0].scroll == 5


EVENTS = st.one_of(
    st.sampled_from([*stage.KEYS, "1", "9", "z", "escape", "f5"]).map(Press),
    st.sampled_from(SLUGS).map(lambda slug: Arrived(outcome(slug))),
    st.sampled_from(SLUGS).map(
        lambda slug: Arrived(outcome(slug, failure=Failure(kind="crash", reason="gone")))
    ),
    st.sampled_from([Tick(1.0), Said("hm"), Fitted(5, 50), Outlined(SECTION)]),
)


@given(st.lists(EVENTS, max_size=60))
def test_no_order_of_events_loses_the_place_or_runs_two_steps(events):
    state = at("words")
    for event in events:
        idle = state.running is None or (
            isinstance(event, Arrived) and (5, event.outcome.step) == state.running
        )
        state, effects = advance(state, event)
        assert len(performed(list(effects))) <= (1 if idle else 0)
        assert state.address in state.addresses
        assert not state.done & state.failed
        assert 0 <= state.scroll <= state.most_scroll


def counted(votes: dict[str, int], slug: str = "guess") -> stage.Counted:
    return stage.Counted(5, slug, votes)


def test_counted_hands_are_kept_whole_and_the_most_are_the_room_s_answer():
    choices = list(next(step for step in STEPS if step.slug == "guess").choices)
    votes = {choices[0]: 3, choices[1]: 7}
    state, effects = play(at("words"), counted(votes))
    assert state.votes == {(5, "guess"): choices[1]}
    (kept,) = [effect.event for effect in effects if isinstance(effect, stage.Keep)]
    assert (kept.kind, kept.step, kept.votes) == ("vote", "guess", votes)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (counted({"no such answer": 3}), "no answer"),
        (counted({}), "no answer"),
        (stage.Counted(5, "words", {"x": 1}), "no answer"),
        (stage.Counted(4, "guess", {"x": 1}), "no answer"),
    ],
)
def test_hands_for_no_answer_count_for_nothing(event, said):
    state, effects = play(at("guess"), event)
    assert said in state.message and effects == [] and state.votes == {}


def test_hands_that_come_too_late_count_for_nothing():
    guess = next(step for step in STEPS if step.slug == "guess")
    section, slug = stage.settled_by(5, guess)
    state, effects = play(
        at("guess", done=frozenset({(section, slug)})), counted({next(iter(guess.choices)): 4})
    )
    assert "closed" in state.message and effects == []
