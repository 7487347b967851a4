"""The deck in a real browser: every slide fits and can be read, and nothing leaves the file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from slides.build import build
from talk import runner
from tests import decks

CHECKS = Path(__file__).with_name("deck_checks.js")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium fonts-liberation"
)

SIZES = [(1280, 720), (1920, 1080)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Without --no-sandbox Chromium refuses to run as root, as in most containers.
        options = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real deck of the committed recording."""
    recording = runner.recording()
    assert recording is not None, "demos/recordings/ holds no recording"
    path = tmp_path_factory.mktemp("deck") / "deck.html"
    path.write_text(build(recording).html, encoding="utf-8")
    return path


class Watched:
    """A page whose errors and requests are kept."""

    def __init__(self, context: BrowserContext, deck: Path, slide: str = "") -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        self.page: Page = context.new_page()
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.note(m.text))
        self.page.on("pageerror", lambda error: self.note(str(error)))
        self.page.goto(f"{deck.as_uri()}#/{slide}")
        ready(self.page)

    def note(self, error: str) -> None:
        self.errors.append(error)

    def now(self) -> str:
        return str(self.page.evaluate("Reveal.getCurrentSlide().id"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, slide: str) -> None:
        self.page.evaluate(f"location.hash = '/{slide}'")
        self.page.wait_for_function(f"Reveal.getCurrentSlide().id == '{slide}'")


def ready(page: Any) -> None:
    page.wait_for_function("window.Reveal && Reveal.isReady()")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    yield from new_context(browser)


def new_context(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    given = {"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"} | options
    context = browser.new_context(offline=True, **given)
    context.add_init_script(path=CHECKS)
    yield context
    context.close()


@pytest.fixture
def shown(context: BrowserContext, deck: Path) -> Watched:
    return Watched(context, deck)


def walk(shown: Watched) -> dict[str, list[str]]:
    """Slide → faults, fragment by fragment, from the first slide to the end."""
    faults: dict[str, list[str]] = {}
    while True:
        found = shown.page.evaluate("checks.faults()")
        if found:
            faults.setdefault(shown.now(), []).extend(found)
        before = shown.page.evaluate("location.hash")
        shown.press("PageDown")
        if shown.page.evaluate("location.hash") == before:
            return faults


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_slide_fits_is_large_enough_and_asks_for_nothing(browser, deck, width, height):
    # Case S3 (no request) and S4 (nothing cut).
    for context in new_context(browser, viewport={"width": width, "height": height}):
        shown = Watched(context, deck)
        assert walk(shown) == {}
        assert shown.now() == "machine"
        assert shown.errors == []
        assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []
        assert len(shown.requests) == 1 + sum(url.startswith("data:") for url in shown.requests)


def test_the_size_of_a_choice_does_not_tell_the_answer(shown):
    asking = shown.page.evaluate(
        "[...document.querySelectorAll('.choices')].map((e) => e.closest('section').id)"
    )
    assert len(asking) >= 4
    for slide in asking:
        shown.go(slide)
        heights = shown.page.evaluate(
            f"[...document.querySelectorAll('#{slide} .choices li')].map((e) => e.offsetHeight)"
        )
        assert len(set(heights)) == 1, (slide, heights)


def test_every_slide_fits_in_the_fallback_font_too(shown):
    shown.page.evaluate("document.documentElement.style.setProperty('--sans', '\"Narrowed Sans\"')")
    assert walk(shown) == {}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        (".says { position: relative; top: -170px }", "lies on"),
        (".says { position: relative; left: 400px }", "beside the slide"),
        (".says { position: relative; top: 120px }", "below the slide"),
        (".says { width: 300px; white-space: nowrap }", " in 320×"),
        (".says { font-size: 20px }", "small"),
    ],
)
def test_a_planted_fault_is_found(shown, planted, found):
    shown.go("s6-fused")
    assert shown.page.evaluate("checks.faults()") == []
    shown.page.add_style_tag(content=planted.replace(".says", "#s6-fused .says"))
    assert found in " ".join(shown.page.evaluate("checks.faults()"))


def test_a_planted_faint_text_is_found(shown):
    shown.page.add_style_tag(content="#s6-fused .says { color: #999 }")
    assert len(shown.page.evaluate("checks.faint(4.5)")) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_reach_a_contrast_of_4_5(shown, theme):
    if theme == "dark":
        shown.press("t")
    assert shown.page.evaluate("document.documentElement.dataset.theme") == theme
    assert shown.page.evaluate("checks.faint(4.5)") == []
    assert shown.page.evaluate("document.querySelectorAll('.code .k').length") > 0


def test_the_theme_is_kept_over_a_reload(shown):
    shown.press("t")
    shown.page.reload()
    ready(shown.page)
    assert shown.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_i_shows_the_passports_of_the_slide(shown):
    shown.go("s6-fused")
    panel = shown.page.locator("#s6-fused .passport")
    assert panel.is_hidden()
    shown.press("i")
    assert panel.is_visible()
    for words in ("NVIDIA", "torch", "triton", "bfloat16", "median", "p80", "commit", "just"):
        assert words in panel.inner_text()
    assert "6/fused[triton].gbps" in panel.inner_text()
    shown.press("i")
    assert panel.is_hidden()
    shown.press("i", "PageDown")
    assert panel.is_hidden()


def test_on_every_slide_the_passports_stay_inside_and_can_be_read_to_their_end(shown):
    inside = """(panel) => {
      const [box, slide] = [panel, panel.closest("section")].map((e) => e.getBoundingClientRect());
      const right = (e) => e.getBoundingClientRect().right <= box.right + 1;
      return panel.scrollWidth <= panel.clientWidth && [...panel.querySelectorAll("*")].every(right)
        && box.top > slide.top + 100 && box.bottom <= slide.bottom + 1 && box.height > 60;
    }"""
    number = "getComputedStyle(document.querySelector('.slide-number')).visibility"
    asked = shown.page.evaluate(
        "[...document.querySelectorAll('.passport')].map((e) => e.closest('section').id)"
    )
    assert len(asked) > 12
    for slide in asked:
        shown.go(slide)
        shown.page.evaluate("Reveal.slide(Reveal.getIndices().h, 0, 99)")
        shown.press("i")
        panel = shown.page.locator(f"#{slide} .passport")
        assert panel.evaluate(inside), slide
        assert panel.locator("tbody tr:visible").count() == panel.locator("tbody tr").count()
        assert shown.page.evaluate(number) == "hidden"
        for _ in range(20):
            shown.press("ArrowDown") if panel.evaluate(UNREAD) else None
        assert not panel.evaluate(UNREAD)
        shown.press("i")
        assert shown.page.evaluate(number) == "visible"


UNREAD = "(e) => e.scrollTop + e.clientHeight < e.scrollHeight - 1"


@pytest.mark.parametrize("slide", ["s1-lengths", "s5-blocks", "s5-baseline"])
def test_passports_tell_no_answer_before_the_slide_does(shown, slide):
    shown.go(slide)
    shown.press("i")
    panel = shown.page.locator(f"#{slide} .passport")
    hidden = shown.page.evaluate(
        f"[...document.querySelectorAll('#{slide} .fragment:not(.visible) [data-key]')]"
        ".flatMap((e) => e.dataset.key.split(' '))"
    )
    assert hidden
    assert [key for key in hidden if panel.locator(f"#{key}").is_visible()] == []
    assert "median" not in panel.inner_text()
    while shown.page.locator(f"#{slide} .fragment:not(.visible)").count():
        shown.press("PageDown")
    assert [key for key in hidden if not panel.locator(f"#{key}").is_visible()] == []


def test_the_label_of_a_ceiling_stands_on_its_line(shown):
    edges = shown.page.evaluate(
        """[...document.querySelectorAll(".bars:has(.line)")].map((chart) => {
          const label = chart.querySelector(".ceiling").getBoundingClientRect().right;
          const lines = [...chart.querySelectorAll(".line")].map((e) => e.getBoundingClientRect());
          return Math.max(...lines.map((line) => Math.abs(line.right - label)));
        })"""
    )
    assert len(edges) >= 3
    assert max(edges) < 0.5


def test_the_question_mark_lists_every_key_and_the_title_says_so(shown):
    assert "? lists the keys" in shown.page.locator("#title").inner_text()
    shown.press("?")
    listed = shown.page.locator(".r-overlay-help").inner_text()
    for use in ("Where these numbers come from", "Light or dark theme", "Speaker notes"):
        assert use in listed


def test_a_figure_under_the_pointer_or_the_focus_shows_its_own_passport(shown):
    shown.go("s6-fused")
    panel = shown.page.locator("#s6-fused .passport")
    figure = shown.page.locator("#s6-fused tbody tr:has-text('triton') .known")
    for show, leave in (
        (figure.hover, lambda: shown.page.mouse.move(2, 2)),
        (figure.focus, figure.blur),
    ):
        show()
        assert panel.is_visible()
        rows = panel.locator("tbody tr:visible")
        assert rows.count() == 1
        assert "6/fused[triton].gbps" in rows.inner_text()
        leave()
        assert panel.is_hidden()


def test_tab_stays_on_the_slide(shown):
    shown.go("s6-fused")
    for _ in range(3):
        shown.press("Tab")
        assert shown.page.evaluate("document.activeElement.closest('section')?.id") == "s6-fused"


def test_a_clicker_s_keys_are_next_back_and_blank(shown):  # case S7
    names = shown.page.evaluate("Reveal.getSlides().map((slide) => slide.id)")
    shown.press("PageDown", "PageDown")
    assert shown.now() == names[2]
    shown.press("PageUp")
    assert shown.now() == names[1]
    shown.press(".")
    assert shown.page.evaluate("Reveal.isPaused()")
    shown.press(".")
    assert not shown.page.evaluate("Reveal.isPaused()")


def test_esc_does_nothing_and_f5_comes_back_to_the_same_beat(shown):  # cases S5 and S7
    shown.go("s5-baseline")
    shown.press("Escape")
    assert not shown.page.evaluate("Reveal.isOverview()")
    # At once: reveal.js alone would write the place into the address a second later.
    shown.press("PageDown", "PageDown")
    beat = shown.page.evaluate("JSON.stringify(Reveal.getIndices())")
    shown.page.reload()
    ready(shown.page)
    assert shown.now() == "s5-baseline"
    assert shown.page.evaluate("JSON.stringify(Reveal.getIndices())") == beat


def test_esc_closes_what_is_open(shown):
    shown.go("s6-fused")
    shown.press("i", "Escape")
    assert shown.page.locator(".passport:visible").count() == 0
    shown.press("F1")
    assert shown.page.evaluate("Reveal.isOverlayOpen()")
    shown.press("Escape")
    assert not shown.page.evaluate("Reveal.isOverlayOpen()")


def test_the_overview_opens_with_o_and_its_slides_can_be_chosen(shown):
    shown.press("o")
    assert shown.page.evaluate("Reveal.isOverview()")
    assert shown.page.evaluate("Reveal.getSlides().some((slide) => slide.inert)") is False
    shown.press("ArrowRight", "o")
    assert shown.now() != "title"


def test_motion_is_reduced_where_it_is_asked_for(browser, deck):
    for wish, transition in (("reduce", "none"), ("no-preference", "fade")):
        for context in new_context(browser, reduced_motion=wish):
            shown = Watched(context, deck)
            assert shown.page.evaluate("Reveal.getConfig().transition") == transition


def indices(speaker: Page) -> list[str]:
    """Where the two frames of the speaker view are."""
    where = "window.Reveal?.isReady() ? Reveal.getCurrentSlide().id : ''"
    return [str(frame.evaluate(where)) for frame in speaker.frames[1:]]


def wait_until(page: Page, holds: Any) -> None:
    for _ in range(100):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("not within five seconds")


def test_the_speaker_view_follows_leads_and_survives_a_reload(context, shown):
    shown.go("s5-programs")
    with context.expect_page() as opening:
        shown.press("s")
    speaker = opening.value
    notes = speaker.locator(".speaker-controls-notes .value")
    following = shown.page.evaluate("Reveal.getCurrentSlide().nextElementSibling.id")
    wait_until(speaker, lambda: indices(speaker) == ["s5-programs", following])
    assert "min" in notes.inner_text()

    shown.page.reload()
    ready(shown.page)
    shown.press("PageDown")
    wait_until(speaker, lambda: indices(speaker)[0] == following)

    speaker.bring_to_front()
    speaker.keyboard.press("PageUp")
    wait_until(speaker, lambda: shown.now() == "s5-programs")
    assert shown.errors == []


def test_a_stranger_s_frame_cannot_drive_the_deck(shown):
    message = '{"method": "slide", "args": [3]}'
    send = f"parent.postMessage(JSON.stringify({message}), '*'); parent.postMessage('sent', '*')"
    shown.page.evaluate(
        """(send) => {
          window.strangers = 0;
          window.addEventListener("message", () => window.strangers++, true);
          const frame = document.createElement("iframe");
          frame.srcdoc = `<script>${send}</script>`;
          frame.onload = () => (window.loaded = true);
          document.body.append(frame);
        }""",
        send,
    )
    shown.page.wait_for_function("window.loaded")
    shown.page.wait_for_timeout(200)
    assert shown.now() == "title"
    assert shown.page.evaluate("window.strangers") == 0
    # The same message from the deck's own window does move it.
    shown.page.evaluate(f"window.postMessage(JSON.stringify({message}), '*')")
    shown.page.wait_for_function("Reveal.getIndices().h == 3")


def test_nothing_of_a_hostile_record_runs(context, tmp_path):
    record = decks.evil(decks.talk())
    path = tmp_path / "deck.html"
    path.write_text(build(record).html, encoding="utf-8")
    shown = Watched(context, path)
    with context.expect_page() as opening:
        shown.press("s")
    for _ in range(8):
        shown.press("i", "i", "PageDown")
    opening.value.wait_for_timeout(500)
    for frame in (*shown.page.frames, *opening.value.frames):
        assert frame.evaluate("window.pwned") is None
        assert frame.evaluate("document.querySelectorAll('img').length") == 0
    assert shown.errors == []
