"""Matrix products: what they compute, and what they must cost."""

import math

import torch

from demos.kernels.matmul import torch_matmul
from talk import Case


def two_matrices(m, n, k):
    return torch.randn(m, k, dtype=torch.bfloat16), torch.randn(k, n, dtype=torch.bfloat16)


def hard_matrices():
    """Shapes and values that have broken a matrix product, few programs each.

    Of the type that is timed: each other one would have to be compiled for every configuration.
    """
    a, b = two_matrices(17, 127, 129)
    yield "17 × 129 by 129 × 127", (a, b)
    yield "both transposed", (b.t(), a.t())
    # A sum that bfloat16 itself would lose: 1 is under half a unit of its last place at 512.
    yield "512 and 300 ones", (torch.ones(3, 301).bfloat16(), first_large(301, 5))


def first_large(depth, cols):
    b = torch.ones(depth, cols)
    b[0] = 512
    return b.bfloat16()


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
MATMUL_SMALL = product("small a · b", 2048)
MATMUL_MIDDLE = product("middle a · b", 4096)
