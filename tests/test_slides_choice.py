"""Which record a deck is built from: complete, live, of this machine; else a recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slides.build import build
from slides.choose import Shelf, choose
from talk import keep, runner
from talk.errors import RecordError
from talk.record import Record
from talk.source import order
from tests import decks, records

H200 = replace(records.MACHINE.device, name="NVIDIA H200")
L4 = replace(records.MACHINE.device, name="NVIDIA L4")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A committed recording of an H200, and nothing in results/."""
    shelf = Shelf(results=tmp_path / "results", recordings=tmp_path / "recordings", host="here")
    decks.write(shelf.recordings / "nvidia-h200", decks.complete(device=H200, host=""))
    return shelf


def given(shelf: Shelf, name: str, record: Record | None = None, **machine: object) -> None:
    talk = record or decks.complete(**{"host": "here", **machine})
    decks.write(shelf.results / name, talk)


def taken(shelf: Shelf, **how: object) -> str:
    folder = choose(shelf, **how).record.folder  # type: ignore[arg-type]
    assert folder is not None
    return folder.name


def test_the_newest_complete_live_talk_of_this_machine_is_taken(shelf):
    given(shelf, "2026-01-01T000000Z-a")
    given(shelf, "2026-01-03T000000Z-a")
    given(shelf, "2026-01-02T000000Z-a")
    assert taken(shelf) == "2026-01-03T000000Z-a"
    assert "newest complete live talk" in choose(shelf).why


def test_without_one_the_committed_recording_is_taken(shelf):
    assert taken(shelf) == "nvidia-h200"
    assert "recording" in str(choose(shelf))


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (lambda: decks.complete(host="elsewhere"), "another machine, elsewhere"),
        (lambda: decks.complete(host="here", mode="simulated"), "simulated, not live"),
        (lambda: decks.changed(decks.complete(host="here"), mode="simulated"), "simulated"),
        (lambda: decks.talk(5, replace(records.whole(), machine=here())), "it lacks section 1"),
        (lambda: lacking("rows"), "it lacks 1/rows, 2/rows"),
        (lambda: failing(), "it lacks 5/broken"),
    ],
)
def test_others_are_passed_over_with_their_reason(shelf, talk, reason):
    given(shelf, "2026-01-09T000000Z-a", talk())
    choice = choose(shelf)
    assert choice.record.folder == shelf.recordings / "nvidia-h200"
    assert len(choice.notes) == 1
    assert reason in choice.notes[0]


def here():
    return replace(records.MACHINE, host="here")


def lacking(slug: str) -> Record:
    record = decks.complete(host="here")
    kept = (e for e in record.events if not (e.kind == "outcome" and e.step == slug))
    return replace(record, events=tuple(kept))


def failing() -> Record:
    whole = decks.complete(host="here")
    return replace(whole, events=(*whole.events, *decks.talk(5, records.record()).events))


def test_a_record_that_cannot_be_read_stops_nothing(shelf):
    broken = shelf.results / "2026-01-09T000000Z-a"
    broken.mkdir(parents=True)
    (broken / "machine.json").write_text("{")
    assert taken(shelf) == "nvidia-h200"
    assert "is no JSON" in choose(shelf).notes[0]


def test_a_torn_line_is_said_and_not_shouted(shelf):
    with open(shelf.recordings / "nvidia-h200" / "events.jsonl", "a") as events:
        events.write('{"kind":"mo')
    assert "torn" in choose(shelf).notes[-1]


def test_a_gpu_s_name_picks(shelf):
    decks.write(shelf.recordings / "nvidia-l4", decks.complete(device=L4, started="2030"))
    given(shelf, "2026-01-01T000000Z-a", device=L4)
    assert taken(shelf) == "2026-01-01T000000Z-a"
    assert taken(shelf, gpu="h200") == "nvidia-h200"
    assert taken(shelf, gpu="NVIDIA L4") == "2026-01-01T000000Z-a"
    with pytest.raises(RecordError, match=r"record of 'mi300' (.|\n)*its GPU is NVIDIA H200"):
        choose(shelf, gpu="mi300")


def test_the_newest_of_several_recordings_is_taken(shelf):
    decks.write(shelf.recordings / "nvidia-l4", decks.complete(device=L4, started="2030"))
    assert taken(shelf) == "nvidia-l4"


def test_a_section_that_is_not_recorded_yet_stops_no_deck(shelf, monkeypatch):
    monkeypatch.setattr(keep, "order", lambda: (*order(), "s9_new"))
    given(shelf, "2026-01-09T000000Z-a")
    choice = choose(shelf)
    assert choice.record.folder == shelf.recordings / "nvidia-h200"
    passed, note = choice.notes
    assert "it lacks section 9" in passed
    assert note == "section 9 is not recorded: no slides for it"


def test_a_step_that_a_recording_lacks_inside_a_section_refuses_it(shelf):
    alone = replace(shelf, recordings=shelf.recordings.with_name("alone"))
    decks.write(alone.recordings / "nvidia-l4", lacking("rows"))
    with pytest.raises(RecordError, match=r"nvidia-l4 passed over: it lacks 1/rows"):
        choose(alone)


@pytest.mark.parametrize("section", range(1, 9))
def test_the_real_recording_with_one_section_alone_makes_a_deck(section):
    recorded = runner.recording()
    assert recorded is not None
    alone = tuple(event for event in recorded.events if event.section in (0, section))
    names = build(replace(recorded, events=alone)).found.slides
    assert {name[:2] for name in names if name[1:2].isdigit()} == {f"s{section}"}
    assert "machine" in names


def test_a_partial_recording_is_never_taken_unasked(shelf):
    partial = decks.write(shelf.recordings / "nvidia-h200-later", lacking("rows"))
    assert taken(shelf) == "nvidia-h200"
    named = choose(shelf, named=partial)
    assert "it lacks 1/rows" in named.notes[0]


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (lambda: decks.changed(decks.talk(), mode="simulated"), "simulated, not live"),
        (lambda: replace(decks.talk(), events=()), "holds no section"),
    ],
)
def test_a_record_without_figures_is_refused_even_by_name(shelf, tmp_path, talk, reason):
    folder = decks.write(tmp_path / "named", talk())
    with pytest.raises(RecordError, match=reason):
        choose(shelf, named=folder)


def test_with_no_record_at_all_the_error_says_what_to_type(tmp_path):
    with pytest.raises(RecordError, match=r"no complete live record(.|\n)*just record"):
        choose(Shelf(results=tmp_path, recordings=tmp_path))
