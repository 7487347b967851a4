"""The deck is built from a record: references resolve or fail by name, and nothing is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from slides import reveal
from slides.__main__ import main
from slides.build import DECK, TEMPLATES, build
from slides.labels import writer
from slides.typed import typed, typed_figures
from talk import runner, source
from talk.collect import of_the_talk
from talk.errors import TalkError
from talk.outcome import Code
from talk.record import Event, Record
from tests import decks, records
from tests.decks import EVIL, deck, on, slide, talk, words

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("body", "problem", "nearest"),
    [
        ("{{ number('9/blocks[7].gbps') }}", "9/blocks[7].gbps", "[triton, 1].gbps"),
        ("{{ number('9/blocks[32].gbp') }}", "gbp", "[triton, 32].gbps"),
        ("{{ number('9/block[32].gbps') }}", "9/block[32].gbps names no step", "9/blocks"),
        ("{{ number('machine/bandwidth[5:1].gbps') }}", "machine", "bandwidth[2:1]"),
        ("{{ number('4,370') }}", "is no reference", "5/blocks[256].gbps"),
        ("{{ bars('9/baseline', only=['tritn']) }}", "'tritn'", "torch"),
        ("{{ bars('9/baseline', 'gbs') }}", "'gbs'", "gbps"),
        ("{{ code('9/baseline', 'add_two') }}", "add_two", "add_one"),
        ("{{ code('9/rows') }}", "9/rows shows no code", ""),
        ("{{ says('9/rows') }}", "9/rows has no take-away", "says"),
        ("{{ table('9/row') }}", "'9/row' names no step", "9/rows"),
        ("{{ step('8/rows').title }}", "no section 8", "9"),
        ("{{ machine.gpu }}", "'machine' is undefined", ""),
    ],
)
def test_what_does_not_resolve_names_template_slide_and_nearest(tmp_path, body, problem, nearest):
    with pytest.raises(TalkError) as failed:
        deck(tmp_path, "\n\n" + slide(body))
    message = str(failed.value)
    assert message.startswith("s9.html.j2:3, slide s9-baseline: ")
    assert problem in message.splitlines()[0]
    assert nearest in message


def test_two_slides_of_one_name_are_refused(tmp_path):
    with pytest.raises(TalkError, match=r"slide s9-baseline: .* there is one already"):
        deck(tmp_path, slide("one") + slide("two"))


def test_a_template_that_does_not_parse_names_its_line(tmp_path):
    with pytest.raises(TalkError, match=r"^s9\.html\.j2:2: "):
        deck(tmp_path, "\n{% call slide('9/baseline' %}")


def test_a_number_carries_unit_spread_badge_and_passport(tmp_path):
    body = slide("{{ number('9/baseline[naive].gbps', 'the naive add') }}")
    page = words(on(deck(tmp_path, body, fresh(tmp_path))))
    assert "the naive add 20.0 GB/s 19.8–20.2 GB/s ▣ RECORDED" in page
    for known in (
        "Test GPU 9000",
        "2026-01-02",
        "triton 3.6.0",
        "1,000,000,000 float32",
        "samples 20",
    ):
        assert known in page
    for known in ("median 600 ms, p20 594 ms, p80 606 ms", "commit abc1234", "just demo 5"):
        assert known in page


def test_a_number_not_measured_is_shown_and_listed_as_missing(tmp_path):
    lacking = without(talk(), "blocks")
    body = "{{ number('9/blocks[32].gbps') }}{{ bars('9/blocks') }}{{ says('9/blocks') }}"
    made = deck(tmp_path, slide(body), lacking)
    assert words(on(made)).count("✕ MISSING") == 4  # the fourth is in the passport
    assert made.found.missing == {
        "9/blocks[32].gbps": ["s9-baseline"],
        "9/blocks": ["s9-baseline"],
    }


def test_a_step_that_failed_is_missing_with_its_reason(tmp_path):
    made = deck(tmp_path, slide("{{ bars('9/broken') }}"), talk(record=records.record()))
    assert "✕ MISSING 9/broken: the worker was ended by signal 11" in words(on(made))


def test_an_overhead_bound_time_claims_no_rate(tmp_path):  # case M1
    quick = decks.changed(talk(), median_ms=0.004, p20_ms=0.004, p80_ms=0.004, min_ms=0.004)
    page = on(deck(tmp_path, slide("{{ bars('9/baseline') }}"), quick))
    assert words(page).count("overhead-bound") >= 2
    assert 'class="bar" style="width: 0.0%"' in page


def test_faster_than_memory_is_never_a_share_of_it(tmp_path):  # case M2
    cached = decks.changed(talk(), median_ms=1.0, p20_ms=1.0, p80_ms=1.0, min_ms=1.0)
    made = deck(tmp_path, slide("{{ number('9/baseline[naive].share') }}"), cached)
    shown = words(on(made).split("<aside")[0])
    assert "above the ceiling: cache-resident?" in shown
    assert "600 %" not in shown


def test_overhead_bound_is_explained_where_it_is_written(tmp_path):
    legend = "overhead-bound: too short to time, the launch dominates"
    quick = decks.changed(talk(), median_ms=0.004, p20_ms=0.004, p80_ms=0.004, min_ms=0.004)
    for record, written in ((quick, True), (talk(), False)):
        page = words(on(deck(tmp_path, slide("{{ bars('9/baseline') }}"), record)))
        assert (legend in page) is written


def test_ends_that_read_the_same_are_not_printed_twice(tmp_path):
    steady = decks.changed(talk(), min_ms=600.0, p20_ms=600.0, median_ms=600.1, p80_ms=600.2)
    page = words(on(deck(tmp_path, slide("{{ number('9/baseline[naive].time') }}"), steady)))
    assert "600 ms ±&lt;1 % ◪ STALE" in page


def test_long_sizes_are_decimal_and_never_read_the_same():
    sizes = {2**10, 2**14, 2**18, 2**22, 2**25, 2**28, 2**30}
    written = [writer(sizes)(size) for size in sorted(sizes)]
    assert written == ["1,024", "16,384", "262,144", "4.19 M", "33.6 M", "268 M", "1.07 G"]
    assert writer({10**8, 10**8 + 1})(10**8 + 1) == "100,000,001"


def test_what_was_not_measured_itself_says_how_it_came_about(tmp_path):
    body = "{{ number('9/blocks[1].time / 9/blocks[32].time') }}{{ number('9/guess.model') }}"
    page = on(deck(tmp_path, slide(body + "{{ number('9/blocks[1].time') }}"))).split("<aside")[1]
    ratio, model, measured = re.findall(r"<tr id=.*?</tr>", page, re.DOTALL)
    assert "computed of two" in ratio
    assert "modelled from the ceilings" in model
    assert "modelled" not in page.split("<table")[0]
    assert "p20 594 ms" in measured
    assert "p20" not in ratio + model


def test_reversed_numbers_reverse_the_sentence_on_the_slide(tmp_path):
    body = slide("{{ says('9/baseline') }}")
    slow = deck(tmp_path, body, talk())
    fast = deck(tmp_path, body, talk(record=records.whole(naive_ms=6.1, torch_ms=600.0)))
    assert "1.00 % of the ceiling, slower than torch." in words(on(slow))
    assert "98.4 % of the ceiling, faster than torch." in words(on(fast))


def test_code_is_the_text_that_ran(tmp_path):
    html = on(deck(tmp_path, slide("{{ code('9/baseline', 'add_one') }}")))
    shown = re.search(r"<code>(.*?)</code>", html, re.DOTALL)
    assert shown
    plain = re.sub(r"<[^>]*>", "", shown[1]).replace("&lt;", "<").replace("&gt;", ">")
    assert plain.rstrip("\n") == records.NAIVE.text
    assert '<span class="k">def</span>' in shown[1]


@pytest.mark.parametrize(
    ("text", "size"),
    [(records.LONG.text, "60 lines"), ("x = '" + "a" * 120 + "'", "126 columns")],
)
def test_code_that_does_not_fit_fails_and_names_the_slide(tmp_path, text, size):  # case S4
    long = Code(path="demos/x.py", name="long", text=text)
    record = decks.changed(talk(), code=lambda code: replace(long, shown=code.shown))
    with pytest.raises(TalkError, match=rf"slide s9-baseline: long.*{size}.*\n.*shorten"):
        deck(tmp_path, slide("{{ code('9/baseline') }}"), record)


def test_more_bars_than_fit_fail_and_a_long_table_says_what_it_leaves_out(tmp_path):
    with pytest.raises(TalkError, match="slide s9-rows: 40 bars"):
        deck(tmp_path, slide("{{ bars('9/rows', 'time') }}", "9/rows"))
    page = words(on(deck(tmp_path, slide("{{ table('9/rows', 5) }}", "9/rows")), "s9-rows"))
    assert "the first 5 of 40 rows" in page
    assert "kernel_4 5 5.00 µs" in page
    assert "kernel_5 6" not in page


def test_a_question_shows_room_model_and_measurement(tmp_path):
    vote = Event(kind="vote", section=9, step="guess", votes={"over 80 %": 7, "under 10 %": 2})
    page = words(on(deck(tmp_path, slide("{{ question('9/guess') }}"), talk() + vote)))
    assert "1 under 10 % room 2 measured 1.00 %" in page
    assert "3 over 80 % room 7 ✗ not so model 90.0 % ✗ not so" in page
    assert "the model bytes / bandwidth measured 1.00 % ◪ STALE" in page
    assert "the usual wrong belief A GPU is always fast." in page


def test_an_answer_outside_every_choice_is_still_shown(tmp_path):
    odd = decks.changed(talk(), choices={"none of these": (5.0, 6.0)})
    page = words(on(deck(tmp_path, slide("{{ question('9/guess') }}"), odd)))
    assert "model 90.0 % measured 1.00 %" in page


def test_a_section_without_a_template_gets_a_slide_for_every_step():
    made = build(talk())
    assert made.found.left_out(talk().outlines) == []
    assert made.found.slides[-2:] == ["s9-now-you", "machine"]


def fresh(root: Path) -> Record:
    """A talk whose code stands in a checkout at `root`, as `9/baseline` of a section there."""
    demos = root / "demos"
    demos.mkdir(exist_ok=True)
    (demos / "__init__.py").write_text('ORDER = ("s9_made_up",)\n')
    (demos / "s9_made_up.py").write_text(
        records.NAIVE.text + '\n\nMeasure("baseline", "Title", {"naive": add_one})\n'
    )
    behind = source.mark_shown(
        source.behind("demos.s9_made_up", "baseline", root), [("demos/s9_made_up.py", "add_one")]
    )
    events = tuple(
        replace(e, outcome=replace(e.outcome, behind=behind if e.step == "baseline" else ()))
        if e.outcome
        else e
        for e in talk().events
    )
    return Record(records.MACHINE, events)


def test_numbers_whose_code_was_edited_are_stale_by_name(tmp_path):  # case S1
    body = slide("{{ code('9/baseline') }}{{ number('9/baseline[naive].gbps') }}")
    body += slide("{{ number('9/blocks[32].gbps') }}", "9/blocks")
    record = fresh(tmp_path)
    assert deck(tmp_path, body, record).found.troubles() == []

    demo = tmp_path / "demos" / "s9_made_up.py"
    demo.write_text(demo.read_text().replace("+ 1)", "+ 2)"))
    made = deck(tmp_path, body, record)
    assert made.found.troubles() == ["STALE 9/baseline on s9-baseline: [naive].gbps"]
    assert "20.0 GB/s 19.8–20.2 GB/s ◪ STALE" in words(on(made))


def test_markup_in_every_string_stays_text(tmp_path):
    record = decks.evil(talk())
    body = "{{ step('9/guess').title }}{{ bars('9/baseline') }}{{ table('9/rows') }}"
    body += "{{ code('9/baseline') }}{{ question('9/guess') }}{{ says('9/baseline') }}"
    html = on(deck(tmp_path, slide(body), record))
    assert EVIL not in html
    assert "<script>window" not in html
    assert "\u202e" not in html, "it would turn round what stands beside it"
    assert "<img" not in html
    assert html.count("&lt;/script&gt;&lt;script&gt;window.pwned=1") > 30


@pytest.mark.parametrize("says", ["{{ n.__class__ }}", "{% for i in n %}{% endfor %}", "{{ n('"])
def test_a_sentence_that_does_more_than_compare_is_refused(tmp_path, says):
    hostile = decks.changed(talk(), says=says)
    with pytest.raises(TalkError, match="slide s9-baseline: a sentence"):
        deck(tmp_path, slide("{{ says('9/baseline') }}"), hostile)


@pytest.mark.parametrize("slug", ["<script>", "UP", "a b", '"'])
def test_a_step_name_that_is_no_slug_is_refused(slug):
    with pytest.raises(TalkError, match=r"section\.html\.j2:4"):
        build(decks.changed(talk(), slug=slug))


def test_half_a_character_does_not_stop_the_build(tmp_path):
    broken = decks.changed(talk(), title="half \ud800 a character")
    assert "half ? a character" in on(deck(tmp_path, slide(""), broken))


@pytest.mark.parametrize(
    "text",
    ["4,370 GB/s", "20&nbsp;GB/s", "0.45 %", "162 ms", "1.6 µs", "×218", "218×", "22x", "9 times",
     "65 TFLOP/s", "141 GB", "3 GiB", "1.66 billion", "12s", "half a percent, 0.5 per cent",
     "700 W", "3,201 MHz", '{{ step("a", say="20 GB/s") }}'],
)  # fmt: skip
def test_a_typed_figure_is_found(text):
    assert [found.line for found in typed("t", f"\n<p>{text}</p>")] == [2]


@pytest.mark.parametrize(
    "text",
    ["{% if a > 32 %}", "minutes=1.5", "{{ number('5/blocks[256].gbps') }}", "<h2>section 5</h2>",
     "{# 20 GB/s on the first GPU #}", "just replay 5", "2^28", "5/s-curve"],
)  # fmt: skip
def test_what_is_no_measured_figure_is_left_alone(text):
    assert list(typed("t", text)) == []


def test_our_templates_type_no_figure_and_a_build_refuses_one_that_does(tmp_path):
    assert typed_figures(TEMPLATES) == ()
    with pytest.raises(TalkError, match=r"s9\.html\.j2:1: '4,370 GB/s'"):
        deck(tmp_path, slide("4,370 GB/s"))


def test_another_reveal_js_than_the_tested_one_is_refused(monkeypatch):
    monkeypatch.setitem(reveal.SHA256, "dist/reveal.css", "0" * 64)
    with pytest.raises(TalkError, match=r"another dist/reveal\.css.*\n.*pyreveal"):
        reveal.style("dist/reveal.css")
    with pytest.raises(TalkError, match="package no_such_package is not installed"):
        reveal.read("LICENSE", "no_such_package")


def test_a_script_cannot_end_its_element():
    assert reveal.safe_script("a<!--b</SCRIPT>c<p>") == r"a\x3C!--b\x3C/SCRIPT>c<p>"
    with pytest.raises(ValueError, match="style"):
        reveal.safe_style("</style>")


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process in which torch, Triton and the demos cannot be imported."""
    blocked = "import runpy, sys; sys.modules.update(dict.fromkeys(('torch', 'triton', 'demos')));"
    program = blocked + "runpy.run_module('slides', run_name='__main__', alter_sys=True)"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT, capture_output=True, encoding="utf-8", env={"PATH": "", **environment},
    )  # fmt: skip


def test_two_builds_of_one_record_are_the_same_bytes_and_need_no_torch(tmp_path):  # case S2
    folder = decks.write(tmp_path / "talk", talk())
    pages = []
    for seed in ("1", "2"):
        made = run("--record", folder, "--out", tmp_path / seed, PYTHONHASHSEED=seed)
        assert made.returncode == 0, made.stderr
        pages.append((tmp_path / seed).read_bytes())
    assert pages[0] == pages[1]
    assert len(pages[0]) < 2_000_000
    assert "RECORDED" in pages[0].decode()
    assert "the one you named" in made.stdout


def test_strict_and_failing_builds_leave_the_old_deck(tmp_path, capsys, monkeypatch):  # case S5
    out = tmp_path / "deck.html"
    out.write_text("the old deck")
    lacking = decks.write(tmp_path / "lacking", without(talk(), "blocks"))
    odd = decks.write(tmp_path / "odd", decks.changed(talk(), slug="<b>"))
    to = ["--out", str(out)]

    assert main(["--record", str(lacking), "--strict", *to]) == 2
    assert "--strict" in capsys.readouterr().err
    assert main(["--record", str(odd), *to]) == 2
    assert main(["--record", str(tmp_path / "none"), *to]) == 2
    assert out.read_text() == "the old deck"
    assert [path.name for path in tmp_path.glob(".*")] == []

    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    assert main(["--record", str(lacking), *to]) == 0
    said = capsys.readouterr().out
    assert "MISSING 9/blocks on s9-blocks\n" in said
    assert "lacking: it lacks section" in said
    assert "record: lacking: Test GPU" in said
    assert "deck: deck.html, " in said
    assert str(tmp_path) not in said
    assert out.read_text().startswith("<!doctype html>")


def test_a_deck_that_cannot_be_written_is_one_clear_line(tmp_path, capsys):
    folder = decks.write(tmp_path / "talk", talk())
    assert main(["--record", str(folder), "--out", str(folder / "machine.json" / "deck.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_words_of_a_record_cannot_drive_the_terminal(tmp_path, capsys):
    talk_ = talk()
    device = replace(talk_.machine.device, name="GPU \x1b[2J\x07")
    folder = decks.write(
        tmp_path / "t", replace(talk_, machine=replace(talk_.machine, device=device))
    )
    assert main(["--record", str(folder), "--out", str(tmp_path / "deck.html")]) == 0
    assert "GPU ?[2J?" in capsys.readouterr().out


def without(record: Record, slug: str) -> Record:
    """A talk in which one step was not performed."""
    kept = tuple(e for e in record.events if not (e.kind == "outcome" and e.step == slug))
    return replace(record, events=kept)


@pytest.fixture(scope="module")
def committed() -> Record:
    found = runner.recording()
    assert found is not None, "demos/recordings/ holds no recording"
    return found


def test_the_committed_recording_fills_every_slide(committed):
    made = build(committed)
    assert made.found.left_out(of_the_talk(committed.outlines)) == []
    for outline in of_the_talk(committed.outlines):
        assert f"s{outline.number}-now-you" in made.found.slides


def test_the_minutes_of_a_section_s_slides_are_the_section_s(committed):
    html = build(committed).html
    for outline in of_the_talk(committed.outlines):
        found = re.findall(rf'<section id="s{outline.number}[-"][^>]*data-timing="(\d+)"', html)
        assert sum(map(int, found)) == 60 * outline.minutes


def test_every_slide_has_notes(committed):
    html = build(committed).html
    notes = re.findall(r'<aside class="notes">(.*?)</aside>', html, re.DOTALL)
    assert len(notes) == html.count('<section id="')
    assert all(len(words(note)) > 20 for note in notes)


def test_commands_on_slides_are_recipes(committed):
    recipes = re.findall(r"^(\w+)[ :*]", (ROOT / "justfile").read_text(), re.MULTILINE)
    commands = set(re.findall(r"\bjust ([a-z]+)\b(?= ?\d| all|<)", build(committed).html))
    assert "replay" in commands
    assert commands <= set(recipes)


def test_the_deck_lies_where_git_does_not_look():
    assert DECK == ROOT / "slides" / "build" / "deck.html"
    assert "slides/build/" in (ROOT / ".gitignore").read_text().splitlines()


def test_two_builds_of_one_record_are_the_same_bytes(tmp_path):
    """In processes of their own: sets and dictionaries are shuffled differently in each."""
    made = [tmp_path / "1.html", tmp_path / "2.html"]
    for seed, out in enumerate(made, 1):
        command = [sys.executable, "-m", "slides", "--out", str(out)]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    assert made[0].read_bytes() == made[1].read_bytes()
    assert made[0].stat().st_size < 2_000_000


def test_there_are_slides_for_two_hours_and_all_diagrams_are_among_them(committed):
    html = build(committed).html
    assert 50 <= html.count('<section id="') <= 70
    assert html.count('class="diagram') == 8
