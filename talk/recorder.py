"""Keeps the record of the talk under way: in memory always, on disk where that can be written."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from pathlib import Path

from talk import record
from talk.errors import RecordError
from talk.record import Event, Journal, Machine, Record

JOIN_WITHIN = timedelta(hours=6)
"""A talk with an event younger than this is still open: two hours, a long break, and to spare."""


class Recorder:
    """One talk's events, from before its machine is known.

    Every method that writes changes the memory first: when it raises RecordError, nothing
    is lost but the copy on disk.
    """

    def __init__(self, results: Path, *, new: bool = False) -> None:
        self.talk: Record | None = None
        self._results = results
        self._new = new
        self._journal: Journal | None = None
        self._waiting: list[Event] = []

    def describe(self, machine: Machine) -> None:
        """Begin or join a talk on this machine; later, note its ceilings. Raises RecordError."""
        if self.talk is None:
            self._open(machine)
            return
        mine = self.talk.machine
        machine = dataclasses.replace(machine, talk=mine.talk, started=mine.started)
        self.talk = dataclasses.replace(self.talk, machine=machine)
        if self._journal:
            self._journal.describe(machine)

    def keep(self, event: Event) -> None:
        """Add an event; the same outline twice is one. Raises RecordError."""
        if self.talk is None:
            self._waiting.append(event)
            return
        if event.outline and event.outline in self.talk.outlines:
            return
        self.talk += event
        if self._journal:
            self._journal.append(event)

    def _open(self, machine: Machine) -> None:
        joined = None if self._new else open_talk(self._results, machine)
        self.talk = joined or begin(machine)
        folder = self._results / self.talk.machine.talk
        self.talk = dataclasses.replace(self.talk, folder=folder)
        first = [Event(kind="joined", at=record.now())] if joined else []
        waiting, self._waiting = first + self._waiting, []
        try:
            self._journal = Journal(folder, self.talk.machine)
        finally:
            for event in waiting:
                self.keep(event)


def begin(machine: Machine) -> Record:
    """A new, empty talk on this machine."""
    machine = dataclasses.replace(machine, started=record.now())
    return Record(dataclasses.replace(machine, talk=record.name_of(machine)))


def open_talk(results: Path, machine: Machine) -> Record | None:
    """The newest talk of this place that still counts as under way."""
    for folder in record.folders(results):
        try:
            # The machine first: it is a small file, and the records of a year may lie here.
            if record.read_machine(folder).same_place(machine) and is_open(folder):
                return record.read(folder)
        except RecordError:
            continue
    return None


def is_open(folder: Path) -> bool:
    """Whether something was recorded there within `JOIN_WITHIN`, by the talk's own dates.

    A file's date is no evidence: a copy of last year's talk is new.
    """
    found = record.read(folder)
    last = max((event.at for event in found.events), default=found.machine.started)
    try:
        at = datetime.fromisoformat(last.replace("Z", "+00:00"))
        age = datetime.now(timezone.utc) - at
    except (ValueError, TypeError):
        return False
    return timedelta(minutes=-1) < age < JOIN_WITHIN


def newest_machine(results: Path) -> Machine | None:
    """The machine of the newest talk that is open here, whose ceilings may be taken over."""
    for folder in record.folders(results)[:5]:
        try:
            if is_open(folder):
                return record.read_machine(folder)
        except RecordError:
            continue
    return None
