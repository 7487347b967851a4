"""The quiz: its answers follow from measurements, move with them, and are kept with their score."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from talk import keep, record, runner
from talk.attend import quiz
from talk.attend.questions import BELIEFS, Belief
from talk.errors import RecordError
from talk.look import Badge
from talk.outcome import Cell, Outcome, Table, Timing
from talk.reading import Reading
from talk.record import Event, Record
from talk.terminal.quiz import Paper, ending, read_aloud, take
from tests.screen import Screen
from tests.test_cli import BLOCKED

ROOT = Path(__file__).resolve().parent.parent
EVERY = range(1, 9)


@pytest.fixture(scope="module")
def recording() -> Record:
    found = runner.recording()
    assert found is not None
    return found


def asked(*records: Record, sections=EVERY, every=False):
    return quiz.items([Reading(recording=one) for one in records], sections=sections, every=every)


# Other worlds: the recording with other numbers in it.

Change = Callable[[Outcome], Outcome]


def world(record: Record, change: Change) -> Record:
    def changed(event: Event) -> Event:
        return replace(event, outcome=change(event.outcome)) if event.outcome else event

    return replace(record, events=tuple(changed(event) for event in record.events))


def scaled(timing: Timing, factor: float) -> Timing:
    names = ("median_ms", "p20_ms", "p80_ms", "min_ms")
    return replace(timing, **{name: max(1e-6, getattr(timing, name) * factor) for name in names})


def alike(outcome: Outcome) -> Outcome:
    """All times of a step are the first one's."""
    first = outcome.timings[:1]
    timings = tuple(scaled(t, first[0].median_ms / t.median_ms) for t in outcome.timings)
    return replace(outcome, timings=timings, table=table_alike(outcome.table))


def table_alike(table: Table | None) -> Table | None:
    if table is None:
        return None
    rows = tuple((cells[0], *table.rows[-1][1:]) for cells in table.rows)
    return replace(table, rows=rows)


def turned(outcome: Outcome) -> Outcome:
    """Whoever was fastest of a step is slowest."""
    pairs = zip(outcome.timings, reversed(outcome.timings), strict=True)
    timings = tuple(scaled(t, other.median_ms / t.median_ms) for t, other in pairs)
    rows = outcome.table.rows if outcome.table else ()
    turned = tuple(
        (cells[0], *other[1:]) for cells, other in zip(rows, reversed(rows), strict=True)
    )
    table = replace(outcome.table, rows=turned) if outcome.table else None
    return replace(outcome, timings=timings, table=table)


def skewed(step: float) -> Change:
    """Each timing of a step is slower by so much than the one before."""

    def change(outcome: Outcome) -> Outcome:
        timings = tuple(scaled(t, step**n) for n, t in enumerate(outcome.timings))
        rows = outcome.table.rows if outcome.table else ()
        longer = tuple(tuple(times(c, step**n) for c in cells) for n, cells in enumerate(rows))
        table = replace(outcome.table, rows=longer) if outcome.table else None
        return replace(outcome, timings=timings, table=table)

    return change


def times(cell: Cell, factor: float) -> Cell:
    return cell * factor if isinstance(cell, float) else cell


def by(factor: float, sections=EVERY) -> Change:
    def change(outcome: Outcome) -> Outcome:
        if outcome.section not in sections:
            return outcome
        return replace(outcome, timings=tuple(scaled(t, factor) for t in outcome.timings))

    return change


def with_arithmetic(record: Record, factor: float) -> Record:
    ceilings = record.machine.ceilings
    assert ceilings is not None
    tflops = {name: value * factor for name, value in ceilings.tflops.items()}
    return replace(
        record, machine=replace(record.machine, ceilings=replace(ceilings, tflops=tflops))
    )


@pytest.fixture(scope="module")
def worlds(recording):
    """None of these was measured."""
    changes = (alike, turned, skewed(1.2), skewed(1.02), by(100), by(0.005), by(3, {8}), by(0.5))
    return (
        *(world(recording, change) for change in changes),
        with_arithmetic(recording, 100),
    )


def answer(belief: Belief, record: Record) -> int | None:
    found = quiz.of_belief(belief, [Reading(recording=record)])
    return found.right if isinstance(found, quiz.Item) else None


# What is asked


def test_at_least_sixteen_misconceptions_are_settled_by_the_recording(recording):
    items, skipped = asked(recording)
    assert skipped == () and len(items) == len(BELIEFS) >= 16
    assert {item.section for item in items} == set(EVERY)
    names = [(item.section, item.slug) for item in items]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("belief", BELIEFS, ids=lambda belief: belief.slug)
def test_on_a_gpu_with_other_numbers_another_answer_is_right(belief, recording, worlds):
    here = answer(belief, recording)
    assert here in range(1, len(belief.choices) + 1)
    assert {answer(belief, other) for other in worlds} - {here}


@pytest.mark.parametrize("belief", BELIEFS, ids=lambda belief: belief.slug)
def test_the_words_are_about_the_numbers_that_settled_it(belief, recording, worlds):
    here = quiz.of_belief(belief, [Reading(recording=recording)])
    others = [quiz.of_belief(belief, [Reading(recording=other)]) for other in worlds]
    assert any(other.says != here.says for other in others if isinstance(other, quiz.Item))


def test_no_choice_says_what_was_measured(recording):
    items, _ = asked(recording)
    for item in items:
        figures = {str(number) for number in item.numbers if number.unit not in ("count", "")}
        assert not figures & set(" ".join(item.choices).split(",")), item.slug


def test_the_predictions_of_the_talk_are_asked_too(recording):
    steps = {(o.number, s.slug) for o in recording.outlines for s in o.steps if s.kind == "predict"}
    items, skipped = asked(recording, every=True)
    assert skipped == ()
    assert {(i.section, i.slug) for i in items} == steps | {(b.section, b.slug) for b in BELIEFS}
    guess = next(item for item in items if item.slug == "guess-wall")
    assert guess.choices[guess.right - 1] == "256" and guess.model.startswith("220")


def test_a_section_alone(recording):
    items, _ = asked(recording, sections=[3])
    assert {item.section for item in items} == {3}


def test_what_was_not_measured_is_left_out_and_said(recording):
    def kept(event):
        return (event.section, event.step, event.kind) != (5, "programs", "outcome")

    without = replace(recording, events=tuple(filter(kept, recording.events)))
    items, [skipped] = asked(without, sections=[5])
    assert [item.slug for item in items] == ["half-the-bits"]
    paper = io.StringIO()
    read_aloud(items, [skipped], Console(file=paper, width=80))
    assert "not asked, 5/empty-programs: its measurement is not recorded" in paper.getvalue()


def test_what_the_numbers_do_not_settle_is_left_out_and_said(recording):
    slow = world(recording, lambda o: by(2)(o) if o.step == "parts" else o)
    _, skipped = asked(slow, sections=[8])
    assert [(each.name, each.why) for each in skipped] == [
        ("8/two-at-the-roof", "what was measured does not settle it")
    ]


def test_without_any_recording_one_line_says_what_to_do():
    with pytest.raises(Exception, match="no recording"):
        quiz.items([], sections=EVERY)


# Whose measurements


def own_talk(recording: Record, mode: str = "live") -> Record:
    device = replace(recording.machine.device, name="Test GPU 9000")
    machine = replace(recording.machine, device=device, mode=mode)
    events = tuple(e for e in recording.events if e.section == 5)
    return replace(recording, machine=machine, events=events)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    return tmp_path


def test_this_machine_s_own_talk_answers_first_and_the_recording_the_rest(recording, results):
    keep.write(results / "2026-01-01-mine", own_talk(recording))
    items, skipped = quiz.items(quiz.readings(), sections=[4, 5])
    gpus = {item.slug: {number.passport.gpu for number in item.numbers} for item in items}
    assert skipped == () and gpus["empty-programs"] == {"Test GPU 9000"}
    assert gpus["short-vector"] == {"NVIDIA H200"}


def test_no_answer_mixes_two_machines(recording, results):
    keep.write(results / "2026-01-01-mine", own_talk(recording))
    items, _ = quiz.items(quiz.readings(), sections=EVERY, every=True)
    for item in items:
        assert len({number.passport.gpu for number in item.numbers}) == 1, item.slug


def test_a_simulated_talk_answers_nothing(recording, results):
    keep.write(results / "2026-01-01-mine", own_talk(recording, "simulated"))
    items, _ = quiz.items(quiz.readings(), sections=[5])
    assert {n.passport.gpu for item in items for n in item.numbers} == {"NVIDIA H200"}


def test_every_answer_names_its_gpu_and_date(recording):
    for item in asked(recording, every=True)[0]:
        assert item.weakest and item.weakest.badge in (Badge.RECORDED, Badge.STALE)
        assert item.weakest.passport.gpu and item.weakest.passport.date


# Asking


def sat(items, typed: str, width: int = 80):
    lines = iter([f"{line}\n" for line in typed.split()])
    out = io.StringIO()
    paper = Paper(Console(file=out, width=width), ask=lambda: next(lines, None))
    score = take(items, (), paper, "2026-01-02T03:04:05Z")
    paper.print(*ending(score, (3, 9)))
    return score, out.getvalue()


def test_right_and_wrong_answers_are_told_apart_and_counted(recording):
    items, _ = asked(recording, sections=[5])
    right, wrong = items[0].right, items[1].right % 3 + 1
    score, out = sat(items, f"{right} {wrong}")
    assert (score.right, score.asked, score.of) == (1, 2, 2)
    assert score.wrong == ("5/half-the-bits",)
    assert "✓ right" in out and "✗ not so: 2 Half: half as many bytes" in out
    assert "section 5: 1 of 2  just replay 5" in out
    assert "Best before: 3 of 9." in out


def test_what_is_no_choice_is_asked_again(recording):
    items, _ = asked(recording, sections=[5])
    score, out = sat(items[:1], f"x 0 9 ² 99999 {items[0].right}")
    assert score.right == 1
    assert out.count("A digit from 1 to 3") == 5


def test_q_and_the_end_of_the_keyboard_end_it_with_the_score_so_far(recording):
    items, _ = asked(recording)
    for typed in (f"{items[0].right} q", f"{items[0].right}"):
        score, out = sat(items, typed)
        assert (score.right, score.asked, score.of) == (1, 1, len(items))
        assert f"1 of 1 answer right, {len(items) - 1} not answered." in out


@pytest.mark.parametrize("width", [40, 60, 104])
def test_it_fits_any_width(recording, width):
    items, _ = asked(recording, every=True)
    out = io.StringIO()
    read_aloud(items, (), Console(file=out, width=width))
    assert max(cell_len(line) for line in out.getvalue().splitlines()) <= width
    assert out.getvalue().count("✓ ") == len(items)


# Scores


def test_scores_are_added_and_never_lost(recording, tmp_path):
    path = tmp_path / "my" / "quiz.json"
    items, _ = asked(recording, sections=[5])
    first, _ = sat(items, "3 3")
    quiz.remember(first, path)
    quiz.remember(replace(first, right=2), path)
    scores = quiz.remembered(path)
    assert [score["right"] for score in scores] == [1, 2]
    assert scores[0]["date"] == "2026-01-02T03:04:05Z"
    assert scores[0]["sections"] == {"5": [1, 2]} and scores[0]["wrong"] == ["5/half-the-bits"]
    assert quiz.best(scores) == (2, 2)


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[1]", "[" * 100_000, "\ud800"])
def test_a_file_that_holds_no_scores_is_left_as_it_is(tmp_path, text):
    path = tmp_path / "quiz.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    before = path.read_bytes()
    score = quiz.score([], of=1, date=record.now())
    with pytest.raises(RecordError, match="holds no scores"):
        quiz.remember(score, path)
    assert path.read_bytes() == before


# The command


def piped(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, "quiz", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_piped_it_reads_itself_aloud_in_ascii_and_without_torch():
    done = piped("--all", LC_ALL="C", NO_COLOR="1", COLUMNS="40")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.isascii() and "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 40
    assert "?" not in done.stdout.replace("? ", "").replace("?\n", "")
    assert "RECORDED NVIDIA H200" in done.stdout or "STALE NVIDIA H200" in done.stdout


def test_an_unknown_section_is_one_clear_line():
    done = piped("--section", "99")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no section 99" in done.stderr


def test_in_a_terminal_one_answers_and_the_score_is_kept(tmp_path):
    copy = tmp_path / "memory-wall"
    copy.mkdir()
    for part in ("talk", "demos"):
        shutil.copytree(ROOT / part, copy / part)
    arguments = ("-m", "talk", "quiz", "--section", "5")
    with Screen(*arguments, size=(60, 40), program=(sys.executable,), cwd=copy) as screen:
        screen.until("1 of 2")
        screen.press("3", "enter")
        screen.until("Your answer, 1 to 3")
        screen.press("q", "enter")
        screen.until("Remembered in my/quiz.json.")
        assert screen.ended() == 0
    [score] = json.loads((copy / "my" / "quiz.json").read_text())
    assert (score["asked"], score["of"]) == (1, 2)
