"""Pictures of the whole talk: what they hold, what is missing, and nothing told too early."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from talk.collect import calibration, roofline, rows, score
from talk.outcome import Outcome, Prediction, Timing
from talk.reading import Reading
from talk.record import Ceilings, Event, Record, SectionOutline, StepOutline
from talk.stage import State
from talk.terminal.collected import NOTHING, collected
from talk.terminal.palette import theme
from talk.terminal.so_far import so_far
from tests.records import AT, MACHINE
from tests.screen import press, scrolled, talk_of

CEILINGS = Ceilings(
    bandwidth_gbps={"read": 4000.0, "2:1": 5000.0},
    launch_us=2.0,
    programs_per_s=1e9,
    array_bytes=2**30,
    tflops={"fp32": 50.0, "bf16": 500.0},
)


def timing(candidate, ms, **fields):
    given = {"bytes": 10**9, "flops": 10**9, "mix": "2:1", **fields}
    return Timing(candidate=candidate, median_ms=ms, p20_ms=ms, p80_ms=ms, min_ms=ms, n=10, **given)


STEPS = (
    StepOutline(
        slug="guess", title="How fast?", phase="naive", kind="predict", about="add[triton].share",
        choices={"slow": (0.0, 0.5), "fast": (0.5, 9.0)},
    ),
    StepOutline(slug="add", title="Add", phase="rewrite", kind="measure"),
    StepOutline(slug="others", title="Others", phase="fuse", kind="benchmark"),
    StepOutline(
        slug="all", title="All", phase="fuse", kind="collect", picture="roofline",
        of=("4/add[triton]", "4/add[tiny]", "4/others[a · b, triton]", "4/gone[triton]"),
    ),
)  # fmt: skip
SECTION = SectionOutline(
    number=4, title="Roofs", minutes=15, module="demos.s4", claim="", steps=STEPS
)
OUTCOMES = (
    Outcome(section=4, step="guess", mode="live", prediction=Prediction(model=0.9)),
    Outcome(
        section=4,
        step="add",
        mode="live",
        timings=(timing("triton", 0.25), timing("tiny", 0.003, bytes=1000, flops=100)),
    ),
    Outcome(
        section=4,
        step="others",
        mode="live",
        timings=(timing("triton", 1.0, flops=4 * 10**11, arithmetic="bf16", case="a · b"),),
    ),
)


def record(*without):
    events = [Event(kind="outline", at=AT, section=4, outline=SECTION)]
    events += [
        Event(kind="outcome", at=AT, section=4, step=outcome.step, outcome=outcome)
        for outcome in OUTCOMES
        if outcome.step not in without
    ]
    return Record(replace(MACHINE, ceilings=CEILINGS), tuple(events))


def reading(*without):
    return Reading(recording=record(*without))


def test_a_point_stands_where_its_bytes_and_operations_put_it():
    found = roofline(STEPS[3].of, reading())
    add, product = found.points
    assert (add.intensity, add.tflops) == (1.0, pytest.approx(4.0))
    # Under the best streaming ceiling, 5,000 GB/s, one FLOP per byte may reach 5 TFLOP/s.
    assert (add.wall, add.share) == ("memory", pytest.approx(0.8))
    assert product.wall == "arithmetic, bf16" and product.share == pytest.approx(400 / 500)
    assert float(found.slope) == 5000 and [r.ridge for r in found.roofs] == [10.0, 100.0]


def test_a_launch_bound_point_claims_no_rate():  # case M1
    found = roofline(STEPS[3].of, reading())
    (tiny,) = found.launch_bound
    assert tiny.wall == "launch" and tiny.row["gbps"].value is None


def test_what_was_removed_takes_its_point_with_it_and_says_so():
    found = roofline(STEPS[3].of, reading("others"))
    assert [p.row.ref for p in found.points] == ["4/add[triton]"]
    assert dict(found.unplaced) == {
        "4/others[a · b, triton]": "not measured",
        "4/gone[triton]": "no such step is known",
    }
    assert rows(["4/add[nobody]", "add"], reading()).missing == (
        ("4/add[nobody]", "its step has no such row"),
        ("add", "it names no row: write 5/blocks[256]"),
    )


def test_a_card_without_tensor_cores_is_held_against_its_float32_roof():  # case E2
    plain = replace(CEILINGS, tflops={"fp32": 50.0})
    kept = record()
    held = Reading(recording=replace(kept, machine=replace(kept.machine, ceilings=plain)))
    product = roofline(STEPS[3].of, held).points[1]
    assert product.share == pytest.approx(400 / 50)


def test_without_ceilings_there_is_no_roofline():
    bare = replace(record(), machine=replace(MACHINE, ceilings=None))
    assert roofline(STEPS[3].of, Reading(recording=bare)) is None


def test_questions_are_scored_and_stay_open_until_measured():
    (asked,) = calibration((SECTION,), reading(), votes=lambda address: {"slow": 3})
    assert (asked.room_right, asked.model_right) == (False, True)
    assert asked.model_over_measured == pytest.approx(0.9 / 0.8)
    (early,) = calibration((SECTION,), reading(), told=lambda address: False)
    assert not early.settled and early.question.measured is None and early.model_right is None
    assert score([True, None, False]) == (1, 2)


def drawn(step, state, width=100):
    console = Console(width=width, record=True, file=StringIO(), theme=theme("both"))
    console.print(collected(step, state, reading()))
    return console.export_text()


def test_the_roofline_on_screen_names_roofs_points_and_gaps():
    words = drawn(STEPS[3], State())
    assert "memory 5,000 GB/s" in words and "fp32 50.0 TFLOP/s (ridge 10.0)" in words
    assert "launch-bound" in words and "✕ 4/gone[triton]: no such step is known" in words
    assert "→ FLOP per byte, logarithmic" in words and "↑ TFLOP/s, logarithmic" in words
    lines = [line for line in words.splitlines() if "│" in line]
    assert all(any(letter in line for line in lines) for letter in "abC")
    assert "a capital is launch-bound" in words


def test_the_legend_stands_side_by_side_at_eighty_columns():
    console = Console(width=78, record=True, file=StringIO(), theme=theme("both"))
    console.print(collected(STEPS[3], State(), reading()))
    rows = [line.split() for line in console.export_text().splitlines()]
    assert ["a", "triton", "4/add", "1.00", "4.00", "4,000", "80.0", "%", "memory"] in [
        row[:9] for row in rows
    ]
    assert ["C", "tiny", "4/add", "0.100", "–", "–", "–", "launch-bound"] in [
        row[:8] for row in rows
    ]


def test_what_comes_later_is_not_given_away_until_it_is_done():
    early = State(sections=(SECTION,), section=4, slug="add")
    assert "✕ 4/others[a · b, triton]: not measured yet" in drawn(STEPS[3], early)
    done = replace(early, done=frozenset({(4, "others")}))
    assert "✕ 4/others" not in drawn(STEPS[3], done)


def test_who_jumps_is_shown_what_is_recorded():
    words = drawn(STEPS[3], State(sections=(SECTION,), section=4, slug="all"))
    assert "80.0 %" in words and "▣ RECORDED" in words


def test_the_table_compares_with_the_first_and_the_calibration_counts():
    table = replace(STEPS[3], picture="table", of=("4/add[triton]", "4/add[tiny]"))
    assert "overhead-bound" in drawn(table, State())
    asked = State(sections=(SECTION,), section=4, slug="guess")
    words = drawn(replace(STEPS[3], picture="calibration"), asked)
    assert "open" in words and "1 still open" in words
    # Of the recording too, where this stage has other sections.
    words = drawn(replace(STEPS[3], picture="calibration"), State())
    assert "the room did not vote, the model 1 of 1" in words


def test_the_roofline_so_far_is_a_key_away_and_holds_what_was_done():
    talk = press(talk_of(record()), "o")
    early = scrolled(talk, (80, 24))
    assert "memory 5,000 GB/s" in early and "any key back" in early
    assert "4/add" not in early and "✕" not in early, "nothing is given away, nor missed"
    press(talk, "x", "right", "right", "o")
    assert talk.state.slug == "add"
    late = scrolled(talk, (80, 24))
    assert "a  triton" in late and "so far" in late and "4/others" not in late
    assert press(talk, "x").state.view == "step"


def test_a_point_that_was_done_and_left_nothing_is_named():
    state = State(sections=(SECTION,), section=4, slug="all", done=frozenset({(4, "others")}))
    console = Console(width=100, record=True, file=StringIO(), theme=theme("both"))
    console.print(*so_far(state, reading("others")))
    assert "✕ 4/others[a · b, triton]: not measured" in console.export_text()


def test_before_the_ceilings_are_known_the_roofline_says_so():
    bare = replace(record(), machine=replace(MACHINE, ceilings=None))
    assert any(NOTHING in str(part) for part in so_far(State(), Reading(recording=bare)))
