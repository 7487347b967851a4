"""Measure the stage itself, beside the figures it must reach: `just bench`.

Run on an otherwise idle machine. Each row is a median; the last column is the bound.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fcntl import ioctl

from talk import look, opening, stage
from talk.number import Number
from talk.outcome import Outcome
from talk.performer import Hello, Performer
from talk.reading import Reading
from talk.record import Event, Machine, Record
from talk.source import ROOT, section_module

SYNCHRONISED = b"\x1b[?2026l"
"""The end of a frame: terminals show what came before at once."""


@dataclass(frozen=True)
class Figure:
    """A measured value in its base unit, and the bound it is held against."""

    name: str
    value: float
    unit: str
    bound: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def __str__(self) -> str:
        sign = "≤" if self.at_most else "≥"
        verdict = "holds" if self.holds else "MISSED"
        value, bound = look.quantity(self.value, self.unit), look.quantity(self.bound, self.unit)
        return f"{self.name:<52} {value:>10}   {sign} {bound:<8} {verdict}"


def bench(n: int, section: int, step: str, best: str, against: str) -> int:
    """Print every figure as it is measured; 1 when one is missed.

    n: repeats of the figures that need no GPU, 0 for none. step: `section/slug` of a measured
    step for the GPU figures, whose rows `best` and `against` are compared.
    """
    missed = 0
    for figure in itertools.chain(everywhere(n, section), on_gpu(step, best, against)):
        print(figure, flush=True)
        missed += not figure.holds
    return 1 if missed else 0


def everywhere(n: int, section: int) -> Iterator[Figure]:
    """Figures that need no GPU."""
    if n == 0:
        return
    talk = (sys.executable, "-m", "talk")
    demo, replay = (*talk, "demo", str(section)), (*talk, "replay", str(section))
    yield Figure("python -m talk --help", median(n, lambda: command(*talk, "--help")), "s", 0.3)
    yield Figure("first frame of demo", median(n, lambda: first_frame(demo)), "s", 0.5)
    yield Figure("key press to repaint", statistics.median(repaints(replay, 4 * n)), "s", 0.05)
    build = (sys.executable, "-m", "slides")
    yield Figure("python -m slides", median(n, lambda: command(*build)), "s", 3.0)


def median(n: int, once: Callable[[], float]) -> float:
    return statistics.median(once() for _ in range(n))


def command(*arguments: str) -> float:
    """Seconds of a whole process. Raises CalledProcessError."""
    started = time.perf_counter()
    subprocess.run(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


@contextlib.contextmanager
def terminal(arguments: tuple[str, ...]) -> Iterator[int]:
    """A command on a pseudo-terminal of 100×30; yields its other end."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    process = subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    try:
        yield leader
    finally:
        process.terminate()
        process.wait(10)
        os.close(leader)


def first_frame(arguments: tuple[str, ...]) -> float:
    """Seconds from the start of the process to the end of its first frame."""
    started = time.perf_counter()
    with terminal(arguments) as screen:
        read_until_frame(screen)
        return time.perf_counter() - started


def repaints(arguments: tuple[str, ...], n: int) -> list[float]:
    """Seconds from a key press to the end of the frame that answers it."""
    with terminal(arguments) as screen:
        read_until_frame(screen)
        return [repaint(screen, b"\x1b[C" if i % 2 else b"c") for i in range(n)]


def repaint(screen: int, key: bytes) -> float:
    quieten(screen)
    started = time.perf_counter()
    os.write(screen, key)
    read_until_frame(screen)
    return time.perf_counter() - started


def quieten(screen: int) -> None:
    while select.select([screen], [], [], 0.15)[0]:
        os.read(screen, 65536)


def read_until_frame(screen: int, timeout: float = 20.0) -> None:
    seen = b""
    while SYNCHRONISED not in seen:
        if not select.select([screen], [], [], timeout)[0]:
            raise TimeoutError(f"no frame within {timeout:.0f} s; so far {seen[-200:]!r}")
        seen += os.read(screen, 65536)


def on_gpu(step: str, best: str, against: str) -> Iterator[Figure]:
    """Figures of the live worker: share, rival, repeatability, and replacement after a kill."""
    if not step or opening.cannot_run():
        return
    from talk.worker import Worker

    section, slug = int(step.partition("/")[0]), step.partition("/")[2]
    worker = Worker(Hello(modules=(section_module(section),)))
    try:
        machine = opened(worker)
        if machine is None or machine.mode != "live":
            return
        runs = [perform(worker, section, slug) for _ in range(5)]
        machine = next((seen for _, seen in runs if seen and seen.ceilings), machine)
        readings = [reading(machine, outcome) for outcome, _ in runs]
        yield from judge(readings, section, slug, best, against)
        yield replaced(worker, section, slug)
    finally:
        worker.close()


def judge(
    readings: list[Reading], section: int, slug: str, best: str, against: str
) -> Iterator[Figure]:
    def all_of(keys: str, field: str) -> list[Number]:
        return [reading.number(f"{section}/{slug}[{keys}].{field}") for reading in readings]

    shares, times = all_of(best, "share"), [float(time) for time in all_of(best, "time")]
    yield Figure("share of the ceiling of its mix", float(shares[-1]), "share", 0.98, False)
    spread = (max(times) - min(times)) / statistics.median(times)
    yield Figure("spread of five repeats of its median", spread, "share", 0.01)
    rival = statistics.median(float(time) for time in all_of(against, "time"))
    # A tie counts: within the spread that two runs of one kernel may have.
    yield Figure(f"time beside {against}", statistics.median(times) / rival, "ratio", 1.01)


def replaced(worker: Performer, section: int, slug: str) -> Figure:
    """Seconds from killing the worker in a step to the same step's outcome."""
    worker.perform(section, slug)
    wait(worker, stage.Progressed)
    os.kill(worker_pid(worker), signal.SIGKILL)
    started = time.perf_counter()
    wait(worker, stage.Arrived)
    worker.perform(section, slug)
    wait(worker, stage.Progressed)
    return Figure("killed worker replaced, step under way", time.perf_counter() - started, "s", 10)


def worker_pid(worker: Performer) -> int:
    pid: int = worker.pid  # type: ignore[attr-defined]  # the worker's own; a replay has none
    return pid


def opened(worker: Performer) -> Machine | None:
    event = wait(worker, stage.Opened)
    return event.machine if isinstance(event, stage.Opened) else None


def perform(worker: Performer, section: int, slug: str) -> tuple[Outcome, Machine | None]:
    """A step's outcome, and the machine if its ceilings were measured on the way."""
    worker.perform(section, slug)
    machine = None
    while True:
        for event in wait_any(worker):
            if isinstance(event, stage.Opened):
                machine = event.machine
            if isinstance(event, stage.Arrived):
                return event.outcome, machine


def wait(worker: Performer, kind: type) -> stage.Event:
    while True:
        found = [event for event in wait_any(worker) if isinstance(event, kind)]
        if found:
            return found[0]


def wait_any(worker: Performer) -> list[stage.Event]:
    select.select(worker.fds(), [], [], worker.timeout())
    return worker.events()


def reading(machine: Machine, outcome: Outcome) -> Reading:
    event = Event(kind="outcome", section=outcome.section, step=outcome.step, outcome=outcome)
    return Reading(talk=Record(machine, (event,)), live=True)
