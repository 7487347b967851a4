"""Who performs the steps: the same few verbs for the worker and for a look-up in a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from talk import stage
from talk.outcome import Failure, Outcome
from talk.record import Machine, Record


@dataclass(frozen=True, kw_only=True)
class Hello:
    """What a worker is told when it starts.

    modules: the sections' modules, in running order. known: a talk's machine whose ceilings
    may be taken over if this is the same place; reference: the recording's, whose ceilings
    the models use where nothing can be measured. commit: None asks git.
    """

    modules: tuple[str, ...]
    commit: str | None = None
    quick: bool = False
    known: Machine | None = None
    reference: Machine | None = None

    def command(self, section: int) -> str:
        """What repeats a step of that section."""
        return f"just demo {section}" + (" --quick" if self.quick else "")


class Performer(Protocol):
    """Performs one step at a time and reports in the stage's events.

    Nothing here blocks, `shell` apart: wait on `fds` for at most `timeout` seconds, then
    take `events`.
    """

    def perform(self, section: int, slug: str) -> None: ...
    def cancel(self) -> None: ...
    def shell(self, section: int, slug: str, terminal: int) -> None: ...
    def events(self) -> list[stage.Event]: ...
    def fds(self) -> tuple[int, ...]: ...
    def timeout(self) -> float | None: ...
    def close(self) -> None: ...


class Replayer:
    """Performs a step by looking its outcome up."""

    def __init__(self, recording: Record, why: str) -> None:
        self._recording = recording
        self._events: list[stage.Event] = [stage.Opened("replay", why)]

    def perform(self, section: int, slug: str) -> None:
        outcome = self._recording.outcome(section, slug)
        self._events.append(stage.Arrived(outcome or self._none(section, slug)))

    def _none(self, section: int, slug: str) -> Outcome:
        reason = f"this recording holds no outcome of {section}/{slug}"
        failure = Failure(kind="missing", reason=reason)
        return Outcome(section=section, step=slug, mode="simulated", failure=failure)

    def cancel(self) -> None:
        """Nothing takes long enough to be cancelled."""

    def shell(self, section: int, slug: str, terminal: int) -> None:
        self._events.append(stage.Said("IPython needs PyTorch and Triton; this is a replay."))

    def events(self) -> list[stage.Event]:
        events, self._events = self._events, []
        return events

    def fds(self) -> tuple[int, ...]:
        return ()

    def timeout(self) -> float | None:
        return 0.0 if self._events else None

    def close(self) -> None:
        """Nothing to end."""
