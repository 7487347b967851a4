"""One talk under way: carries out what the stage decides, and keeps the record.

Terminal and slides are views of a `Talk`: they `tell` it events and draw its `state`
and `reading`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from talk import record, stage
from talk.errors import RecordError, TalkError
from talk.performer import Performer, Replayer
from talk.reading import Reading
from talk.record import Event, Record
from talk.recorder import Recorder
from talk.source import ROOT, Standing

RESULTS = ROOT / "results"
RECORDINGS = ROOT / "demos" / "recordings"


class Remote(Protocol):
    """Where a talk is told what to do besides its own keys: wait on `fds`, then take `events`."""

    def fds(self) -> tuple[int, ...]: ...
    def events(self) -> list[stage.Event]: ...


class Talk:
    """The stage's state, the numbers so far, and who performs the steps.

    results: where to record; None records nothing (a replay). unrecorded: what the disk refused.
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
        self._recorder = Recorder(results, new=new) if results else None
        self._clock = clock
        self.unrecorded = ""
        self._shell: Callable[[int, str], None] | None = None
        self._remotes: list[Remote] = []
        self._views: list[Callable[[Talk], None]] = []
        self._seen: tuple[stage.State, Reading] | None = None
        self.tell(stage.Tick(clock()))

    def on_shell(self, shell: Callable[[int, str], None]) -> None:
        """The view that owns a terminal lends it to IPython."""
        self._shell = shell

    def join(self, remote: Remote) -> None:
        """Take its events too."""
        self._remotes.append(remote)

    def watch(self, view: Callable[[Talk], None]) -> None:
        """Call it at every turn at which something changed, and now."""
        self._views.append(view)
        view(self)

    def fds(self) -> tuple[int, ...]:
        """What to wait on before the next `pump`."""
        return (*self.performer.fds(), *(fd for remote in self._remotes for fd in remote.fds()))

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
        for source in (self.performer, *self._remotes):
            for event in source.events():
                self.tell(event)
        self._show()

    def _show(self) -> None:
        now = (self.state, self.reading)
        if self._seen is None or any(a is not b for a, b in zip(now, self._seen, strict=True)):
            self._seen = now
            for view in self._views:
                view(self)

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
        machine = event.machine
        if machine is not None:
            self._write(lambda recorder: recorder.describe(machine))
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

    def _keep(self, event: Event) -> None:
        if not isinstance(self.performer, Replayer):
            self._write(lambda recorder: recorder.keep(event))

    def _write(self, action: Callable[[Recorder], None]) -> None:
        """Record something; what the disk refuses is said, and stays in memory."""
        if self._recorder is None:
            return
        try:
            action(self._recorder)
        except RecordError as error:
            self.unrecorded = f"Not recorded: {error}"
            self.tell(stage.Said(self.unrecorded))
        self.reading = dataclasses.replace(self.reading, talk=self._recorder.talk)


def recording(gpu: str = "", root: Path = RECORDINGS) -> Record | None:
    """The committed recording: of that GPU where there is one, else the newest."""
    folders = [path.parent for path in root.glob("*/machine.json")] if root.is_dir() else []
    machines = {folder: record.read_machine(folder) for folder in folders}
    ranked = sorted(
        folders, key=lambda f: (machines[f].device.name == gpu, machines[f].started), reverse=True
    )
    return record.read(ranked[0]) if ranked else None
