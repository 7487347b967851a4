"""A talk that was cut off goes on where it was; one that was left begins anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from talk import opening, runner, stage
from talk.record import Event, Record
from talk.resume import LONGEST_S, cut_off, spent
from tests import decks, records

SECTION = records.SECTION.number


def at(second: int, kind: str, step: str = "") -> Event:
    minute, rest = divmod(second, 60)
    moment = f"2026-01-02T10:{minute:02d}:{rest:02d}Z"
    return Event(kind=kind, at=moment, section=SECTION if step else 0, step=step)


def talk(*events: Event) -> Record:
    whole = records.whole()
    return replace(whole, events=(*whole.events, *events))


def test_it_goes_on_at_its_last_step_with_what_was_done():
    cut = cut_off(talk(at(0, "move", "words"), at(60, "move", "blocks")), [SECTION])
    assert cut is not None
    assert cut.at == (SECTION, "blocks")
    assert (SECTION, "baseline") in cut.done
    assert "5/blocks" in cut.said


@pytest.mark.parametrize(
    "events",
    [
        (),
        (at(0, "move", "blocks"), at(5, "left")),
    ],
)
def test_a_talk_that_was_left_or_never_begun_begins_anew(events):
    assert cut_off(talk(*events), [SECTION]) is None
    assert cut_off(talk(at(0, "move", "blocks")), [SECTION + 1]) is None


def test_the_clock_leaves_out_the_time_in_which_nobody_spoke():
    events = (
        at(0, "move", "words"),
        at(30, "move", "blocks"),
        at(40, "outcome", "blocks"),
        at(2000, "joined"),
        at(2020, "move", "words"),
        at(2021, "left"),
        at(3000, "move", "blocks"),
    )
    seconds = spent(events)
    assert seconds == {(SECTION, "words"): 31.0, (SECTION, "blocks"): 30.0}
    assert spent((at(0, "move", "words"), at(3599, "move", "blocks"))) == {
        (SECTION, "words"): LONGEST_S
    }
    assert spent((Event(kind="move", at="nonsense", section=5, step="x"),)) == {}


def test_the_first_frame_is_that_of_the_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    now = opening.record.now()
    moved = Event(kind="move", at=now, section=SECTION, step="blocks")
    decks.write(tmp_path / "t", talk(moved))
    cut = opening.cut([SECTION])
    assert cut is not None and cut.at == (SECTION, "blocks")
    state = opening.resumed(stage.State(sections=(records.SECTION,), section=SECTION), cut)
    assert state.address == (SECTION, "blocks") and "goes on" in state.message
    gone = replace(cut, at=(SECTION, "gone"))
    assert opening.resumed(stage.State(sections=(records.SECTION,)), gone).slug == ""
    assert opening.resumed(state, None) is state


def test_leaving_is_kept():
    state = stage.State(sections=(records.SECTION,), section=SECTION, slug="words")
    _, effects = stage.advance(state, stage.Press("q"))
    assert stage.Keep(Event(kind="left")) in effects
