"""Cases of the probes: what they do to the hardware, in bytes, operations and loads."""

import torch

from demos.cases.vectors import ADD_BYTES, hard_vectors, vectors
from demos.kernels.probes import (
    random_cycle,
    torch_arithmetic,
    torch_chain,
    torch_working_set,
)
from demos.kernels.vector_add import torch_add
from talk import Case

COPY_BYTES = 2 * torch.float32.itemsize
"""An element that is read and written."""


def vector_and_count(n, k):
    return torch.randn(n), k


def hard_counts():
    yield "one element", (torch.randn(1), 3)
    yield "129 elements", (torch.randn(129), 3)
    yield "a strided view", (torch.randn(66)[::2], 3)
    yield "no operation", (torch.randn(33), 0)
    yield "infinities and NaN", (torch.tensor([torch.inf, -torch.inf, torch.nan]), 3)


# A multiply-add is two operations.
ARITHMETIC = Case(
    name="k multiply-adds",
    inputs=vector_and_count,
    reference=torch_arithmetic,
    size={"n": 2**27, "k": 32},
    small={"n": 150, "k": 4},
    bytes_moved=lambda x, k: COPY_BYTES * x.numel(),
    flops=lambda x, k: 2 * k * x.numel(),
    mix="1:1",
    hard=hard_counts,
)


def walk(kib, loads):
    return random_cycle(kib * 1024 // 128), loads


def hard_walks():
    yield "a line that leads to itself", (random_cycle(1), 5)
    yield "no load", (random_cycle(4), 0)
    yield "once round and one on", (random_cycle(7), 8)


# 2^16 loads: from 1 to 22 ms, beside which reading the set once, at most 0.3 ms, is little.
CHAIN = Case(
    name="a chain of loads",
    inputs=walk,
    reference=torch_chain,
    size={"kib": 2**20, "loads": 2**16},
    small={"kib": 4, "loads": 100},
    bytes_moved=lambda links, loads: links.element_size() * loads,
    items=lambda links, loads: loads,
    mix="read",
    hard=hard_walks,
)

IN_FLIGHT = Case(
    name="x + y by few programs",
    inputs=vectors,
    reference=torch_add,
    size={"n": 2**27},
    small={"n": 150},
    bytes_moved=lambda x, y: ADD_BYTES * x.numel(),
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=hard_vectors,
)


def repeated(kib, total_mib):
    """So many repetitions that a call reads the total. Positive, so that sums do not cancel."""
    return torch.rand(kib * 1024 // 4), max(3, total_mib * 1024 // kib)


def hard_sets():
    yield "one element", (torch.rand(1), 3)
    yield "no multiple of a chunk", (torch.rand(5000), 3)
    yield "a strided view", (torch.rand(66)[::2], 2)


WORKING_SET = Case(
    name="the same bytes again",
    inputs=repeated,
    reference=torch_working_set,
    size={"kib": 2**20, "total_mib": 2**13},
    small={"kib": 20, "total_mib": 0},
    bytes_moved=lambda x, repetitions: x.nbytes * repetitions,
    flops=lambda x, repetitions: x.numel() * repetitions,
    mix="read",
    clock="hot",
    hard=hard_sets,
)
