"""The plain walk: every step without a key press, for pipes and logs."""

from __future__ import annotations

import io
import itertools
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from talk import stage
from talk.outcome import Check
from talk.record import Event
from talk.source import ROOT
from talk.terminal import plain
from talk.terminal.body import body
from talk.terminal.plain import Walk, walk
from tests import records
from tests.screen import hostile, saved, talk_of


def walked(talk, width=80):
    """The exit code and what was printed."""
    console = Console(file=io.StringIO(), width=width)
    return walk(talk, console=console), console.file.getvalue()


def rows(**parts):
    """The event of one more outcome of the step `rows`."""
    done = records.outcome("rows", **parts)
    return Event(kind="outcome", at=records.AT, section=5, step="rows", outcome=done)


def test_every_step_is_performed_and_printed():
    code, text = walked(talk_of(records.whole()))
    assert code == 0
    for step in records.whole().outlines[0].steps:
        assert step.title in text
    assert "20.0 GB/s is 1.00 % of the ceiling, slower than torch.  ▣ RECORDED" in text
    assert all(f"# line {i}" in text for i in range(2, 60)) and "kernel_39" in text
    assert "4 steps, 0 failed · 00:00 of 15 min" in text
    assert text.rstrip().endswith("nothing was recorded: a replay")
    assert "\x1b" not in text and "more line" not in text


def test_a_failed_step_goes_on_and_fails_the_walk():
    code, text = walked(talk_of())
    assert code == 1
    assert "Now you: add one" in text, "the step after it"
    assert "✗ 5/broken: the worker was ended by signal 11" in text


def test_what_is_not_recorded_is_said_and_fails_the_walk():
    talk = talk_of(records.whole())
    talk.unrecorded = "Not recorded: the disk is full"
    talk.tell(stage.Said(talk.unrecorded))
    code, text = walked(talk)
    assert code == 1 and text.rstrip().endswith("Not recorded: the disk is full")


def test_a_step_that_cannot_be_drawn_ends_nothing(monkeypatch):
    def broken(scene):
        if scene.step.slug == "rows":
            raise OverflowError("too large to draw")
        return body(scene)

    monkeypatch.setattr(plain, "body", broken)
    code, text = walked(talk_of(records.whole()))
    assert code == 0 and "cannot be drawn: OverflowError: too large" in text
    assert "Now you: add one" in text


def test_a_wrong_candidate_fails_the_walk():
    wrong = Check(candidate="planted", inputs="the case's inputs", ok=False, message="all differ")
    event = Event(
        kind="outcome",
        at=records.AT,
        section=5,
        step="rows",
        outcome=records.outcome("rows", checks=(wrong,)),
    )
    code, text = walked(talk_of(records.whole() + event))
    assert code == 1 and "✗ 5/rows: wrong: planted" in text


def test_a_step_that_the_record_lacks_fails_the_walk():
    held = records.whole()
    code, text = walked(
        talk_of(replace(held, events=tuple(e for e in held.events if e.step != "rows")))
    )
    assert code == 1 and "✗ 5/rows: no outcome" in text


def test_flags_are_summed_up():
    tiny = rows(timings=(records.timing("tiny", 0.003, bytes=49_152),))
    assert "! 5/rows tiny: overhead-bound" in walked(talk_of(records.whole() + tiny))[1]


@pytest.mark.parametrize("width", [40, 80, 104, 300])
def test_lines_fit_the_console(width):
    text = walked(talk_of(), width)[1]
    assert max(map(len, text.split("\n"))) <= min(width, 104)


def test_a_hostile_record_prints_no_escape():
    text = walked(talk_of(hostile(records.record(), ("kind", "slug", "step", "at", "phase"))))[1]
    assert not set(text) & {"\x1b", "\x9b", "\x07", "\r", "\x00", "\u202e"}
    assert "[bold red]" in text and "pwned" not in text


class Slow:
    """A performer with a script; a function in it is called instead of reported."""

    def __init__(self, *script):
        self._script = [stage.Opened("live", "a test"), *script]
        self.cancelled = 0

    def perform(self, section, slug):
        """Already in the script."""

    def cancel(self):
        self.cancelled += 1

    def events(self):
        due = self._script.pop(0) if self._script else None
        return due() or [] if callable(due) else [due]

    def fds(self):
        return ()

    def timeout(self):
        return 0.0


def slow_walk(*script, seconds=4.0):
    """A walk of the step `baseline` alone, on a clock that goes so many seconds a look."""
    baseline = replace(records.SECTION, steps=(records.SECTION.step("baseline"),))
    talk = talk_of(records.record(baseline), Slow(*script))
    ticks = itertools.count(step=seconds)
    console = Console(file=io.StringIO(), width=80)
    return talk, Walk(talk, console, lambda: next(ticks)), console.file


ARRIVED = stage.Arrived(records.outcomes()[1])


def test_long_work_prints_what_it_does_now_and_then():
    _, walker, printed = slow_walk(*[stage.Progressed(f"round {i}") for i in range(12)], ARRIVED)
    walker.run()
    lines = [line for line in printed.getvalue().split("\n") if "round" in line]
    assert 2 <= len(lines) <= 5, "not a line for every report"


def test_ctrl_c_cancels_the_running_step():
    talk, walker, _ = slow_walk(
        stage.Progressed("busy"), lambda: walker.interrupt(2, None), ARRIVED
    )
    walker.run()
    assert talk.performer.cancelled == 1 and talk.state.finished


def test_ctrl_c_twice_within_a_moment_ends_the_walk():
    twice = [lambda: walker.interrupt(2, None)] * 2
    _, walker, _ = slow_walk(stage.Progressed("busy"), *twice, seconds=0.1)
    with pytest.raises(KeyboardInterrupt):
        walker.run()


def replayed(folder, *arguments, **environ):
    command = [sys.executable, "-m", "talk", "replay", "5", "--record", str(folder), *arguments]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    return subprocess.run(
        command, cwd=ROOT, env=inherited | environ, stdin=subprocess.DEVNULL, capture_output=True
    )


PIPES = [{"LC_ALL": "C"}, {"LANG": "C.UTF-8", "NO_COLOR": "1"}, {"LANG": "C.UTF-8", "TERM": "dumb"}]


@pytest.mark.parametrize("environ", PIPES, ids=str)
def test_a_pipe_gets_words_and_no_escapes(tmp_path, environ):
    done = replayed(saved(tmp_path / "talk", records.whole()), "--auto", **environ)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout and b"GB/s" in done.stdout and b"RECORDED" in done.stdout
    assert done.stdout.isascii() == ("LC_ALL" in environ)


def test_stdin_that_is_no_terminal_walks_without_being_told(tmp_path):
    done = replayed(saved(tmp_path / "talk"), LANG="C.UTF-8")
    assert done.returncode == 1, "one step of this record failed"
    assert "5 steps, 1 failed" in done.stdout.decode()
