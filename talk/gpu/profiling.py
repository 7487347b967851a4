"""What PyTorch's profiler sees: the kernels behind each candidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from talk.outcome import Column, Table

CALLS = 10
"""Profiled calls of a candidate, after one to warm up."""

COLUMNS = (
    Column(name="candidate"),
    Column(name="kernel"),
    Column(name="calls", unit="count"),
    Column(name="time", unit="s"),
    Column(name="share of time", unit="share"),
)


@dataclass(frozen=True)
class Kernel:
    """A kernel in one call of a candidate. calls: how often. seconds: all of them together."""

    name: str
    calls: float
    seconds: float


def profile(calls: Mapping[str, Callable[[], Any]]) -> Table | None:
    """Rows of (candidate, kernel, calls, time, share), per call; None where no kernel was seen."""
    seen = {name: kernels(call) for name, call in calls.items()}
    return table(seen) if any(seen.values()) else None


def kernels(call: Callable[[], Any]) -> tuple[Kernel, ...]:
    """The slowest first."""
    import torch
    from torch.profiler import ProfilerActivity

    call()
    torch.cuda.synchronize()
    # acc_events: keeps PyTorch from warning that it would drop those of earlier cycles.
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        for _ in range(CALLS):
            call()
        torch.cuda.synchronize()
    return merged(on_device(profiler.key_averages()))


def on_device(rows: Iterable[Any]) -> Iterator[Kernel]:
    """Of the profiler's averages those that ran on the GPU, per call of the candidate."""
    for row in rows:
        if "CPU" not in str(row.device_type) and row.self_device_time_total > 0:
            yield Kernel(
                short_name(row.key), row.count / CALLS, row.self_device_time_total / 1e6 / CALLS
            )


def merged(found: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """Instances of one template are one row."""
    by_name: dict[str, Kernel] = {}
    for kernel in found:
        old = by_name.get(kernel.name, Kernel(kernel.name, 0.0, 0.0))
        by_name[kernel.name] = Kernel(
            kernel.name, old.calls + kernel.calls, old.seconds + kernel.seconds
        )
    return tuple(sorted(by_name.values(), key=lambda kernel: -kernel.seconds))


def table(seen: Mapping[str, tuple[Kernel, ...]]) -> Table:
    """share: of the candidate's own time on the device."""
    rows = []
    for candidate, found in seen.items():
        whole = sum(kernel.seconds for kernel in found)
        for kernel in found:
            # Every figure a float: a whole number would name its row, as a block's size does.
            rows.append(
                (candidate, kernel.name, kernel.calls, kernel.seconds, kernel.seconds / whole)
            )
    return Table(columns=COLUMNS, rows=tuple(rows))


def short_name(name: str) -> str:
    """ "void at::native::reduce_kernel<512, 1, …>(…)" → "reduce_kernel"."""
    plain = re.sub(r"\(anonymous namespace\)::", "", name).removeprefix("void ")
    if plain.startswith(("Memcpy", "Memset")):
        return plain
    return re.split(r"[<(]", plain)[0].split("::")[-1].strip() or name
