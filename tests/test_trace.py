"""A trace: sizes and targets compiled without a GPU, walked by keys, kept in a record."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from talk import source, wire
from talk.gpu import lowering
from talk.gpu.lowering import Request, lower_apart
from talk.gpu.measure import Bench
from talk.gpu.perform import Stand, perform
from talk.look import Badge
from talk.outcome import Outcome
from talk.reading import Reading
from talk.record import Event, Record, SectionOutline, StepOutline
from talk.rows import widest_load
from talk.stage import Press, State, advance
from talk.terminal.palette import theme
from talk.terminal.trace import Look, chosen_line, trace, traced_lines
from tests.interpreted import interpreting
from tests.records import AT, MACHINE

with interpreting():
    from demos import s7_first_kernel

STEP = s7_first_kernel.SECTION.step("trace")
MODULE = "demos.s7_first_kernel"
ALIGNED, RAGGED = 1048576, 1000001


@pytest.fixture(scope="module")
def outcome():
    """The first trace of section 7, as a machine without a GPU makes it."""
    blank = Outcome(section=7, step="trace", mode="simulated")
    stand = Stand(module=MODULE, bench=Bench(interpreted=True))
    behind = source.mark_shown(
        source.behind(MODULE, "trace"), [("demos/kernels/vector_add.py", "add_kernel")]
    )
    return replace(perform(STEP, blank, stand), behind=behind)


@pytest.fixture
def reading(outcome):
    step = StepOutline(slug="trace", title="T", phase="profile", kind="trace")
    section = SectionOutline(number=7, title="T", minutes=1, module=MODULE, claim="", steps=(step,))
    events = (
        Event(kind="outline", at=AT, section=7, outline=section),
        Event(kind="outcome", at=AT, section=7, step="trace", outcome=outcome),
    )
    machine = replace(MACHINE, mode="simulated")
    return Reading(talk=Record(machine, events), live=True)


def of(outcome, target, n):
    return next(x for x in outcome.lowerings if (x.target, x.at) == (target, {"n": n}))


def test_a_compiled_kernel_is_no_simulation(outcome, reading):
    assert outcome.mode == "compiled" and outcome.failure is None
    number = reading.number("7/trace[triton, sm_90, 1048576].registers")
    assert number.badge is Badge.LIVE and number.value > 0


def test_an_aligned_length_is_loaded_in_vectors_and_another_one_by_one(outcome, reading):
    assert widest_load(of(outcome, "sm_90", ALIGNED).machine_code) == 16
    assert widest_load(of(outcome, "sm_90", RAGGED).machine_code) == 4
    widest, loads = (f"7/trace[triton, sm_90, {RAGGED}].{field}" for field in ("widest", "loads"))
    assert (reading.number(widest).value, reading.number(loads).value) == (4, 8)
    assert reading.number(f"7/trace[triton, sm_90, {ALIGNED}].loads").value == 2


def test_a_launch_says_what_the_compiler_was_told(outcome):
    aligned, ragged = (of(outcome, "sm_90", n).signature for n in (ALIGNED, RAGGED))
    assert aligned["x_ptr"] == "*fp32, divisible by 16" == ragged["x_ptr"]
    assert (aligned["n"], ragged["n"]) == ("i32, divisible by 16", "i32")
    assert aligned["BLOCK"] == "512"


DOES = {
    "ttir": (r"tt\.load", r"tt\.store", r"arith\.addf"),
    "ttgir": (r"tt\.load", r"tt\.store", r"arith\.addf"),
    "ptx": (r"ld\.global", r"st\.global", r"add\.f32"),
    "sass": (r"\bLDG", r"\bSTG", r"\bFADD"),
}


@pytest.mark.parametrize("n", [ALIGNED, RAGGED])
@pytest.mark.parametrize("form", DOES)
def test_each_line_became_what_it_does(outcome, form, n):
    found = of(outcome, "sm_90", n)
    stage = next(stage for stage in found.stages if stage.name == form)
    python = source.parse(source.ROOT, "demos.kernels.vector_add").code("add_kernel").text
    lines, text = python.split("\n"), stage.text.split("\n")
    load, store, add = DOES[form]
    for at, line in stage.lines:
        if re.search(load, text[at - 1]):
            assert "tl.load" in lines[line - 1]
        elif re.search(store, text[at - 1]) or re.search(add, text[at - 1]):
            assert "tl.store(out_ptr + i, x + y" in lines[line - 1]
    assert all(any(re.search(what, row) for row in text) for what in DOES[form])


def test_amd_stands_beside_nvidia(outcome):
    assert {x.target for x in outcome.lowerings} == {"sm_90", "gfx942"}
    names = [stage.name for stage in of(outcome, "gfx942", ALIGNED).stages]
    assert names == ["ttir", "ttgir", "llir", "amdgcn"]


def test_a_trace_survives_its_record_and_stays_small(outcome):
    line = wire.dumps(outcome)
    assert wire.from_plain(Outcome, __import__("json").loads(line)) == outcome
    assert len(line) < 300_000
    assert str(source.ROOT) not in line and str(Path.home()) not in line.replace("/root", "~")


def test_targets_that_are_not_whole_keep_their_figures_alone():
    step = replace(STEP, sizes=({"n": 256},), targets=("sm_80", "sm_1"), whole=())
    blank = Outcome(section=7, step="trace", mode="simulated")
    # The step is found by its name over there, so its own candidates are compiled.
    found = perform(step, blank, Stand(module=MODULE, bench=Bench(interpreted=True)))
    good, bad = found.lowerings
    assert good.stages == () and good.counts["ptx"] and good.registers
    assert bad.failure.startswith("no target 'sm_1': there is sm_75")


def test_without_a_gpu_its_own_target_is_left_out_aloud():
    step = replace(STEP, sizes=(), targets=("device", "sm_80"))
    blank = Outcome(section=7, step="trace", mode="simulated")
    found = perform(step, blank, Stand(module=MODULE, bench=Bench(interpreted=True)))
    assert [x.target for x in found.lowerings] == ["sm_80"]
    assert found.note == "no GPU here: compiled for the named targets alone"


@pytest.mark.parametrize(
    ("counts", "bytes"),
    [
        ({"ld.global.v4.b32": 1, "ld.global.b32": 2}, 16),
        ({"ld.global.v2.b64": 1}, 16),
        ({"ld.global.b16": 1}, 2),
        ({"global_load_dwordx4": 1}, 16),
        ({"buffer_load_dword": 1}, 4),
        ({"ld.param.b64": 1}, None),
    ],
)
def test_the_widest_load_is_read_from_the_instructions(counts, bytes):
    assert widest_load(counts) == bytes


# On screen


def text(renderable, width=80):
    console = Console(width=width, record=True, file=StringIO(), theme=theme("both"))
    console.print(renderable)
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_line_is_followed_through_every_form(outcome, width):
    words = text(trace(outcome.lowerings, outcome.code, Look(), walked=True), width)
    assert "▸     x = tl.load(x_ptr + i, inside)" in words
    assert "ld.global.v4.b32" in words and "buffer_load" in words  # NVIDIA, and AMD beside it
    assert all(len(line) <= width for line in words.splitlines())
    for form in ("TTIR", "TTGIR", "LLVM IR", "PTX", "SASS", "AMD code"):
        assert form in words


def test_keys_choose_the_line_the_form_and_the_kernel(outcome):
    kept = outcome.lowerings[0]
    lines = traced_lines(kept)
    first = chosen_line(kept, 0)
    assert chosen_line(kept, 1) == lines[(lines.index(first) + 1) % len(lines)]
    assert chosen_line(kept, len(lines)) == first == chosen_line(kept, -len(lines))
    sass = text(trace(outcome.lowerings, outcome.code, Look(form=1), walked=True))
    assert "LDG.E.128" in sass
    ragged = text(trace(outcome.lowerings, outcome.code, Look(variant=2), walked=True))
    assert "sm_90 · n 1,000,001" in ragged


def test_a_form_is_shown_whole_with_its_lines_marked(outcome):
    look = Look(whole=True)
    words = text(trace(outcome.lowerings, outcome.code, look, walked=True), 100).splitlines()
    assert "PTX, whole" in words[0] and any("ret;" in line for line in words)
    marked = [line for line in words if line.startswith("▸")]
    assert any("ld.global.v4.b32" in line for line in marked) and len(marked) < len(words) / 2


def test_on_a_page_the_first_load_is_told(outcome):
    words = text(trace(outcome.lowerings, outcome.code, Look(), walked=False))
    assert words.count("▸ x = tl.load(x_ptr + i, inside)") == 4
    assert "registers per thread" in words and "PTX, " in words


SECTION = SectionOutline(
    number=7, title="T", minutes=1, module="", claim="",
    steps=(
        StepOutline(slug="trace", title="T", phase="profile", kind="trace"),
        StepOutline(slug="after", title="A", phase="fuse", kind="trace"),
    ),
)  # fmt: skip
SHOWN = State(
    sections=(SECTION,), section=7, slug="trace", mode="live", done=frozenset({(7, "trace")}),
    rows=5, extent=50,
)  # fmt: skip


def press(state, *keys):
    for key in keys:
        state, _ = advance(state, Press(key))
    return state


def test_a_trace_is_walked_by_keys_and_scrolled_where_a_form_is_whole():
    state = press(SHOWN, "down", "j", "up", "tab", "v")
    assert (state.traced, state.form, state.variant, state.scroll) == (1, 1, 1, 0)
    whole = press(state, "w", "down", "down")
    assert whole.whole and whole.scroll == 2 and whole.traced == 1
    assert not press(whole, "w").whole


def test_before_it_is_performed_and_elsewhere_the_keys_scroll():
    waiting = replace(SHOWN, done=frozenset())
    assert press(waiting, "down").scroll == 1 and press(waiting, "tab").form == 0
    assert press(SHOWN, "c", "down").scroll == 1


def test_another_step_is_looked_at_from_its_beginning():
    moved = press(SHOWN, "down", "tab", "w", "right")
    assert moved.slug == "after" and (moved.traced, moved.form, moved.whole) == (0, 0, False)


def test_a_remote_s_escape_and_f5_do_nothing_here():  # case S7
    assert press(SHOWN, "escape", "f5") == SHOWN


# The process that compiles


def one(target="sm_90", **more):
    (found,) = lower_apart(
        Request(
            module="tests.lowering_kernels",
            function="add",
            inputs="pair",
            targets=(target,),
            **more,
        )
    )
    return found


def test_it_is_kept_for_further_requests_and_replaced_once_it_was_killed():
    assert not one().failure
    kept = lowering._kept[0]._child.pid
    assert not one("sm_80").failure and lowering._kept[0]._child.pid == kept
    os.kill(kept, signal.SIGKILL)
    assert not one().failure and lowering._kept[0]._child.pid != kept


def test_an_edit_is_compiled_and_not_what_was_read_before(tmp_path, monkeypatch):  # case K11
    package = tmp_path / "edited_demo"
    package.mkdir()
    (package / "__init__.py").write_text("")
    kernel = package / "kernel.py"
    body = (Path(__file__).parent / "lowering_kernels.py").read_text()
    kernel.write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    asked = Request(module="edited_demo.kernel", function="add", inputs="pair", targets=("sm_90",))
    (before,) = lower_apart(asked)
    kernel.write_text(body.replace("x + y, inside)", "x * y, inside)"))
    (after,) = lower_apart(asked)
    assert not before.failure and not after.failure
    assert "add.f32" in before.counts["ptx"] and "add.f32" not in after.counts["ptx"]
    assert "mul.f32" in after.counts["ptx"]


def test_nothing_is_left_running_at_the_end():
    one()
    child = lowering._kept[0]._child
    lowering.end_compiler()
    assert child.poll() is not None and lowering._kept == []
