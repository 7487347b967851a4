"""How long it takes: samples of one call on a cold cache, and when there are enough of them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakKeyDictionary

Call = Callable[[], Any]
Clock = Callable[[], float]

FLUSH_BYTES = 512 * 2**20
"""Written before every sample, or three times the L2 cache where that is more.

The host queues the next launch meanwhile, which takes it some 70 µs through Python: 256 MiB
are written in 60 µs on an H200, and a kernel of 5 µs then read 12 to 29 µs.
"""

QUEUEING_MARGIN = 1.5
QUEUEING_MOST = 10
"""A call of several launches and allocations takes the host longer than one overwriting: a kernel
of 149 µs read 188. So the cache is overwritten as often as outlasts the host, and a half, and no
more often than this: a call that waits for the device would never be outlasted.
"""

ROUND_MS = 30.0
ROUND_MOST = 25
"""A candidate's turn in a round: some milliseconds, and no more samples than this."""

WARM_S = 0.2
WARM_MATRIX_S = 3.0
WINDOW_MS = 50.0
AGREE = 0.01
"""Warm-up: 200 ms where memory decides; where arithmetic heats the chip and slows its clock,
until windows of 50 ms agree within 1 %, or 3 s."""


RESOLUTION_MS = 5e-4
"""Of an event's clock (CUDA Runtime API, cudaEventElapsedTime): no median is known better."""


class Timer(Protocol):
    """Takes samples. clock: `device`, `hot` or `wall`, as `talk.outcome.Timing` names it."""

    clock: str

    def samples(self, call: Call, n: int) -> list[float]:
        """Milliseconds of `n` calls in a row, each on a cold cache."""
        ...


class GpuTimer:
    """Events of the device around every call, and all of its L2 cache overwritten before."""

    clock = "device"

    def __init__(self, l2_bytes: int | None, host: Clock = time.perf_counter) -> None:
        import torch

        self._torch, self._host = torch, host
        size = max(FLUSH_BYTES, 3 * (l2_bytes or 0))
        self._flushed = torch.empty(size // 4, dtype=torch.int32, device="cuda")
        self._turns: WeakKeyDictionary[Call, int] = WeakKeyDictionary()
        self._flush_s = statistics.median(self._timed(self._flush, 3)[0]) / 1e3

    def samples(self, call: Call, n: int) -> list[float]:
        turns = self._turns.get(call, 1)
        taken, queueing_s = self._timed(call, n, before=lambda: self._flush(turns))
        self._turns[call] = overwritings(queueing_s, self._flush_s)
        return taken

    def in_a_row(self, call: Call, n: int) -> list[float]:
        """Milliseconds of `n` calls with nothing between them, after one that is not timed."""
        # The host queues a short call slower than it runs. So the device is kept busy first: as
        # many overwritings for each call as outlast its queueing, and these by the turn, as CUDA
        # lets no more than some 1,000 launches wait.
        turns = [min(ROUND_MOST, n - begun) for begun in range(0, n, ROUND_MOST)]
        return [ms for turn in turns for ms in self._queued(call, turn)]

    def _queued(self, call: Call, n: int) -> list[float]:
        self._flush((n + 1) * self._turns.get(call, 1))
        call()
        taken, queueing_s = self._timed(call, n)
        self._turns[call] = overwritings(queueing_s, self._flush_s)
        return taken

    def _flush(self, turns: int = 1) -> None:
        for _ in range(turns):
            self._flushed.zero_()

    def _timed(self, call: Call, n: int, before: Call = lambda: None) -> tuple[list[float], float]:
        """Milliseconds on the device, and the median seconds that the host took to queue a call."""
        event, cuda = self._torch.cuda.Event, self._torch.cuda
        pairs = [(event(enable_timing=True), event(enable_timing=True)) for _ in range(n)]
        queueing_s = []
        for start, end in pairs:
            before()
            start.record()
            began = self._host()
            call()
            queueing_s.append(self._host() - began)
            end.record()
        cuda.synchronize()
        taken = [start.elapsed_time(end) for start, end in pairs]
        return taken, statistics.median(queueing_s)


def overwritings(queueing_s: float, flush_s: float) -> int:
    """How many outlast the host."""
    wanted = math.ceil(QUEUEING_MARGIN * queueing_s / flush_s)
    return max(1, min(QUEUEING_MOST, wanted))


class HotTimer:
    """Events of the device around every call, which finds in the cache what the last one left.

    The cache is overwritten, and filled again by a call that is not timed: meanwhile the host
    queues the others, so that none of them waits for it.
    """

    clock = "hot"

    def __init__(self, cold: GpuTimer) -> None:
        self._cold = cold

    def samples(self, call: Call, n: int) -> list[float]:
        return self._cold.in_a_row(call, n)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When to stop: at `samples` with a noise under `noise`, or at `limit_s` for all together.

    flag: put on every result, such as `quick`.
    """

    samples: int = 10
    noise: float = 0.005
    limit_s: float = 15.0
    flag: str = ""


FULL = Budget()
QUICK = Budget(samples=5, noise=0.02, limit_s=1.5, flag="quick")


@dataclass
class Samples:
    """Milliseconds so far. first_guess_ms: from the warm-up."""

    guess_ms: float
    ms: list[float] = field(default_factory=list)

    @property
    def turn(self) -> int:
        """Samples in one round."""
        return max(1, min(ROUND_MOST, round(ROUND_MS / max(self.guess_ms, 1e-6))))

    def settled(self, budget: Budget) -> bool:
        least = RESOLUTION_MS / max(quantile(self.ms, 0.5), 1e-12)
        return len(self.ms) >= budget.samples and noise(self.ms) < max(budget.noise, least)

    def flags(self, budget: Budget) -> tuple[str, ...]:
        noisy = () if self.settled(budget) else ("noisy",)
        return ((budget.flag,) if budget.flag else ()) + noisy


def noise(ms: Sequence[float]) -> float:
    """The relative standard error of the median.

    σ from the spread: p80 - p20 of a normal distribution is 1.683 σ, and the standard error of
    its median is 1.2533 σ/√n.
    """
    low, median, high = (quantile(ms, q) for q in (0.2, 0.5, 0.8))
    sigma = (high - low) / 1.683
    return 1.2533 * sigma / math.sqrt(len(ms)) / max(median, 1e-12)


def quantile(values: Sequence[float], q: float) -> float:
    """By linear interpolation between the order statistics."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def time_in_turn(
    calls: Mapping[str, Call],
    timer: Timer,
    budget: Budget = FULL,
    *,
    matrix_bound: bool = False,
    clock: Clock = time.monotonic,
    turn: Callable[[str], None] = lambda name: None,
) -> dict[str, Samples]:
    """Warm up, then sample in rounds: every candidate in each, and another one first each time.

    turn: told whose turn begins.
    """
    taken = {}
    for name, call in calls.items():
        turn(name)
        taken[name] = Samples(warm(call, timer, matrix_bound, clock))
    began, first = clock(), 0
    waiting = list(calls)
    while waiting:
        for name in waiting[first:] + waiting[:first]:
            turn(name)
            taken[name].ms += timer.samples(calls[name], taken[name].turn)
        if clock() - began >= budget.limit_s:
            break
        waiting = [name for name in waiting if not taken[name].settled(budget)]
        first = (first + 1) % max(len(waiting), 1)
    return taken


def warm(call: Call, timer: Timer, matrix_bound: bool, clock: Clock) -> float:
    """Bring the device to the state that is measured; returns the milliseconds of a call."""
    began, last = clock(), timer.samples(call, 1)[0]
    n = max(1, min(1000, round(WINDOW_MS / max(last, 1e-3))))
    while True:
        window = statistics.median(timer.samples(call, n))
        steady = abs(window - last) <= AGREE * last
        elapsed, last = clock() - began, window
        if elapsed >= (WARM_MATRIX_S if matrix_bound and not steady else WARM_S):
            return window
