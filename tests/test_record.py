"""Records on disk: flushed, torn, hostile, of another schema, kept."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talk import keep, record, runner, wire
from talk.errors import RecordError
from talk.outcome import Outcome, Timing
from talk.record import Event, Journal, Record
from talk.recorder import open_talk
from tests import records
from tests.records import MACHINE, timing


@pytest.fixture
def folder(tmp_path):
    talk = records.record()
    journal = Journal(tmp_path / "talk", talk.machine)
    for event in talk.events:
        journal.append(event)
    return tmp_path / "talk"


def test_what_is_written_is_what_is_read(folder):
    assert record.read(folder).events == records.record().events
    assert record.read(folder).machine == MACHINE


def test_a_torn_last_line_is_skipped_aloud_and_the_talk_goes_on(folder):
    path = folder / "events.jsonl"
    path.write_text(path.read_text()[:-40])
    with pytest.warns(UserWarning, match="torn"):
        assert record.read(folder).events == records.record().events[:-1]
    journal = Journal(folder, MACHINE)
    for event in (Event(kind="joined", at=records.AT), records.record().events[-1]):
        journal.append(event)
    with pytest.warns(UserWarning, match="torn"):
        assert record.read(folder).events[-1] == records.record().events[-1]


def test_a_damaged_line_in_the_middle_is_an_error_with_its_place(folder):
    path = folder / "events.jsonl"
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:30]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(RecordError, match="line 2"):
        record.read(folder)


def test_a_line_torn_inside_a_character_is_skipped_too(folder):
    with open(folder / "events.jsonl", "ab") as file:
        file.write('{"kind":"outcome","note":"é'.encode()[:-1])
    with pytest.warns(UserWarning, match="torn"):
        assert record.read(folder).events == records.record().events


@pytest.mark.parametrize(
    "line",
    [
        '{"a":' * 100_000,
        '{"kind":"outcome","outcome":{"section":5,"step":"x","mode":"live","seconds":%s}}'
        % ("9" * 400),
        '{"kind":"outline","outline":{"number":5,"title":"","minutes":1,"module":"","claim":"",'
        '"steps":[]}}',
        '{"kind":"outcome","outcome":{"section":5,"step":"x","mode":"live","table":{"columns":'
        '[{"name":"n"}],"rows":[[%s]]}}}' % ("9" * 400),
    ],
    ids=["deep", "huge float", "no steps", "huge cell"],
)
def test_a_hostile_line_is_an_error_with_its_place(folder, line):
    path = folder / "events.jsonl"
    path.write_text(line + "\n" + path.read_text())
    with pytest.raises(RecordError, match="line 1"):
        record.read(folder)


def test_half_a_line_is_taken_back_when_the_disk_is_full(tmp_path, monkeypatch):
    journal = Journal(tmp_path, MACHINE)
    journal.append(Event(kind="joined", at=records.AT))

    def full(number):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(record.os, "fsync", full)
        with pytest.raises(RecordError, match="No space left"):
            journal.append(Event(kind="move", at=records.AT))
    journal.append(Event(kind="vote", at=records.AT))
    assert [event.kind for event in record.read(tmp_path).events] == ["joined", "vote"]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda m: m | {"schema": 99}, "schema '99'"),
        (lambda m: {k: v for k, v in m.items() if k != "schema"}, "schema 'None'"),
        (lambda m: m | {"mode": 3}, "mode: expected str"),
        (lambda m: m | {"surprise": 1}, "unknown field 'surprise'"),
        (lambda m: [], "schema 'None'"),
    ],
)
def test_an_unknown_schema_or_field_is_one_clear_line(folder, damage, words):
    path = folder / "machine.json"
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(RecordError, match=words):
        record.read(folder)


def test_a_record_that_is_not_there_says_what_to_name(tmp_path):
    with pytest.raises(RecordError, match="name a folder"):
        record.read(tmp_path)


def test_latest_wins():
    talk = records.record()
    again = records.outcome("baseline", timings=(timing("naive", 1.0),))
    talk += Event(kind="outcome", section=5, step="baseline", outcome=again)
    assert talk.outcome(5, "baseline") == again


def test_a_full_disk_loses_nothing_in_memory(tmp_path):
    journal = Journal(tmp_path / "talk", MACHINE)
    (tmp_path / "talk" / "events.jsonl").mkdir()
    with pytest.raises(RecordError, match="stays on screen"):
        journal.append(Event(kind="joined"))


def test_a_timing_out_of_order_is_refused():
    with pytest.raises(ValueError, match="p20"):
        Timing(candidate="x", median_ms=2, p20_ms=3, p80_ms=4, min_ms=1, n=9, bytes=1, mix="1:1")


text = st.text(max_size=20)
times = st.floats(0.001, 1e6)


@given(text, times, st.dictionaries(text, st.integers(-(2**40), 2**40), max_size=3), st.booleans())
def test_the_wire_keeps_every_value(words, ms, at, live):
    timings = (timing(words, ms, at=at),)
    sent = Outcome(section=1, step=words, mode="live" if live else "simulated", timings=timings)
    assert wire.from_plain(Outcome, json.loads(wire.dumps(sent))) == sent


def test_keep_refuses_the_simulated_and_the_partial(monkeypatch):
    monkeypatch.setattr(keep, "order", lambda: ("s5_memory_wall",))
    whole = records.whole()
    assert keep.incomplete(whole) == ""
    assert "5/broken" in keep.incomplete(records.record())
    assert "not live" in keep.incomplete(replace(whole, machine=replace(MACHINE, mode="simulated")))
    assert "ceilings" in keep.incomplete(replace(whole, machine=replace(MACHINE, ceilings=None)))
    monkeypatch.setattr(keep, "order", lambda: ("s1_warm_up", "s5_memory_wall"))
    assert "section 1" in keep.incomplete(whole)


def test_keep_copies_the_latest_and_replaces_what_was_there(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "order", lambda: ("s5_memory_wall",))
    monkeypatch.setattr(runner, "RECORDINGS", tmp_path / "recordings")
    whole = records.whole() + Event(kind="move", section=5, step="words")
    keep.write(tmp_path / "talk", whole)
    for _ in range(2):
        assert "kept 1 sections" in keep.keep(tmp_path / "talk")
    kept = record.read(tmp_path / "recordings" / "test-gpu-9000")
    assert kept.machine.host == "" and len(kept.events) == len(whole.events) - 1
    assert sorted(p.name for p in (tmp_path / "recordings").iterdir()) == ["test-gpu-9000"]


def test_results_with_nothing_complete_say_why(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "order", lambda: ("s5_memory_wall",))
    keep.write(tmp_path / "a", records.record())
    with pytest.raises(RecordError, match="a: it lacks 5/broken"):
        keep.newest_complete(tmp_path)


def test_a_talk_of_the_same_place_is_joined_and_another_s_is_not(tmp_path):
    talk = records.record()
    keep.write(tmp_path / "talk", talk)
    here = replace(MACHINE, talk="", started="", ceilings=None)
    assert open_talk(tmp_path, here) is None, "it is old, whatever the dates of its files"
    keep.write(tmp_path / "talk", Record(MACHINE, (Event(kind="joined", at=record.now()),)))
    found = open_talk(tmp_path, here)
    assert found is not None and found.events[:-1] == talk.events
    later = datetime.now(timezone.utc) + timedelta(days=1)
    keep.write(tmp_path / "talk", Record(MACHINE, (Event(kind="joined", at=later.isoformat()),)))
    assert open_talk(tmp_path, here) is None, "nothing was measured tomorrow"
    elsewhere = replace(MACHINE, device=replace(MACHINE.device, name="Other GPU"))
    assert open_talk(tmp_path, elsewhere) is None
