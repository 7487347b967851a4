"""What this very GPU reaches: bandwidth by traffic mix, the cost of a launch, programs a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from talk.gpu import kernels
from talk.gpu.machine import free_bytes
from talk.gpu.timer import Budget, Call, Clock, Timer, quantile, time_in_turn
from talk.record import Ceilings
from talk.section import MIXES

BLOCKS = (256, 512, 1024)
"""Elements per program; which of them is fastest differs by GPU and mix."""

ARRAY_BYTES = 2**30
ARRAYS = 4
"""The mix 3:1 reads three arrays and writes one."""

PROGRAMS = 2**24
"""Some 10 ms on an H200: a launch of 2 µs is lost in it."""

BUDGET = Budget(limit_s=3.0)
DEADLINE_S = 180.0
"""Seventeen small kernels compiled, and six seconds of measuring."""

Progress = Callable[[str, float | None], None]


def measure_ceilings(timer: Timer, progress: Progress, clock: Clock = time.monotonic) -> Ceilings:
    """All of them, in some ten seconds. Arrays of 1 GiB, or of what the memory has room for."""
    size = array_bytes(free_bytes())
    arrays = [torch.rand(size // 4, device="cuda") for _ in range(ARRAYS)]
    bandwidth = {}
    for n, mix in enumerate(MIXES):
        progress(f"measuring this GPU's ceilings: {mix}", n / (len(MIXES) + 1))
        bandwidth[mix] = best_gbps(mix, arrays, timer, clock)
    progress("measuring this GPU's ceilings: launches", len(MIXES) / (len(MIXES) + 1))
    launch_ms, programs_ms = launch_times(arrays[0], timer, clock)
    return Ceilings(
        bandwidth_gbps=bandwidth,
        launch_us=launch_ms * 1e3,
        programs_per_s=PROGRAMS / programs_ms * 1e3,
        array_bytes=size,
    )


def array_bytes(free: int) -> int:
    """1 GiB, halved until four arrays take at most half of what is free."""
    size = ARRAY_BYTES
    while ARRAYS * size > free // 2 and size > 2**20:
        size //= 2
    return size


def best_gbps(mix: str, arrays: list[Tensor], timer: Timer, clock: Clock) -> float:
    """GB/s of the fastest block: bytes / median time."""
    calls = dict(streams(mix, arrays))
    taken = time_in_turn(calls, timer, BUDGET, clock=clock)
    fastest = min(quantile(samples.ms, 0.5) for samples in taken.values())
    return moved_bytes(mix, arrays[0].nbytes) / fastest / 1e6


def moved_bytes(mix: str, array: int) -> int:
    return {"read": 1, "write": 1, "1:1": 2, "2:1": 3, "3:1": 4}[mix] * array


def streams(mix: str, arrays: list[Tensor]) -> Iterator[tuple[str, Call]]:
    """The same stream for each block."""
    kernel, arguments = launcher(mix, arrays)
    n = arrays[0].numel()
    for block in BLOCKS:
        yield str(block), partial(kernel[(n // block,)], *arguments, BLOCK=block)


def launcher(mix: str, arrays: list[Tensor]) -> tuple[Any, list[Tensor]]:
    """A kernel of that mix with its arrays, the output first."""
    streaming = {
        "read": (kernels.read_kernel, 2),
        "write": (kernels.write_kernel, 1),
        "1:1": (kernels.copy_kernel, 2),
        "2:1": (kernels.add_kernel, 3),
        "3:1": (kernels.add_three_kernel, 4),
    }
    kernel, count = streaming[mix]
    return kernel, arrays[:count]


def launch_times(x: Tensor, timer: Timer, clock: Clock) -> tuple[float, float]:
    """Milliseconds of an empty kernel with one program, and with `PROGRAMS`."""
    calls = {str(n): partial(kernels.empty_kernel[(n,)], x) for n in (1, PROGRAMS)}
    taken = time_in_turn(calls, timer, BUDGET, clock=clock)
    one, many = (quantile(samples.ms, 0.5) for samples in taken.values())
    return one, many
