"""The parts of the terminal: cleaning, colours, encodings, charts, grids, keys."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from talk import look, stage
from talk.look import Badge
from talk.outcome import Check, Column, Failure, Lowering, Table, Timing
from talk.outcome import Stage as Form
from talk.rows import Shown
from talk.source import ROOT
from talk.terminal import footer, header, medium
from talk.terminal.chart import Bar, Chart, blocks
from talk.terminal.checks import checks
from talk.terminal.clean import clean
from talk.terminal.failure import failure
from talk.terminal.frames import telling
from talk.terminal.grid import Grid, Head
from talk.terminal.keyboard import Keyboard
from talk.terminal.lowering import lowering
from talk.terminal.measurement import fine_print, measurement
from talk.terminal.medium import PLAIN, Medium, colours_of, encoding_of, lines_of
from talk.terminal.palette import GROUNDS, NAMES, colour, ground_of, luminance
from talk.terminal.progress import progress
from talk.terminal.typed_table import typed_table
from tests import records
from tests.screen import HOSTILE


def text(renderable, width=60):
    return "\n".join(Medium().text(line).rstrip() for line in lines_of(renderable, width))


@pytest.mark.parametrize(
    ("outside", "inside"),
    [
        ("\x1b]0;title\x07words", "words"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[31;1mred\x1b[0m", "ared"),
        ("\x9b2Jcsi of one byte", "csi of one byte"),
        ("\x1bPdevice\x1b\\control", "control"),
        ("12 %\r50 %\r\nnext", "50 %\nnext"),
        ("a\tb", "a   b"),
        ("right \u202eto left", "right to left"),
        ("[bold]markup stays words[/]", "[bold]markup stays words[/]"),
        ("µ – ×", "µ – ×"),
    ],
)
def test_outside_text_loses_what_a_terminal_obeys(outside, inside):
    assert clean(outside) == inside


@given(st.text(alphabet=st.characters(), max_size=40))
def test_no_text_brings_an_escape_through_the_gate(words):
    for gate in (Medium(), Medium(colours=ColorSystem.TRUECOLOR), Medium(encoding="ascii")):
        written = gate.text([Segment(words)])
        assert not set(written) & {"\x1b", "\x9b", "\x07", "\r", "\n", "\x00"}
        written.encode(gate.encoding)


def test_an_encoding_without_a_character_gets_one_of_the_same_width():
    assert all(plain.isascii() and len(plain) == 1 for plain in PLAIN.values())
    ascii = Medium(encoding="ascii")
    assert ascii.shown("▲ 5 µs – ×2 日本") == "^ 5 us - x2 ????"
    assert Medium(encoding="latin-1").shown("▲ 5 µs ×2") == "^ 5 µs ×2"


def test_the_phases_are_told_apart_without_their_glyphs():
    assert Medium(encoding="ascii").shown("▲●■◆") == "^o#*"


def test_every_glyph_of_the_talk_has_a_plain_form():
    drawn = "".join(ink.glyph for ink in medium.INKS) + "█▏▌─│┃→←↑↓✓✗…·–×µ▸›◀⠋⠧"
    assert set(drawn) <= set(PLAIN)


@pytest.mark.parametrize(
    ("codeset", "told", "expected"),
    [
        ("ANSI_X3.4-1968", {}, "ascii"),
        ("US-ASCII", {}, "ascii"),
        ("UTF-8", {}, "utf-8"),
        ("ISO-8859-1", {}, "latin-1"),
        ("ANSI_X3.4-1968", {"PYTHONUTF8": "1"}, "utf-8"),
    ],
)
def test_the_locale_says_which_characters_there_are(monkeypatch, codeset, told, expected):
    monkeypatch.setattr(medium, "codeset", lambda: codeset)
    encoding = "latin-1" if codeset.startswith("ISO") else "utf-8"
    assert encoding_of(told, io.TextIOWrapper(io.BytesIO(), encoding)) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm"}, ColorSystem.STANDARD),
        ({"TERM": "tmux-256color"}, ColorSystem.EIGHT_BIT),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, ColorSystem.TRUECOLOR),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, None),
        ({}, None),
    ],
)
def test_the_terminal_s_name_says_how_many_colours(environ, expected):
    assert colours_of(environ) is expected


@pytest.mark.parametrize(
    ("value", "ground"),
    [("15;0", "dark"), ("0;15", "light"), ("0;default;7", "light"), ("", "both")],
)
def test_the_ground_is_what_the_terminal_says_it_is(value, ground):
    assert ground_of({"COLORFGBG": value}) == ground


@pytest.mark.parametrize("ground", GROUNDS)
def test_every_colour_reads_on_its_ground(ground):
    papers = {"light": [1.0], "dark": [0.0], "both": [0.0, 1.0]}[ground]
    for ink, paper in itertools.product(NAMES, papers):
        lit = luminance(ColorTriplet(*bytes.fromhex(colour(ink, ground)[1:])))
        low, high = sorted((lit, paper))
        assert (high + 0.05) / (low + 0.05) >= 4.5, f"WCAG AA: {ink} on {paper}"


def test_without_colour_emphasis_stays():
    line = [Segment("x", Style(color="#ff0000", bold=True))]
    plain = Medium(colours=ColorSystem.TRUECOLOR, no_color=True)
    assert plain.text(line) == "\x1b[1mx\x1b[0m"
    assert Medium().text(line) == "x"


def test_a_chart_starts_at_zero_and_draws_the_ceiling():
    bars = [
        Bar(label="half", style="naive", value=50.0, figure="50", aside="50 %", ceiling=100.0),
        Bar(label="all", style="torch", value=100.0, figure="100", aside="100 %", ceiling=100.0),
        Bar(label="none", style="torch", value=None, figure="overhead-bound"),
    ]
    assert text(Chart(bars, "higher is faster"), 30) == (
        "half  ██████     ┃   50   50 %\n"
        "all   ███████████┃  100  100 %\n"
        "none  overhead-bound\n"
        "      0  higher is faster"
    )


def test_a_bar_is_true_to_an_eighth_of_a_cell():
    assert blocks(1.0, 1.0, 10) == "█" * 10
    assert blocks(0.55, 1.0, 10) == "█████▌"
    assert blocks(1e-9, 1.0, 10) == "▏", "what is not nothing is seen"
    assert blocks(0.0, 1.0, 10) == "" == blocks(0.0, 0.0, 10)


def test_a_long_label_stands_above_its_bar():
    long = Bar(label="a candidate of many words", style="naive", value=1.0, figure="1")
    first, second = text(Chart([long]), 40).split("\n")
    assert first == long.label and "█" in second


WORDS = st.text(alphabet="bc xyz", min_size=1, max_size=50).filter(str.strip)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.integers(12, 90))
def test_a_grid_cuts_nothing_at_any_width(rows, width):
    grid = Grid([Head("name"), Head("note"), Head("n", figures=True)], [])
    cells = [[Text(a), Text(b), Text("1,234 GB/s")] for a, b in rows]
    drawn = " ".join(text(replace(grid, rows=cells), width).split())
    letters = "".join(a + b for a, b in rows)
    assert all(drawn.count(c) >= letters.count(c) for c in "bcxyz"), "none is in a head"
    assert drawn.count("1,234 GB/s") == len(rows) and "…" not in drawn


def shown(*timings: Timing, **outcome) -> Shown:
    done = records.outcome("baseline", timings=timings, **outcome)
    return Shown(done, Badge.LIVE, records.MACHINE, records.AT)


def test_two_results_within_their_spread_are_a_tie():
    tied = text(fine_print(shown(records.timing("torch", 6.0), records.timing("triton", 6.05))))
    assert "torch and triton are a tie" in tied
    apart = text(fine_print(shown(records.timing("torch", 6.0), records.timing("triton", 7.0))))
    assert "tie" not in apart


def test_a_sweep_names_what_ties_with_its_best():
    points = [
        records.timing("triton", ms, at={"block": b}) for b, ms in ((1, 9.0), (2, 6.0), (4, 6.05))
    ]
    words = text(fine_print(shown(*points)), 100)
    assert "triton block 2 is best, a tie with triton block 4" in words
    assert "p20–p80 at most 2.00 % of the median" in words


def test_a_spread_that_prints_as_one_value_is_a_percentage():
    close = replace(records.timing("torch", 6.0), p20_ms=5.999, p80_ms=6.001)
    words = text(fine_print(shown(close, records.timing("naive", 9.0))), 80)
    assert "torch  6.00 ms  p20–p80 within 0.0333 % · n 20" in words
    assert "naive  9.00 ms  p20–p80 8.91 ms – 9.09 ms · n 20" in words


def test_an_overhead_bound_time_claims_no_rate():
    tiny = records.timing("naive", 0.003, bytes=49_152)
    words = text(measurement(shown(tiny), "naive"))
    assert "overhead-bound, 3.00 µs" in words
    assert "overhead-bound: too short to time, the launch dominates" in words
    assert "GB/s" not in words.split("measured ceiling")[0] and "%" not in words


def test_a_rate_above_every_ceiling_gets_no_share():
    words = text(measurement(shown(records.timing("naive", 4.0)), "naive"))
    assert "above the ceiling: cache-resident?" in words
    assert "%" not in words and "3,000 GB/s" in words


def test_a_time_without_bytes_is_a_bar_of_time():
    words = text(measurement(shown(records.timing("chain", 1e-4, bytes=0, mix="read")), ""))
    assert "lower is faster" in words and "ceiling" not in words


def test_a_machine_without_ceilings_is_drawn_without_a_share():
    bare = replace(
        shown(records.timing("naive", 6.0)), machine=replace(records.MACHINE, ceilings=None)
    )
    words = text(measurement(bare, ""))
    assert "no ceiling measured" in words and "%" not in words


def test_two_mixes_have_two_ceilings():
    mixed = shown(records.timing("add", 9.0), records.timing("copy", 9.0, mix="1:1"))
    words = text(measurement(mixed, ""), 120)
    assert "2:1 traffic: 2,000 GB/s" in words and "1:1 traffic: 1,900 GB/s" in words


def test_checks_say_right_once_and_wrong_once_a_candidate():
    found = [
        Check(candidate="naive", inputs="the case's inputs", ok=True, error=1e-7, tolerance=1e-6),
        Check(candidate="naive", inputs="ragged", ok=True, error=2e-7, tolerance=1e-6),
        Check(candidate="torch", inputs="the case's inputs", ok=True, error=0.0, tolerance=1e-6),
        Check(candidate="torch", inputs="ragged", ok=True, error=0.0, tolerance=1e-6),
        Check(candidate="planted", inputs="ragged", ok=False, at={"block": 2}, message="3 differ"),
    ]
    assert text(checks(found), 80) == (
        "✓ right  naive, torch  on the case's inputs, ragged; error 2e-07 within 1e-06\n"
        "✗ WRONG  planted  on ragged, at block 2\n"
        "         3 differ"
    )


def test_many_inputs_are_counted_and_only_the_first_wrong_one_is_told():
    inputs = [f"a kind of input of number {i}" for i in range(8)]
    found = [
        Check(candidate="triton", inputs=name, ok=name == inputs[7], at={"block": block},
              message=f"{n} differ", error=1.0, tolerance=2.0)
        for block in (1, 32) for n, name in enumerate(inputs, 3)
    ]  # fmt: skip
    assert text(checks(found), 80) == (
        "✓ right  triton  on a kind of input of number 7; error 1 within 2\n"
        "✗ WRONG  triton  on 7 of 8 inputs, at block 1 and 32\n"
        "         a kind of input of number 0, at block 1: 3 differ"
    )
    right = [replace(check, ok=True, message="") for check in found]
    assert text(checks(right), 80) == "✓ right  triton  on 8 inputs; error 1 within 2"


def test_a_crash_shows_the_frames_of_demos():
    frames = [f'  File "{ROOT}/talk/gpu/perform.py", line {i} in work' for i in range(30)]
    said = [
        "words before", "Fatal Python error: Segmentation fault", "",
        "Current thread 0x00007f (most recent call first):",
        '  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at',
        f'  File "{ROOT}/demos/kernels/up.py", line 7 in up', *frames, "",
        "Extension modules: numpy, torch (total: 2)",
    ]  # fmt: skip
    assert telling("\n".join(said)) == [
        "Fatal Python error: Segmentation fault",
        '  File "demos/kernels/up.py", line 7 in up',
        "… 32 more lines are in the record",
    ]
    head = telling("\n".join(line for line in said if "up.py" not in line))
    assert head[:2] == [said[1], said[3]] and "perform.py" in head[5]
    assert len(head) == 13 and not any("Extension" in line for line in head)


def test_a_crash_is_told_from_what_was_printed_when_its_detail_is_only_the_end():
    printed = 'Fatal Python error\n(most recent call first):\n  File "up.py", line 1 in up\nend\n'
    words = text(failure(Failure(kind="crash", reason="gone", detail="end"), "r", printed))
    assert 'File "up.py", line 1 in up' in words and "end" not in words


def test_a_cancelled_step_is_one_calm_line():
    cancelled = Failure(kind="cancelled", reason="cancelled", detail="a traceback")
    assert text(failure(cancelled, "r runs it again")) == "– cancelled; r runs it again"


def test_a_failure_shows_the_end_of_its_detail_and_says_what_is_left_out():
    detail = "\n".join(f"frame {i}" for i in range(30))
    words = text(
        failure(Failure(kind="error", reason="it broke", detail=detail), "r runs it again")
    )
    assert words.startswith("✗ FAILED  it broke\n") and words.count("it broke") == 1
    assert "… 18 lines before these" in words and "frame 29" in words and "frame 17" not in words
    assert words.endswith("r runs it again")


def test_a_lowering_names_its_limits_and_shows_its_last_form():
    forms = (
        Form(name="ttir", text="a\nb"),
        Form(name="ptx", text="ld.global;\nret;"),
    )
    lowered = Lowering(
        candidate="x", kernel="k", target="sm_90", registers=16, spills=0, shared=300_000,
        shared_limit=232_448, num_warps=4, stages=forms,
        counts={"ptx": {"ld.global": 1}},
    )  # fmt: skip
    words = text(lowering(lowered))
    assert "16 registers per thread · shared 293 KiB of 227 KiB" in words
    assert "more shared memory than the target has" in words
    assert "PTX, 1 instructions: ld.global 1" in words and "│ ret;" in words
    assert "no such target" in text(lowering(replace(lowered, failure="no such target")))


KEYS = {
    b"\x1b[C": "right",
    b"\x1bOC": "right",
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
    b"\x1b[15~": "f5",
    b"\x1b[H": "home",
    b"\x1b[4~": "end",
    b" ": "space",
    b"\r": "enter",
    b"\x7f": "backspace",
    b"\x03": "ctrl-c",
    b".": ".",
    "é".encode(): "é",
}


@pytest.mark.parametrize("data", KEYS, ids=repr)
def test_a_key_has_the_name_that_the_stage_gives_it(data):
    whole = Keyboard()
    assert whole.feed(data) + whole.flush() == [KEYS[data]]
    split = Keyboard()
    pieces = [key for byte in data for key in split.feed(bytes([byte]))]
    assert pieces + split.flush() == [KEYS[data]], "in bytes that arrive one by one"


def test_every_key_of_the_stage_can_be_typed():
    typed = {*KEYS.values(), "left", "up", "down"} | {key for key in stage.KEYS if len(key) == 1}
    assert set(stage.KEYS) <= typed


@pytest.mark.parametrize("data", [key for key in KEYS if key.startswith(b"\x1b")], ids=repr)
def test_an_esc_just_before_a_key_leaves_the_key_whole(data):
    keyboard = Keyboard()
    assert [*keyboard.feed(b"\x1b" + data), *keyboard.flush()][-1:] == [KEYS[data]]


def test_what_a_terminal_answers_is_no_key():
    keyboard = Keyboard()
    assert keyboard.feed(b"\x1b[3;7R") + keyboard.flush() == []


@pytest.mark.parametrize("width", [58, 78, 98, 158])
@pytest.mark.parametrize("slug", ["words", "guess", "baseline"])
def test_the_keys_fit_and_keep_help_and_quit(width, slug):
    state = stage.State(sections=(records.SECTION,), section=5, slug=slug, mode="live")
    words = footer.footer(state, width, scrolls=True).plain
    assert len(words) <= width
    assert "→" in words and words.endswith("? help   q quit")


def test_next_says_whether_it_runs_or_moves():
    state = stage.State(sections=(records.SECTION,), section=5, slug="baseline", mode="live")
    assert "→ run" in footer.footer(state, 78, scrolls=False).plain
    done = replace(state, done=frozenset({(5, "baseline")}))
    assert "→ next" in footer.footer(done, 78, scrolls=False).plain


def test_a_vote_is_offered_while_its_question_is_open():
    state = stage.State(sections=(records.SECTION,), section=5, slug="guess", mode="live")
    asked = replace(state, done=frozenset({(5, "guess")}))
    assert "1–3 vote" in footer.footer(asked, 98, scrolls=False).plain
    assert "run again" not in footer.footer(asked, 98, scrolls=False).plain
    settled = replace(asked, done=asked.done | {(5, "baseline")})
    assert "vote" not in footer.footer(settled, 98, scrolls=False).plain


def test_the_trail_marks_the_phase_and_the_place_in_it():
    state = stage.State(sections=(records.SECTION,), section=5, slug="guess")
    words = header.trail(state).plain
    assert "naive 2/3" in words and words.count("/") == 1
    assert [words.index(look.PHASE[phase].glyph) for phase in look.PHASE] == sorted(
        words.index(look.PHASE[phase].glyph) for phase in look.PHASE
    )


def test_the_clock_counts_what_was_planned():
    state = stage.State(sections=(records.SECTION,), started=100.0, now=100.0 + 3_725)
    assert header.clock(state) == "1:02:05 of 15 min"


def test_progress_shows_seconds_words_and_the_press_that_waits():
    state = stage.State(running=(5, "baseline"), since=10.0, now=22.5, progress="timing torch")
    assert "12 s  timing torch" in progress(state).plain
    half = progress(replace(state, fraction=0.5, queued=True)).plain
    assert "████████────────" in half and "50.0 %" in half and "1 press waits" in half
    assert "100 %" in progress(replace(state, fraction=7.0)).plain
    assert "\x1b" not in progress(replace(state, progress=HOSTILE)).plain


def test_every_renderable_can_be_looked_at_alone():
    """One process runs them all, each as `python -m talk.terminal.chart` would."""
    folder = ROOT / "talk" / "terminal"
    names = [
        path.stem for path in folder.glob("*.py") if "made_up import" in path.read_text("utf-8")
    ]
    runs = "import runpy, sys\nfor n in sys.argv[1:]: runpy.run_module(n, run_name='__main__')"
    modules = [f"talk.terminal.{name}" for name in names]
    command = [sys.executable, "-W", "ignore", "-c", runs, *modules]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(modules) > 20 and "torch and triton are a tie" in done.stdout


def test_huge_text_and_tables_are_cut_aloud():
    assert clean("x" * 100_005).endswith("\n… 5 more characters")
    columns = (Column(name="n", unit="count"),)
    table = Table(columns=columns, rows=tuple((i,) for i in range(2_003)))
    assert "… 3 more rows" in text(typed_table(table), 40)


def test_a_paste_that_never_ends_swallows_no_later_key():
    keyboard = Keyboard()
    keyboard.feed(b"\x1b[200~hello")
    keyboard.flush()
    assert keyboard.feed(b"\x1b[C") == ["right"]
