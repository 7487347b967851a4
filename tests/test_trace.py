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

from talk import source, traced, wire
from talk.gpu import lowering
from talk.gpu.lowering import Request, lower_apart
from talk.gpu.measure import Bench
from talk.gpu.perform import Stand, perform
from talk.look import Badge
from talk.outcome import Outcome
from talk.reading import Reading
from talk.record import Event, Record, SectionOutline, StepOutline
from talk.rows import widest_load
from talk.stage import Arrived, Command, Fitted, Press, State, advance
from talk.terminal.palette import theme
from talk.terminal.trace import Look, trace
from tests import screen
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


def test_the_gpu_that_is_here_comes_first(monkeypatch):
    monkeypatch.setattr("talk.gpu.perform.device_target", lambda: ("sm_86",))
    step = replace(STEP, sizes=(), targets=("sm_80",), whole=("sm_80",))
    live = Stand(module=MODULE, bench=Bench())
    found = perform(step, Outcome(section=7, step="trace", mode="live"), live)
    assert [(x.target, bool(x.stages)) for x in found.lowerings] == [
        ("sm_86", True),
        ("sm_80", True),
    ]
    assert found.mode == "live"


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


def shown(outcome, width=80, **look):
    return text(trace(outcome.lowerings, outcome.code, Look(**look)), width)


@pytest.mark.parametrize("rows", [4, 13, 19, 34, 80])
@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_line_is_followed_through_every_form(outcome, width, rows):
    words = shown(outcome, width, rows=rows)
    assert "▸     x = tl.load(x_ptr + i, inside)" in words and "ld.global.v4.b32" in words
    assert all(len(line) <= width for line in words.splitlines()), "cut, never wrapped"
    for form in ("TTIR", "TTGIR", "LLVM", "PTX", "SASS"):
        assert form in words


@pytest.mark.parametrize("width", [80, 140])
def test_both_makers_stand_side_by_side(outcome, width):
    lines = shown(outcome, width, rows=13).splitlines()
    assert any("sm_90 " in line and "gfx942 " in line for line in lines)
    assert any(re.match(r" +\d+ \w+\.\w+ .* \d+ v_\w+", line) for line in lines)
    for load in ("ld.global.v4.b32 {", "buffer_load_dwordx2 v"):
        assert any(load in line for line in lines)


def test_a_narrow_screen_shows_one_maker_and_a_key_the_other(outcome):
    assert "AMDGCN" not in shown(outcome, 60, rows=13)
    assert "▸AMDGCN" in shown(outcome, 60, rows=13, target=1)


def test_what_a_launch_takes_and_was_told_is_said(outcome):
    aligned, ragged = (shown(outcome, variant=n) for n in (0, 1))
    assert "add_kernel · n 1,048,576 · 4 warps  n: i32, divisible by 16" in aligned
    assert "add_kernel · n 1,000,001 · 4 warps  n: i32\n" in ragged
    registers = of(outcome, "sm_90", RAGGED).registers
    assert f"sm_90 {registers} registers, spills 0, shared 0" in ragged
    assert "ld.global.v4.b32 × 2" in aligned and "ld.global.b32 × 8" in ragged


def test_a_program_that_does_not_fit_says_what_it_needs_and_may_have(outcome):  # case E8
    large = replace(outcome.lowerings[0], shared=300_000)
    words = text(trace([large], outcome.code, Look()))
    needs = "one program needs 293 KiB of shared memory, and may have 227 KiB."
    assert f"✗ add_kernel on sm_90: {needs}" in " ".join(words.split())
    assert "✗ 293 KiB of 227 KiB" in words


def test_what_did_not_compile_is_a_sentence_below_the_table(outcome):
    failed = replace(outcome.lowerings[0], stages=(), counts={}, failure="Cannot select: x.")
    words = text(trace([failed], outcome.code, Look()))
    assert words.splitlines()[-1] == "✗ Cannot select: x."


def test_lines_are_counted_on_from_the_first_load_and_round(outcome):
    kept = traced.kept(outcome.lowerings)
    lines = traced.python_lines(kept[0], kept)
    first = traced.line_at(kept[0], kept, 0)
    assert traced.line_at(kept[0], kept, 1) == lines[lines.index(first) + 1]
    assert traced.line_at(kept[0], kept, len(lines)) == first
    assert traced.line_at(kept[0], kept, -len(lines)) == first


def test_the_line_stays_when_the_target_or_the_size_changes(outcome):
    kept = traced.kept(outcome.lowerings)
    every = [traced.chosen(kept, v, t) for v in range(2) for t in range(2)]
    assert len({traced.line_at(one, kept, 2) for one in every}) == 1
    assert {(one.target, one.at["n"]) for one in every} == {
        (target, n) for target in ("sm_90", "gfx942") for n in (ALIGNED, RAGGED)
    }


def test_a_key_goes_through_the_forms(outcome):
    names = [traced.form_at(outcome.lowerings[0], n).name for n in range(-3, 4)]
    assert names == ["ttir", "ttgir", "llir", "ptx", "sass", "ttir", "ttgir"]
    assert "▸SASS" in shown(outcome, form=1, rows=13)
    assert "LDG.E.128" in shown(outcome, form=1, rows=13)


def test_the_lines_that_move_data_are_left_out_last():
    found = [(1, "mov.u32 %r1, 0x0;"), (2, "add.f32 %f1;"), (3, "@%p1 ld.global.b32 { %r1 };")]
    assert traced.most_telling(found, 1) == [found[2]]
    assert traced.most_telling(found, 2) == found[1:]
    assert traced.most_telling(found, 9) == found and traced.most_telling(found, -1) == []
    assert traced.families({"mov.u32": 9, "add.f32": 1, "ld.param.b64": 5, "st.global.b32": 1})[
        0
    ] == ("st.global.b32", 1)


def test_a_form_is_shown_whole_with_its_lines_marked(outcome):
    words = shown(outcome, 100, whole=True).splitlines()
    assert "sm_90, PTX whole" in words[0] and any("ret;" in line for line in words)
    marked = [line for line in words if line.startswith("▸")]
    count = f"{len(marked)} of {len(words) - 2} lines"
    assert words[1] == f"{count} from  x = tl.load(x_ptr + i, inside)"
    assert any("ld.global.v4.b32" in line for line in marked) and len(marked) < len(words) / 2


def test_on_a_page_the_first_load_is_told_in_every_form(outcome):
    words = text(trace(outcome.lowerings, outcome.code))
    assert words.count("▸ x = tl.load(x_ptr + i, inside)") == 4
    assert words.count("= tt.load") == 6 and words.count("= amdg.buffer_load") == 2
    assert "LDG.E.128 R" in words
    assert len(words.splitlines()) < 100


SECTION = SectionOutline(
    number=7, title="T", minutes=1, module="", claim="",
    steps=(
        StepOutline(slug="trace", title="T", phase="profile", kind="trace"),
        StepOutline(slug="after", title="A", phase="fuse", kind="trace"),
    ),
)  # fmt: skip
DONE = frozenset({(7, "trace")})
SHOWN = State(
    sections=(SECTION,), section=7, slug="trace", mode="live", done=DONE, traceable=DONE,
    rows=5, extent=50,
)  # fmt: skip


def press(state, *keys):
    for key in keys:
        state, _ = advance(state, Press(key))
    return state


def test_a_trace_is_walked_by_keys_and_two_of_them_scroll():
    state = press(SHOWN, "down", "down", "up", "tab", "v", "t", "t")
    assert (state.traced, state.form, state.variant, state.target) == (1, 1, 1, 2)
    assert state.scroll == 0 and press(state, "j", "j", "k").scroll == 1
    whole = press(state, "w", "down")
    assert whole.whole and whole.seeking and whole.traced == 2
    assert not press(whole, "w").whole


def test_a_slide_s_command_walks_it_too():
    state, _ = advance(SHOWN, Command("trace-form", 7, "trace"))
    assert state.form == 1
    elsewhere, _ = advance(replace(SHOWN, slug="after"), Command("trace-form", 7, "trace"))
    assert elsewhere.form == 0 and elsewhere.message == "There is no trace here."


def test_what_is_marked_is_scrolled_to_once():
    seeking = press(SHOWN, "w")
    found, _ = advance(seeking, Fitted(5, 50, 30))
    assert found.scroll == 30 and not found.seeking
    assert advance(found, Fitted(5, 50, 7))[0].scroll == 30, "the view follows from here on"


def test_before_it_is_performed_and_elsewhere_the_keys_scroll():
    waiting = replace(SHOWN, done=frozenset())
    assert press(waiting, "down").scroll == 1 and press(waiting, "tab").form == 0
    assert press(SHOWN, "c", "down").scroll == 1


def test_figures_alone_are_no_trace_to_walk_through(outcome):
    state = replace(SHOWN, done=frozenset(), traceable=frozenset(), running=(7, "trace"))
    whole, _ = advance(state, Arrived(outcome))
    assert whole.tracing
    bare = replace(outcome, lowerings=tuple(replace(x, stages=()) for x in outcome.lowerings))
    assert not advance(whole, Arrived(bare))[0].tracing


def test_another_step_is_looked_at_from_its_beginning():
    moved = press(SHOWN, "down", "tab", "t", "w", "right")
    assert moved.slug == "after"
    assert (moved.traced, moved.form, moved.target, moved.whole) == (0, 0, 0, False)


def test_a_remote_s_escape_and_f5_do_nothing_here():  # case S7
    assert press(SHOWN, "escape", "f5") == SHOWN


# A replay on a whole screen


@pytest.fixture
def replayed(outcome):
    """The recorded trace as a machine with neither torch nor Triton shows it."""
    step = StepOutline(slug="trace", title="One line", phase="profile", kind="trace")
    section = SectionOutline(number=7, title="T", minutes=1, module=MODULE, claim="", steps=(step,))
    events = (
        Event(kind="outline", at=AT, section=7, outline=section),
        Event(kind="outcome", at=AT, section=7, step="trace", outcome=outcome),
    )
    return screen.press(screen.talk_of(Record(MACHINE, events)), "right")


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
def test_a_whole_screen_needs_no_scrolling_to_see_the_line_and_what_it_became(replayed, size):
    for keys, machine in ((), "ld.global.v4"), (("v",), "ld.global.b32"), (("t",), "buffer_load"):
        lines = screen.drawn(screen.press(replayed, *keys), size)
        assert len(lines) == size[1] and max(map(len, lines)) <= size[0]
        seen = "\n".join(lines)
        assert "▸     x = tl.load(x_ptr + i, inside)" in seen and machine in seen
    assert all(word in seen for word in ("Tab form", "w whole", "v variant", "t target"))


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
def test_a_form_shown_whole_opens_at_its_marked_lines_under_its_name(replayed, size):
    seen = screen.shown(screen.press(replayed, "w"), size)
    assert "sm_90, PTX whole" in seen and "ld.global.v4.b32 {" in seen
    assert "lines above" in seen
    seen = screen.shown(screen.press(replayed, "down", "down"), size)
    assert "from  tl.store" in seen and "st.global.v4.b32 [" in seen
    ends = screen.shown(screen.press(replayed, "end"), size)
    assert "ret;" in ends and "sm_90, PTX whole" in ends


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 60)])
def test_a_hostile_trace_neither_leaves_its_lines_nor_writes_escapes(outcome, size):
    names = ("step", "mode", "name", "target")
    step = StepOutline(slug="trace", title="T", phase="profile", kind="trace")
    section = SectionOutline(number=7, title="T", minutes=1, module=MODULE, claim="", steps=(step,))
    events = (
        Event(kind="outline", at=AT, section=7, outline=section),
        Event(
            kind="outcome", at=AT, section=7, step="trace", outcome=screen.hostile(outcome, names)
        ),
    )
    talk = screen.press(screen.talk_of(Record(MACHINE, events)), "right")
    for key in ("down", "tab", "v", "t", "w", "end", "w", "n"):
        lines = screen.drawn(screen.press(talk, key), size)
        assert len(lines) == size[1] and max(map(len, lines)) <= size[0]
        assert not any(character in line for line in lines for character in "\x1b\x07\r\u202e")


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
    """Of the kernel, then of its helper in another file: at the same size, within one second."""
    package = tmp_path / "edited_demo"
    package.mkdir()
    kernel, helper = package / "kernel.py", package / "helper.py"
    body = (Path(__file__).parent / "lowering_kernels.py").read_text()
    body = "from edited_demo.helper import join\n" + body
    join = "import triton\n\n\n@triton.jit\ndef join(x, y):\n    return x - y\n"
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def instructions():
        asked = Request(
            module="edited_demo.kernel", function="add", inputs="pair", targets=("sm_90",)
        )
        (found,) = lower_apart(asked)
        assert not found.failure
        return {name for name in ("add.f32", "sub.f32", "mul.f32") if name in found.counts["ptx"]}

    kernel.write_text(body)
    helper.write_text(join)
    assert instructions() == {"add.f32"}
    kernel.write_text(body.replace("x + y, inside)", "join(x, y), inside)"))
    assert instructions() == {"sub.f32"}
    helper.write_text(join.replace("x - y", "x * y"))
    assert instructions() == {"mul.f32"}


def test_nothing_is_left_running_at_the_end():
    one()
    child = lowering._kept[0]._child
    lowering.end_compiler()
    assert child.poll() is not None and lowering._kept == []
