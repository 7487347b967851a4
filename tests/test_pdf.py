"""The printed deck: a page for each slide, or for each of its steps, with its text."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pypdf import PdfReader

from slides import pdf
from slides.__main__ import main
from slides.build import Deck, build
from talk import runner
from talk.errors import TalkError
from tests import decks, pages
from tests.pages import NEEDS_CHROMIUM, opened


@pytest.fixture(scope="module")
def deck() -> Deck:
    recording = runner.recording()
    assert recording is not None, "demos/recordings/ holds no recording"
    return build(recording)


@pytest.fixture(scope="module")
def states(deck: Deck, tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """How many states each slide has, counted where it is shown."""
    path = tmp_path_factory.mktemp("deck") / "deck.html"
    path.write_text(deck.html, encoding="utf-8")
    with pages.chromium() as browser, opened(browser, path) as (page, _):
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page.evaluate(COUNT)


# Every state that the deck itself walks through.
COUNT = """Reveal.getSlides().map((slide, h) => {
  Reveal.slide(h, 0, -1);
  let states = 1;
  while (Reveal.nextFragment()) states++;
  return states;
})"""


@pytest.fixture(scope="module")
def printed(deck: Deck) -> PdfReader:
    return PdfReader(io.BytesIO(pdf.printed(deck.html)))


@pytest.fixture(scope="module")
def stepped(deck: Deck) -> PdfReader:
    return PdfReader(io.BytesIO(pdf.printed(deck.html, steps=True)))


def text(reader: PdfReader, page: int) -> str:
    return " ".join(reader.pages[page].extract_text().split())


@NEEDS_CHROMIUM
class TestPrinted:
    def test_a_slide_is_a_page_of_its_own_size(self, deck, printed):
        assert len(printed.pages) == len(deck.found.slides)
        sizes = {(round(p.mediabox.width), round(p.mediabox.height)) for p in printed.pages}
        assert sizes == {(960, 540)}, "1280 by 720 CSS pixels, in points"

    def test_a_step_is_a_page(self, states, stepped):
        assert len(stepped.pages) == sum(states) > len(states)

    @pytest.mark.parametrize("which", ["printed", "stepped"])
    def test_no_page_is_blank_and_first_and_last_are_the_deck_s(self, request, which):
        reader = request.getfixturevalue(which)
        every = [text(reader, number) for number in range(len(reader.pages))]
        assert min(map(len, every)) > 30
        assert every[0].startswith("Memory Wall Your first fast GPU kernel")
        assert "just replay all" in every[-1]

    def test_notes_passports_and_furniture_stay_off_the_page(self, deck, printed):
        every = " ".join(text(printed, number) for number in range(len(printed.pages)))
        assert "Say:" in deck.html and "samples" in deck.html
        for unwanted in ("Say:", "Ask:", "samples", "again with", "lists the keys"):
            assert unwanted not in every
        last = text(printed, len(printed.pages) - 1)
        assert f"{len(printed.pages)}/" not in last

    def test_a_page_shows_its_slide_as_it_ends(self, deck, printed, stepped, states):
        slide = deck.found.slides.index("s5-baseline")
        first = sum(states[:slide])
        ended, begun = text(printed, slide), text(stepped, first)
        assert "measured" in ended and "measured" not in begun
        assert text(stepped, first + states[slide] - 1).count("measured") == ended.count("measured")

    def test_it_is_light_and_opens_with_bookmarks(self, printed):
        assert printed.outline
        assert "/StructTreeRoot" in printed.root_object, "a screen reader finds its way"

    def test_the_command_prints_to_a_file(self, tmp_path, capsys):
        folder = decks.write(tmp_path / "talk", decks.talk())
        out = tmp_path / "deck.pdf"
        assert main(["pdf", "--record", str(folder), "--out", str(out)]) == 0
        assert "pdf: " in capsys.readouterr().out
        made = len(build(decks.talk()).found.slides)
        assert len(PdfReader(out).pages) == made
        assert [path.name for path in tmp_path.glob(".*")] == []

    def test_markup_of_a_record_is_printed_as_text_and_what_does_not_fit_is_not_cut(self):
        made = build(decks.evil(decks.talk()))
        every = PdfReader(io.BytesIO(pdf.printed(made.html)))
        assert len(every.pages) > len(made.found.slides)
        printed = "".join(text(every, number) for number in range(len(every.pages)))
        assert "</script><script>window.pwned=1</script>" in printed


def test_steps_are_for_the_pdf_alone(capsys):
    with pytest.raises(SystemExit):
        main(["handout", "--steps"])
    assert "--steps is for pdf" in capsys.readouterr().err


def test_without_playwright_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(TalkError, match=r"needs Playwright.*\n.*'just pdf' installs it"):
        pdf.printed("")


class NoBrowser:
    """A Playwright on a machine without any browser."""

    executable_path = "/nowhere/chrome"

    def launch(self, **options: object) -> Browser:
        from playwright.sync_api import Error

        assert "channel" in options, "what is not there is not started"
        raise Error("not found")


def test_without_a_browser_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TalkError, match=r"there is none here.*\n.*apt-get install chromium"):
        pdf.launched(NoBrowser())


def test_a_browser_that_does_not_start_is_one_line(monkeypatch, tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(pdf, "program", lambda: str(broken))
    with pytest.raises(TalkError, match=r"the browser did not print: .*\n  install Chromium"):
        pdf.printed("<p>")


@NEEDS_CHROMIUM
def test_a_temporary_folder_without_room_is_one_line(monkeypatch):
    def full(*given: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pdf.Path, "write_text", full)
    with pytest.raises(TalkError, match=r"No space left on device.*\n.*TMPDIR"):
        pdf.printed("<p>")


def test_any_chromium_on_the_path_will_do(monkeypatch, tmp_path):
    chrome = tmp_path / "google-chrome"
    chrome.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Path(pdf.program()) == chrome
