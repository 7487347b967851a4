"""Promote a record: from results/ to demos/recordings/<gpu>/. Standard library only."""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from pathlib import Path

from talk import record, runner
from talk.errors import RecordError
from talk.record import Event, Journal, Record
from talk.source import number_of, order


def keep(folder: Path | None = None) -> str:
    """Copy the newest complete live record, its latest outcomes alone. Returns what was done.

    Raises RecordError when there is none, or the one named is simulated or partial.
    """
    chosen = record.read(folder) if folder else newest_complete()
    problem = incomplete(chosen)
    if problem:
        raise RecordError(f"{chosen.folder} is not kept: {problem}.", hint=AGAIN)
    to = runner.RECORDINGS / record.gpu_slug(chosen.machine.device.name)
    replace_folder(to, latest(chosen))
    return f"kept {len(chosen.outlines)} sections of {chosen.machine.talk} in {nearby(to)}"


AGAIN = "record all sections again on the GPU: 'just record'"


def nearby(path: Path) -> Path:
    """Relative to the current directory where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def newest_complete(results: Path | None = None) -> Record:
    """The newest complete live talk of this machine. Raises RecordError, with each one's reason."""
    reasons = []
    for folder in record.folders(results or runner.RESULTS):
        try:
            found = record.read(folder)
        except RecordError as error:
            reasons.append(f"{folder.name}: {str(error).splitlines()[0]}")
            continue
        problem = incomplete(found)
        if not problem:
            return found
        reasons.append(f"{folder.name}: {problem}")
    listed = "".join(f"\n  {reason}" for reason in reasons[:5])
    raise RecordError(f"there is no complete live record in results/.{listed}", hint=AGAIN)


def incomplete(talk: Record) -> str:
    """Why a record cannot stand for the whole talk, or nothing."""
    lacking = ", ".join(map(str, unrecorded(talk)))
    return unfounded(talk) or (f"it lacks section {lacking}" if lacking else "") or partial(talk)


def unfounded(talk: Record) -> str:
    """Why a record's figures claim nothing of a GPU, or nothing."""
    if talk.machine.mode != "live":
        return f"it is {talk.machine.mode}, not live"
    return "" if talk.machine.ceilings else "it holds no ceilings"


def unrecorded(talk: Record) -> list[int]:
    """The sections of the running order that a record lacks as a whole."""
    held = {outline.number for outline in talk.outlines}
    return [number for number in map(number_of, order()) if number not in held]


def partial(talk: Record) -> str:
    """Which steps a record lacks of the sections that it holds, or nothing."""
    missing = talk.missing()
    return f"it lacks {', '.join(missing[:4])}" + (" …" if missing[4:] else "") if missing else ""


def latest(talk: Record) -> Record:
    """The last outline, outcome and vote of each step, without what is private to the machine."""
    last: dict[tuple[str, int, str], Event] = {}
    for event in talk.events:
        if event.kind in ("outline", "outcome", "vote"):
            last[event.kind, event.section, event.step] = published(event)
    machine = dataclasses.replace(talk.machine, host="")
    return Record(machine, tuple(last.values()))


FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
"""An absolute path up to its last part."""


def published(event: Event) -> Event:
    """The event with the folders of this machine cut from what a step printed."""
    if event.outcome is None or not event.outcome.output:
        return event
    output = FOLDERS.sub("…/", event.outcome.output)
    return dataclasses.replace(event, outcome=dataclasses.replace(event.outcome, output=output))


def replace_folder(to: Path, talk: Record) -> None:
    """Write beside, then swap: a reader finds the old record or the new. Raises RecordError."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
        try:
            write(beside, talk)
            beside.chmod(0o755)
            if to.exists():
                shutil.rmtree(to)
            beside.rename(to)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise record.cannot_write(to, error) from error


def write(folder: Path, talk: Record) -> None:
    journal = Journal(folder, talk.machine)
    for event in talk.events:
        journal.append(event)
