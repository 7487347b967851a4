"""A talk rehearsed against the clock, and what one that is behind may skip."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from talk import runner, wire
from talk.__main__ import main
from talk.errors import TalkError
from talk.record import SectionOutline, StepOutline
from talk.rehearsal import Compared, Rehearsal, Rehearsing, Stop, compared, kept
from talk.runner import Talk
from talk.skipping import MOST_NAMED, Skip, said, skippable
from talk.terminal.rehearsed import rehearsed
from tests import pages, records
from tests.screen import Screen, press, talk_of
from tests.test_live import browser, recording, show  # noqa: F401  # fixtures


def walk(folder: Path, *options: str) -> Screen:
    """A rehearsal of section 5 with its recording, in a folder of its own."""
    arguments = ("tests.elsewhere", str(folder), "rehearse", "5", *options)
    return Screen(*arguments, size=(100, 40), NO_COLOR="1")


def on_disk(folder: Path) -> list[Rehearsal]:
    return list(kept(folder / "rehearsals"))


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_minutes_are_kept_and_the_next_rehearsal_is_held_against_them(tmp_path):
    with walk(tmp_path, "--recorded") as screen:
        screen.until("5/guess-share")
        time.sleep(1.1)
        screen.press("right", "right")
        screen.until("5/baseline ")
        time.sleep(1.1)
        screen.press("q")
        assert screen.ended() == 0
        first = screen.raw.decode()
    assert re.search(r"5/guess-share +01:00 +00:0[1-3] +−00:5\d +–", first), first
    assert re.search(r"5/profile +02:00 +– +– +–", first)
    assert "with the rest as planned it ends after 14:0" in first
    (found,) = on_disk(tmp_path)
    assert found.left and found.at == (5, "baseline") and found.mode == "replay"
    assert found.seconds[5, "guess-share"] >= 1 and found.seconds[5, "fused"] == 0
    assert found.planned == 15

    with walk(tmp_path, "--recorded") as screen:
        screen.until("5/guess-share")
        screen.press("right", "right")
        until(lambda: on_disk(tmp_path)[-1].at == (5, "baseline"))
        screen.process.kill(signal.SIGKILL)
        screen.ended()
    last = on_disk(tmp_path)[-1]
    assert not last.left and last.seconds[5, "guess-share"] > 0

    with walk(tmp_path, "--report") as screen:
        assert screen.ended() == 0
        told = screen.raw.decode()
    assert "median of 1 before" in told and "cut off at 5/baseline" in told
    assert re.search(r"5/guess-share +01:00 +00:00 +−00:59 +00:0[1-3]", told)
    assert "before, in the same way: 14:0" in told


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--report",), "nothing was rehearsed yet"),
        (("--recorded",), "a rehearsal needs a terminal"),
        (("--report", "77"), "no section 77"),
    ],
)
def test_what_cannot_be_rehearsed_says_why_in_one_line(
    tmp_path, monkeypatch, capsys, options, problem
):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    assert main(["rehearse", *options]) == 2
    said_ = capsys.readouterr().err
    assert problem in said_ and "just " in said_ and said_.count("\n") == 2


def test_where_no_screen_can_be_drawn_it_goes_line_by_line(tmp_path):
    arguments = ("tests.elsewhere", str(tmp_path), "rehearse", "5", "--recorded")
    with Screen(*arguments, size=(100, 40), TERM="dumb") as screen:
        screen.heard("Enter goes on, q ends")
        time.sleep(1.1)
        screen.press("enter")
        screen.heard("The baseline again")
        screen.press("q", "enter")
        assert screen.ended() == 0
        told = screen.raw.decode()
    assert "\x1b" not in told
    assert re.search(r"5/guess-share +01:00 +00:0[1-3]", told) and "cut off" not in told
    assert on_disk(tmp_path)[0].at == (5, "baseline")
    with Screen(*arguments, size=(100, 40), TERM="dumb") as screen:
        screen.heard("Enter goes on, q ends")
        screen.press("ctrl-c")
        assert screen.ended() == 130
        assert "cut off at 5/guess-share" in screen.text


def test_a_rehearsal_is_a_view_of_the_talk_s_own_clock(tmp_path):
    now = 100.0
    talk = talk_of()
    talk._clock = lambda: now
    counted = Rehearsing(tmp_path)
    talk.watch(counted)
    for _ in range(3):
        now += 30
        talk.pump()
    press(talk, "right")
    now += 7
    talk.pump()
    (found,) = kept(tmp_path)
    assert found.at == (5, "guess")
    assert found.seconds[5, "words"] == 90 and found.seconds[5, "guess"] == 7
    counted.close(left=True)
    (found,) = kept(tmp_path)
    assert found.left and found.sections == (5,)


def test_a_disk_that_refuses_is_said_and_ends_no_rehearsal(tmp_path):
    (tmp_path / "file").write_text("")
    counted = Rehearsing(tmp_path / "file")
    talk_of().watch(counted)
    assert "cannot write" in counted.trouble and counted.rehearsal is not None


def made(started: str, *seconds: float, at: str = "c", left: bool = True) -> Rehearsal:
    plan = (("a", 2.0), ("b", 0.5), ("c", 3.0))
    stops = tuple(
        Stop(section=1, step=slug, planned=minutes, seconds=spent)
        for (slug, minutes), spent in zip(plan, (*seconds, 0.0, 0.0, 0.0)[:3], strict=True)
    )
    return Rehearsal(started=started, stops=stops, at=(1, at), left=left)


def test_medians_are_of_those_who_came_to_a_step_and_the_rest_is_taken_as_planned():
    before = (made("1", 60, 30, 60), made("2", 120, 40), made("3", 200, 1, at="a"))
    glance = made("3", 9, at="a")
    found = compared((*before, glance, made("4", 240, 30, at="b", left=False)), [1])
    assert [(row.spent, row.usual) for row in found.rows] == [
        (4.0, 2.0),
        (0.5, pytest.approx(30 / 60)),
        (None, 1.0),
    ]
    assert found.this.projected == pytest.approx(4.5 + 3)
    assert found.before[2].projected == pytest.approx(201 / 60 + 0.5 + 3)
    assert "cut off at 1/b" in str([*rehearsed(found)][-3])
    other = replace(made("0"), stops=(Stop(section=2, step="a"),), at=(2, "a"))
    assert Compared(found.this, (other, *before)).alike == before
    with pytest.raises(TalkError, match="nothing was rehearsed"):
        compared((other,), [1])


HARM = {
    "torn": '{"started":"2026',
    "huge": '{"started":"1","stops":[],"at":[1,"a"],"mode":"' + "x" * 1_000_001 + '"}',
    "nowhere": '{"started":"1","stops":[],"at":[1,"a"]}',
    "negative": '{"started":"1","stops":[{"section":1,"step":"a","seconds":-5}],"at":[1,"a"]}',
    "words": '{"started":"1","stops":[{"section":1,"step":"a","seconds":"x"}],"at":[1,"a"]}',
}


@pytest.mark.parametrize("text", HARM.values(), ids=HARM)
def test_a_file_that_is_no_rehearsal_is_left_out_aloud(tmp_path, text):
    (tmp_path / "1.json").write_text(text)
    (tmp_path / "2.json").write_text(wire.dumps(made("2", 60)))
    with pytest.warns(UserWarning, match=r"1\.json is no rehearsal"):
        assert [found.started for found in kept(tmp_path)] == ["2"]


def test_a_rehearsal_survives_its_file(tmp_path):
    one = made("2", 60.5, 7)
    (tmp_path / "2.json").write_text(wire.dumps(one))
    assert kept(tmp_path) == (one,)
    assert "left" in json.loads(wire.dumps(one))


# What may be skipped


def step(slug: str, minutes: int = 1, kind: str = "measure", **more: object) -> StepOutline:
    given = {"phase": "naive", **more}
    return StepOutline(slug=slug, title=slug, kind=kind, minutes=minutes, **given)  # type: ignore[arg-type]


def section(number: int, *steps: StepOutline) -> SectionOutline:
    return replace(records.SECTION, number=number, steps=steps)


TALK = (
    section(
        1,
        step("first"),
        step("ask", kind="predict", about="1/asked[x].time / told[x].time"),
        step("asked"),
        step("told"),
        step("free", 2, says="{{ n('free[x].time') }} beside {{ n('told[x].time') }}"),
        step("alone", phase="fuse"),
        step("now-you", 4, "now-you", phase="fuse"),
    ),
    section(
        2,
        step("drawn"),
        step("sentence"),
        step("roofs", kind="collect", picture="roofline", of=("2/drawn[x]",)),
        step("last", kind="collect", picture="roofline", says="{{ n('sentence[x].time') }}"),
        step("instant", 0),
    ),
)


def names(behind: float, here: tuple[int, str] = (1, "first")) -> list[str]:
    found = skippable(TALK, here, behind)
    return [f"{s.section}/{s.step}" + ("½" if s.halved else "") for s in found]


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        (-5, []),
        (0.9, []),
        (1, ["1/free"]),
        (2.5, ["1/free", "2/roofs"]),
        (4, ["1/free", "2/roofs", "1/now-you½"]),
        (99, ["1/free", "2/roofs", "1/now-you½"]),
    ],
)
def test_no_more_is_named_than_makes_up_for_it_and_nothing_that_others_stand_on(behind, expected):
    assert names(behind) == expected


def test_only_what_is_still_to_come_is_named():
    assert names(9, (1, "free")) == ["2/roofs", "1/now-you½"]
    assert names(9, (2, "roofs")) == []
    assert names(9, (7, "elsewhere")) == []


def test_each_phase_keeps_a_step():
    talk = (section(1, step("a", 0), step("b", phase="fuse"), step("c", phase="fuse")),)
    assert [skip.step for skip in skippable(talk, (1, "a"), 9)] == ["b"]


def test_it_is_said_in_one_line():
    skips = skippable(TALK, (1, "first"), 4)
    line = "4 min behind: skip 1/free, 2/roofs, halve 1/now-you (saves 5 min)"
    assert said(skips, 4.2) == line
    assert said((), 4) == ""
    many = tuple(Skip(section=1, step=f"s{i}", minutes=1) for i in range(MOST_NAMED + 3))
    assert said(many, 20).endswith(f"1/s{MOST_NAMED - 1}, 3 more (saves 11 min)")


def test_of_the_recorded_talk_nothing_is_skipped_that_a_question_or_a_picture_needs():
    held = runner.recording()
    assert held is not None
    skips = {(s.section, s.step) for s in skippable(held.outlines, (1, "machine"), 999)}
    assert (5, "programs") in skips
    for needed in ((5, "baseline"), (5, "blocks"), (8, "final"), (8, "table"), (8, "calibration")):
        assert needed not in skips, needed


@pages.NEEDS_CHROMIUM
def test_the_presenter_s_page_alone_names_what_may_be_skipped(show):  # noqa: F811
    deck = show.opened()
    presenter = show.context.new_page()
    presenter.goto(show.door.address + "presenter")
    show.until(presenter, lambda: "of 15:00" in presenter.locator("#end").inner_text())
    assert not presenter.locator("#skip").is_visible(), "nobody is behind"
    hurry(show.talk)
    show.until(presenter, lambda: "behind: skip 5/programs" in said_on(presenter))
    assert "(saves " in said_on(presenter)
    assert "min behind" not in deck.content() and "(saves" not in deck.content()


def said_on(page) -> str:
    return str(page.locator("#skip").inner_text())


def hurry(talk: Talk) -> None:
    """From now on a second is three minutes."""
    began = time.monotonic()
    talk._clock = lambda: began + 180 * (time.monotonic() - began)
