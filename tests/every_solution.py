"""The answers to the exercises launched once, for a process that launches nothing."""

from __future__ import annotations

import torch

from demos.exercises.solutions.attention import attention, average, log_sum_exp
from demos.exercises.solutions.layer_norm import layer_norm
from demos.exercises.solutions.multiply_add import multiply, multiply_add, square_add
from demos.exercises.solutions.ragged import add, double, negate
from demos.exercises.solutions.residual import centre, residual_norm, rms_norm
from demos.exercises.solutions.softmax import row_max, share, softmax
from demos.exercises.solutions.starved import add as fed_add
from demos.exercises.solutions.starved import copy
from demos.exercises.solutions.strided import scale, weigh
from demos.exercises.solutions.tiles import dot_rows, matmul, row_sums


def vectors(n):
    return torch.randn(n), torch.randn(n)


def every_vector(x, y):
    """Those of float32."""
    double(x)
    negate(x)
    add(x, y)
    copy(x)
    fed_add(x, y)
    multiply(x, y)
    square_add(x, y)
    multiply_add(x, y, x)


def matrices(n):
    return torch.randn(64, n, dtype=torch.bfloat16), torch.randn(n, dtype=torch.bfloat16)


def every_matrix(x, weight):
    """Those on rows, of bfloat16."""
    scale(x.float(), 2.0)
    weigh(x.float(), weight.float())
    row_sums(x)
    dot_rows(x, x)
    row_max(x)
    share(x)
    softmax(x)
    centre(x)
    rms_norm(x, weight)
    residual_norm(x, x, weight, weight)
    layer_norm(x, weight, weight, x)
    log_sum_exp(x)


def heads(n):
    return torch.randn(2, n, 64).half(), torch.randn(64, 64).half()


def every_product(x, y):
    """Those with a tile of products, of float16."""
    matmul(y, y)
    average(y.float(), y.float())
    attention(x, x, x)
    attention(x, x, x, causal=True)
