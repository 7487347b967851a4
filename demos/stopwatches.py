"""Four stopwatches for one kernel. Each returns seconds; only the last times the kernel alone."""

import statistics
import time

import torch
import triton


def first_call(launch):
    """With the compiler's work, which is paid once."""
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = True
        return synchronised(launch)


def unsynchronised(launch):
    """The clock around the call."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    return time.perf_counter() - start


def synchronised(launch):
    """The wall clock: launch, kernel and the wait for it."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def events(launch):
    """The kernel alone, with none of its data in the cache."""
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    flush_cache()
    start.record()
    launch()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3


def flush_cache():
    """Write over at least three times the L2, for long enough that the launch is queued behind."""
    l2 = torch.cuda.get_device_properties().L2_cache_size
    torch.empty(max(3 * l2, 2**29), dtype=torch.int8, device="cuda").zero_()


def median(clock, launch, repeats=7):
    return statistics.median(clock(launch) for _ in range(repeats))
