"""Slides that drive a talk, and a talk that drives its slides: one state, many views."""

from __future__ import annotations

import dataclasses
import select
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from slides.live import Live, wish
from slides.server import Door, Server, Views, application, listening
from talk import opening, runner, stage
from talk.errors import TalkError
from talk.look import Badge
from talk.outcome import Failure, Outcome
from talk.record import Record
from talk.runner import Talk
from talk.stage import Arrived, Opened, Press
from tests import pages
from tests.test_runner import Scripted

pytestmark = pages.NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def recording() -> Record:
    found = runner.recording()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pages.chromium() as browser:
        yield browser


class Prompt(Scripted):
    """Answers questions at once, as a worker does, and nothing else by itself."""

    def __init__(self, recording: Record, *events: stage.Event) -> None:
        super().__init__(*events)
        self._recording = recording

    def perform(self, section: int, slug: str) -> None:
        super().perform(section, slug)
        outcome = self._recording.outcome(section, slug)
        if outcome and outcome.prediction:
            self.ready.append(Arrived(outcome))


@dataclass
class Show:
    """A talk on a thread of its own, as a terminal would keep it going, with a browser."""

    talk: Talk
    performer: Scripted
    door: Door
    views: Views
    context: BrowserContext
    keys: list[stage.Event]
    errors: list[str]

    def opened(self, path: str = "") -> Page:
        page = self.context.new_page()
        page.on("console", lambda m: m.type in ("error", "warning") and self.errors.append(m.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.door.key)
        if path:
            page.goto(self.door.address + path)
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page

    def until(self, page: Page, holds: Callable[[], bool]) -> None:
        for _ in range(600):
            if holds():
                return
            page.wait_for_timeout(25)
        raise AssertionError(f"not within fifteen seconds: {self.talk.state.slug}, {now(page)}")


def now(page: Page) -> str:
    return str(page.evaluate("Reveal.getCurrentSlide().id"))


@pytest.fixture
def show(browser: Browser, recording: Record, tmp_path) -> Iterator[Show]:
    # The machine of the recording, before anything is measured on it.
    machine = replace(recording.machine, talk="", started="", ceilings=None)
    performer = Prompt(recording, Opened("live", "a GPU of the test", machine))
    state = opening.first((5,), recording)
    talk = Talk(performer, state, recording, results=tmp_path / "results")
    socket_ = listening()
    views, door = Views(), Door(socket_.getsockname()[1])
    live = Live(talk, views)
    served = {"/": lambda: live.page, "/presenter": lambda: live.presenter}
    server = Server(socket_, application(door, views, served, live.wishes), views)
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    keys: list[stage.Event] = []
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            select.select(talk.fds(), [], [], 0.01)
            while keys:
                talk.tell(keys.pop(0))
            talk.pump()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    made = Show(talk, performer, door, views, context, keys, [])
    yield made
    context.close()
    over.set()
    thread.join(2)
    server.close()
    live.close()
    assert made.errors == []


def measured(recording: Record, step: str, factor: float = 0.5) -> Outcome:
    """The recorded outcome as this talk's own, so many times as long."""
    outcome = recording.outcome(5, step)
    assert outcome is not None
    fields = ("median_ms", "p20_ms", "p80_ms", "min_ms")
    timings = tuple(
        dataclasses.replace(t, **{name: getattr(t, name) * factor for name in fields})
        for t in outcome.timings
    )
    return replace(outcome, timings=timings)


def test_a_slide_that_is_moved_to_takes_the_talk_along(show):
    page = show.opened()
    page.evaluate("location.hash = '/s5-profile'")
    show.until(page, lambda: show.talk.state.slug == "profile")
    page.evaluate("location.hash = '/title'")
    page.wait_for_timeout(200)
    assert show.talk.state.slug == "profile"


def test_the_talk_takes_the_slide_along_and_shows_an_answer_that_is_in(show, recording):
    page = show.opened()
    show.keys.append(stage.Command("go", 5, "guess-wall"))
    show.until(page, lambda: now(page) == "s5-blocks")
    answer = page.locator("#s5-blocks .answer")
    assert not answer.is_visible()
    show.keys.append(stage.Command("go", 5, "blocks"))
    show.keys.append(stage.Command("run", 5, "blocks"))
    show.until(page, lambda: show.talk.state.running == (5, "blocks"))
    show.performer.ready.append(Arrived(measured(recording, "blocks")))
    show.until(page, answer.is_visible)


def test_a_step_is_run_from_its_slide_and_its_numbers_change_in_place(show, recording):
    page = show.opened()
    page.evaluate("location.hash = '/s5-programs-coalesced'")
    page.evaluate("window.same = true; location.hash = '/s5-fused'")
    show.until(page, lambda: (5, "guess-fused") in show.talk.state.done)
    before = page.locator("#s5-fused .bars .value").all_inner_texts()
    page.keyboard.press("r")
    show.until(page, lambda: "5/fused" in show.performer.asked)
    assert show.talk.state.running == (5, "fused")
    page.wait_for_function("document.querySelector('#live').dataset.state === 'running'")
    show.performer.ready.append(Arrived(measured(recording, "fused")))
    show.until(page, lambda: "LIVE" in page.locator("#s5-fused figcaption").first.inner_text())
    after = page.locator("#s5-fused .bars .value").all_inner_texts()
    assert len(after) == len(before) and not set(before) & set(after)
    assert page.evaluate("window.same") is True, "without a reload"
    assert now(page) == "s5-fused"
    page.wait_for_function("document.querySelector('#live').dataset.state === 'done'")


def test_a_step_that_failed_shows_the_recorded_figures_with_the_reason(show, recording):
    page = show.opened()
    page.evaluate("location.hash = '/s5-fused'")
    show.until(page, lambda: (5, "guess-fused") in show.talk.state.done)
    page.keyboard.press("r")
    show.until(page, lambda: show.talk.state.running == (5, "fused"))
    failure = Failure(kind="memory", reason="out of memory on this GPU")
    failed = Outcome(section=5, step="fused", mode="live", failure=failure)
    show.performer.ready.append(Arrived(failed))
    caption = page.locator("#s5-fused figcaption").first
    show.until(page, lambda: "out of memory" in caption.inner_text())
    assert "RECORDED" in caption.inner_text() and "LIVE" not in caption.inner_text()


def test_a_second_window_and_a_reload_are_where_the_talk_is(show):
    page = show.opened()
    page.evaluate("location.hash = '/s5-blocks'")
    show.until(page, lambda: show.talk.state.slug == "guess-wall")
    page.keyboard.press("ArrowRight")
    other = show.opened()
    show.until(other, lambda: now(other) == "s5-blocks")
    assert other.evaluate("Reveal.getIndices().f") == page.evaluate("Reveal.getIndices().f")
    page.reload()
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    assert now(page) == "s5-blocks"
    other.keyboard.press("PageUp")
    other.keyboard.press("PageUp")
    show.until(page, lambda: now(page) == now(other))


def test_blanking_one_screen_blanks_all(show):
    page, other = show.opened(), show.opened()
    page.keyboard.press(".")
    show.until(other, lambda: bool(other.evaluate("Reveal.isPaused()")))
    assert show.talk.state.blank
    show.keys.append(Press("x"))
    show.until(page, lambda: not page.evaluate("Reveal.isPaused()"))


def test_hands_are_counted_from_a_browser_and_kept(show):
    page = show.opened()
    page.evaluate("location.hash = '/s5-blocks'")
    show.until(page, lambda: show.talk.state.slug == "guess-wall")
    step = show.talk.state.step
    assert step is not None
    first, second, *_ = step.choices
    page.evaluate(
        """([step, votes]) => fetch("/do", { method: "POST",
             headers: { "content-type": "application/json" },
             body: JSON.stringify({ name: "votes", step, votes }) })""",
        ["5/guess-wall", {first: 3, second: 9}],
    )
    show.until(page, lambda: show.talk.state.votes.get((5, "guess-wall")) == second)
    kept = {first: 3, second: 9}
    show.until(page, lambda: show.talk.reading.talk.votes(5, "guess-wall") == kept)
    show.until(page, lambda: "room 9" in page.locator("#s5-blocks .choices").text_content())


def test_the_presenter_sees_this_slide_the_next_the_notes_and_the_clock(show):
    deck = show.opened()
    presenter = show.context.new_page()
    presenter.on("pageerror", lambda error: show.errors.append(str(error)))
    presenter.goto(show.door.address + "presenter")
    deck.evaluate("location.hash = '/s5-blocks'")

    def frames():
        return [
            frame.evaluate("window.Reveal?.isReady() ? Reveal.getCurrentSlide().id : ''")
            for frame in presenter.frames[1:]
        ]

    following = deck.evaluate("document.getElementById('s5-blocks').nextElementSibling.id")
    show.until(presenter, lambda: frames() == ["s5-blocks", following])
    assert "Ask" in presenter.locator("#notes").inner_text()
    show.until(presenter, lambda: "of 15:00" in presenter.locator("#end").inner_text())
    assert presenter.locator("#parts tr[aria-current]").count() == 1

    show.until(presenter, lambda: presenter.locator("#votes").is_visible())
    presenter.locator("#votes input").nth(1).fill("7")
    presenter.locator("#votes button").click()
    show.until(presenter, lambda: (5, "guess-wall") in show.talk.state.votes)

    presenter.locator("[data-do=next]").click()
    show.until(deck, lambda: deck.evaluate("Reveal.getIndices().f") == 0)
    presenter.locator("[data-do=run]").click()
    show.until(presenter, lambda: "5/blocks" in show.performer.asked)
    assert "ends after" not in deck.content(), "the pace is the presenter's alone"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": "quit"},
        {"name": "shell", "step": "5/blocks"},
        {"name": "run", "step": "blocks"},
        {"name": "run", "step": "٣/blocks"},
        {"name": "run", "step": 5},
        {"name": "run", "step": "5" * 300 + "/x"},
        {"name": "votes", "step": "5/guess-wall", "votes": {"a": -1}},
        {"name": "votes", "step": "5/guess-wall", "votes": {"a": True}},
        {"name": "votes", "step": "5/guess-wall", "votes": [1]},
        {"name": "place", "slide": "title", "shown": 1e9},
        {"name": ["next"]},
    ],
)
def test_what_is_no_wish_is_refused(fields):
    with pytest.raises(TalkError):
        wish(fields)


def test_a_recorded_figure_never_says_live(show, recording):
    """Before anything was measured, nothing on a slide is of this talk but a model's answer."""
    page = show.opened()
    badges = page.evaluate("[...document.querySelectorAll('.body .badge')].map((e) => e.className)")
    assert badges and not any(Badge.LIVE.value.lower() in name.split() for name in badges)
