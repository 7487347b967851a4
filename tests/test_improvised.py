"""What is made up in IPython at a step: measured with one call, and kept beside the steps."""

from __future__ import annotations

import os
import re
import signal
import threading
from dataclasses import replace
from typing import Any

import pytest
import torch

from talk import keep, record, runner, stage, wire
from talk.compare import compare
from talk.errors import RecordError, UnknownReference
from talk.gpu.improvise import CODE, Improviser, code_of
from talk.gpu.measure import Bench
from talk.improvised import words
from talk.look import Badge
from talk.outcome import Outcome, Timing
from talk.reading import Reading
from talk.record import Event, Record
from talk.resume import cut_off
from talk.rows import Shown
from talk.section import Case
from tests import decks, records
from tests.records import AT, MACHINE
from tests.screen import Screen, hostile, saved, shown, talk_of
from tests.test_measure import Clock, MadeUpTimer

CELLS = (
    "import triton, triton.language as tl, torch",
    "@triton.jit\rdef mine_kernel(o, x, y, n, B: tl.constexpr):\ri = tl.arange(0, B)\r"
    "tl.store(o + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)\r\r",
    "def mine(x, y):\ro = torch.empty_like(x)\r"
    "mine_kernel[(1,)](o, x, y, x.numel(), B=256)\rreturn o\r\r",
    "measure(lambda: mine(x, y), 'mine', moves=3 * x.nbytes)",
    "measure(lambda: mine(x, x), 'other')",
)


def test_a_kernel_that_is_written_in_ipython_is_checked_and_kept(tmp_path):
    arguments = ("tests.elsewhere", str(tmp_path), "demo", "5")
    with Screen(*arguments, size=(140, 45), PROMPT_TOOLKIT_NO_CPR="1") as screen:
        screen.until("SIMULATED  no GPU here", 60)
        screen.press("g", *"baseline", "enter")
        screen.until("The baseline again")
        opened(screen)
        for number, cell in enumerate(CELLS, start=1):
            screen.until(f"In [{number}]", 60)
            screen.press(cell, *([] if cell.endswith("\r") else ["enter"]))
        screen.until(f"In [{len(CELLS) + 1}]", 30)
        assert "SIMULATED  mine: right" in screen.text, screen.text
        assert "SIMULATED  other: wrong: " in screen.text, screen.text
        screen.press("\x04")
        text = screen.until("Improvised: other: wrong")
        assert "Improvised here, beside the talk's own steps:" in text
        assert "◌ SIMULATED  mine: right" in text and "no timings: there is no GPU here" in text
        assert "→ run" in text, "the step itself was not performed"
        screen.press("q")
        assert screen.ended() == 0
    (folder,) = record.folders(tmp_path)
    found = record.read(folder)
    mine, other = (event for event in found.events if event.kind == "improvised")
    assert (mine.section, mine.step, mine.outcome) == (5, "baseline", None)
    assert mine.improvised is not None and other.improvised is not None
    assert mine.improvised.checks[0].ok and not other.improvised.checks[0].ok
    assert mine.improvised.mode == "simulated" and not mine.improvised.timings
    texts = {code.name: code.text for code in mine.improvised.behind}
    assert "tl.store" in texts["mine_kernel"] and "mine_kernel[(1,)]" in texts["mine"]
    assert found.outcome(5, "baseline") is None and "5/baseline" in found.missing()
    with pytest.raises(RecordError, match="simulated"):
        keep.keep(folder)


def opened(screen: Screen) -> None:
    """The question before it may still be waiting for its model."""
    for _ in range(50):
        if "the talk waits here" in screen.settle():
            return
        screen.press("i")
    raise AssertionError(screen.text)


# What it measures


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


ADD = Case(
    name="add",
    inputs=lambda n: (torch.randn(n), torch.randn(n)),
    reference=add,
    size={"n": 1000},
    small={"n": 10},
    bytes_moved=lambda x, y: 6_000_000_000,
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=lambda: [("three", (torch.ones(3), torch.ones(3)))],
)


class Desk:
    """A shell with a made-up timer: `measure`, the inputs x and y, and what was told."""

    def __init__(self, *, live: bool = True, case: Case | None = ADD) -> None:
        self.told: list[tuple[Outcome, str]] = []
        clock = Clock()
        self.x, self.y = ADD.inputs(**ADD.size)
        self.measure = Improviser(
            bench=Bench(
                interpreted=not live,
                timer=MadeUpTimer(clock, call=3.0) if live else None,
                clock=clock,
            ),
            blank=Outcome(section=5, step="baseline", mode="live" if live else "simulated"),
            machine=lambda: MACHINE,
            tell=lambda outcome, said: self.told.append((outcome, said)),
            case=case,
            inputs=(self.x, self.y) if case else (),
        )

    @property
    def last(self) -> Outcome:
        return self.told[-1][0]

    @property
    def said(self) -> str:
        return self.told[-1][1]

    @property
    def timing(self) -> Timing:
        (timing,) = self.last.timings
        return timing


def test_the_step_s_own_computation_is_held_against_its_reference_and_costs(capsys):
    desk = Desk()
    desk.measure(lambda: desk.x + desk.y, "mine")
    # 6 GB in 3 ms; the ceiling of 2:1 traffic is 2,000 GB/s.
    line = r"mine: right \(error .*\), 3.00 ms, p20–p80 .*, n 10, 2,000 GB/s, 100 % of the ceiling"
    assert re.match(line, desk.said), desk.said
    assert "LIVE  mine: right" in capsys.readouterr().out
    assert desk.timing.mix == "2:1" and desk.timing.flops == 1000


def test_what_is_said_of_its_costs_holds():
    desk = Desk()
    desk.measure(lambda: desk.x + desk.y, "mine", moves=3_000_000_000, flops=7, mix="1:1")
    assert (desk.timing.bytes, desk.timing.flops, desk.timing.mix) == (3_000_000_000, 7, "1:1")
    assert "1,000 GB/s, 52.6 % of the ceiling of 1:1 traffic" in desk.said
    desk.measure(lambda: desk.x * 2, "twice", against=lambda: desk.x + desk.x)
    assert (desk.timing.bytes, desk.timing.flops) == (0, 0), "another computation, other costs"
    assert "3.00 ms" in desk.said and "GB/s" not in desk.said
    desk.measure(lambda: desk.x * 2, "twice", against=desk.x + desk.x, moves=8000)
    assert desk.last.checks[0].ok and desk.timing.bytes == 8000


@pytest.mark.parametrize(
    ("fn", "more", "said"),
    [
        (lambda d: d.x - d.y, {}, "wrong: 1,000 of 1,000 wrong, first at [0]"),
        (lambda d: d.x.add_(d.y), {}, "wrong: input 1 was changed"),
        (lambda d: d.nope, {}, ": AttributeError: 'Desk' object"),
        (lambda d: d.x[:10], {"against": lambda: torch.ones(10)}, "wrong: 10 of 10"),
    ],
)
def test_what_is_wrong_is_not_timed_and_is_kept_as_wrong(fn, more, said):
    desk = Desk()
    before = desk.x.clone()
    desk.measure(lambda: fn(desk), "mine", **more)
    assert desk.last.timings == () and said in desk.said
    assert torch.equal(desk.x, before), "the inputs are as they were"
    assert not all(check.ok for check in desk.last.checks)


@pytest.mark.parametrize(("case", "more"), [(ADD, {"against": False}), (None, {})])
def test_what_nobody_checks_is_timed_and_said_to_be_unchecked(case, more):
    desk = Desk(case=case)
    desk.measure(lambda: None, "mine", moves=6_000_000_000, **more)
    assert desk.said.startswith("mine: not checked, 3.00 ms") and not desk.last.checks
    assert desk.timing.bytes == 6_000_000_000 and "against=" in desk.last.note


def test_without_a_gpu_there_is_a_check_and_no_timing():
    desk = Desk(live=False)
    desk.measure(lambda: desk.x + desk.y)
    assert desk.said.startswith("mine: right") and desk.said.endswith("there is no GPU here")
    assert desk.last.mode == "simulated" and not desk.last.timings


def test_ctrl_c_ends_it_and_nothing_is_kept():
    desk = Desk()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        desk.measure(lambda: threading.Event().wait(10), "mine", against=False)
    assert desk.told == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def helper(x: Any) -> Any:
    return torch.relu(x)


def long(x: Any) -> Any:
    return helper(helper(x))


def test_the_code_is_its_own_and_that_of_the_functions_it_calls():
    found = code_of(lambda: long(1), "mine")
    assert [code.name for code in found] == ["mine", "long", "helper"]
    assert found[2].text == "def helper(x: Any) -> Any:\n    return torch.relu(x)"
    made = eval("lambda: helper(1)", {"helper": helper})
    assert [code.name for code in code_of(made, "mine")] == ["helper"], "no text, no code"
    assert all(len(code.text) <= CODE for code in found)
    assert code_of(max, "mine") == ()


# Where it goes


IMPROVISED = records.outcome("baseline", text="mine", timings=(records.timing("mine", 1.0),))


def with_improvised(outcome: Outcome = IMPROVISED, talk: Record | None = None) -> Record:
    """A talk in whose step something was improvised that beats all it measured."""
    return (talk or records.whole()) + replace(stage.beside(outcome), at=AT)


def test_the_stage_keeps_it_beside_the_step_and_says_it():
    state = stage.State(sections=(records.SECTION,), section=5, slug="baseline")
    after, (kept,) = stage.advance(state, stage.Improvised(IMPROVISED, "mine: right"))
    assert kept == stage.Keep(
        Event(kind="improvised", section=5, step="baseline", improvised=IMPROVISED)
    )
    assert after == replace(state, message="Improvised: mine: right")


def test_no_number_of_the_talk_changes(tmp_path):
    plain, more = records.whole(), with_improvised()
    assert more.outcome(5, "baseline") == plain.outcome(5, "baseline")
    for ref in ("5/baseline[naive].gbps", "5/baseline[torch].time"):
        assert Reading(talk=more).number(ref) == Reading(talk=plain).number(ref)
    with pytest.raises(UnknownReference, match="names no figure"):
        Reading(talk=more).number("5/baseline[mine].time")
    assert compare(more, more).pairs == compare(plain, plain).pairs
    moved = Event(kind="move", at=AT, section=5, step="rows")
    assert cut_off(more + moved, [5]) == cut_off(plain + moved, [5])
    slides, nine = decks.slide("<p>plain</p>"), decks.talk()
    beside = with_improvised(replace(IMPROVISED, section=9), nine)
    assert decks.deck(tmp_path, slides, beside).html == decks.deck(tmp_path, slides, nine).html


def test_a_kept_record_holds_the_talk_s_own_steps_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "order", lambda: ("s5_memory_wall",))
    monkeypatch.setattr(runner, "RECORDINGS", tmp_path / "recordings")
    folder = saved(tmp_path / "talk", with_improvised())
    assert any(event.improvised for event in record.read(folder).events)
    assert "kept 1 sections" in keep.keep(folder)
    (to,) = (tmp_path / "recordings").iterdir()
    kept = record.read(to)
    assert kept.outcome(5, "baseline") == records.whole().outcome(5, "baseline")
    assert not any(event.improvised for event in kept.events)


SIM = replace(MACHINE, mode="simulated")


@pytest.mark.parametrize(
    ("machine", "mode", "live", "badge"),
    [
        (MACHINE, "live", True, Badge.LIVE),
        (MACHINE, "live", False, Badge.RECORDED),
        (MACHINE, "simulated", True, Badge.SIMULATED),
        (SIM, "live", True, Badge.SIMULATED),
    ],
)
def test_its_badge_is_that_of_this_machine_while_the_talk_goes_on(machine, mode, live, badge):
    talk = replace(with_improvised(replace(IMPROVISED, mode=mode)), machine=machine)
    reading = Reading(talk=talk, recording=talk, live=live, fresh=lambda section, outcome: False)
    (found,) = reading.improvised(5, "baseline")
    assert found.badge is badge
    assert reading.improvised(5, "blocks") == ()
    assert Reading(recording=talk).improvised(5, "baseline") == (), "a recording has none"


def on_screen(talk: Record, size: tuple[int, int] = (100, 40)) -> str:
    view = talk_of(records.whole())
    view.reading = replace(view.reading, talk=talk)
    view.tell(stage.Command("go", 5, "baseline"))
    return shown(view, size)


def test_the_terminal_shows_it_under_a_heading_of_its_own():
    text = on_screen(with_improvised())
    heading, _, below = text.partition("Improvised here, beside the talk's own steps:")
    assert below and "mine" not in heading
    assert re.search(r"● LIVE +mine: not checked, 1.00 ms", below), text
    assert "Improvised" not in on_screen(records.whole())


def test_a_hostile_one_stays_text():
    evil = hostile(IMPROVISED, keep=("step", "mode", "mix", "clock"))
    text = on_screen(with_improvised(evil))
    assert "Improvised here" in text and "LIVE" in text
    assert not any(harm in text for harm in ("\x1b", "\u202e", "pwned", "31m"))


OTHER = replace(IMPROVISED, step="rows")
LONG = replace(IMPROVISED, timings=IMPROVISED.timings * (record.MOST_TIMINGS + 1))


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (replace(stage.beside(OTHER), step="baseline"), "another step than it holds"),
        (stage.beside(LONG), "more rows than a step can have"),
    ],
)
def test_what_no_shell_left_is_refused(tmp_path, event, problem):
    with pytest.raises(RecordError, match=problem):
        record.read(saved(tmp_path, records.whole() + event))


def test_it_survives_the_wire_and_a_record_without_it_is_as_before():
    event = stage.beside(IMPROVISED)
    assert wire.from_plain(Event, wire.to_plain(event)) == event
    assert "improvised" not in wire.dumps(Event(kind="outcome", outcome=IMPROVISED))


def test_flags_are_said_and_so_is_what_was_not_timed():
    def said(*timings: Timing) -> str:
        return words(Shown(replace(IMPROVISED, timings=timings), Badge.LIVE, MACHINE, AT))

    assert said(records.timing("mine", 7.0, flags=("noisy",))).endswith("2:1 traffic, noisy")
    cached = said(records.timing("mine", 1.0))
    assert cached.endswith("12.0 TB/s, above the ceiling: cache-resident?") and "%" not in cached
    assert said() == "mine: not checked, not timed"
