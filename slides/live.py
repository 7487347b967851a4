"""The deck as a view of a talk under way: its state goes out to browsers, their wishes come in."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slides.environment import TEMPLATES
from slides.medium import Medium
from slides.press import Press
from slides.server import Views
from talk import source, stage
from talk.errors import TalkError
from talk.pace import Spent, pace
from talk.reading import Reading
from talk.record import Event, Record
from talk.runner import Talk
from talk.skipping import said, skippable

UNASKED = ("predict", "show", "collect", "now-you")
"""Kinds of steps that a presenter need not run: a question is asked when it comes up."""

PLAIN = ("next", "back", "run", "cancel", "blank")
"""Commands about the step at hand, or about the one that is named."""

MOST_HANDS = 9999


@dataclass(frozen=True)
class Place:
    """The slide on screen, the fragments of it that are shown, and the view that moved there."""

    slide: str = "title"
    shown: int = -1
    by: str = ""


class Wishes:
    """What browsers ask for, as events of the stage: put in by the server, taken by the talk."""

    def __init__(self, moved: Callable[[Place, str], Iterable[stage.Event]]) -> None:
        self._moved = moved
        self._waiting: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)

    def __call__(self, fields: Mapping[str, Any]) -> None:
        """From the server's thread. Raises TalkError for what is no command."""
        wish(fields)
        self._waiting.put(fields)
        os.write(self._wake, b"w")

    def fds(self) -> tuple[int, ...]:
        return (self._woken,)

    def events(self) -> list[stage.Event]:
        """From the talk's own thread."""
        try:
            os.read(self._woken, 65536)
        except BlockingIOError:
            return []
        found: list[stage.Event] = []
        while not self._waiting.empty():
            made = wish(self._waiting.get())
            found += self._moved(*made) if isinstance(made, tuple) else [*first(made), made]
        return found

    def close(self) -> None:
        os.close(self._woken)
        os.close(self._wake)


def wish(fields: Mapping[str, Any]) -> stage.Event | tuple[Place, str]:
    """A command's fields as an event, or as a place and the step that is told there.

    Raises TalkError for anything else: a name, a step and a few counts are all there is to say.
    """
    name = text(fields, "name")
    if name == "place":
        place = Place(text(fields, "slide"), number(fields, "shown", -1), text(fields, "by"))
        return place, text(fields, "step")
    section, slug = address(text(fields, "step"))
    if name == "go" or name in PLAIN:
        return stage.Command(name, section, slug)
    if name == "votes":
        return stage.Counted(section, slug, counts(fields.get("votes")))
    raise TalkError(f"there is no command {name[:40]!r}.")


def first(event: stage.Event) -> list[stage.Event]:
    """A step that is run by its name is gone to before."""
    if isinstance(event, stage.Command) and event.name == "run" and event.slug:
        return [stage.Command("go", event.section, event.slug)]
    return []


def text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str) or len(value) > 200:
        raise TalkError(f"{name} is no short text.")
    return value


def number(fields: Mapping[str, Any], name: str, least: int) -> int:
    value = fields.get(name, least)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_HANDS:
        raise TalkError(f"{name} is no small number.")
    return value


def counts(votes: object) -> dict[str, int]:
    if not isinstance(votes, dict) or len(votes) > 9:
        raise TalkError("votes are a few answers with their counts.")
    return {str(name)[:200]: number(votes, name, 0) for name in votes}


def address(step: str) -> tuple[int, str]:
    """ "5/blocks" → (5, "blocks"); (0, "") for none. Raises TalkError."""
    section, slash, slug = step.partition("/")
    if not step:
        return 0, ""
    if not slash or not section.isascii() or not section.isdecimal() or len(section) > 3:
        raise TalkError(f"{step[:40]!r} is no step.")
    return int(section), slug


@dataclass
class Printer:
    """Prints changed slides on a thread of its own, so that no key waits for a chart."""

    press: Press
    views: Views
    record: Callable[[Reading], Record]
    _jobs: queue.SimpleQueue[tuple[Reading, frozenset[str]] | None] = field(
        default_factory=queue.SimpleQueue
    )

    def start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="press", daemon=True)
        self._thread.start()

    def ask(self, reading: Reading, addresses: Iterable[str]) -> None:
        """Whatever stands on these steps is to be printed again."""
        self._jobs.put((reading, frozenset(addresses)))

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(2)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            reading, addresses = job
            while not self._jobs.empty():  # several outcomes at once: one printing
                more = self._jobs.get()
                if more is None:
                    return
                reading, addresses = more[0], addresses | more[1]
            self._print(reading, addresses)

    def _print(self, reading: Reading, addresses: frozenset[str]) -> None:
        stands_on = self.press.context.stands_on
        names = [name for name, on in stands_on.items() if on & addresses]
        try:
            drawn = self.press.slides(self.record(reading), reading, names)
        except TalkError as error:
            self.views.tell("trouble", str(error))
            return
        for name, html in drawn.items():
            self.views.tell("slide", {"name": name, "html": html}, name=name)


class Live:
    """One talk and its browsers, on the talk's thread; the server reads `page` alone."""

    def __init__(
        self, talk: Talk, views: Views, seconds: Mapping[tuple[int, str], float] | None = None
    ) -> None:
        """seconds: spent at steps before, in a talk that goes on."""
        self._talk = talk
        self._views = views
        self._place = Place()
        self._told: dict[str, object] = {}
        self._events = 0
        self._clocked = 0.0
        self._ceilings: object = None
        self._state = talk.state
        reading = talk.reading
        self._press = Press(standing(reading), reading, medium(reading), TEMPLATES, source.ROOT)
        self.page = self._press.page(standing(reading))
        self.presenter = self._press.other("presenter.html.j2")
        self._spent = Spent(dict(seconds or {}))
        self.tells = dict(self._press.context.tells)
        self.wishes = Wishes(self._moved)
        self._printer = Printer(self._press, views, standing)
        self._printer.start()
        talk.join(self.wishes)
        talk.watch(self._show)

    def close(self) -> None:
        self._printer.close()
        self.wishes.close()

    def _show(self, talk: Talk) -> None:
        """What changed, to all views."""
        self._tell("state", snapshot(talk))
        changed = self._changed(talk)
        if changed:
            self._printer.ask(talk.reading, changed)
        self._clock(talk.state)
        if talk.state.address != self._state.address:
            self._follow(talk.state)
        self._state = talk.state

    def _clock(self, state: stage.State) -> None:
        """Once a second: for the presenter, whose page alone shows it."""
        self._spent.look(state.address, state.now)
        if state.now - self._clocked < 1:
            return
        self._clocked = state.now
        found = pace(state.sections, self._spent.seconds, state.address)
        told = {name: round(getattr(found, name), 2) for name in ("spent", "ahead", "total")}
        parts = [
            {"number": p.number, "title": p.title, "planned": p.planned, "spent": round(p.spent, 2)}
            for p in found.parts
        ]
        planned = sum(part.planned for part in found.parts)
        skip = said(skippable(state.sections, state.address, -found.ahead), -found.ahead)
        self._tell("pace", {**told, "planned": planned, "parts": parts, "skip": skip})

    def _tell(self, kind: str, data: object) -> None:
        if self._told.get(kind) != data:
            self._told[kind] = data
            self._views.tell(kind, data)

    def _changed(self, talk: Talk) -> set[str]:
        """The steps whose results are new, and the machine if its ceilings are."""
        record = talk.reading.talk
        events = record.events if record else ()
        fresh = [e for e in events[self._events :] if e.kind in ("outcome", "vote", "outline")]
        self._events = len(events)
        changed = {f"{event.section}/{event.step}" for event in fresh if event.step}
        changed |= {f"{e.section}/{s.slug}" for e in fresh if e.outline for s in e.outline.steps}
        ceilings = record.machine.ceilings if record else None
        if ceilings is not self._ceilings:
            self._ceilings = ceilings
            changed.add("machine")
        return changed

    def _follow(self, state: stage.State) -> None:
        """The slide of the step that the talk has moved to, unless it is on screen."""
        step = f"{state.section}/{state.slug}"
        if step not in self.tells.get(self._place.slide, ()):
            slide = next((name for name, told in self.tells.items() if step in told), "")
            if slide:
                self._put(Place(slide))

    def _moved(self, place: Place, step: str) -> list[stage.Event]:
        """A view has moved; the talk goes to the step that is told there."""
        told = self.tells.get(place.slide)
        if told is None:
            return []
        self._put(place)
        here = f"{self._talk.state.section}/{self._talk.state.slug}"
        wanted = step if step in told else (told[0] if told and here not in told else "")
        if not wanted or wanted == here:
            return []
        return [stage.Command("go", *address(wanted))]

    def _put(self, place: Place) -> None:
        self._place = place
        self._tell("place", {"slide": place.slide, "shown": place.shown, "by": place.by})


def medium(reading: Reading) -> Medium:
    """The deck, with what its script needs to know of the steps."""
    steps = ((outline.number, step) for outline in reading.outlines for step in outline.steps)
    performed = [f"{section}/{step.slug}" for section, step in steps if step.kind not in UNASKED]
    return Medium("deck.html.j2", words={"live": True, "performed": lambda: performed})


def standing(reading: Reading) -> Record:
    """What templates call `record`: the machine whose ceilings hold, and the newest outlines."""
    machine = reading.machine() or next(
        (record.machine for record in (reading.talk, reading.recording) if record), None
    )
    if machine is None:
        raise TalkError(
            "there is no record to show yet.", hint="record one: 'just record', then 'just keep'"
        )
    outlines = (Event(kind="outline", section=o.number, outline=o) for o in reading.outlines)
    return Record(machine, tuple(outlines))


def snapshot(talk: Talk) -> dict[str, object]:
    """All that a browser needs to know of the stage, the clock apart."""
    state = talk.state
    running = state.running
    return {
        "step": f"{state.section}/{state.slug}" if state.slug else "",
        "title": state.step.title if state.step else "",
        "kind": state.step.kind if state.step else "",
        "mode": state.mode,
        "why": state.why,
        "running": f"{running[0]}/{running[1]}" if running else "",
        "seconds": round(state.now - state.since) if running else 0,
        "progress": state.progress,
        "fraction": state.fraction,
        "queued": state.queued,
        "message": state.message,
        "blank": state.blank,
        "done": sorted(f"{section}/{slug}" for section, slug in state.done),
        "failed": sorted(f"{section}/{slug}" for section, slug in state.failed),
        "votes": {f"{s}/{slug}": answer for (s, slug), answer in sorted(state.votes.items())},
        "choices": list(state.step.choices) if state.step else [],
    }
