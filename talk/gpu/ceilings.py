"""What this very GPU reaches: bandwidth by traffic mix, arithmetic, launches, programs, latency."""

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
from talk.hardware import LINE_BYTES, TENSOR_CORES
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
"""Some twenty small kernels compiled, and eight seconds of measuring."""

MULTIPLY_ADDS, LANES = 4096, 2048
"""In registers, for each of a program's elements: 66 TFLOP/s on an H200 (data sheet: 67)."""

TILE = {"M": 128, "N": 256, "K": 64}
DOTS = 2**13
"""Products of one tile, nothing loaded between them: 860 to 920 TFLOP/s of bfloat16 on an H200, by
run, where a product of whole matrices reaches 730. Five milliseconds."""

LINE = LINE_BYTES // torch.int32.itemsize
"""Elements of a cache line: one link of the chain on each."""
LOADS = 2**14
"""Five milliseconds. Each walk begins at the same link, so it needs a timer that empties the L2."""

Progress = Callable[[str, float | None], None]


def measure_ceilings(timer: Timer, progress: Progress, clock: Clock = time.monotonic) -> Ceilings:
    """All of them, in some twelve seconds. Arrays of 1 GiB, or of what the memory has room for."""
    size = array_bytes(free_bytes())
    arrays = [torch.rand(size // 4, device="cuda") for _ in range(ARRAYS)]
    bandwidth, most = {}, len(MIXES) + 3

    def say(what: str, n: int) -> None:
        progress(f"measuring this GPU's ceilings: {what}", n / most)

    for n, mix in enumerate(MIXES):
        say(mix, n)
        bandwidth[mix] = best_gbps(mix, arrays, timer, clock)
    say("launches", len(MIXES))
    launch_ms, programs_ms = launch_times(arrays[0], timer, clock)
    say("latency", len(MIXES) + 1)
    latency_ns = latency(size, timer, clock)
    say("arithmetic", len(MIXES) + 2)
    return Ceilings(
        bandwidth_gbps=bandwidth,
        launch_us=launch_ms * 1e3,
        programs_per_s=PROGRAMS / programs_ms * 1e3,
        array_bytes=size,
        tflops=arithmetic(timer, clock),
        latency_ns=latency_ns,
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
    return moved_bytes(mix, arrays[0].nbytes) / fastest_ms(calls, timer, clock) / 1e6


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


def latency(size: int, timer: Timer, clock: Clock) -> float:
    """Nanoseconds of a load that waits for the one before, all over `size` bytes of memory."""
    links = random_cycle(size // LINE_BYTES, "cuda")
    out = torch.empty(1, dtype=torch.int32, device="cuda")
    call = partial(kernels.chain_kernel[(1,)], out, links, LOADS, num_warps=1)
    return fastest_ms({"chain": call}, timer, clock) * 1e6 / LOADS


def random_cycle(lines: int, device: str) -> Tensor:
    """So many cache lines of int32: the first of each says where the next one starts."""
    order = torch.randperm(lines, device=device) * LINE
    links = torch.zeros(lines * LINE, dtype=torch.int32, device=device)
    links[order] = order.roll(-1).int()
    return links


def arithmetic(timer: Timer, clock: Clock) -> dict[str, float]:
    """TFLOP/s of float32 in registers and, where Triton has tensor cores, of the 16-bit types."""
    told = torch.cuda.get_device_properties(0)
    found = {"fp32": fp32_tflops(told.multi_processor_count, timer, clock)}
    if torch.version.hip or told.major >= TENSOR_CORES:
        for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
            found[name] = dot_tflops(dtype, told.multi_processor_count, timer, clock)
    return found


def fp32_tflops(sms: int, timer: Timer, clock: Clock) -> float:
    """A multiply-add is two operations."""
    programs = 32 * sms
    x = torch.rand(programs * LANES, device="cuda")
    kernel = kernels.multiply_adds_kernel[(programs,)]
    call = partial(kernel, torch.empty_like(x), x, 15 / 16, REPEATS=MULTIPLY_ADDS, BLOCK=LANES)
    ms = fastest_ms({"fp32": call}, timer, clock, matrix_bound=True)
    return float(2 * MULTIPLY_ADDS * x.numel() / ms / 1e9)


def dot_tflops(dtype: torch.dtype, sms: int, timer: Timer, clock: Clock) -> float:
    """One program a multiprocessor. Random tiles: products of zeros are up to 15 % faster."""
    a = torch.randn(TILE["M"], TILE["K"], dtype=dtype, device="cuda")
    b = torch.randn(TILE["K"], TILE["N"], dtype=dtype, device="cuda")
    out = torch.empty(sms, TILE["N"], device="cuda")
    call = partial(kernels.dots_kernel[(sms,)], out, a, b, DOTS, **TILE, num_warps=8)
    ms = fastest_ms({"dots": call}, timer, clock, matrix_bound=True)
    return 2 * TILE["M"] * TILE["N"] * TILE["K"] * DOTS * sms / ms / 1e9


def fastest_ms(
    calls: dict[str, Call], timer: Timer, clock: Clock, *, matrix_bound: bool = False
) -> float:
    taken = time_in_turn(calls, timer, BUDGET, matrix_bound=matrix_bound, clock=clock)
    return min(quantile(samples.ms, 0.5) for samples in taken.values())
