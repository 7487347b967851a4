"""Every kernel of the demos launched once, for a process that compiles and launches nothing."""

from __future__ import annotations

import torch

from demos.kernels.attention import attention
from demos.kernels.bias_gelu import (
    bias_gelu,
    bias_gelu_tanh,
    bias_relu,
    bias_then_gelu,
    bias_then_gelu_tanh,
)
from demos.kernels.elementwise import add_relu, add_then_relu, multiply_add, multiply_then_add
from demos.kernels.layer_norm import layer_norm
from demos.kernels.layer_norm_backward import layer_norm_backward, layer_norm_forward
from demos.kernels.matmul import (
    CONFIGS,
    matmul_fp32_tile,
    matmul_grouped,
    matmul_naive,
    matmul_tiled,
)
from demos.kernels.probes import arithmetic, chain, in_flight, random_cycle, working_set
from demos.kernels.softmax import softmax, softmax_unshifted
from demos.kernels.vector_add import add_naive
from demos.s5_memory_wall import nothing_kernel
from tests.wrong_adds import no_mask


def vectors(n):
    return torch.randn(n), torch.randn(n)


def three_vectors(n):
    return *vectors(n), torch.randn(n)


def every_kernel(x, y):
    """The elementwise ones and the probes, of float32."""
    add_naive(x, y)
    add_then_relu(x, y)
    add_relu(x, y)
    multiply_then_add(x, y, x)
    multiply_add(x, y, x)
    arithmetic(x, 8)
    in_flight(x, y)
    working_set(x, 8)
    chain(random_cycle(1024), 100)
    no_mask(x, y)
    nothing_kernel[(1,)]()


def rows(n):
    """A matrix for each path, with a bias for each: n columns, and many."""
    return tuple(torch.randn(64, cols, dtype=torch.bfloat16) for cols in (n, 65536))


def every_row_kernel(short, long):
    """Softmax, LayerNorm, and a bias with an activation, of bfloat16."""
    for x in (short, long):
        bias = x[0]
        softmax(x)
        layer_norm(x, bias, bias)
    softmax_unshifted(short)
    bias = short[0]
    for fused in (bias_relu, bias_gelu, bias_gelu_tanh, bias_then_gelu, bias_then_gelu_tanh):
        fused(short, bias)


def two_matrices(n):
    return torch.randn(n, n, dtype=torch.bfloat16), torch.randn(n, n, dtype=torch.bfloat16)


def every_product(a, b):
    """One configuration of each kernel of the matmul family: one that every GPU has room for."""
    matmul_naive(a, b)
    matmul_tiled(a, b, block_m=64, block_n=64, num_stages=2)
    matmul_grouped(a, b, **CONFIGS[-1])


def every_configuration(a, b):
    """All that the tuner tries, and the tile outside the tensor cores."""
    for config in CONFIGS:
        matmul_grouped(a, b, **config)
    matmul_fp32_tile(a, b)


def every_challenge(short, long):
    """LayerNorm that can be trained, on either path, and attention."""
    for x in (short, long):
        _, mean, inverse = layer_norm_forward(x, x[0], x[0])
        layer_norm_backward(x, x, x[0], mean, inverse)
    causal_attention(*heads_of(width=128))


def heads_of(width):
    return tuple(torch.randn(1, 2, 1024, width, dtype=torch.bfloat16) for _ in range(3))


def causal_attention(q, k, v, **config):
    attention(q, k, v, True, **config)
