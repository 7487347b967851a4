"""What the worker does all day: opens the sections, then performs what it is asked for."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from talk import stage
from talk.commit import commit_of
from talk.gpu import machine
from talk.gpu.bounds import bounded
from talk.gpu.ceilings import DEADLINE_S, measure_ceilings
from talk.gpu.clocks import Gpu
from talk.gpu.ground import Ground
from talk.gpu.improvise import Improviser
from talk.gpu.link import Link
from talk.gpu.measure import Bench
from talk.gpu.outline import definitions
from talk.gpu.perform import Stand, perform
from talk.gpu.reload import Loaded, Sections
from talk.gpu.shell import open_shell
from talk.gpu.timer import FULL, QUICK, GpuTimer, HotTimer
from talk.gpu.trouble import Interrupted, attempt
from talk.messages import Ask, Report
from talk.outcome import Code, Failure, Outcome
from talk.performer import Hello
from talk.record import Ceilings, Machine
from talk.section import Benchmark, Measure, Predict, Step, Trace

IMPORT_S = 60.0
"""For what an edited demo does when it is imported."""

USELESS = ("memory", "crash")
"""Failures after which the next step gets a fresh process."""


class Session:
    """One worker's life, from the driver's hello to its end. root: the checkout of the demos."""

    def __init__(self, link: Link, hello: Hello, ground: Ground, root: Path) -> None:
        self._link = link
        self._hello = hello
        self._ground = ground
        self._root = root
        self._gpu = Gpu(machine.uuid() if self.live else "")
        self._machine = joined(machine.describe(ground.mode, self._gpu), hello.known)
        self._sections = Sections(hello.modules, root)
        self._timer: GpuTimer | None = None

    @property
    def live(self) -> bool:
        return self._ground.mode == "live"

    def run(self) -> None:
        """Until the driver goes, or a failure asks for a fresh process."""
        if self.live:
            torch.set_default_device("cuda")
        self._refresh()
        for broken in self._sections.broken():
            self._link.report(Report(broken=broken.reason))
        self._open()
        for ask in self._link.asks():
            if ask.do == "shell":
                self._shell(ask)
            elif not self._perform(ask):
                return

    def _open(self) -> None:
        opened = stage.Opened(self._ground.mode, self._ground.why, self._machine)
        self._link.report(Report(opened=opened))

    def _refresh(self) -> None:
        for outline in self._sections.refresh():
            self._link.report(Report(outlined=stage.Outlined(outline)))

    def _perform(self, ask: Ask) -> bool:
        """False where this process is of no more use."""
        blank = Outcome(
            section=ask.section,
            step=ask.step,
            mode=self._ground.mode,
            command=self._hello.command(ask.section),
            commit=self._hello.commit or "",
        )
        began = time.monotonic()
        try:
            with self._link.interruptible():
                found = attempt(partial(self._outcome, ask, blank), root=self._root, last=True)
        except Interrupted:
            self._link.disarm()
            found = Failure(kind="cancelled", reason="cancelled")
        outcome = replace(blank, failure=found) if isinstance(found, Failure) else found
        outcome = replace(outcome, seconds=round(time.monotonic() - began, 3))
        sys.stdout.flush()
        sys.stderr.flush()
        self._link.report(Report(arrived=stage.Arrived(outcome)))
        failed = outcome.failure is not None and outcome.failure.kind in USELESS
        return not failed and opens_files()

    def _outcome(self, ask: Ask, blank: Outcome) -> Outcome:
        self._link.begin(IMPORT_S)
        if self._hello.commit is None:
            blank = replace(blank, commit=commit_of(self._root))
        loaded, behind = self._loaded(ask)
        if isinstance(loaded, Failure):
            return replace(blank, failure=loaded)
        step = loaded.section.step(ask.step)
        ceilings = self._ceilings(step)
        self._link.begin(step.deadline_s)
        stand = Stand(
            module=loaded.outline.module,
            bench=self._bench(),
            ceilings=ceilings,
            make_room=machine.spare_memory if self.live else lambda: None,
        )
        return bounded(replace(perform(step, blank, stand), behind=behind))

    def _loaded(self, ask: Ask) -> tuple[Loaded | Failure, tuple[Code, ...]]:
        """The section as it stands on disk now, and the definitions that will run."""
        while True:
            self._refresh()
            found = self._sections[ask.section]
            if isinstance(found, Failure):
                return found, ()
            if found.outline.step(ask.step) is None:
                reason = f"there is no step {ask.section}/{ask.step} any more"
                return Failure(kind="error", reason=reason), ()
            behind = definitions(found.section.step(ask.step), found.outline.module, self._root)
            # Else it was edited just now, and what was read may not be what was imported.
            if self._sections.current():
                return found, behind

    def _bench(self) -> Bench:
        timer = self._gpu_timer() if self.live else None
        return Bench(
            interpreted=not self.live,
            timer=timer,
            hot=HotTimer(timer) if timer else None,
            root=self._root,
            budget=QUICK if self._hello.quick else FULL,
            progress=self._link.progress,
            clocks=self._gpu.clocks,
        )

    def _gpu_timer(self) -> GpuTimer:
        if self._timer is None:
            self._timer = GpuTimer(self._machine.device.l2_bytes)
        return self._timer

    def _ceilings(self, step: Step) -> Ceilings | None:
        """This GPU's own, measured before the first step that needs them; else the recording's."""
        needed = isinstance(step, (Measure, Benchmark, Predict)) and not isinstance(step, Trace)
        if self.live and needed and self._machine.ceilings is None:
            self._link.begin(DEADLINE_S)
            self._measure_ceilings()
        if self.live:
            return self._machine.ceilings
        return self._hello.reference.ceilings if self._hello.reference else None

    def _measure_ceilings(self) -> None:
        found = measure_ceilings(self._gpu_timer(), self._link.progress)
        self._machine = replace(self._machine, ceilings=found)
        machine.spare_memory()
        self._open()

    def _improviser(self, ask: Ask) -> Improviser:
        given = self._hello.commit
        blank = Outcome(
            section=ask.section,
            step=ask.step,
            mode=self._ground.mode,
            commit=commit_of(self._root) if given is None else given,
        )
        return Improviser(
            # Nobody sees progress while the terminal is lent.
            bench=replace(self._bench(), progress=Bench().progress),
            blank=blank,
            machine=self._measured,
            tell=self._improvised,
        )

    def _lend(self, loaded: Loaded, ask: Ask) -> None:
        open_shell(loaded, ask.step, ask.terminal, self._improviser(ask))

    def _measured(self) -> Machine:
        """This machine; its ceilings are measured where no step has needed them yet."""
        if self.live and self._machine.ceilings is None:
            print("measuring the ceilings of this GPU, once: some ten seconds …", flush=True)
            self._measure_ceilings()
        return self._machine

    def _improvised(self, outcome: Outcome, said: str) -> None:
        self._link.report(Report(improvised=stage.Improvised(outcome, said)))

    def _shell(self, ask: Ask) -> None:
        loaded = self._sections[ask.section]
        if isinstance(loaded, Failure):
            self._link.report(Report(said=stage.Said(loaded.reason)))
        else:
            failed = attempt(partial(self._lend, loaded, ask), root=self._root, last=True)
            if isinstance(failed, Failure):
                self._link.report(Report(said=stage.Said(f"IPython ended: {failed.reason}")))
        self._link.report(Report(shut=True))


def joined(here: Machine, known: Machine | None) -> Machine:
    """With the ceilings that were measured in this same place before."""
    if known is None or not here.same_place(known):
        return here
    return replace(here, ceilings=known.ceilings)


def opens_files() -> bool:
    """Not after a step that left every file open, or set a limit of three."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    return True


def leave() -> None:
    """At once: a device that is lost may hang an orderly exit."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
