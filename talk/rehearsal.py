"""A talk rehearsed: the minutes at every step, kept as they pass, beside those of earlier times."""

from __future__ import annotations

import json
import os
import statistics
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from talk import opening, record, runner, stage, wire
from talk.errors import RecordError, TalkError
from talk.pace import Address, Spent, against, planned
from talk.runner import Talk

FOLDER = "rehearsals"
DRIVERS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""One of them is there where a GPU can be: NVIDIA, AMD, WSL."""

KEEP_S = 5.0
"""What a crash may cost of a step; each move is kept at once."""

MOST_BYTES = 1_000_000
MOST = 200
"""Rehearsals that are read, the newest."""


@dataclass(frozen=True, kw_only=True)
class Stop:
    """One step. planned: minutes, as they stood then. seconds: spent there."""

    section: int
    step: str
    planned: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.planned < 1e4 and 0 <= self.seconds < 1e6):
            raise ValueError(f"{self.section}/{self.step}: no time that a step can take")

    @property
    def address(self) -> Address:
        return (self.section, self.step)


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """All steps in running order. at: where it stood last. left: it was ended with q, not cut off.

    mode: of the talk, `live`, `simulated` or `replay`.
    """

    started: str
    stops: tuple[Stop, ...]
    at: tuple[int, str]
    mode: str = ""
    left: bool = False

    def __post_init__(self) -> None:
        if self.at not in self.seconds:
            raise ValueError(f"{self.at[0]}/{self.at[1]} is none of its steps")

    @property
    def seconds(self) -> dict[Address, float]:
        return {stop.address: stop.seconds for stop in self.stops}

    @property
    def sections(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(stop.section for stop in self.stops))

    @property
    def walked(self) -> bool:
        """Whether it came to more than one step; a look at the first is no rehearsal."""
        return sum(stop.seconds > 0 for stop in self.stops) > 1

    @property
    def planned(self) -> float:
        """Minutes."""
        return sum(stop.planned for stop in self.stops)

    @property
    def spent(self) -> float:
        """Minutes."""
        return sum(stop.seconds for stop in self.stops) / 60

    @property
    def projected(self) -> float:
        """Minutes that it will have taken, were all that was left to go by the plan."""
        plan = [(stop.address, stop.planned) for stop in self.stops]
        return self.spent + against(plan, self.seconds, self.at)[1]


class Rehearsing:
    """A view of a talk that keeps what its steps take: a crash costs `KEEP_S` at most.

    trouble: why the disk kept nothing, or not the last.
    """

    def __init__(self, folder: Path | None = None) -> None:
        started = record.now()
        root = folder or runner.RESULTS / FOLDER
        self._path = root / f"{started.replace(':', '')}-{os.getpid()}.json"
        self._started = started
        self._spent = Spent()
        self._at: Address | None = None
        self._kept_at = 0.0
        self.trouble = ""
        self.rehearsal: Rehearsal | None = None

    def __call__(self, talk: Talk) -> None:
        state = talk.state
        if state.address not in state.addresses:
            return
        self._spent.look(state.address, state.now)
        moved, self._at = state.address != self._at, state.address
        self.rehearsal = self._now(state)
        if moved or state.now - self._kept_at >= KEEP_S:
            self._kept_at = state.now
            self._keep(self.rehearsal)

    def close(self, *, left: bool) -> None:
        if self.rehearsal:
            self.rehearsal = replace(self.rehearsal, left=left)
            self._keep(self.rehearsal)

    def _now(self, state: stage.State) -> Rehearsal:
        seconds = self._spent.seconds
        stops = tuple(
            Stop(
                section=outline.number,
                step=step.slug,
                planned=planned(step),
                seconds=round(seconds.get((outline.number, step.slug), 0.0), 1),
            )
            for outline in state.sections
            for step in outline.steps
        )
        return Rehearsal(started=self._started, stops=stops, at=state.address, mode=state.mode)

    def _keep(self, rehearsal: Rehearsal) -> None:
        try:
            record.write_atomically(self._path, wire.dumps(rehearsal) + "\n")
            self.trouble = ""
        except RecordError as error:
            self.trouble = str(error)


def opened(sections: Sequence[int], *, recorded: bool = False, quick: bool = False) -> Talk:
    """The talk to rehearse: on the GPU where one can be, in a record of its own; else a replay."""
    if recorded or not any(Path(node).exists() for node in DRIVERS):
        return opening.replay(sections)
    results = runner.RESULTS / FOLDER
    return opening.demo(sections, quick=quick, new=True, results=results)


def kept(folder: Path | None = None) -> tuple[Rehearsal, ...]:
    """Those on disk, the oldest first. What is none is left out, with a warning."""
    paths = sorted((folder or runner.RESULTS / FOLDER).glob("*.json"))[-MOST:]
    return tuple(found for found in map(read, paths) if found)


def read(path: Path) -> Rehearsal | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("too large")
        return wire.from_plain(Rehearsal, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        warnings.warn(f"{path.name} is no rehearsal and was left out: {error}", stacklevel=2)
        return None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One step. Minutes; spent: None where it was not come to, usual: where it never was before."""

    section: int
    step: str
    planned: float
    spent: float | None
    usual: float | None


@dataclass(frozen=True)
class Compared:
    """A rehearsal beside those before it."""

    this: Rehearsal
    before: tuple[Rehearsal, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(
            Row(
                section=stop.section,
                step=stop.step,
                planned=stop.planned,
                spent=stop.seconds / 60 if stop.seconds else None,
                usual=self._usual(stop.address),
            )
            for stop in self.this.stops
        )

    def _usual(self, address: Address) -> float | None:
        """The median of earlier rehearsals that came to this step."""
        taken = [s for r in self.before if (s := r.seconds.get(address, 0.0))]
        return statistics.median(taken) / 60 if taken else None

    @property
    def alike(self) -> tuple[Rehearsal, ...]:
        """Those before of the same sections: their totals may be held against this one's."""
        return tuple(r for r in self.before if r.sections == self.this.sections)


def compared(rehearsals: Sequence[Rehearsal], sections: Collection[int]) -> Compared:
    """The newest that holds any of these sections. Raises TalkError where none does."""
    found = [n for n, each in enumerate(rehearsals) if set(each.sections) & set(sections)]
    if not found:
        raise TalkError(
            "nothing was rehearsed yet.", hint="'just rehearse' walks the talk against the clock"
        )
    before = tuple(each for each in rehearsals[: found[-1]] if each.walked)
    return Compared(rehearsals[found[-1]], before)
