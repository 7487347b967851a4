"""The cheat sheet: one page of paper, legible, and every figure on it a reference."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from pypdf import PdfReader

from slides import cheatsheet, lines
from slides.__main__ import main
from slides.build import TEMPLATES, Deck, build
from slides.typed import typed_figures
from talk import runner
from talk.errors import TalkError
from tests import decks, pages, records
from tests.decks import talk, words
from tests.pages import NEEDS_CHROMIUM, faults, opened


def made(record: Any = None) -> Deck:
    return build(record or talk(), medium=cheatsheet.MEDIUM)


@pytest.fixture(scope="module")
def real() -> Deck:
    recording = runner.recording()
    assert recording is not None, "demos/recordings/ holds no recording"
    return made(recording)


def sheet(deck: Deck) -> str:
    return deck.html.split("<main")[1].split("</main>")[0]


def test_every_measured_figure_is_a_reference_with_its_passport(real):
    assert typed_figures(TEMPLATES) == ()
    keys = re.findall('class="known" data-key="([^"]*)"', sheet(real))
    assert len(keys) > 25
    assert set(keys) <= set(re.findall('<tr id="([^"]*)"', real.html))
    # What is left without them: the date and versions, and what the device is.
    left = words(re.sub(r'<span class="known".*?</span></span>', "", sheet(real)))
    for unit in ("GB/s", "TFLOP/s", "ns", "µs", "ms", "billion/s", "%"):
        assert not re.search(rf"\d\s{unit}(?!\w)", left), unit


def test_it_has_a_rule_for_every_section_and_this_machine(real):
    assert re.findall('<li value="([0-9])"', sheet(real)) == list("12345678")
    page = words(sheet(real))
    machine = runner.recording().machine
    for known in (machine.device.name, machine.started[:10], "L2 cache", "empty kernel"):
        assert known in page
    for wall in ("launch", "latency", "memory", "arithmetic"):
        assert f'<th scope="row">{wall}</th>' in sheet(real)


def test_its_code_is_of_the_record(real):
    page = words(sheet(real))
    for name in ("program_id", "arange", "tl.load", "tl.store", "constexpr", "tl.dot", "other=",
                 "autotune", "cdiv", "add_kernel[(programs,)]"):  # fmt: skip
        assert name.replace(" ", "") in page.replace(" ", ""), name


def test_a_line_that_did_not_run_fails_the_build(tmp_path):
    body = decks.slide("{{ line('9/baseline', 'tl.dot') }}")
    with pytest.raises(TalkError, match=r"slide s9-baseline: no line .*'tl.dot'"):
        decks.deck(tmp_path, body)


def test_a_line_is_the_first_that_holds_the_text():
    code, line = lines.first((records.LONG, records.NAIVE), "tl.store( out_ptr")
    assert code is records.NAIVE
    assert line.striptags() == "tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)"
    with pytest.raises(TalkError, match="holds 'add_onetl'"):
        lines.first((records.NAIVE,), "add_onetl")


def test_numbers_turned_round_turn_what_the_sheet_says():
    shown = [words(sheet(made(decks.changed(runner.recording(), **times)))) for times in ({}, SAME)]
    assert "×1.00 as fast" not in shown[0]
    assert shown[1].count("×1.00") >= 4


SAME = {"median_ms": 5.0, "p20_ms": 5.0, "p80_ms": 5.0, "min_ms": 5.0}


def test_a_talk_of_one_section_has_the_machine_and_no_rules_of_others():
    page = words(sheet(made()))
    assert "This machine" in page and "Which wall?" in page
    assert "Take trips away" not in page


def test_what_is_missing_is_said_and_listed(capsys):
    record = runner.recording()
    kept = tuple(
        e for e in record.events if not (e.kind == "outcome" and (e.section, e.step) == (8, "relu"))
    )
    lacking = made(type(record)(record.machine, kept))
    assert "✕ MISSING" in sheet(lacking)
    assert any("8/relu" in trouble for trouble in lacking.found.troubles())


def test_no_script_no_request_and_the_same_bytes_twice(real):
    assert "<script" not in real.html
    assert re.findall(r"(?:src|href)=\"(?!#|data:,)[^\"]*", real.html) == []
    assert real.html == made(runner.recording()).html


def test_markup_stays_text():
    hostile = sheet(made(decks.evil(talk())))
    assert decks.EVIL not in hostile and "<img" not in hostile


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pages.chromium() as browser:
        yield browser


@pytest.fixture
def path(real: Deck, tmp_path: Path) -> Path:
    path = tmp_path / "cheatsheet.html"
    path.write_text(real.html, encoding="utf-8")
    return path


# Boxes that hold more than they show, and what stands outside the sheet.
CUT = """(() => {
  const sheet = document.querySelector(".sheet").getBoundingClientRect();
  return [...document.querySelectorAll(".sheet, .sheet *")].filter((e) => {
    const box = e.getBoundingClientRect();
    const beyond = box.right > sheet.right + 1 || box.bottom > sheet.bottom + 1;
    const inline = getComputedStyle(e).display === "inline";
    const full = e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1;
    return beyond || (!inline && full);
  }).map((e) => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 40)}`);
})()"""
SMALL = """[...document.querySelectorAll(".sheet *")].filter(
  (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
    && parseFloat(getComputedStyle(e).fontSize) < 12
).map((e) => e.textContent.slice(0, 40))"""


@NEEDS_CHROMIUM
class TestOnPaper:
    @pytest.mark.parametrize("paper", ["A4", "Letter"])
    def test_it_is_one_page(self, browser, path, paper):
        with opened(browser, path) as (page, noted):
            printed = PdfReader(io.BytesIO(page.pdf(format=paper, landscape=True)))
            assert len(printed.pages) == 1
            text = " ".join(printed.pages[0].extract_text().split())
            assert text.startswith("Memory Wall: the day on one page")
            assert "shared, each SM" in text, "the last line is on it"
            assert "Where these numbers come from" not in text
            assert noted == []

    @pytest.mark.parametrize("font", ["", '"Narrowed Sans"'])
    def test_nothing_is_cut_and_all_is_nine_points_or_more(self, browser, path, font):
        with opened(browser, path, viewport={"width": 1200, "height": 800}) as (page, _):
            if font:
                page.evaluate(
                    "(f) => document.documentElement.style.setProperty('--sans', f)", font
                )
            assert page.evaluate(CUT) == []
            assert page.evaluate(SMALL) == []

    @pytest.mark.parametrize(
        ("planted", "check"),
        [(".rules { line-height: 2.2 }", CUT), (".rules { font-size: 8pt }", SMALL)],
    )
    def test_a_planted_fault_is_found(self, browser, path, planted, check):
        with opened(browser, path) as (page, _):
            page.add_style_tag(content=planted)
            assert page.evaluate(check)

    def test_axe_finds_no_fault(self, browser, path):
        with opened(browser, path) as (page, _):
            page.evaluate("document.querySelector('details').open = true")
            assert faults(page) == []


def test_the_command_writes_it(tmp_path, capsys):
    folder = decks.write(tmp_path / "talk", talk())
    out = tmp_path / "sheet.html"
    assert main(["cheatsheet", "--record", str(folder), "--out", str(out)]) == 0
    assert "cheatsheet: " in capsys.readouterr().out
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["cheatsheet", "--record", str(folder), "--out", str(tmp_path)]) == 2
    assert "--out cheatsheet.html" in capsys.readouterr().err
