"""Curves, grids and tables of many timings in the terminal, drawn from the numbers alone."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from talk.look import Badge
from talk.outcome import Check, Column, Outcome, Table, Timing
from talk.record import Ceilings
from talk.rows import Shown
from talk.terminal import curve
from talk.terminal.measurement import fine_print, measurement
from talk.terminal.medium import Medium, lines_of
from talk.terminal.palette import theme
from talk.terminal.plot import Plot, Series, decades, linear, logarithmic
from talk.terminal.traffic import is_traffic, traffic
from tests.records import AT, MACHINE

CEILINGS = Ceilings(
    bandwidth_gbps={"2:1": 4000.0}, launch_us=1.0, programs_per_s=1e9, array_bytes=2**30,
    tflops={"fp32": 60.0, "bf16": 800.0},
)  # fmt: skip


def timing(candidate, ms, spread=0.001, **fields):
    given = {"bytes": 10**9, "mix": "2:1", **fields}
    return Timing(
        candidate=candidate,
        median_ms=ms,
        p20_ms=ms * (1 - spread),
        p80_ms=ms * (1 + spread),
        min_ms=ms * (1 - spread),
        n=10,
        **given,
    )


def shown(*timings):
    outcome = Outcome(section=6, step="s", mode="live", timings=timings)
    return Shown(outcome, Badge.LIVE, replace(MACHINE, ceilings=CEILINGS), AT)


def text(renderable, width=80):
    console = Console(width=width, record=True, file=StringIO(), theme=theme("both"))
    console.print(renderable)
    return console.export_text()


def drawn(*timings, width=80):
    words = text(measurement(shown(*timings), "rewrite"), width)
    assert all(len(line) <= width for line in words.splitlines())
    return words


BLOCKS = tuple(
    timing("triton", 250 / block + 0.25, at={"block": block}) for block in (1, 8, 64, 512, 4096)
)


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_sweep_of_one_parameter_is_a_curve_with_its_figures_below(width):
    words = drawn(*BLOCKS, width=width)
    assert "↑ GB/s, higher is faster" in words and "→ block, logarithmic" in words
    assert "─ measured ceiling, 2:1 traffic: 4,000 GB/s" in " ".join(words.split())
    assert any("⠒" in line or "⠤" in line for line in words.splitlines())
    rows = [line.split() for line in words.splitlines()]
    assert ["4,096", "3,220", "GB/s", "80.4", "%"] in rows and [
        "1",
        "4.00",
        "GB/s",
        "0.0999",
        "%",
    ] in rows


def test_two_candidates_have_two_colours_glyphs_and_columns():
    torch = [
        replace(t, candidate="torch", median_ms=1.0, p20_ms=1.0, min_ms=1.0, p80_ms=1.0)
        for t in BLOCKS
    ]
    words = drawn(*BLOCKS, *torch)
    assert "■ triton" in words and "○ torch" in words
    assert ["8", "31.7", "GB/s", "0.794", "%", "1,000", "GB/s", "25.0", "%"] in [
        line.split() for line in words.splitlines()
    ]


def test_two_candidates_of_one_phase_are_told_apart_by_letters():
    other = [replace(t, candidate="other", median_ms=1.0, p80_ms=1.1) for t in BLOCKS[-2:]]
    slow = [replace(t, candidate="other") for t in BLOCKS[:-2]]
    words = drawn(*BLOCKS, *slow, *other)
    assert "a triton" in words and "b other" in words and "■" not in words
    plot = [line for line in words.splitlines() if "│" in line]
    assert any("a" in line for line in plot) and any("b" in line for line in plot)


@pytest.mark.parametrize(
    ("times", "where"),
    [
        ((9.0, 3.0, 1.0, 1.01, 1.0), "from 64 on"),
        ((1.0, 1.01, 3.0, 9.0, 20.0), "up to 8"),
        ((9.0, 1.0, 1.02, 9.0, 20.0), "from 8 to 64"),
        ((9.0, 3.0, 1.0, 2.0, 3.0), "at 64 alone"),
        ((1.0, 1.0, 1.0, 1.0, 1.0), None),
        ((9.0, 1.0, 9.0, 1.0, 9.0), None),
    ],
)
def test_a_curve_says_where_it_is_near_its_best(times, where):
    points = [timing("triton", ms, at=t.at) for ms, t in zip(times, BLOCKS, strict=True)]
    said = "triton: within 5 % of its best"
    words = drawn(*points)
    assert f"{said} {where}" in words if where else said not in words


def test_what_is_not_believed_is_not_drawn_and_is_named():
    hot = [
        replace(t, clock="hot", median_ms=0.1, p20_ms=0.1, min_ms=0.1, p80_ms=0.1) for t in BLOCKS
    ]
    assert "hot" in drawn(*hot)
    cached = [replace(t, median_ms=0.1, p20_ms=0.1, min_ms=0.1, p80_ms=0.1) for t in BLOCKS]
    words = drawn(*cached)
    assert "cached?" in words and "↑" not in words  # case M2
    short = [replace(t, median_ms=2e-3, p20_ms=2e-3, min_ms=2e-3, p80_ms=2e-3) for t in BLOCKS]
    assert "overhead-bound" in drawn(*short)


def test_a_chain_of_loads_is_told_by_the_time_of_each():
    loads = [replace(t, items=1000, at={"kib": t.at["block"]}) for t in BLOCKS]
    words = drawn(*loads)
    assert "↑ time, lower is faster" in words and "250 µs" in words


def test_few_points_stay_bars():
    assert "↑" not in drawn(*BLOCKS[:4])


def test_without_the_library_it_is_bars(monkeypatch):
    monkeypatch.setattr(curve, "can_plot", lambda: False)
    words = drawn(*BLOCKS)
    assert "↑" not in words and "█" in words


def test_braille_becomes_what_an_ascii_terminal_can_show():
    medium = Medium(encoding="ascii")
    lines = [medium.text(line) for line in lines_of(measurement(shown(*BLOCKS), "rewrite"), 80)]
    assert "".join(lines).isascii() and not any("???" in line for line in lines)
    assert any(":" in line for line in lines)
    fused = [medium.text(line) for line in lines_of(measurement(shown(*BLOCKS), "fuse"), 80)]
    assert any("*" in line and ":" in line for line in fused), "a mark stands out from its curve"
    assert "?" not in "".join(fused)


def test_two_parameters_are_a_grid_with_its_best_and_its_ties():
    grid = [
        timing("triton", ms, at={"m": m, "n": n})
        for (m, n), ms in {(32, 64): 1.0, (32, 128): 0.5, (64, 64): 0.5004, (64, 128): 0.6}.items()
    ]
    rows = [line.split() for line in drawn(*grid).splitlines()]
    assert ["32", "1,000", "GB/s", "*", "2,000", "GB/s"] in rows
    assert ["64", "=", "2,000", "GB/s", "1,670", "GB/s"] in rows


def test_a_cell_out_of_the_cache_is_no_figure_to_compare():  # case M2
    grid = [
        timing("triton", ms, at={"m": m, "n": n})
        for (m, n), ms in {(32, 64): 1.0, (32, 128): 0.1, (64, 64): 0.5, (64, 128): 0.6}.items()
    ]
    words = drawn(*grid)
    assert "10.0 TB/s cached?" in words and "* 2,000 GB/s" in words
    assert "* the best, = a tie with it" in words


def test_a_grid_tells_the_occupancy_where_it_is_known():
    config = {"registers": 40, "shared": 0, "num_warps": 4}
    grid = [
        timing("triton", 1.0 + m, at={"m": m, "n": n}, config=config)
        for m in (1, 2)
        for n in (1, 2)
    ]
    nobody = replace(MACHINE, device=replace(MACHINE.device, capability="99.0"))
    unknown = replace(shown(*grid), machine=nobody)
    assert "theoretical occupancy" not in text(measurement(unknown, "rewrite"))
    h200 = replace(
        shown(*grid), machine=replace(MACHINE, device=replace(MACHINE.device, capability="9.0"))
    )
    words = text(measurement(h200, "rewrite"))
    assert "theoretical occupancy" in words and "75.0 %, 40" in words


CONFIGS = [
    timing("triton", ms, at={"block_m": m, "num_warps": 4, "group": 8})
    for m, ms in ((64, 0.6), (128, 0.5), (256, 0.5004), (512, 0.9))
]


def test_a_tuning_lists_every_configuration_and_calls_a_tie_a_tie():
    words = drawn(*CONFIGS)
    rows = [line.split() for line in words.splitlines()]
    assert ["all", "with", "warps", "4,", "group", "8"] in rows
    assert ["128", "500", "µs", "2,000", "×1.00", "best"] in rows
    assert ["256", "500", "µs", "2,000", "×1.00", "tie"] in rows
    assert ["512", "900", "µs", "1,110", "×1.80"] in rows
    assert [row[0] for row in rows[2:6]] == ["128", "256", "64", "512"]
    assert "4 configurations: 1 cannot be told from the fastest" in words
    assert "none ties with it" in drawn(CONFIGS[0], CONFIGS[3])


def test_a_tuning_tells_what_the_compiler_made_as_far_as_there_is_room():
    config = {"registers": 40, "shared": 2048, "num_warps": 4}
    h200 = replace(MACHINE, device=replace(MACHINE.device, capability="9.0"))
    made = replace(shown(*(replace(t, config=config) for t in CONFIGS)), machine=h200)
    wide, narrow = (text(measurement(made, "rewrite"), width) for width in (80, 36))
    assert "occupancy  regs    shared" in wide and "75.0 %    40  2.00 KiB  best" in wide
    assert "occupancy" not in narrow and "of best" in narrow


def test_a_configuration_without_a_time_comes_last_with_its_reason():
    at = {"block_m": 1024, "num_warps": 4, "group": 8}
    said = "needs 300 KiB of shared memory, there are 227"
    bad = Check(candidate="triton", inputs="x", ok=False, at=at, message=said)
    right = Check(candidate="triton", inputs="x", ok=True, at=CONFIGS[0].at)
    known = shown(*CONFIGS)
    known = replace(known, outcome=replace(known.outcome, checks=(right, bad, bad)))
    words = text(measurement(known, "rewrite"), 120)
    line = f"✗ triton m 1,024, warps 4, group 8  {said}"
    assert words.count("✗") == 1 and words.index("×1.80") < words.index(line)


def test_a_tuning_names_what_cannot_be_believed():
    words = drawn(*(replace(t, bytes=10**10) for t in CONFIGS))
    assert "best, cached?" in words


TRAFFIC = Table(
    columns=(
        Column(name="candidate"),
        Column(name="operation"),
        *(Column(name=name, unit="B") for name in ("read", "written", "bytes")),
    ),
    rows=(
        ("naive", "amax", 10**9, 1000, 10**9),
        ("naive", "total", 3 * 10**9, 10**9, 4 * 10**9),
        ("must move", "total", None, None, 10**9),
    ),
)


def test_traffic_is_grouped_and_its_totals_are_multiples_of_what_must_move():
    assert is_traffic(TRAFFIC)
    rows = [line.split() for line in text(traffic(TRAFFIC)).splitlines()]
    assert rows == [
        ["operation", "read", "written", "bytes", "of", "must", "move"],
        ["naive", "amax", "1.00", "GB", "1.00", "kB", "1.00", "GB"],
        ["total", "3.00", "GB", "1.00", "GB", "4.00", "GB", "×4.00"],
        ["must", "move", "total", "–", "–", "1.00", "GB", "×1.00"],
    ]


@pytest.mark.parametrize("least", [None, 0, "much", True])
def test_traffic_has_no_multiple_where_nothing_is_known_to_move(least):
    last = ("must move", "total", None, None, least)
    assert "×" not in text(traffic(replace(TRAFFIC, rows=(*TRAFFIC.rows[:2], last))))


def test_a_table_of_other_columns_is_no_traffic():
    other = replace(TRAFFIC, columns=(Column(name="x"), *TRAFFIC.columns[1:]))
    assert not is_traffic(other) and not is_traffic(replace(TRAFFIC, rows=TRAFFIC.rows * 1000))


def test_a_matrix_product_is_told_in_tflops():
    words = drawn(*(replace(t, flops=10**12) for t in CONFIGS))
    assert "TFLOP/s" in words and "GB/s" not in words


def test_a_benchmark_names_the_wall_and_the_speed_up_of_each():
    words = drawn(
        timing("naive", 10.0, case="x + y"),
        timing("triton", 0.26, case="x + y"),
        timing("torch", 1.0, case="a · b", flops=6 * 10**11, arithmetic="bf16"),
        timing("triton", 1.0004, case="a · b", flops=6 * 10**11, arithmetic="bf16"),
    )
    rows = [line.split() for line in words.splitlines()]
    assert ["triton", "260", "µs", "3,850", "GB/s", "96.2", "%", "memory", "×38.5"] in rows
    assert ["triton", "1.00", "ms", "600", "TFLOP/s", "75.0", "%", "arithmetic", "a", "tie"] in rows
    late = [timing("torch", 1.0, case="x"), timing("naive", 4.0, case="x")]
    assert ["torch", "1.00", "ms", "1,000", "GB/s", "25.0", "%", "memory", "×4.00"] in [
        line.split() for line in drawn(*late).splitlines()
    ], "beside the naive one, wherever it stands"
    assert "medians of n 10" in text(fine_print(shown(timing("naive", 10.0, case="x + y"))))


def test_an_axis_is_from_zero_or_says_that_it_is_logarithmic():
    assert linear("GB/s", [50.0], str).low == 0 and linear("GB/s", [50.0], str).title == "GB/s"
    axis = logarithmic("block", [1.0, 1000.0], str)
    assert axis.title == "block, logarithmic" and axis.ticks == (1.0, 10.0, 100.0, 1000.0)
    assert axis.at(10.0) == pytest.approx(1 / 3) and tuple(decades(0.5, 20)) == (1.0, 10.0)


def test_a_mark_stands_in_its_own_cell():
    series = Series(style="rewrite", points=((1.0, 1.0),), joined=False, mark="a")
    unit = linear("", [1.0], lambda v: f"{v:g}")
    words = text(Plot([series], replace(unit, high=1.0), replace(unit, high=1.0), height=3), 20)
    assert words.splitlines()[1].endswith("a")
