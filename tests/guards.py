"""Memory that tells on a kernel: NaN where it must not read, canaries where it must not write."""

from __future__ import annotations

import math

import torch

# Two threads spin for a core that others use: 59 s for these tests on two busy cores, alone 16.
torch.set_num_threads(1)

GUARD = 2**16
"""Elements around every tensor: more than a mask's absence here reads or writes too far."""

CANARY = 77


def poisoned(length, dtype):
    poison = torch.nan if dtype.is_floating_point else torch.iinfo(dtype).max
    return torch.full((length,), poison, dtype=dtype)


def laid_out(x, strides):
    """The same values at these strides, with NaN before, behind and between them."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, strides, strict=True))
    memory = poisoned(max(span, 0) + 2 * GUARD, x.dtype)
    return memory.as_strided(x.shape, strides, GUARD).copy_(x)


def guarded(x):
    """The same values and strides, with NaN before and behind them (case K4)."""
    return laid_out(x, x.stride())


def spaced(x):
    """The same matrix with NaN between its rows."""
    return laid_out(x, (x.shape[1] + 300, 1))


def guard_outputs(monkeypatch):
    """Has outputs start as NaN; the canaries around each are in the list that is returned."""
    around = []
    plain = torch.Tensor.new_empty

    def empty(shape, dtype):
        memory = poisoned(math.prod(shape) + 2 * GUARD, dtype)
        around.extend(end.fill_(CANARY) for end in (memory[:GUARD], memory[-GUARD:]))
        return memory[GUARD:-GUARD].view(shape)

    def new_empty(x, *shape, **options):
        # With options Triton's interpreter asks, for what it keeps an argument in.
        return plain(x, *shape, **options) if options else empty(shape, x.dtype)

    monkeypatch.setattr(torch, "empty_like", lambda x, **options: empty(x.shape, x.dtype))
    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    return around


def assert_within(around):
    assert all((end == CANARY).all() for end in around), "written past its end"
