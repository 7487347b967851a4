"""The deck for everyone: by keyboard alone, by screen reader, and at once."""

from __future__ import annotations

from tests import pages
from tests.test_deck_browser import (  # noqa: F401  # fixtures
    Watched,
    browser,
    context,
    deck,
    new_context,
    ready,
    shown,
)

pytestmark = pages.NEEDS_CHROMIUM

OPENS_MS = 1000
"""From the start of the load until reveal.js is ready."""


# reveal.js hides all slides but one from everybody, axe too. Colours are computed elsewhere.
UNFOLDED = """() => {
  for (const slide of Reveal.getSlides()) {
    slide.hidden = slide.inert = false;
    slide.removeAttribute("aria-hidden");
    slide.style.cssText = "display: block; position: static; visibility: visible";
  }
}"""
AXE_RUN = """async () => {
  const without = { "color-contrast": { enabled: false } };
  const run = await axe.run(document, { resultTypes: ["violations"], rules: without });
  const grave = run.violations.filter((rule) => ["serious", "critical"].includes(rule.impact));
  return grave.flatMap((rule) => rule.nodes.map((n) => `${rule.id} ${n.html.slice(0, 160)}`));
}"""


def axe(watched: Watched) -> list[str]:
    """Serious faults of all slides together."""
    watched.page.evaluate(UNFOLDED)
    watched.page.evaluate(pages.AXE.read_text(encoding="utf-8"))
    return [str(found) for found in watched.page.evaluate(AXE_RUN)]


def test_axe_finds_no_serious_fault_on_any_slide(shown):  # noqa: F811
    assert axe(shown) == []


def test_axe_finds_a_planted_fault_on_a_slide_that_is_not_shown(shown):  # noqa: F811
    shown.page.evaluate("document.querySelector('#s6-fused .body').innerHTML += '<img src=data:,>'")
    assert any(fault.startswith("image-alt") for fault in axe(shown))


def test_the_whole_talk_is_walked_by_keyboard_alone(shown):  # noqa: F811
    names = shown.page.evaluate("Reveal.getSlides().map((slide) => slide.id)")
    seen = [shown.now()]
    for _ in range(1000):
        if shown.page.evaluate("Reveal.isLastSlide() && !Reveal.availableFragments().next"):
            break
        shown.press("ArrowRight")
        if shown.now() != seen[-1]:
            seen.append(shown.now())
    assert seen == names
    shown.press("Home")
    assert shown.now() == names[0]


def test_a_slide_is_jumped_to_by_its_number(shown):  # noqa: F811
    shown.press("g", "1", "2", "Enter")
    assert shown.page.evaluate("Reveal.getIndices().h") == 11


def test_the_screen_is_blanked_and_comes_back(shown):  # noqa: F811
    for key in ("b", "."):
        shown.press(key)
        assert shown.page.evaluate("Reveal.isPaused()")
        shown.press(key)
        assert not shown.page.evaluate("Reveal.isPaused()")


def test_the_deck_is_open_within_a_second(browser, deck):  # noqa: F811
    times = []
    for _ in range(3):
        for fresh in new_context(browser):
            watched = Watched(fresh, deck)
            times.append(watched.page.evaluate("performance.now()"))
    assert min(times) < OPENS_MS, times
