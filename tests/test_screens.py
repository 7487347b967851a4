"""Whole screens, drawn from scripted events: what is shown, when, and under which badge."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.color import ColorSystem

from talk import stage
from talk.look import Badge
from talk.outcome import Check, Column, Failure, Lowering, Outcome, Table
from talk.outcome import Stage as Form
from talk.reading import Reading
from talk.record import Event, Record, SectionOutline, StepOutline
from talk.terminal.growing import entries
from talk.terminal.medium import Medium
from talk.terminal.picture import picture
from talk.terminal.screen import Canvas, trouble
from tests import records
from tests.screen import SIZES, at, drawn, hostile, press, scrolled, shown, talk_of

FIGURE = re.compile(r"\d (?:[GT]B/s|µs|ms|TFLOP/s)")


def with_outcome(done: Outcome) -> Record:
    """The made-up talk with one outcome replaced."""
    event = Event(kind="outcome", at=records.AT, section=5, step=done.step, outcome=done)
    return records.record() + event


def on_stage(own: Outcome | None, mode: str = "live", recording: Record | None = None):
    """A live talk that has just performed one step, and the recording behind it."""
    held = recording or records.record()
    talk = talk_of(held)
    mine = Record(
        replace(records.MACHINE, mode=mode),
        (Event(kind="outline", section=5, outline=records.SECTION),),
    )
    if own:
        mine += Event(
            kind="outcome", at="2026-05-06T07:08:09Z", section=5, step=own.step, outcome=own
        )
    talk.reading = Reading(talk=mine, recording=held, live=True)
    talk.tell(stage.Opened(mode, "a test"))
    if own:
        talk.tell(stage.Command("go", 5, own.step))
        talk.tell(stage.Arrived(own))
    return talk


@pytest.mark.parametrize("size", SIZES)
def test_a_screen_has_exactly_the_lines_and_never_more_columns(size):
    talk = talk_of()
    for _ in range(3 * len(talk.state.addresses)):
        for view in ((), ("?",), ("x", "g"), ("escape", "n"), ("n", "c")):
            lines = drawn(press(talk, *view), size)
            assert len(lines) == size[1]
            assert max(map(len, lines)) <= size[0]
        press(talk, "c", "right")
    assert talk.state.slug == "now-you"


def test_a_replay_reveals_step_by_step():
    talk = talk_of()
    for slug in ("words", "guess", "baseline"):
        assert talk.state.slug == slug
        assert not FIGURE.search(shown(talk)), f"nothing was performed before {slug}"
        press(talk, "right")
    assert FIGURE.search(shown(talk))
    press(talk, "right", "right", "right")
    assert "99.2 %" not in shown(talk), "the sweep was not performed yet"


@pytest.mark.parametrize("size", SIZES)
def test_recorded_figures_name_their_gpu_and_date(size):
    talk = talk_of()
    for _ in range(2 * len(talk.state.addresses)):
        press(talk, "right")
        text = shown(talk, size)
        if FIGURE.search(text):
            assert "▣ RECORDED" in text and "Test GPU 9000, 2026-01-02" in " ".join(text.split())
        assert "LIVE" not in text


def test_where_we_are_is_at_the_top():
    first, second, third = drawn(at("baseline"), (80, 24))[:3]
    assert "5  Hit the memory wall" in first and "00:00 of 15 min" in first
    assert "▲ naive 3/3" in second and "◆ fuse" in second and "5/baseline" in second
    assert "REPLAY  a test" in third


def test_a_prediction_is_answered_after_its_measurement():
    talk = press(talk_of(), "right", "2")
    asked = shown(talk)
    assert "2  10 to 80 %  ◀ your vote" in asked and "right" not in asked and "90.0 %" not in asked
    press(talk, "right", "right")
    for text in (shown(talk), shown(press(talk, "left"))):
        lines = [line.split() for line in text.split("\n")]
        assert ["the", "room", "10", "to", "80", "%", "✗", "not", "so"] in lines
        assert ["the", "model", "over", "80", "%", "90.0", "%", "✗", "not", "so"] in lines
        assert ["answer", "value"] in lines
        assert ["measured", "under", "10", "%", "1.00", "%"] in [line[:6] for line in lines]
        assert "The usual wrong belief: A GPU is always fast." in text
    assert "1  under 10 %  ✓ right" in text


@pytest.mark.parametrize(("slug", "key"), [("baseline", "naive"), ("blocks", "1")])
def test_the_answer_stands_right_below_the_bars_at_the_smallest_size(slug, key):
    about = replace(records.STEPS[1], about=f"{slug}[{key}].share")
    steps = (records.STEPS[0], about, *records.STEPS[2:])
    text = shown(at(slug, records.record(replace(records.SECTION, steps=steps))), (80, 24))
    assert text.index("measured ceiling") < text.index("You were asked") < text.index("measured  ")
    assert "the room" not in text, "nobody voted"


def test_one_s_predictions_are_scored_at_the_end_of_a_section():
    talk = press(talk_of(), "right", "2")
    while talk.state.step.kind != "now-you":
        press(talk, "right")
    assert "Your predictions: 0 of 1 right; the model's 0 of 1." in shown(talk)
    assert "Your predictions" not in shown(at("now-you")), "nothing was answered"
    right = press(talk_of(), "right", "1")
    while right.state.step.kind != "now-you":
        press(right, "right")
    assert "Your predictions: 1 of 1 right" in shown(right)


def test_a_prediction_without_its_figure_says_so():
    failed = records.outcome("baseline", failure=Failure(kind="crash", reason="gone"))
    talk = press(at("baseline", with_outcome(failed)), "left")
    assert "not so" not in shown(talk) and "✓ right" not in shown(talk)


def test_the_take_away_follows_the_numbers():
    assert "slower than torch" in shown(at("baseline"))
    assert "faster than torch" in shown(at("baseline", records.whole(naive_ms=6.1, torch_ms=600.0)))
    assert "than torch" not in shown(press(talk_of(), "right", "right"))


def test_sixty_lines_scroll_and_the_screen_says_so():
    talk = press(at("blocks"), "home")
    top = shown(talk, (80, 24))
    assert "↓" in top and "more lines" in top and "above" not in top
    press(talk, "end")
    end = shown(talk, (80, 24))
    assert "above" in end and "more line" not in end
    everything = scrolled(talk, (80, 24))
    assert all(f"# line {i}" in everything for i in range(2, 60)), "no line is cut"


def test_the_code_alone_is_a_key_away():
    talk = press(at("blocks"), "c")
    assert drawn(talk)[4].startswith(" demos/kernels/example.py:1  sixty_lines")
    assert "GB/s" not in shown(talk)
    press(talk, "c")
    assert "GB/s" in shown(talk)


@pytest.mark.parametrize("size", SIZES)
def test_forty_rows_are_all_there(size):
    everything = scrolled(at("rows"), size)
    assert all(re.search(rf"kernel_{i} +{i + 1} ", everything) for i in range(40))
    assert "40.0 µs" in everything, "in the unit of its column"


def test_a_table_too_wide_is_stacked():
    columns = tuple(Column(name=f"column {i}", unit="GB/s") for i in range(12))
    wide = Table(
        columns=(Column(name="kernel"), *columns),
        rows=(("k" * 90, *(float(i + 1) for i in range(12))),),
    )
    everything = scrolled(at("rows", with_outcome(records.outcome("rows", table=wide))), (80, 24))
    assert all(f"column {i}  {i + 1}" in everything for i in range(12))
    assert everything.count("k" * 10) and "…" not in everything


def test_a_failure_says_why_and_what_to_press_and_shows_the_recording():
    broken = records.outcome(
        "baseline", failure=Failure(kind="deadline", reason="not done after 60 s")
    )
    text = shown(on_stage(broken), (100, 45))
    assert (
        text.index("✗ FAILED  not done after 60 s")
        < text.index("r runs it again")
        < text.index("▣ RECORDED")
    )
    assert "Test GPU 9000, 2026-01-02; stands in" in text
    assert text.count("not done after 60 s") == 1
    assert "20.0 GB/s is 1.00 % of the ceiling, slower than torch.  ▣ RECORDED" in text


def test_live_and_recorded_differ_in_the_badge_alone():
    done = next(o for o in records.outcomes() if o.step == "baseline")
    live = shown(on_stage(done)).split("\n")
    replayed = shown(press(at("baseline"))).split("\n")
    assert "● LIVE  Test GPU 9000" in live[6] and "▣ RECORDED" in replayed[6]
    assert live[7:11] == replayed[7:11], "the bars"


def test_an_interpreted_step_is_checked_and_shows_recorded_figures():
    check = Check(candidate="naive", inputs="small", ok=True, error=0.0, tolerance=1e-6)
    done = replace(records.outcome("baseline", checks=(check,)), mode="simulated")
    text = shown(on_stage(done, "simulated"), (100, 45))
    simulated, recorded = text.split("▣ RECORDED", 1)
    assert "◌ SIMULATED" in simulated and "✓ right  naive  on small" in simulated
    assert not FIGURE.search(simulated), "the interpreter has no performance"
    assert "no timings" in simulated and "no timings" not in recorded
    assert "stands in" in recorded and "20.0 GB/s" in recorded
    assert "✓ right" not in recorded, "the recording's check says the same"


def test_a_check_that_differs_from_the_recorded_one_is_shown_beside_it():
    wrong = Check(candidate="naive", inputs="small", ok=False, message="3 differ")
    done = replace(records.outcome("baseline", checks=(wrong,)), mode="simulated")
    simulated, recorded = shown(on_stage(done, "simulated"), (100, 45)).split("▣ RECORDED", 1)
    assert "✗ WRONG  naive  on small" in simulated and "✓ right  naive" in recorded


def test_a_step_that_was_never_recorded_says_that_its_figures_are_missing():
    held = records.record()
    lacking = replace(held, events=tuple(e for e in held.events if e.step != "baseline"))
    check = Check(candidate="naive", inputs="small", ok=True, error=0.0, tolerance=1e-6)
    done = replace(records.outcome("baseline", checks=(check,)), mode="simulated")
    text = shown(on_stage(done, "simulated", lacking), (100, 45))
    assert "✕ MISSING  no figures: this step was never recorded on a GPU" in text
    assert "take-away" not in text and "than torch" not in text and "You were asked" not in text


def test_what_a_failure_has_said_is_not_a_wrong_result_too():
    failed = Check(candidate="naive", inputs="the case's inputs", ok=False, message="it broke")
    broken = records.outcome(
        "baseline", checks=(failed,), failure=Failure(kind="error", reason="naive: it broke")
    )
    text = shown(on_stage(broken), (100, 45))
    assert text.count("it broke") == 1 and "WRONG" not in text


def test_counters_that_are_forbidden_here_come_from_the_recording():
    table = Table(
        columns=(Column(name="counter"), Column(name="value", unit="share")),
        rows=(("DRAM", 0.004),),
    )
    recording = with_outcome(records.outcome("rows", table=records.ROWS, counters=table))
    done = records.outcome("rows", counters_reason="ERR_NVGPUCTRPERM: not permitted here")
    text = shown(on_stage(done, recording=recording))
    assert (
        text.index("not permitted here")
        < text.index("▣ RECORDED  Test GPU 9000")
        < text.index("DRAM")
    )
    assert "0.400 %" in text


def test_a_lowering_and_words_are_shown():
    form = Form(name="ptx", text="\n".join(f"add.f32 %f{i};" for i in range(80)))
    lowered = Lowering(
        candidate="naive", kernel="add_one", target="sm_90", registers=12, spills=0, shared=0,
        shared_limit=1024, num_warps=4, stages=(form,),
    )  # fmt: skip
    done = records.outcome(
        "rows", lowerings=(lowered,), text="said", output="\x1b[31mprinted", note="by the way"
    )
    everything = scrolled(at("rows", with_outcome(done)), (80, 24))
    assert "add_one  for sm_90" in everything and "add.f32 %f79;" in everything
    assert all(words in everything for words in ("said", "│ printed", "by the way"))


def test_a_step_that_the_record_lacks_says_so():
    held = records.record()
    lacking = replace(held, events=tuple(e for e in held.events if e.step != "rows"))
    assert "there is no outcome of 5/rows to show" in shown(at("rows", lacking))


def growing_names(talk):
    return [entry.result.name for entry in entries(talk.state, talk.reading)]


def test_the_growing_table_gives_nothing_away():
    assert growing_names(talk_of()) == []
    assert growing_names(at("baseline")) == ["naive", "torch"]
    at_best = ["naive", "torch", "triton block 1,024"]
    assert growing_names(at("blocks")) == at_best, "a sweep counts at its best point"


def test_the_growing_table_goes_on_from_earlier_sections():
    earlier = replace(records.SECTION, number=1, title="Before")
    done = replace(next(o for o in records.outcomes() if o.step == "baseline"), section=1)
    talk = on_stage(None)
    assert talk.reading.talk is not None
    events = (
        Event(kind="outline", section=1, outline=earlier),
        Event(kind="outcome", at=records.AT, section=1, step="baseline", outcome=done),
    )
    joined = replace(talk.reading.talk, events=(*talk.reading.talk.events, *events))
    found = entries(talk.state, replace(talk.reading, talk=joined))
    assert [entry.address for entry in found] == [(1, "baseline"), (1, "baseline")], "not the sweep"
    assert {entry.shown.badge for entry in found} == {Badge.LIVE}


def test_the_growing_table_stands_beside_where_there_is_room():
    wide = drawn(at("baseline"), (160, 45))
    assert "One element per program" in wide[4] and "so far" in wide[4]
    narrow = drawn(at("baseline"), (80, 24))
    assert not any("so far" in line for line in narrow)
    assert "so far" in scrolled(at("baseline"), (80, 24)), "below, on scroll"


def test_the_exercise_ends_a_section():
    text = shown(press(at("broken"), "right"))
    assert "Now you: add one" in text and "3 minutes" in text and "Finish the kernel." in text


def test_help_names_every_key_at_every_size():
    for size in SIZES:
        text = scrolled(press(at("baseline"), "?"), size)
        for key in stage.KEYS:
            assert {"right": "→", "left": "←", "up": "↑", "down": "↓"}.get(
                key, key
            ).lower() in text.lower()
        assert all(badge.value in text for badge in Badge)


def test_jumping_shows_what_was_typed_and_what_it_can_mean():
    talk = press(talk_of(), "g", "b", "down")
    text = shown(talk)
    assert "Jump to  b" in text and "▸ 5/blocks" in text and "Esc leave" in text
    assert "no step of that name or title" in shown(press(talk, "z"))


def test_a_long_list_of_steps_keeps_the_picked_one_in_sight():
    steps = tuple(
        StepOutline(slug=f"s{i}", title="", phase="naive", kind="show") for i in range(90)
    )
    many = SectionOutline(number=5, title="", minutes=1, module="", claim="", steps=steps)
    talk = talk_of(Record(records.MACHINE, (Event(kind="outline", section=5, outline=many),)))
    press(talk, "g", *(["down"] * 70))
    text = shown(talk, (80, 24))
    assert "▸ 5/s70" in text and "more; type to narrow down" in text


def test_notes_come_and_go():
    talk = at("baseline")
    assert "Ask the room first." not in shown(talk)
    assert "│ Ask the room first." in shown(press(talk, "n"))
    assert "Ask the room first." not in shown(press(talk, "n"))


def test_a_blank_screen_is_black():
    talk = press(at("baseline"), "b")
    assert not shown(talk).strip(" \n")
    colours = Medium(colours=ColorSystem.TRUECOLOR)
    assert all("48;2;0;0;0" in line for line in drawn(talk, (80, 24), colours))


def test_a_small_terminal_asks_for_room_and_goes_on():
    talk = press(talk_of(), "right")
    assert drawn(talk, (59, 16))[0] == "59×16: give me 60×16"
    assert drawn(talk, (8, 3)) == ["8×3: giv", "", ""]
    assert "One element per program" in shown(press(talk, "right"), (60, 16))


def test_scrolling_back_survives_a_blank_screen():
    talk = press(at("blocks"), "home")
    drawn(talk, (80, 24))
    before = drawn(press(talk, "down", "down"), (80, 24))
    assert "↑ 2 lines above" in "\n".join(before)
    press(talk, "b")
    press(talk, "b")
    assert drawn(talk, (80, 24)) == before


def test_a_long_message_says_how_much_of_it_is_left_out():
    talk = at("baseline")
    talk.tell(stage.Said("\n".join(f"line {i}" for i in range(40))))
    text = shown(talk, (80, 24))
    assert "line 6" in text and "… 33 more lines" in text and "? help" in text
    talk.tell(stage.Said("a short one"))
    assert "a short one" in shown(talk, (80, 24)) and "left out" not in shown(talk, (80, 24))


def test_a_title_that_fills_the_screen_leaves_a_line_for_the_step():
    endless = replace(records.SECTION, title="memory wall " * 90)
    lines = drawn(talk_of(records.record(endless)), (60, 16))
    assert len(lines) == 16


def test_a_long_take_away_scrolls_with_the_rest():
    long = replace(records.STEPS[0], says=" ".join(f"word{i}" for i in range(60)))
    held = records.record(replace(records.SECTION, steps=(long, *records.STEPS[1:])))
    talk = talk_of(held)
    everything = scrolled(talk, (80, 24))
    assert all(f"word{i}" in everything for i in range(60))


def test_a_sentence_that_cannot_be_computed_is_named():
    broken = replace(records.STEPS[0], says="{{ 7 - 7 }}")
    talk = talk_of(records.record(replace(records.SECTION, steps=(broken, *records.STEPS[1:]))))
    assert "No take-away: a sentence may only" in shown(talk)


def test_a_screen_that_cannot_be_drawn_names_the_error():
    frame = trouble(ValueError("\x1b[31mno such thing"), Canvas(80, 24))
    text = "\n".join(Medium().text(line) for line in frame.lines)
    assert "ValueError: no such thing" in text and len(frame.lines) == 24


STRUCTURE = ("kind", "phase", "slug", "step", "at", "about", "says", "section", "mode", "mix")


@pytest.mark.parametrize("keep", [STRUCTURE, ("at", "kind", "slug", "step"), ()], ids=len)
@pytest.mark.parametrize("size", SIZES)
def test_a_hostile_record_sends_no_escape_of_its_own(keep, size):
    talk = talk_of(hostile(records.record(), keep))
    colours = Medium(colours=ColorSystem.TRUECOLOR)
    seen = ""
    for _ in range(2 * len(talk.state.addresses)):
        for view in ((), ("?",), ("x", "g", "5"), ("escape", "n"), ("n", "1")):
            press(talk, *view)
            seen += "".join(drawn(talk, size)) + "".join(drawn(talk, size, colours))
        press(talk, "right")
    ours = re.sub(r"\x1b\[[\d;]*m", "", seen)
    assert not set(ours) & {"\x1b", "\x9b", "\x07", "\r", "\x00", "\u202e"}
    assert "pwned" not in ours and "[bold red]" in ours, "markup stays words"


def test_the_picture_of_the_readme_is_the_same_every_time():
    first, second = (picture(talk_of(), (5, "baseline")) for _ in range(2))
    assert first == second
    assert "RECORDED" in first and "http://www.w3.org/2000/svg" in first
    assert set(re.findall(r"https?://[^\"]+", first)) == {"http://www.w3.org/2000/svg"}
