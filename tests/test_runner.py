"""A talk under way: what is recorded, joined, and done when nothing can be recorded or run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from talk import record, stage
from talk.errors import TalkError
from talk.look import Badge
from talk.performer import Replayer
from talk.runner import Talk
from talk.stage import Arrived, Opened, Outlined, Press
from tests import records
from tests.records import CEILINGS, MACHINE, SECTION

START = stage.State(sections=(SECTION,), section=5, slug="words")
ROWS, ROW = records.outcomes()[2], "5/rows[kernel_3].time"
BARE = replace(MACHINE, talk="", started="", ceilings=None)


class Scripted:
    """A performer that reports what the test hands it."""

    def __init__(self, *events: stage.Event) -> None:
        self.ready = list(events)
        self.asked: list[str] = []
        self.closed = False

    def perform(self, section: int, slug: str) -> None:
        self.asked.append(f"{section}/{slug}")

    def cancel(self) -> None:
        self.asked.append("cancel")

    def shell(self, section: int, slug: str, terminal: int) -> None:
        self.asked.append(f"shell {section}/{slug}")

    def events(self) -> list[stage.Event]:
        ready, self.ready = self.ready, []
        return ready

    def fds(self) -> tuple[int, ...]:
        return ()

    def timeout(self) -> float | None:
        return None

    def close(self) -> None:
        self.closed = True


def live(tmp_path, *events: stage.Event, **more: object) -> Talk:
    performer = Scripted(Opened("live", "NVIDIA", BARE), *events)
    talk = Talk(performer, START, records.whole(), results=tmp_path / "results", **more)
    talk.pump()
    return talk


def kept(talk: Talk) -> record.Record:
    assert talk.reading.talk is not None and talk.reading.talk.folder is not None
    return record.read(talk.reading.talk.folder)


def test_every_event_is_on_disk_before_the_next(tmp_path):
    talk = live(tmp_path, Outlined(SECTION))
    talk.tell(Press("right"))
    talk.tell(Arrived(records.outcomes()[0]))
    talk.tell(Press("2"))
    assert [event.kind for event in kept(talk).events] == ["outline", "move", "outcome", "vote"]
    assert kept(talk).votes(5, "guess") == {"10 to 80 %": 1}


def test_moves_made_while_the_worker_starts_are_recorded_once_it_is_there(tmp_path):
    performer = Scripted()
    talk = Talk(performer, START, records.whole(), results=tmp_path)
    talk.tell(Press("right"))
    performer.ready = [Opened("live", "NVIDIA", BARE)]
    talk.pump()
    assert [event.kind for event in kept(talk).events] == ["move"]
    assert performer.asked == ["5/guess"]


def test_the_machine_s_ceilings_are_written_when_they_are_known(tmp_path):
    talk = live(tmp_path)
    assert kept(talk).machine.ceilings is None
    talk.tell(Opened("live", "NVIDIA", replace(BARE, ceilings=CEILINGS)))
    assert kept(talk).machine.ceilings == CEILINGS
    assert len(list((tmp_path / "results").iterdir())) == 1


def test_a_later_talk_joins_the_open_one_and_new_starts_another(tmp_path):
    first = live(tmp_path, Arrived(ROWS))
    second = live(tmp_path)
    assert kept(second).machine.talk == kept(first).machine.talk
    assert second.reading.number(ROW).badge is Badge.LIVE
    assert kept(second).events[-1].kind == "joined"
    assert not second.state.done, "a step is shown as done only once it ran before this audience"
    other = live(tmp_path, new=True)
    assert other.reading.talk is not None and other.reading.talk.events == ()


@pytest.mark.parametrize("mode", ["nowhere to write", "the disk fills up"])
def test_what_cannot_be_recorded_is_said_and_stays_on_screen(tmp_path, mode):
    results = tmp_path / "results"
    if mode == "nowhere to write":
        results.write_text("a file where the folder should be")
    talk = live(tmp_path)
    if mode == "the disk fills up":
        (kept(talk).folder / "events.jsonl").mkdir()
    talk.tell(Arrived(ROWS))
    assert "Not recorded" in talk.state.message and talk.unrecorded == talk.state.message
    assert (5, "rows") in talk.state.done
    assert talk.reading.number(ROW).badge is Badge.LIVE


def test_a_worker_that_cannot_run_becomes_a_replay_with_its_reason(tmp_path):
    performer = Scripted(Opened("replay", "a replay: the interpreter failed its test"))
    talk = Talk(performer, START, records.whole(), results=tmp_path)
    talk.pump()
    assert performer.closed and isinstance(talk.performer, Replayer)
    assert (talk.state.mode, talk.state.why) == (
        "replay",
        "a replay: the interpreter failed its test",
    )
    talk.tell(Press("g"))
    for key in "rows":
        talk.tell(Press(key))
    for key in ("enter", "right"):
        talk.tell(Press(key))
    talk.pump()
    assert (5, "rows") in talk.state.done
    assert talk.reading.number(ROW).badge is Badge.RECORDED
    assert list(tmp_path.iterdir()) == [], "a replay records nothing"


def test_nothing_to_run_and_nothing_to_replay_is_one_clear_line(tmp_path):
    talk = Talk(Scripted(Opened("replay", "torch not installed")), START, None, results=tmp_path)
    with pytest.raises(TalkError, match="there is no recording to replay"):
        talk.pump()


def test_the_shell_is_lent_by_the_view_that_owns_a_terminal(tmp_path):
    talk, lent = live(tmp_path), []
    talk.tell(Press("i"))
    talk.on_shell(lambda section, slug: lent.append((section, slug)))
    talk.tell(Press("i"))
    assert lent == [(5, "words")]


class Asking:
    """A view elsewhere that asks for things."""

    def __init__(self, *events: stage.Event) -> None:
        self.ready = list(events)

    def fds(self) -> tuple[int, ...]:
        return (17,)

    def events(self) -> list[stage.Event]:
        ready, self.ready = self.ready, []
        return ready


def test_what_another_view_asks_for_is_one_more_event(tmp_path):
    talk = live(tmp_path)
    talk.join(Asking(stage.Command("go", 5, "rows"), stage.Command("run", 5, "rows")))
    assert talk.fds() == (17,)
    talk.pump()
    assert talk.state.slug == "rows"
    assert "5/rows" in talk.performer.asked


def test_views_are_shown_what_changed_and_nothing_twice(tmp_path):
    ticks = iter([0.0, 0.0, *[1.0] * 9])
    performer = Scripted(Opened("live", "NVIDIA", BARE))
    talk = Talk(performer, START, records.whole(), results=tmp_path, clock=lambda: next(ticks))
    seen: list[str] = []
    talk.watch(lambda talk: seen.append(talk.state.slug))
    talk.pump()
    talk.tell(Press("right"))
    talk.pump()
    assert seen[0] == "words" and seen[-1] != "words"
    shown = len(seen)
    talk.pump()
    talk.pump()
    assert len(seen) <= shown + 2  # the clock alone may have moved on
