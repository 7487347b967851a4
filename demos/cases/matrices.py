"""Matrix products: what they compute, and what they must cost."""

import math

import torch

from demos.kernels.matmul import torch_matmul
from talk import Case


def two_matrices(m, n, k):
    return torch.randn(m, k, dtype=torch.bfloat16), torch.randn(k, n, dtype=torch.bfloat16)


def hard_matrices():
    """Shapes and values that have broken a matrix product, few programs each."""
    for m, n, k in ((1, 1, 1), (17, 127, 129), (129, 17, 1), (5, 7, 0)):
        yield f"{m} × {k} by {k} × {n}", (torch.randn(m, k), torch.randn(k, n))
    yield "both transposed", (torch.randn(33, 20).t(), torch.randn(17, 33).t())
    yield "every second column", (torch.randn(20, 66)[:, ::2], torch.randn(33, 34)[:, ::2])
    # The sum of 100 products is beyond float16: infinite, as it is in torch.
    yield (
        "overflow of float16",
        (torch.full((9, 100), 99.0).half(), torch.full((100, 9), 99.0).half()),
    )


def product(name, size):
    """The product of square matrices of bfloat16."""
    return Case(
        name=name,
        inputs=two_matrices,
        reference=torch_matmul,
        size={"m": size, "n": size, "k": size},
        small={"m": 33, "n": 20, "k": 17},
        bytes_moved=lambda a, b: a.nbytes + b.nbytes + a.element_size() * a.shape[0] * b.shape[1],
        flops=lambda a, b: 2 * math.prod(a.shape) * b.shape[1],
        mix="2:1",
        arithmetic="bf16",
        hard=hard_matrices,
        # float64 takes minutes on most cards; the error of float32 is far under bfloat16's.
        wide="float32",
    )


MATMUL = product("a · b", 8192)
# What uses nothing twice takes 2 ms here, where cuBLAS takes 0.03.
MATMUL_SMALL = product("a · b, small", 2048)
