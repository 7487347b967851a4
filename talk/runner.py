"""One talk under way: carries out what the stage decides, and keeps the record.

Terminal and slides are views of a `Talk`: they `tell` it events and draw its `state`
and `reading`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from talk import record, stage
from talk.errors import RecordError, TalkError
from talk.number import Reading
from talk.outcome import Outcome
from talk.performer import Performer, Replayer
from talk.record import Event, Journal, Machine, Record
from talk.source import ROOT, Standing

RESULTS = ROOT / "results"
RECORDINGS = ROOT / "demos" / "recordings"

JOIN_WITHIN = timedelta(hours=6)
"""A talk with an event younger than this is still open: two hours, a long break, and to spare."""


class Talk:
    """The stage's state, the numbers so far, and who performs the steps.

    results: where to record; None records nothing (a replay).
    new: start another talk instead of joining the one that is open here.
    """

    def __init__(
        self,
        performer: Performer,
        state: stage.State,
        recording: Record | None,
        *,
        results: Path | None = None,
        new: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.performer = performer
        self.state = state
        self.reading = Reading(recording=recording, live=True, fresh=Standing())
        self._results = results
        self._new = new
        self._clock = clock
        self._journal: Journal | None = None
        self._waiting: list[Event] = []
        self._shell: Callable[[int, str], None] | None = None
        self.tell(stage.Tick(clock()))

    def on_shell(self, shell: Callable[[int, str], None]) -> None:
        """The view that owns a terminal lends it to IPython."""
        self._shell = shell

    def tell(self, event: stage.Event) -> None:
        """One event through the stage, and its effects."""
        if isinstance(event, stage.Opened):
            event = self._opened(event)
        self.state, effects = stage.advance(self.state, event)
        for effect in effects:
            self._carry_out(effect)

    def pump(self) -> None:
        """Take what the performer reports, and the time."""
        self.tell(stage.Tick(self._clock()))
        for event in self.performer.events():
            self.tell(event)

    def close(self) -> None:
        self.performer.close()

    def _carry_out(self, effect: stage.Effect) -> None:
        match effect:
            case stage.Perform(section, slug):
                self.performer.perform(section, slug)
            case stage.Cancel():
                self.performer.cancel()
            case stage.Shell(section, slug):
                if self._shell:
                    self._shell(section, slug)
            case stage.Keep(event):
                self._keep(dataclasses.replace(event, at=record.now()))
            case stage.Leave():
                pass

    def _opened(self, event: stage.Opened) -> stage.Opened:
        if event.mode == "replay" and not isinstance(self.performer, Replayer):
            return self._fall_back(event.why)
        if event.machine is None or self._results is None:
            return event
        try:
            self._record_on(event.machine)
        except RecordError as error:
            self.tell(stage.Said(f"Not recorded: {error}"))
        return event

    def _fall_back(self, why: str) -> stage.Opened:
        """No step can be performed here: go on as a replay of the recording."""
        if self.reading.recording is None:
            raise TalkError(
                why, hint="there is no recording to replay; record one with 'just record'"
            )
        self.performer.close()
        self.performer = Replayer(self.reading.recording, why)
        return stage.Opened("replay", why)

    def _record_on(self, machine: Machine) -> None:
        """Open the journal, or note that the machine's ceilings are now known."""
        if self.reading.talk is not None and self._journal is not None:
            mine = self.reading.talk.machine
            machine = dataclasses.replace(machine, talk=mine.talk, started=mine.started)
            self._journal.describe(machine)
            talk = dataclasses.replace(self.reading.talk, machine=machine)
            self.reading = dataclasses.replace(self.reading, talk=talk)
            return
        joined = None if self._new else open_talk(self._results, machine)
        talk = joined or begin(machine)
        assert self._results is not None
        folder = self._results / talk.machine.talk
        self._journal = Journal(folder, talk.machine)
        self.reading = dataclasses.replace(
            self.reading, talk=dataclasses.replace(talk, folder=folder)
        )
        waiting, self._waiting = self._waiting, []
        first = Event(kind="joined", at=record.now())
        for event in (*([first] if joined else []), *waiting):
            self._keep(event)

    def _keep(self, event: Event) -> None:
        if self._results is None or isinstance(self.performer, Replayer):
            return
        if self._journal is None or self.reading.talk is None:
            self._waiting.append(event)
            return
        if event.outline and event.outline in self.reading.talk.outlines:
            return
        self.reading = self.reading + event
        try:
            self._journal.append(event)
        except RecordError as error:
            self.tell(stage.Said(f"Not recorded: {error}"))


def begin(machine: Machine) -> Record:
    """A new, empty talk on this machine."""
    machine = dataclasses.replace(machine, started=record.now())
    return Record(dataclasses.replace(machine, talk=record.name_of(machine)))


def open_talk(results: Path | None, machine: Machine) -> Record | None:
    """The newest talk of this place that still counts as under way."""
    for folder in record.folders(results) if results else ():
        try:
            found = record.read_machine(folder)
            if found.same_place(machine) and is_open(folder):
                return record.read(folder)
        except RecordError:
            continue
    return None


def is_open(folder: Path) -> bool:
    """Whether something was recorded there within `JOIN_WITHIN`."""
    events = folder / "events.jsonl"
    touched = (events if events.exists() else folder / "machine.json").stat().st_mtime
    age = datetime.now(timezone.utc) - datetime.fromtimestamp(touched, timezone.utc)
    return age < JOIN_WITHIN


def newest_machine(results: Path) -> Machine | None:
    """The machine of the newest talk that is open here, whose ceilings may be taken over."""
    for folder in record.folders(results):
        try:
            if is_open(folder):
                return record.read_machine(folder)
        except (RecordError, OSError):
            continue
    return None


def recording(gpu: str = "", root: Path = RECORDINGS) -> Record | None:
    """The committed recording: of that GPU where there is one, else the newest."""
    folders = [path.parent for path in root.glob("*/machine.json")] if root.is_dir() else []
    machines = {folder: record.read_machine(folder) for folder in folders}
    ranked = sorted(
        folders, key=lambda f: (machines[f].device.name == gpu, machines[f].started), reverse=True
    )
    return record.read(ranked[0]) if ranked else None


def failures(talk: Record) -> tuple[Outcome, ...]:
    """The latest outcomes that failed."""
    found = (talk.outcome(o.number, s.slug) for o in talk.outlines for s in o.steps)
    return tuple(outcome for outcome in found if outcome and outcome.failure)
