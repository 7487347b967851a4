"""The handout: every slide in one page that can be read by eye, by ear and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from slides import handout
from slides.__main__ import main
from slides.build import Deck, build
from talk import runner
from tests import decks, pages
from tests.decks import talk, words
from tests.pages import NEEDS_CHROMIUM, faults, opened


def made(record=None) -> Deck:
    return build(record or talk(), medium=handout.MEDIUM)


@pytest.fixture(scope="module")
def real() -> Deck:
    recording = runner.recording()
    assert recording is not None, "demos/recordings/ holds no recording"
    return made(recording)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pages.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def path(real: Deck, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("handout") / "handout.html"
    path.write_text(real.html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(browser: Browser, path: Path) -> Iterator[Page]:
    with opened(browser, path, viewport={"width": 1280, "height": 900}) as (page, noted):
        yield page
        assert noted == []


def article(html: str, name: str) -> str:
    found = re.search(rf'<article id="{name}".*?</article>', html, re.DOTALL)
    assert found, f"no article {name}"
    return found.group()


def test_every_slide_of_the_deck_has_its_article_and_its_line_in_the_contents(real):
    deck = build(runner.recording())
    assert re.findall('<article id="([^"]*)"', real.html) == deck.found.slides
    listed = re.findall('href="#([^"]*)"', real.html.split("</nav>")[0].split("<nav")[1])
    assert [name for name in listed if not name.startswith("section-")] == deck.found.slides


def test_every_chart_and_table_of_the_deck_is_there_as_a_table(real):
    deck = build(runner.recording())
    drawn = re.compile(r'<figure (?:tabindex="0" )?class="(?:bars|skyline|table|plot|heat)')
    charts = len(drawn.findall(deck.html))
    assert charts > 30
    assert len(drawn.findall(real.html)) == charts
    assert deck.html.count('<div class="data" hidden>') == real.html.count('<div class="data" tab')
    assert 'class="skyline' not in real.html.split("</style>")[-1]
    assert "of 40 rows" not in words(made().html)
    assert "kernel_39" in made().html, "a table is whole"


def test_the_code_is_whole_with_its_beats_as_a_list(real):
    softmax = article(real.html, "s6-rows")
    assert "def" in words(softmax) and "Padding that no maximum sees" in words(softmax)
    assert re.search(r"<ol><li [^>]*>Some rows to a program</li>", softmax)


def test_a_question_comes_first_and_its_answer_is_behind_a_word(real):
    asked = article(made().html, "s9-guess")
    choices, answer = asked.split("<details", 1)
    assert "<li>under 10 %</li>" in choices
    assert "measured" not in words(choices)
    assert "the model 90.0 %" in words(answer)
    assert "measured 1.00 %" in words(answer)
    beside = article(real.html, "s5-baseline")
    assert 0 < beside.index("<details") < beside.index("<figure")


def test_a_drawing_is_told_in_words_and_what_is_wide_can_be_reached():
    svg = '<svg width="9" role="img" aria-label=" A &lt;grid&gt; ">a</svg>'
    drawn = str(handout.linear(f'<h3>t</h3><figure class="diagram">{svg}</figure>'))
    assert "<figcaption>A &lt;grid&gt;</figcaption></figure>" in drawn
    assert '<figure tabindex="0" class="diagram">' in drawn
    assert drawn.startswith("<h4>t</h4>")
    plot = f'<figure class="plot">{svg}<figcaption>higher is faster</figcaption></figure>'
    data = '<div class="data" hidden><b tabindex="0" data-key="k">1</b></div>'
    shown = str(handout.linear(plot + data))
    assert shown.count("<figcaption>") == 1
    assert "hidden" not in shown and '<b data-key="k">' in shown


def test_notes_are_prose_with_their_labels():
    noted = decks.changed(
        talk(), notes="Say: five lines.\nSay: no more.\nAsk: is that fast?\n2 minutes."
    )
    said = words(article(made(noted).html, "s9-baseline").split('<dl class="spoken">')[1])
    assert said.startswith("Say Five lines. No more. Ask Is that fast?")
    assert "2 minutes." not in said


def test_notes_without_a_label_are_said():
    assert handout.labelled("Look here: five lines.") == ("Say", "Look here: five lines.")
    assert handout.labelled("Usual wrong answer: all.") == ("Usual wrong answer", "All.")


def test_machine_and_date_stand_at_the_top(real):
    top = words(real.html.split("<nav")[0].split("</style>")[-1])
    machine = runner.recording().machine
    for known in (machine.device.name, machine.started[:10], machine.software.triton):
        assert known in top


def test_every_figure_points_to_where_it_comes_from(real):
    body = real.html.split("</style>")[-1]
    pointed = {
        key for keys in re.findall('aria-describedby="([^"]*)"', body) for key in keys.split()
    }
    assert len(pointed) > 200
    assert pointed <= set(re.findall(' id="([^"]*)"', body))


def test_ids_are_used_once(real):
    ids = re.findall(' id="([^"]*)"', real.html.split("</style>")[-1])
    assert len(ids) == len(set(ids))


def test_no_script_no_request_and_the_same_bytes_twice(real):
    assert "<script" not in real.html
    assert re.findall(r"(?:src|href)=\"(?!#|data:,)[^\"]*", real.html) == []
    assert real.html == made(runner.recording()).html
    assert len(real.html.encode()) < 2_000_000


def test_missing_is_said_and_a_missing_step_does_not_stop_it():
    lacking = replace(talk(), events=tuple(e for e in talk().events if e.step != "blocks"))
    handed = made(lacking)
    assert "✕ MISSING" in words(article(handed.html, "s9-blocks"))
    assert "9/blocks" in handed.found.missing


def test_a_dark_rule_follows_the_reader_s_system():
    sheet = ':root { --a: 1 }\n:root[data-theme="dark"] { --a: 2 }\n[data-theme=dark] .b { c: d }'
    made = handout.preferred(sheet)
    assert "data-theme" not in made
    assert made.count("@media screen and (prefers-color-scheme: dark)") == 2
    assert ":root { --a: 1 }" in made


@NEEDS_CHROMIUM
class TestInABrowser:
    def test_axe_finds_no_fault(self, page):
        assert faults(page, ("moderate", "serious", "critical")) == []

    def test_axe_finds_a_planted_fault(self, browser, tmp_path):
        planted = tmp_path / "planted.html"
        html = made().html.replace("</main>", '<p style="color: #aaa">faint</p></main>')
        planted.write_text(html, encoding="utf-8")
        with opened(browser, planted) as (page, _):
            assert [fault for fault in faults(page) if "faint" in fault]

    def test_headings_go_down_one_level_at_a_time(self, page):
        levels = page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((e) => Number(e.tagName[1]))"
        )
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    @pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1280, "dark")])
    def test_it_fits_every_width_in_both_themes(self, browser, path, width, scheme):
        size = {"width": width, "height": 800}
        with opened(browser, path, viewport=size, color_scheme=scheme) as (page, noted):
            page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.evaluate(BEYOND) == []
            ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground))) < 384) is (scheme == "dark")
            if (width, scheme) == (360, "dark"):
                assert faults(page, rules=("color-contrast", "scrollable-region-focusable")) == []
            assert noted == []

    def test_what_is_too_wide_is_found(self, browser, tmp_path):
        wide = tmp_path / "wide.html"
        html = made().html.replace("</main>", '<p style="width: 900px">wide</p></main>')
        wide.write_text(html, encoding="utf-8")
        with opened(browser, wide, viewport={"width": 360, "height": 800}) as (page, _):
            assert page.evaluate(BEYOND)

    def test_the_first_stop_of_tab_skips_to_the_content(self, page):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"

    def test_a_hostile_record_runs_nothing(self, browser, tmp_path):
        hostile = tmp_path / "hostile.html"
        hostile.write_text(made(decks.evil(talk())).html, encoding="utf-8")
        with opened(browser, hostile) as (page, noted):
            assert page.evaluate("window.pwned") is None
            assert page.evaluate("document.querySelectorAll('script, img').length") == 0
            assert noted == []

    # Between the margins A4 and Letter leave 178 mm and 184 mm: 672 px and 695 px.
    @pytest.mark.parametrize("width", [672, 695])
    def test_nothing_is_wider_than_paper_where_nothing_scrolls(self, browser, path, width):
        with opened(browser, path, viewport={"width": width, "height": 900}) as (page, _):
            page.emulate_media(media="print")
            assert page.evaluate(BEYOND) == []

    def test_on_paper_the_answers_are_open_and_nothing_is_lost(self, page, tmp_path):
        from pypdf import PdfReader

        out = tmp_path / "handout.pdf"
        page.pdf(path=out, format="A4")
        printed = [" ".join(sheet.extract_text().split()) for sheet in PdfReader(out).pages]
        text = " ".join(printed)
        assert all(len(sheet) > 20 for sheet in printed)
        assert text.count("the model") >= 10, "an answer is closed on screen"
        for outline in runner.recording().outlines:
            assert f"{outline.number}. {outline.title}" in text
            assert "Where these numbers come from" not in text


# Elements that reach beyond the page, apart from those inside what scrolls by itself.
BEYOND = """[...document.querySelectorAll("body *")].filter((e) => {
  const scroller = (at) => ["auto", "scroll"].includes(getComputedStyle(at).overflowX);
  const scrolls = (at) => at && (scroller(at) || scrolls(at.parentElement));
  const box = e.getBoundingClientRect();
  return box.width > 0 && box.right > innerWidth + 1 && !scrolls(e.parentElement);
}).slice(0, 5).map((e) => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 40)}`)"""


def test_the_command_writes_it_and_a_failing_one_leaves_the_old(tmp_path, capsys):
    folder = decks.write(tmp_path / "talk", talk())
    out = tmp_path / "handout.html"
    assert main(["handout", "--record", str(folder), "--out", str(out)]) == 0
    assert "handout: " in capsys.readouterr().out
    before = out.read_bytes()
    assert main(["handout", "--record", str(tmp_path / "none"), "--out", str(out)]) == 2
    assert out.read_bytes() == before
    blocked = str(folder / "machine.json" / "handout.html")
    assert main(["handout", "--record", str(folder), "--out", blocked]) == 2
    error = capsys.readouterr().err.splitlines()[-2:]
    assert error[0].startswith("slides: cannot write") and "--out FILE" in error[1]
