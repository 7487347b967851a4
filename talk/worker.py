"""This side of the pipe: performs steps in a worker process, keeps their deadlines, and replaces
the process when it dies."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from talk import stage
from talk.child import Child, how_it_ended, last_line, tail
from talk.errors import TalkError
from talk.lending import heard_while, lent
from talk.messages import Ask, Begun, Report
from talk.outcome import Failure, Outcome
from talk.performer import Hello
from talk.source import ROOT

START_S = 120.0
"""Importing PyTorch takes a second, and a minute from a cold network disk."""
ANSWER_S = 30.0
"""An idle worker answers in milliseconds."""
ATTEMPTS = 2
"""Deaths in a row, before a worker was ever ready, that are enough to give up."""

ENDED = "The next run starts another worker."


@dataclass(frozen=True)
class Ending:
    """The running step is being ended. kind: of its failure, `cancelled` or `deadline`."""

    kind: str
    kill_at: float


class Worker:
    """A `talk.performer.Performer` whose steps run elsewhere.

    Create it in the main thread: the process ends with the thread that started it, so that
    it never outlives the talk. Where no step can be performed it reports a replay, and why.

    root: the checkout whose demos run. environment: of the process, default `os.environ`.
    grace_s: from an interrupt to the kill.
    """

    def __init__(
        self,
        hello: Hello,
        *,
        root: Path = ROOT,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        grace_s: float = 1.0,
    ) -> None:
        self._hello = hello
        self._root = root.resolve()
        self._environment = os.environ if environment is None else environment
        self._clock = clock
        self._grace_s = grace_s
        self._events: list[stage.Event] = []
        self._child: Child | None = None
        self._opened: stage.Opened | None = None
        self._ready = False
        self._deaths = 0
        self._asked: stage.Address | None = None
        self._begun = False
        self._since = 0.0
        self._limit_s = 0.0
        self._deadline = math.inf
        self._ending: Ending | None = None
        self._why = ""
        self._start()

    @property
    def pid(self) -> int:
        """The worker process of this moment; 0 where there is none."""
        return self._child.pid if self._child else 0

    def perform(self, section: int, slug: str) -> None:
        """Now, or as soon as the worker is ready."""
        self._asked, self._ending, self._since = (section, slug), None, self._clock()
        if self._child is None and self._opened:
            self._deaths = 0
            self._start()
        elif self._child is None:
            self._fail(Failure(kind="worker", reason=self._why))
        elif self._ready:
            self._ask()

    def cancel(self) -> None:
        """Interrupt the running step; what does not stop within the grace is killed."""
        if self._asked is None or self._ending:
            return
        if self._ready:
            self._end("cancelled")
        else:
            self._fail(Failure(kind="cancelled", reason="cancelled before it began"))

    def shell(self, section: int, slug: str, terminal: int) -> None:
        """Lend the terminal to IPython in the worker; returns when it ends or the terminal goes."""
        if self._child is None or not self._ready:
            waits = "The worker is still starting; try again in a moment."
            self._events.append(stage.Said(waits if self._child else ENDED))
            return
        with lent(terminal, self._child.pid):
            path = os.ttyname(terminal)
            self._child.send(Ask(do="shell", section=section, step=slug, terminal=path))
            for _ in heard_while(self._child.fds(), terminal):
                reports = heard(self._child)
                for report in reports:
                    self._take(report)
                if self._child is None or self._child.ended() or any(r.shut for r in reports):
                    return

    def events(self) -> list[stage.Event]:
        """What happened since the last call. Raises TalkError for a demo broken from the start."""
        if self._child is not None:
            ended = self._child.ended()
            for report in heard(self._child):
                self._take(report)
        if self._child is not None:
            if ended:
                self._bury(self._child)
            else:
                self._watch(self._child)
        events, self._events = self._events, []
        return events

    def fds(self) -> tuple[int, ...]:
        return self._child.fds() if self._child else ()

    def timeout(self) -> float | None:
        if self._events:
            return 0.0
        next_at = self._ending.kill_at if self._ending else self._deadline
        return None if math.isinf(next_at) else max(0.0, next_at - self._clock())

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _start(self) -> None:
        if not sys.platform.startswith("linux"):
            return self._give_up(f"there is no Triton for {sys.platform}")
        try:
            self._child = Child(self._root, self._environment)
        except OSError as error:
            why = f"the worker cannot be started: {error}"
            return self._rest(why) if self._opened else self._give_up(why)
        self._ready, self._deadline = False, self._clock() + START_S
        known = self._opened.machine if self._opened else None
        self._child.send(replace(self._hello, known=known or self._hello.known))

    def _ask(self) -> None:
        assert self._child is not None and self._asked is not None
        self._begun = False
        self._limit_s, self._deadline = ANSWER_S, self._clock() + ANSWER_S
        self._child.send(Ask(do="perform", section=self._asked[0], step=self._asked[1]))

    def _take(self, report: Report) -> None:
        match report:
            case Report(begun=Begun(deadline_s=seconds)):
                self._begun = True
                self._limit_s, self._deadline = seconds, self._clock() + seconds
            case Report(opened=stage.Opened() as opened):
                self._take_opened(opened)
            case Report(arrived=stage.Arrived(outcome)):
                self._take_outcome(outcome)
            case Report(broken=reason) if reason:
                self._take_broken(reason)
            case _:
                plain = (report.outlined, report.progressed, report.improvised, report.said)
                self._events += filter(None, plain)

    def _take_opened(self, opened: stage.Opened) -> None:
        if opened.mode == "replay":
            return self._give_up(opened.why)
        before = self._opened.machine if self._opened else None
        if before and opened.machine and not before.same_place(opened.machine):
            return self._give_up(f"another machine answers now: {opened.why}")
        self._opened = opened
        self._events.append(opened)
        if not self._ready:
            self._ready, self._deaths, self._deadline = True, 0, math.inf
            if self._asked:
                self._ask()

    def _take_outcome(self, outcome: Outcome) -> None:
        if self._child is None or (outcome.section, outcome.step) != self._asked:
            return
        failure = outcome.failure
        if failure and failure.kind == "cancelled" and self._ending:
            failure = self._ended_by(self._ending.kind, failure.detail)
        self._arrive(replace(outcome, output=self._child.output(), failure=failure))

    def _take_broken(self, reason: str) -> None:
        if self._opened is None:
            raise TalkError(reason, hint="mend the file, then start again")
        self._events.append(stage.Said(reason))

    def _watch(self, child: Child) -> None:
        """Keep the deadlines: of the grace, of the running step, of the start."""
        now = self._clock()
        if self._ending and now >= self._ending.kill_at:
            self._ending = replace(self._ending, kill_at=math.inf)
            child.kill()
        elif now >= self._deadline:
            if self._asked and self._ready:
                self._end("deadline")
            else:
                self._deadline = math.inf
                child.kill()

    def _end(self, kind: str) -> None:
        assert self._child is not None
        self._deadline = math.inf
        self._ending = Ending(kind, self._clock() + self._grace_s)
        self._child.interrupt()

    def _bury(self, child: Child) -> None:
        """Say what died with the worker, and start another."""
        output, status = child.output(), child.close()
        self._child = None
        why = f"the worker {how_it_ended(status)}"
        # A step that had not begun is asked for again: it was the last one that ended the worker.
        if self._ready and self._asked and (self._begun or self._ending):
            kind = self._ending.kind if self._ending else "crash"
            self._fail(self._ended_by(kind, tail(output), why), output)
        if not self._ready:
            self._deaths += 1
        if self._deaths >= ATTEMPTS:
            why = f"{why} before it was ready{last_line(output)}"
            return self._rest(why) if self._opened else self._give_up(why)
        self._start()
        if self._child is not None:
            self._events.append(stage.Said("A fresh worker is starting."))

    def _rest(self, why: str) -> None:
        """It ran before, so what ends it now can be mended: the next step starts it again."""
        self._deadline = math.inf
        if self._asked:
            self._fail(Failure(kind="worker", reason=why))
        self._events.append(stage.Said(f"{why[0].upper()}{why[1:]}. {ENDED}"))

    def _ended_by(self, kind: str, detail: str, why: str = "") -> Failure:
        replaced = ", and its worker was replaced" if why else ""
        reasons = {
            "cancelled": f"cancelled{replaced}",
            "deadline": f"not done after {self._limit_s:g} s, so it was ended{replaced}",
        }
        return Failure(kind=kind, reason=reasons.get(kind, why), detail=detail)

    def _fail(self, failure: Failure, output: str = "") -> None:
        """The outcome of a step whose worker cannot report it."""
        assert self._asked is not None
        section, slug = self._asked
        outcome = Outcome(
            section=section,
            step=slug,
            # Never live unasked: what has not opened has no GPU yet.
            mode=self._opened.mode if self._opened else "simulated",
            commit=self._hello.commit or "",
            command=self._hello.command(section),
            seconds=self._clock() - self._since,
            output=output,
            failure=failure,
        )
        self._arrive(outcome)

    def _arrive(self, outcome: Outcome) -> None:
        self._asked, self._ending, self._deadline = None, None, math.inf
        self._events.append(stage.Arrived(outcome))

    def _give_up(self, why: str) -> None:
        self._why = why
        if self._asked:
            self._fail(Failure(kind="worker", reason=why))
        self.close()
        self._deadline = math.inf
        self._events.append(stage.Opened("replay", why))


def heard(child: Child) -> list[Report]:
    """What has arrived; a worker that talks nonsense is ended."""
    try:
        return child.reports()
    except ValueError:
        child.kill()
        return []
