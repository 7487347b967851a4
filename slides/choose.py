"""Which record a deck is built from: complete, live, and of one machine.

The newest complete talk of this machine, else a committed recording, which may lack a whole
section. A record named by hand may lack a step, and its numbers are then MISSING; a simulated
one has no numbers.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from talk import record, runner
from talk.errors import RecordError
from talk.keep import incomplete, nearby, partial, unfounded, unrecorded
from talk.record import Machine, Record


@dataclass(frozen=True)
class Choice:
    """The record, why it was taken, and what was passed over or skipped on the way."""

    record: Record
    why: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        machine = self.record.machine
        held = ", ".join(str(outline.number) for outline in self.record.outlines) or "no section"
        where = shortened(self.record.folder)
        return (
            f"{where}: {machine.device.name}, {machine.started[:10]}, sections {held}; {self.why}"
        )


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Where records stand, and which machine this is. host: as `Machine.host` names it."""

    results: Path = runner.RESULTS
    recordings: Path = runner.RECORDINGS
    host: str = platform.node()


def choose(shelf: Shelf, *, gpu: str = "", named: Path | None = None) -> Choice:
    """The record of a deck. gpu: part of a device's name. Raises RecordError where none will do."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = of_folder(named) if named else newest(shelf, gpu)
    torn = tuple(str(warning.message) for warning in caught)
    return Choice(chosen.record, chosen.why, chosen.notes + torn)


def of_folder(folder: Path) -> Choice:
    found = record.read(folder)
    problem = simulated(found)
    if problem:
        raise RecordError(f"{shortened(folder)} has no figures to show: {problem}.", hint=AGAIN)
    if not found.outlines:
        raise RecordError(f"{shortened(folder)} holds no section.", hint=AGAIN)
    problem = incomplete(found)
    notes = (f"{shortened(folder)}: {problem}",) if problem else ()
    return Choice(found, "the one you named", notes)


AGAIN = "record again on a GPU with 'just record', or name a record: 'just slides --record DIR'"


def newest(shelf: Shelf, gpu: str) -> Choice:
    """The first that fits of this machine's talks, newest first, then of the recordings."""
    passed: list[str] = []
    for folder, why in candidates(shelf):
        found, problem = judged(folder, shelf, gpu)
        if found and not problem:
            return Choice(found, why, (*passed, *without_slides(found)))
        passed.append(f"{shortened(folder)} passed over: {problem}")
    wanted = f" of {gpu!r}" if gpu else ""
    listed = "".join(f"\n  {line}" for line in passed)
    raise RecordError(
        f"there is no complete live record{wanted} to build from.{listed}", hint=AGAIN
    )


def candidates(shelf: Shelf) -> Iterator[tuple[Path, str]]:
    for folder in record.folders(shelf.results):
        yield folder, "the newest complete live talk of this machine"
    for folder in recordings(shelf.recordings):
        yield (
            folder,
            "the committed recording; results/ holds no complete live talk of this machine",
        )


def recordings(root: Path) -> list[Path]:
    """Committed recordings, the newest first; one that cannot be read comes last."""
    return sorted(record.folders(root), key=started, reverse=True)


def started(folder: Path) -> str:
    try:
        return record.read_machine(folder).started
    except RecordError:
        return ""


def judged(folder: Path, shelf: Shelf, gpu: str) -> tuple[Record | None, str]:
    """A record, or why it is passed over; only what may fit is read to its end."""
    try:
        machine = record.read_machine(folder)
        problem = elsewhere(machine, shelf, folder) or other_gpu(machine, gpu)
        if problem:
            return None, problem
        found = record.read(folder)
    except RecordError as error:
        return None, str(error).splitlines()[0]
    committed = folder.parent == shelf.recordings
    return found, simulated(found) or (lacking(found) if committed else incomplete(found))


def lacking(found: Record) -> str:
    """Why a recording will not do, or nothing: a section that nobody recorded yet stops no deck."""
    return unfounded(found) or ("" if found.outlines else "it holds no section") or partial(found)


def without_slides(found: Record) -> list[str]:
    return [f"section {n} is not recorded: no slides for it" for n in unrecorded(found)]


def elsewhere(machine: Machine, shelf: Shelf, folder: Path) -> str:
    if folder.parent == shelf.recordings or machine.host == shelf.host:
        return ""
    return f"it was recorded on another machine, {machine.host or 'unnamed'}"


def other_gpu(machine: Machine, gpu: str) -> str:
    name = machine.device.name
    return "" if record.gpu_slug(gpu or name) in record.gpu_slug(name) else f"its GPU is {name}"


def simulated(found: Record) -> str:
    """Why a record has no timings of a GPU, or nothing."""
    modes = {found.machine.mode, *(outcome.mode for outcome in record.outcomes(found.events))}
    return "" if modes == {"live"} else f"it is {', '.join(sorted(modes - {'live'}))}, not live"


def shortened(folder: Path | None) -> str:
    """A folder as one names it from the current directory."""
    return "a record in memory" if folder is None else str(nearby(folder.absolute()))
