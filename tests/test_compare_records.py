"""Two records row by row: the same row of both, each under its own ceiling, and what is not."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from slides.beside import second
from slides.build import TEMPLATES, build
from slides.choose import Shelf
from talk import compare as comparing
from talk import runner
from talk.compare import compare, named, names_of
from talk.errors import RecordError
from talk.outcome import Timing
from talk.record import Record
from talk.rows import CACHED
from talk.terminal.compared import write
from tests import decks, hostile, records
from tests.decks import EVIL, words
from tests.test_deck_browser import CHECKS, CHROMIUM, SIZES, Watched

ROOT = Path(__file__).resolve().parent.parent
SHARED = hostile.record()


def elsewhere(talk: Record = SHARED, *, slower: float = 1.0, name: str = "Other GPU") -> Record:
    """The same talk on a machine so many times slower, its ceilings too."""
    ceilings = talk.machine.ceilings
    assert ceilings
    mixes = {mix: gbps / slower for mix, gbps in ceilings.bandwidth_gbps.items()}
    machine = replace(
        talk.machine,
        device=replace(talk.machine.device, name=name),
        ceilings=replace(ceilings, bandwidth_gbps=mixes),
    )
    return replace(timed(talk, lambda timing: scaled(timing, slower)), machine=machine)


def scaled(timing: Timing, by: float) -> Timing:
    fields = ("median_ms", "p20_ms", "p80_ms", "min_ms")
    return replace(timing, **{field: getattr(timing, field) * by for field in fields})


def timed(talk: Record, change) -> Record:
    """The record with every timing passed through a function."""
    events = tuple(
        replace(e, outcome=replace(e.outcome, timings=tuple(map(change, e.outcome.timings))))
        if e.outcome
        else e
        for e in talk.events
    )
    return replace(talk, events=events)


def without(talk: Record, step: str) -> Record:
    kept = (e for e in talk.events if not (e.kind == "outcome" and e.step == step))
    return replace(talk, events=tuple(kept))


def pair(found, ref):
    return next(each for each in (*found.pairs, *found.apart) if each.ref == ref)


def printed(found, *, every=True, width=80) -> str:
    console = Console(file=io.StringIO(), width=width)
    write([found], every=every, console=console)
    return console.file.getvalue()


def test_a_ratio_has_a_direction_and_each_share_its_own_ceiling():
    found = compare(SHARED, elsewhere(slower=2.0))
    row = pair(found, "9/blocks[triton, 1024]")
    assert row.verdict == "×2.00 slower"
    assert pair(compare(elsewhere(slower=2.0), SHARED), row.ref).verdict == "×2.00 faster"
    assert [str(time) for time in row.times] == ["6.05 ms", "12.1 ms"]
    assert [str(rate) for rate in row.rates] == ["1,980 GB/s", "992 GB/s"]
    assert [str(share) for share in row.shares] == ["99.2 %", "99.2 %"]


def test_times_whose_spreads_overlap_are_a_tie():
    assert {p.verdict for p in compare(SHARED, elsewhere(slower=1.01)).pairs} == {"a tie"}
    assert {p.verdict for p in compare(SHARED, elsewhere(slower=1.05)).pairs} == {"×1.05 slower"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shape": "2"}, "shape 1,000,000,000 against 2"),
        ({"dtype": "float16"}, "dtype float32 against float16"),
        ({"bytes": 6}, "bytes 12000000000 against 6"),
        ({"clock": "hot"}, "clock device against hot"),
        ({"config": {"num_warps": 8}}, "nothing set against num_warps 8"),
    ],
)
def test_what_was_not_asked_alike_is_not_compared_and_says_why(change, why):
    other = timed(elsewhere(), lambda t: replace(t, **change) if t.candidate == "naive" else t)
    found = compare(SHARED, other)
    assert [row.differs for row in found.apart] == [why]
    assert f"not compared, {why}: 9/baseline (1)" in " ".join(printed(found).split())


def test_registers_may_differ_from_gpu_to_gpu():
    mine, theirs = (
        timed(SHARED, lambda t, n=n: replace(t, config={**t.config, "registers": n}))
        for n in (20, 30)
    )
    assert compare(mine, elsewhere(theirs)).apart == ()


def test_rows_that_one_alone_holds_are_counted_and_named():
    found = compare(SHARED, elsewhere(without(SHARED, "blocks")))
    assert len(found.alone[0]) == 3 and found.alone[1] == ()
    assert "3 rows that A alone holds, Test GPU 9000: 9/blocks (3)" in printed(found)
    turned = compare(elsewhere(without(SHARED, "blocks")), SHARED)
    assert turned.alone == (found.alone[1], found.alone[0])


def test_code_that_differs_is_marked():
    def other(code):
        return replace(code, text=code.text + "  # another")

    found = compare(SHARED, elsewhere(decks.changed(SHARED, code=other)))
    marked = {row.ref for row in found.pairs if row.other_code}
    assert "9/baseline[naive]" in marked and "9/bench[add, torch]" not in marked
    assert "! its two codes differ" in printed(found)
    assert "two codes" not in printed(compare(SHARED, elsewhere()))


def test_flags_of_either_side_are_kept_and_a_launch_is_no_verdict():  # cases M1, M2
    quick = compare(SHARED, elsewhere(timed(SHARED, lambda t: scaled(t, 1e-5)), slower=1.0))
    bound = pair(quick, "9/blocks[triton, 1024]")
    assert (bound.verdict, bound.faster) == ("overhead-bound", None)
    cached = compare(SHARED, elsewhere(timed(SHARED, lambda t: scaled(t, 0.5))))
    row = pair(cached, "9/blocks[triton, 1024]")
    assert CACHED in row.notes and row.shares[1] is None
    assert f"! {CACHED}" in printed(cached)


def test_the_decisive_rows_are_the_last_of_each_step_and_case_and_the_fastest_tuned():
    found = compare(SHARED, elsewhere())
    assert [row.ref for row in found.decisive] == [
        "9/baseline[torch]",
        "9/blocks[triton, 1024]",
        "9/tuned[triton, 256, 4]",
        "9/bench[add, triton]",
        "9/bench[relu, triton]",
    ]
    few, every = printed(found, every=False), printed(found)
    assert "9/bench[add, torch]" in every and "9/bench[add, torch]" not in few
    assert "11 rows compared, 5 of them here: --all shows the others." in few
    assert "11 rows compared." in every


def test_sections_filter():
    assert compare(SHARED, elsewhere(), sections=[9]).pairs
    assert compare(SHARED, elsewhere(), sections=[1]).pairs == ()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_fits_its_width_and_names_both_machines(width):
    text = printed(compare(SHARED, elsewhere(slower=2.0)), width=width)
    assert max(map(len, text.splitlines())) <= width
    for known in ("A  Test GPU 9000", "B  Other GPU", "580", "2.11.0", "3.6.0", "▣ RECORDED"):
        assert known in text
    assert "2,000 GB/s" in text and "1,000 GB/s" in text and "\x1b" not in text


def test_one_gpu_twice_is_told_apart_by_its_dates():
    here = SHARED.machine
    later, same_day = replace(here, started="2026-02-02"), replace(here, started=f"{here.started}1")
    assert names_of(here, later) == ("Test GPU 9000, 2026-01-02", "Test GPU 9000, 2026-02-02")
    assert len(set(names_of(here, same_day))) == len(set(names_of(here, here))) == 2


def test_simulated_figures_are_refused():
    simulated = replace(SHARED, machine=replace(SHARED.machine, mode="simulated"))
    with pytest.raises(RecordError, match="no figures to compare: it is simulated"):
        compare(SHARED, simulated)
    partly = decks.changed(SHARED, mode="simulated")
    assert compare(SHARED, replace(partly, machine=SHARED.machine)).pairs == ()


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Two recordings of two GPUs."""
    monkeypatch.setattr(runner, "RECORDINGS", tmp_path)
    monkeypatch.setattr(comparing.runner, "RECORDINGS", tmp_path)
    decks.write(tmp_path / "test-gpu", SHARED)
    decks.write(tmp_path / "other-gpu", elsewhere(slower=2.0))
    return Shelf(results=tmp_path / "none", recordings=tmp_path)


def test_records_are_named_by_folder_or_recording(shelf, monkeypatch):
    committed = replace(SHARED, folder=shelf.recordings / "test-gpu")
    monkeypatch.setattr(runner, "recording", lambda: committed)
    assert [talk.machine.device.name for talk in named(["other-gpu"])] == [
        "Test GPU 9000", "Other GPU",
    ]  # fmt: skip
    assert len(named([str(shelf.recordings / "test-gpu"), "other-gpu"])) == 2
    for texts, problem in (
        ([], "which record"),
        (["test-gpu"], "with itself"),
        (["nowhere"], "no record 'nowhere'"),
        (["../test-gpu"], "no record"),
    ):
        with pytest.raises(RecordError, match=problem) as failed:
            named(texts)
        assert "other-gpu, test-gpu" in str(failed.value)


def run(*arguments: str | Path, **environment: str):
    return subprocess.run(
        [sys.executable, "-m", "talk", "compare", *map(str, arguments)],
        cwd=ROOT, capture_output=True, env=os.environ | environment,
    )  # fmt: skip


def test_the_command_writes_plain_ascii_where_that_is_all_there_is(tmp_path):
    for name, talk in (("a", SHARED), ("b", elsewhere(slower=2.0))):
        decks.write(tmp_path / name, talk)
    done = run(tmp_path / "a", tmp_path / "b", "--all", LC_ALL="C", NO_COLOR="1", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii() and b"\x1b" not in done.stdout and b"x2.00 slower" in done.stdout
    none = run(tmp_path / "c")
    assert none.returncode == 2 and none.stderr.startswith(b"talk: there is no record")


# The deck


def deck_of(other: Record | None, folder: Path):
    """A deck of one made-up section whose benchmark stands on both machines."""
    if not (folder / "templates").exists():
        shutil.copytree(TEMPLATES, folder / "templates")
    body = "{{ beside('9/blocks') }}{{ beside('9/bench') }}"
    (folder / "templates" / "s9.html.j2").write_text(body, encoding="utf-8")
    return build(SHARED, beside=other, templates=folder / "templates", root=folder)


def test_a_second_record_stands_on_slides_of_its_own_under_its_name(tmp_path):
    made = deck_of(elsewhere(slower=2.0), tmp_path)
    assert {"s9-blocks-beside", "s9-bench-beside", "two-machines"} <= set(made.found.slides)
    page = words(decks.on(made, "s9-blocks-beside"))
    assert "block 1,024 1,980 GB/s 99.2 % 992 GB/s 99.2 % ×2.00 slower" in page
    assert "Other GPU: 9/blocks[triton, 1024].gbps" in page and "GPU Other GPU" in page
    both = words(decks.on(made, "two-machines"))
    assert "2:1 2,000 GB/s 1,000 GB/s ×2.00 slower" in both
    title = words(decks.on(made, "title")).replace(" ,", ",")
    assert "Measured on Test GPU 9000, 2026-01-02 · beside it Other GPU, 2026-01-02" in title


def test_without_a_second_record_there_is_nothing_of_it(tmp_path):
    made = deck_of(None, tmp_path)
    assert not {name for name in made.found.slides if "beside" in name or "machines" in name}
    assert "beside it" not in decks.on(made, "title")


def test_what_the_second_lacks_is_missing_by_its_name(tmp_path):
    made = deck_of(elsewhere(without(SHARED, "blocks")), tmp_path)
    assert "✕ MISSING Other GPU: 9/blocks" in words(decks.on(made, "s9-blocks-beside"))
    assert any("MISSING Other GPU: 9/blocks on s9-b" in line for line in made.found.troubles())


def test_gb_and_flop_a_second_share_no_axis(tmp_path):
    def heavy(timing):
        return replace(timing, flops=10**13) if timing.case == "relu" else timing

    made = build_of(timed(SHARED, heavy), tmp_path)
    page = words(decks.on(made, "s9-bench-beside"))
    assert "bars: the share of its own measured ceiling" in page
    assert "TFLOP/s" in page and "GB/s" in page


def build_of(talk: Record, folder: Path):
    deck_of(None, folder)
    return build(talk, beside=elsewhere(talk), templates=folder / "templates", root=folder)


def test_the_second_machine_s_words_stay_words(tmp_path):
    made = deck_of(decks.evil(elsewhere()), tmp_path)
    assert EVIL not in made.html and "<script>window" not in made.html
    assert "&lt;script&gt;window.pwned=1" in decks.on(made, "two-machines")


def test_the_second_record_is_chosen_with_the_same_care(shelf):
    first = replace(SHARED, folder=shelf.recordings / "test-gpu")
    taken = second(shelf, str(shelf.recordings / "other-gpu"), first)
    assert taken.record.machine.device.name == "Other GPU"
    with pytest.raises(RecordError, match="beside itself"):
        second(shelf, str(shelf.recordings / "test-gpu"), first)
    bare = replace(elsewhere(), machine=replace(records.MACHINE, ceilings=None))
    decks.write(shelf.recordings / "bare", bare)
    with pytest.raises(RecordError, match="holds no ceilings"):
        second(shelf, str(shelf.recordings / "bare"), first)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
def test_the_slides_of_two_machines_fit_whatever_the_second_is_called(tmp_path):
    from playwright.sync_api import sync_playwright

    recorded = runner.recording()
    assert recorded
    other = elsewhere(recorded, slower=123.4, name="NVIDIA RTX 6000 Ada Generation")
    made = build(recorded, beside=other)
    path = tmp_path / "deck.html"
    path.write_text(made.html, encoding="utf-8")
    slides = [name for name in made.found.slides if name.endswith(("-beside", "machines"))]
    assert len(slides) == 8
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-background-networking", "--no-first-run"],
        )
        for width, height in SIZES:
            view = {"width": width, "height": height}
            context = browser.new_context(viewport=view, reduced_motion="reduce", offline=True)
            context.add_init_script(path=CHECKS)
            shown = Watched(context, path)
            found = {}
            for name in (*slides, "title"):
                shown.go(name)
                found[name] = shown.page.evaluate("checks.faults()")
            assert not any(found.values()), found
            assert shown.errors == []
        assert [line for line in shown.page.evaluate("checks.faint(4.5)") if "beside" in line] == []
        shown.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert [line for line in shown.page.evaluate("checks.faint(4.5)") if "beside" in line] == []
        browser.close()
