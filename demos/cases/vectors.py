"""Elementwise cases on vectors: what they compute, and what it must cost."""

import torch

from demos.kernels.elementwise import torch_add_relu, torch_multiply_add
from demos.kernels.vector_add import torch_add
from talk import Case

ADD_BYTES = 3 * torch.float32.itemsize
"""An element of an add: two reads and one write."""
RELU_BYTES = 2 * torch.float32.itemsize
"""An element of a ReLU on its own: one read and one write."""


def vectors(n):
    return torch.randn(n), torch.randn(n)


def hard_vectors():
    """Values and lengths that have broken such kernels. Short: block 1 is a program an element."""
    yield "one element", vectors(1)
    yield "129 elements", vectors(129)  # one more than a block of 128
    yield "a strided view", tuple(x[::2] for x in vectors(130))
    infinite = torch.tensor([torch.inf, -torch.inf, torch.inf, torch.nan, 1.0])
    yield "infinities and NaN", (infinite, infinite.flip(0))
    # 1.5e38 + 1.5e38 is just below the largest float32, 3.4e38.
    yield "huge", (torch.full((33,), 1.5e38), torch.full((33,), 1.5e38))
    yield "denormal", (torch.full((33,), 1e-40), torch.full((33,), -3e-40))
    yield "negative zero", (torch.full((33,), -0.0), torch.full((33,), -0.0))


# 2^28 elements: 1 GiB an array, far beyond any L2, and 161 ms for one element per program on an
# H200.
ADD = Case(
    name="x + y",
    inputs=vectors,
    reference=torch_add,
    size={"n": 2**28},
    small={"n": 150},
    bytes_moved=lambda x, y: ADD_BYTES * x.numel(),
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=hard_vectors,
)

ADD_RELU = Case(
    name="relu(x + y)",
    inputs=vectors,
    reference=torch_add_relu,
    size={"n": 2**28},
    small={"n": 150},
    bytes_moved=lambda x, y: ADD_BYTES * x.numel(),
    flops=lambda x, y: 2 * x.numel(),
    mix="2:1",
    hard=hard_vectors,
)

MULTIPLY_ADD_BYTES = 4 * torch.float32.itemsize
"""An element of x · y + z: three reads and one write."""


def three_vectors(n):
    return torch.randn(n), torch.randn(n), torch.randn(n)


def hard_three_vectors():
    yield "one element", three_vectors(1)
    yield "129 elements", three_vectors(129)
    yield "a strided view", tuple(x[::2] for x in three_vectors(130))
    infinite = torch.tensor([torch.inf, -torch.inf, torch.inf, torch.nan, 1.0])
    yield "infinities and NaN", (infinite, infinite.flip(0), infinite)
    # 1e20 · 1e20 is infinite in float32 on its own, and with what is added too.
    yield "overflow", (torch.full((33,), 1e20), torch.full((33,), 1e20), torch.ones(33))


MULTIPLY_ADD = Case(
    name="x · y + z",
    inputs=three_vectors,
    reference=torch_multiply_add,
    size={"n": 2**28},
    small={"n": 150},
    bytes_moved=lambda x, y, z: MULTIPLY_ADD_BYTES * x.numel(),
    flops=lambda x, y, z: 2 * x.numel(),
    mix="3:1",
    hard=hard_three_vectors,
)
