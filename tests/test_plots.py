"""Charts: the same bytes from the same record, nothing drawn twice, nothing claimed too much."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup
from playwright.sync_api import Page, sync_playwright

from slides import drawing
from slides.build import TEMPLATES, build
from slides.context import Context
from slides.environment import environment_of
from slides.plots import curve, heat, occupancy
from slides.plots.chart import brief, marks, plain
from slides.plots.place import LINE, Box, Room, Wanted, around, arranged
from slides.plots.words import Plots
from slides.press import PARTS
from talk import collect, look, runner
from talk.errors import TalkError
from talk.outcome import LEAST_MS, MOST_MS, Outcome, Timing
from talk.reading import Reading
from talk.record import Event, Record
from talk.rows import row_of
from tests import decks

ROOT = Path(__file__).resolve().parent.parent
CHECKS = Path(__file__).with_name("deck_checks.js")
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def recording() -> Record:
    found = runner.recording()
    assert found is not None
    return found


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Charts of tests are kept apart from the deck's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "CACHE", tmp_path_factory.mktemp("charts"))
        yield drawing.CACHE


def plots(record: Record) -> tuple[Plots, Context]:
    """The words about charts, on a slide named here."""
    stands = lambda section, slug, codes: True  # noqa: E731
    context = Context(environment_of(TEMPLATES), Reading(talk=record), stands, PARTS)
    context.begin("here")
    return Plots(context), context


def with_timings(record: Record, address: str, change: Callable[[Timing], Timing]) -> Record:
    """The record with the timings of one step changed."""

    def changed(event: Event) -> Event:
        outcome = event.outcome
        if outcome is None or f"{outcome.section}/{outcome.step}" != address:
            return event
        timings = tuple(map(change, outcome.timings))
        return replace(event, outcome=replace(outcome, timings=timings))

    return replace(record, events=tuple(map(changed, record.events)))


def without(record: Record, *addresses: str) -> Record:
    def kept(outcome: Outcome | None) -> bool:
        return outcome is None or f"{outcome.section}/{outcome.step}" not in addresses

    return replace(record, events=tuple(e for e in record.events if kept(e.outcome)))


def figure(record: Record, ref: str) -> str:
    return str(Reading(talk=record).number(ref))


def texts(html: str) -> list[str]:
    """What is written in the pictures."""
    return [Markup(text).unescape() for text in re.findall(r"<text[^>]*>([^<]*)</text>", html)]


ALL: tuple[Callable[[Plots], Markup], ...] = (
    lambda p: p.curve("1/lengths", beside=True),
    lambda p: p.curve("2/arithmetic", "time"),
    lambda p: p.curve("2/chain"),
    lambda p: p.curve("2/programs", beside=True),
    lambda p: p.curve("3/hierarchy", "gbps"),
    lambda p: p.curve("5/blocks"),
    lambda p: p.curve("6/rows"),
    lambda p: p.curve("7/ragged"),
    lambda p: p.occupancy("3/warps", beside=True),
    lambda p: p.ladder("3/ladder"),
    lambda p: p.roofline("4/roofs"),
    lambda p: p.roofline("4/up"),
    lambda p: p.roofline("4/all"),
    lambda p: p.roofline("8/paths", height=440),
    lambda p: p.benchmark("8/final"),
    lambda p: p.benchmark("8/parts"),
    lambda p: p.benchmark("4/others"),
    lambda p: p.calibration("8/calibration", height=440),
)
GRIDS: tuple[Callable[[Plots], Markup], ...] = (
    lambda p: p.heat("2/in-flight"),
    lambda p: p.heat("3/warps"),
    lambda p: p.heat("6/tiles"),
)


# The same bytes, drawn once

BUILDS = """
import hashlib, re, sys
from pathlib import Path
from slides import drawing
from slides.build import build
from talk import runner
drawing.CACHE = Path(sys.argv[1])
html = build(runner.recording()).html
charts = re.findall('<figure class="(?:plot|heat)">.*?</figure>', html, re.DOTALL)
assert len(charts) > 10
print(hashlib.sha256("".join(charts).encode()).hexdigest(), "matplotlib" in sys.modules)
"""


def built(cache: Path, seed: int) -> tuple[str, str]:
    """(hash of the deck's charts, whether matplotlib was imported)."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", BUILDS, str(cache)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    name, drew = done.stdout.split()
    return name, drew


def test_same_record_same_bytes_and_nothing_is_drawn_twice(tmp_path):
    first = built(tmp_path / "a", 1)
    other = built(tmp_path / "b", 2)
    again = built(tmp_path / "a", 3)
    assert first[0] == other[0] == again[0]
    assert (first[1], other[1], again[1]) == ("True", "True", "False")


def test_a_chart_is_drawn_anew_where_its_data_or_its_code_changed(recording, monkeypatch):
    drew = []
    real = drawing.drawn
    monkeypatch.setattr(drawing, "drawn", lambda d: (drew.append(d.words), real(d))[1])
    plots(recording)[0].curve("5/blocks", height=301)
    plots(recording)[0].curve("5/blocks", height=301)
    assert len(drew) == 1
    faster = with_timings(recording, "5/blocks", lambda t: replace(t, bytes=t.bytes + 10**9))
    plots(faster)[0].curve("5/blocks", height=301)
    assert len(drew) == 2
    monkeypatch.setattr(drawing, "code", lambda: "other code")
    plots(recording)[0].curve("5/blocks", height=301)
    assert len(drew) == 3


def test_a_torn_chart_is_drawn_again_and_old_ones_go(recording, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "CACHE", tmp_path / "charts")
    plots(recording)[0].curve("5/blocks")
    (kept,) = drawing.CACHE.glob("*.svg")
    whole = kept.read_text("utf-8")
    kept.write_text(whole[:300], encoding="utf-8")
    old, recent = drawing.CACHE / "old.svg", drawing.CACHE / "recent.svg"
    for path, age_s in ((old, drawing.UNUSED_S + 60), (recent, drawing.UNUSED_S - 60)):
        path.write_text("<svg></svg>\n", encoding="utf-8")
        os.utime(path, (path.stat().st_mtime - age_s,) * 2)
    plots(recording)[0].curve("5/blocks")
    assert kept.read_text("utf-8") == whole
    assert not old.exists()
    assert recent.exists()


def test_a_cache_that_cannot_be_written_stops_nothing(recording, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(drawing, "CACHE", tmp_path / "file" / "charts")
    assert "<svg" in plots(recording)[0].curve("5/blocks")


def test_without_matplotlib_one_line_says_what_to_do(recording, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "CACHE", tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TalkError) as failed:
        plots(recording)[0].curve("5/blocks")
    assert str(failed.value).splitlines()[0].startswith("the charts are drawn by matplotlib")
    assert "just slides" in failed.value.hint


# What a picture holds


@pytest.mark.parametrize("word", ALL)
def test_a_picture_is_themed_named_and_large_enough(recording, word):
    words, _ = plots(recording)
    html = str(word(words))
    assert re.search(r'<svg role="img" aria-label="[^"]{20,}"', html)
    assert not re.search(r"<style|<metadata|<script|font-family|xlink|#[0-9a-f]{6}", html)
    sizes = {float(size) for size in re.findall(r"font-size: ([\d.]+)px", html)}
    assert sizes == {24.0}
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert all(name.startswith("here-1-") for name in ids)
    assert set(re.findall(r'(?:href="|url\()#([^")]*)', html)) <= set(ids)


@pytest.mark.parametrize("word", (*ALL, *GRIDS))
def test_every_figure_of_a_chart_has_a_passport_and_stands_in_a_table(recording, word):
    words, context = plots(recording)
    html = str(word(words))
    keys = set(re.findall(r'data-key="([^"]*)"', html))
    sheet = context.sheet()
    assert sheet is not None
    assert keys == {f"here-{row.key}" for row in sheet.rows}
    assert "<table" in html
    assert recording.machine.device.name in html
    assert "RECORDED" in html


@pytest.mark.parametrize("word", (*ALL, *GRIDS))
def test_what_was_not_measured_is_missing_and_listed(recording, word):
    bare = replace(recording, events=tuple(e for e in recording.events if e.outcome is None))
    bare = replace(bare, machine=replace(bare.machine, ceilings=None))
    words, context = plots(bare)
    html = str(word(words))
    assert "MISSING" in html
    assert "<svg" not in html
    assert context.found.missing


def test_a_point_that_was_not_measured_leaves_the_roofline_and_is_listed(recording):
    words, context = plots(without(recording, "4/blocked"))
    html = str(words.roofline("4/all"))
    assert "blocked" not in " ".join(texts(html))
    assert "naive" in " ".join(texts(html))
    assert context.found.missing == {"4/blocked[triton]": ["here"]}
    assert "MISSING" in html


def test_axes_start_at_zero_or_say_that_they_are_logarithmic(recording):
    words, _ = plots(recording)
    for word in ALL:
        html = str(word(words))
        said = " ".join([*texts(html), re.sub("<svg.*?</svg>", "", html, flags=re.DOTALL)])
        assert "from zero" in said or "logarithmic" in said


@pytest.mark.parametrize(("slowest", "log"), [(29.0, False), (31.0, True)])
def test_only_values_far_apart_are_drawn_logarithmically(recording, slowest, log):
    times = iter([slowest, *[1.0] * 5])

    def told(timing: Timing) -> Timing:
        ms = next(times)
        return replace(timing, median_ms=ms, p20_ms=ms, p80_ms=ms, min_ms=ms)

    record = with_timings(recording, "5/blocks", told)
    shown = Reading(talk=record).figures(5, "blocks")
    assert shown
    chart = curve.chart(shown, Reading(talk=record), "time", "rewrite", (), curve.Size(800, 300))
    _, low, _ = curve.scale(chart.drawing.data)
    assert chart.drawing.data.log is log
    assert (low > 0) is log


def test_overhead_bound_points_are_hollow_at_the_bottom_with_a_word(recording):
    words, _ = plots(recording)
    html = str(words.curve("1/lengths"))
    assert texts(html).count("overhead-bound") == 1
    shown = Reading(talk=recording).figures(1, "lengths")
    assert shown
    rows = [row_of(timing, shown) for timing in shown.outcome.timings]
    hollow = sum(row.fields["gbps"].value is None or "torch" in row.names for row in rows)
    assert hollow > 3
    assert len(re.findall("<use [^>]*fill: var\\(--ground\\)", html)) == hollow


def test_what_memory_cannot_reach_is_flagged_and_stretches_no_axis(recording):  # case M2
    def fast(timing: Timing) -> Timing:
        return replace(timing, bytes=timing.bytes * 3) if timing.at["block"] == 1024 else timing

    cached = with_timings(recording, "5/blocks", fast)
    html = str(plots(cached)[0].curve("5/blocks"))
    assert any("cache-resident?" in text for text in texts(html))
    assert not any("TB/s" in text for text in texts(html))


def test_no_bar_of_a_benchmark_passes_its_wall(recording):  # case M2
    def fast(timing: Timing) -> Timing:
        return replace(timing, bytes=timing.bytes * 2) if timing.candidate == "triton" else timing

    cached = with_timings(recording, "8/parts", fast)
    html = str(plots(cached)[0].benchmark("8/parts"))
    assert texts(html).count("cache-resident?") == 2
    shares = [float(s) for s in re.findall(r"([\d.]+) %", " ".join(texts(html)))]
    assert max(shares) <= 100


def test_the_knee_is_marked_where_a_curve_has_one(recording):
    words, _ = plots(recording)
    said = {
        address: [t for t in texts(str(words.curve(address, field))) if "knee" in t or "flat" in t]
        for address, field in (("5/blocks", ""), ("2/arithmetic", "time"), ("2/chain", ""))
    }
    rise = figure(recording, "5/blocks[triton].knee")
    fall = figure(recording, "2/arithmetic[triton].edge")
    assert said == {
        "5/blocks": [f"knee at {rise}"],
        "2/arithmetic": [f"flat up to {fall}"],
        "2/chain": [],
    }


def test_the_roofline_grows_point_by_point(recording):
    html = str(plots(recording)[0].roofline("4/all", at=2))
    picture, table = html.split("</svg>")
    order = [int(n) for n in re.findall(r'data-fragment-index="(\d+)"', picture)]
    assert set(order) == set(range(2, 9))
    for part in (picture, table):
        assert set(re.findall(r'data-fragment-index="(\d+)"', part)) == set(map(str, range(2, 9)))
    stands = re.sub(r'<g class="fragment".*?</g>', "", picture, flags=re.DOTALL)
    assert f"fp32 {figure(recording, 'machine/arithmetic[fp32].tflops')}" in texts(stands)
    assert "softmax" not in " ".join(texts(stands))


def test_a_path_leads_from_where_a_kernel_started_to_where_it_ended(recording):
    words, _ = plots(recording)
    html = str(words.roofline("8/paths"))
    names = texts(html)
    for name in ("softmax, naive", "softmax", "relu(x + bias), torch", "relu(x + bias)"):
        assert name in names
    arrows = html.count('z\n" style="fill: var(--fuse); stroke: var(--fuse)')
    assert arrows >= 3


def test_occupancy_shows_the_pair_that_contradicts_the_rule(recording):
    names = texts(str(plots(recording)[0].occupancy("3/warps")))
    for pair in ("1 × 256", "16 × 256"):
        rate = figure(recording, f"3/warps[{pair.replace(' × ', ', ')}].gbps")
        assert f"{pair}: {rate}" in names


def test_a_gpu_whose_occupancy_is_not_known_has_no_picture_of_it(recording):
    device = replace(recording.machine.device, capability="gfx942")
    other = replace(recording, machine=replace(recording.machine, device=device))
    words, context = plots(other)
    assert "no kernel&#39;s occupancy is known" in str(words.occupancy("3/warps"))
    assert context.found.missing == {"3/warps": ["here"]}


@pytest.mark.parametrize(
    ("points", "pair"),
    [
        ([(0.5, 100.0), (1.0, 50.0)], (0, 1)),
        ([(0.5, 50.0), (1.0, 100.0)], ()),
        ([(0.5, 100.0), (1.0, 95.0)], ()),
        ([(0.5, 100.0), (0.5, 10.0)], ()),
        ([(0.2, 90.0), (0.5, 100.0), (1.0, 50.0), (1.0, 99.0)], (1, 2)),
        ([], ()),
    ],
)
def test_a_contradiction_is_less_occupied_and_clearly_faster(points, pair):
    assert occupancy.contradiction(points) == pair


def test_the_calibration_shows_what_surprised_most_and_counts_the_others(recording):
    words, _ = plots(recording)
    html = str(words.calibration("8/calibration", height=300))
    asked = collect.calibration(recording.outlines, Reading(talk=recording))
    ratios = [each.model_over_measured for each in asked if each.model_over_measured]
    ratios.sort(key=lambda ratio: -abs(math.log(ratio)))
    assert [look.quantity(ratio, "ratio") in texts(html) for ratio in ratios[:3]] == [True] * 3
    assert f"{len(ratios) - 3} more questions were within" in html
    assert html.count("<tr>") - 1 == len(ratios)


def test_the_ladder_has_a_level_a_row_with_its_own_figures(recording):
    names = texts(str(plots(recording)[0].ladder("3/ladder")))
    for ref in ("2/chain[16].each", "2/chain[1048576].each", "3/hierarchy[16384].gbps"):
        assert figure(recording, ref) in names
    assert [name for name in names if name in LEVELS] == LEVELS


LEVELS = ["L1 cache", "L2 cache", "memory"]


def test_a_grid_is_darkest_at_its_best(recording):
    html = str(plots(recording)[0].heat("6/tiles"))
    shades = [int(shade) for shade in re.findall(r"--shade: (\d+)%", html)]
    assert len(shades) == 9
    assert max(shades) == heat.DARKEST
    best = re.findall(rf'<td class="best" style="--shade: {heat.DARKEST}%">★', html)
    assert len(best) == 1


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        (lambda p: p.curve("2/in-flight"), "2/in-flight sweeps no single parameter"),
        (lambda p: p.heat("5/blocks"), "5/blocks sweeps no two parameters"),
        (lambda p: p.benchmark("1/machine"), "1/machine times no cases"),
        (lambda p: p.curve("5/nothing"), "'5/nothing' names no step"),
        (lambda p: p.curve("5/blocks", "gbs"), "nothing to draw for 'gbs'"),
    ],
)
def test_a_step_that_a_chart_cannot_draw_is_refused(recording, word, problem):
    with pytest.raises(TalkError, match=re.escape(problem)):
        word(plots(recording)[0])


# Records that mean harm


@pytest.mark.parametrize("word", (*ALL, *GRIDS))
def test_markup_of_a_record_stays_words(recording, word):
    record = decks.evil(recording)
    for address in ("5/blocks", "2/chain", "6/rows", "3/warps"):
        hostile = lambda t: replace(t, candidate=f"a]b.c[{decks.EVIL}$x^2$")  # noqa: E731
        record = with_timings(record, address, hostile)
    html = str(word(plots(record)[0]))
    assert not re.search(r"<(?:script|img)|<[^>]*\bonerror=\"", html)
    assert "window.pwned" in html or "MISSING" in html


@pytest.mark.parametrize("ms", [LEAST_MS, MOST_MS])
@pytest.mark.parametrize("word", (*ALL, *GRIDS))
def test_no_time_of_a_record_stops_a_chart(recording, word, ms):
    absurd = decks.changed(recording, median_ms=ms, p20_ms=LEAST_MS, p80_ms=ms, min_ms=LEAST_MS)
    assert "<table" in str(word(plots(absurd)[0])) or "MISSING" in str(word(plots(absurd)[0]))


@pytest.mark.parametrize("sizes", [(0, 1, 2), (-5, 5, 50), (7, 8, 9), (1, 10**15, 10**30)])
def test_no_size_of_a_record_stops_a_curve(recording, sizes):
    given_sizes = iter([*sizes, 100, 200, 300])
    record = with_timings(
        recording, "5/blocks", lambda t: replace(t, at={"block": next(given_sizes)})
    )
    assert "<svg" in str(plots(record)[0].curve("5/blocks"))


def test_labels_are_one_short_line():
    assert plain("a\nb\tc") == "a b c"
    assert plain("x" * 99) == "x" * 25 + "…"
    assert plain("a\x1b[31mb") == "a?[31mb"


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (1e4, "GB/s", "10 TB/s"),
        (4e3, "GB/s", "4,000 GB/s"),
        (0.0, "s", "0 ns"),
        (2e-3, "s", "2 ms"),
        (2**20, "capacity", "1 MiB"),
        (0.25, "share", "25 %"),
        (0.01, "", "0.01"),
    ],
)
def test_an_axis_writes_round_values_in_short(value, unit, said):
    assert brief(value, unit) == said


def test_naive_and_torch_keep_their_marks_and_no_two_look_alike():
    made = marks(["triton", "naive", "torch", "torch.compile", "other"], "fuse")
    assert made["naive"].ink == "naive"
    assert {made["torch"].ink, made["torch.compile"].ink} == {"torch"}
    assert len({(mark.marker, mark.filled) for mark in made.values()}) == 5


# Labels keep apart

spots = st.lists(
    st.tuples(
        st.floats(60, 740),
        st.floats(40, 360),
        st.floats(20, 220),
        st.integers(1, 3),
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=50)
@given(spots)
def test_no_label_lies_on_another_on_a_point_or_outside(spots):
    room = Room(Box(0, 0, 800, 400))
    marked = [around(x, y) for x, y, _, _ in spots]
    room.take(*marked)
    wanted = [Wanted(x, y, width, lines * LINE) for x, y, width, lines in spots]
    boxes = [box for box in arranged(room, wanted) if box is not None]
    for n, box in enumerate(boxes):
        assert box.within(room.area)
        assert not any(box.overlaps(other) for other in (*marked, *boxes[n + 1 :]))


def test_a_label_finds_a_place_in_a_crowd():
    room = Room(Box(0, 0, 800, 400))
    points = [(400.0 + 3 * n, 200.0) for n in range(8)]
    room.take(*(around(x, y) for x, y in points))
    placed = arranged(room, [Wanted(x, y, 120.0) for x, y in points])
    assert None not in placed


# In a real browser

BROWSER = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium fonts-liberation"
)
OTHERS = """{% import "steps.html.j2" as the %}
{% call slide("3/ladder", name="ladder") %}
{{ ladder("3/ladder") }}{{ says("3/ladder") }}{% endcall %}
{% call slide("3/warps", name="heat") %}{{ heat("3/warps") }}{% endcall %}
{% call slide("4/others", name="others") %}{{ benchmark("4/others") }}{% endcall %}
{% call slide("4/roofs", name="roofs") %}{{ roofline("4/roofs") }}{{ says("4/roofs") }}{% endcall %}
{% call slide("6/rows", name="rows") %}{{ curve("6/rows") }}{{ says("6/rows") }}{% endcall %}
{% call slide("7/ragged", name="ragged") %}{{ curve("7/ragged") }}{% endcall %}
{% call slide("8/parts", name="parts") %}
{{ benchmark("8/parts") }}{{ says("8/parts") }}{% endcall %}
"""
"""Charts that the deck may draw, and does not."""


@pytest.fixture(scope="module")
def deck(recording: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plots")
    shutil.copytree(TEMPLATES, folder / "templates")
    (folder / "templates" / "s1.html.j2").write_text(
        OTHERS + (TEMPLATES / "s1.html.j2").read_text("utf-8"), encoding="utf-8"
    )
    path = folder / "deck.html"
    path.write_text(build(recording, templates=folder / "templates").html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(deck: Path) -> Iterator[Callable[..., Page]]:
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)

        def page(width: int = 1280, height: int = 720) -> Page:
            size: Any = {"width": width, "height": height}
            context = browser.new_context(offline=True, viewport=size, reduced_motion="reduce")
            context.add_init_script(path=CHECKS)
            opened = context.new_page()
            opened.goto(deck.as_uri())
            opened.wait_for_function("window.Reveal && Reveal.isReady()")
            return opened

        yield page
        browser.close()


CHARTED = "[...document.querySelectorAll('section:has(.plot, .heat)')].map((s) => s.id)"


def go(page: Page, slide: str) -> None:
    page.evaluate(f"location.hash = '/{slide}'")
    page.wait_for_function(f"Reveal.getCurrentSlide().id == '{slide}'")


def forward(page: Page) -> bool:
    """The next fragment of the slide, if there is one."""
    if not page.evaluate("Reveal.availableFragments().next"):
        return False
    page.keyboard.press("PageDown")
    return True


@BROWSER
@pytest.mark.parametrize(
    ("width", "height", "sans"),
    [(1280, 720, ""), (1920, 1080, ""), (1280, 720, "Narrowed Sans")],
)
def test_no_words_of_a_chart_lie_on_others_at_any_fragment(opened, width, height, sans):
    page = opened(width, height)
    if sans:
        page.evaluate(f"document.documentElement.style.setProperty('--sans', '\"{sans}\"')")
    slides = page.evaluate(CHARTED)
    assert len(slides) >= 18
    faults = {}
    for slide in slides:
        go(page, slide)
        found = page.evaluate("checks.faults()")
        while forward(page):
            found += page.evaluate("checks.faults()")
        if found:
            faults[slide] = found
    assert faults == {}
    page.context.close()


@BROWSER
def test_planted_faults_of_a_chart_are_found(opened):
    page = opened()
    go(page, "s3-ladder-ladder")
    moved = "const [a, b] = document.querySelectorAll('#s3-ladder-ladder text');"
    moved += "b.setAttribute('x', a.getAttribute('x')); b.setAttribute('y', a.getAttribute('y'));"
    page.evaluate(f"() => {{ {moved} }}")
    assert any("lies on" in fault for fault in page.evaluate("checks.faults()"))
    page.add_style_tag(content="#s3-ladder-ladder text { fill: #999 !important }")
    assert any("s3-ladder-ladder" in faint for faint in page.evaluate("checks.faint(4.5)"))
    page.context.close()


@BROWSER
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_reach_a_contrast_of_4_5_in_both_themes(opened, theme):
    page = opened()
    if theme == "dark":
        page.keyboard.press("t")
    charted = set(page.evaluate(CHARTED))
    faint = page.evaluate("checks.faint(4.5)")
    assert [found for found in faint if found.split()[1] in charted] == []
    page.context.close()


@BROWSER
def test_the_table_behind_a_chart_is_a_key_away_and_scrolls(opened):
    page = opened()
    shown = page.locator(".data:visible")
    go(page, "s8-final")
    page.keyboard.press("d")
    assert shown.count() == 1
    assert shown.evaluate(
        "(e) => e.scrollWidth <= e.clientWidth && e.scrollHeight > e.clientHeight"
    )
    page.keyboard.press("ArrowDown")
    assert shown.evaluate("(e) => e.scrollTop") > 0
    assert page.evaluate("Reveal.getCurrentSlide().id") == "s8-final"
    page.keyboard.press("i")
    assert shown.count() == 0
    assert page.locator(".passport:visible").count() == 1
    page.keyboard.press("d")
    assert page.locator(".passport:visible").count() == 0
    for close in ("d", "Escape", "PageDown"):
        if shown.count() == 0:
            page.keyboard.press("d")
        assert shown.count() == 1
        page.keyboard.press(close)
        assert shown.count() == 0
    page.context.close()


@BROWSER
def test_no_table_tells_an_answer_before_its_picture(opened):
    page = opened()
    go(page, "s4-all")
    page.keyboard.press("d")
    rows = page.locator(".data tbody tr:visible")
    before = rows.count()
    page.keyboard.press("PageDown")
    assert rows.count() == before + 1
    go(page, "s5-blocks")
    page.keyboard.press("d")
    assert page.locator(".data:visible").count() == 0
    while forward(page):
        pass
    page.keyboard.press("d")
    assert page.locator(".data:visible").count() == 1
    page.context.close()
