"""What the challenges compute beyond the talk's own cases: LayerNorm's backward, and attention.

The third challenge, a multiply-add in one instruction, is `demos.cases.vectors.MULTIPLY_ADD`.
"""

from dataclasses import replace

import torch

from demos.cases.rows import LAYER_NORM, weighted
from demos.cases.vectors import MULTIPLY_ADD
from demos.kernels.attention import torch_attention
from demos.kernels.layer_norm import EPSILON
from demos.kernels.layer_norm_backward import torch_layer_norm_backward
from talk import Case

__all__ = [
    "ATTENTION",
    "BESIDE_LIBRARIES",
    "CAUSAL_ATTENTION",
    "FEW_HEADS",
    "LAYER_NORM_BACKWARD",
    "LAYER_NORM_FORWARD",
    "MULTIPLY_ADD",
]


def slopes(rows, cols):
    return with_slope(torch.randn(rows, cols, dtype=torch.bfloat16))


def with_slope(x, grad=None):
    """What a backward is given: the slope of out, and what the forward kept."""
    _, weight, _ = weighted(x)
    mean = x.float().mean(dim=1)
    inverse = torch.rsqrt(x.float().var(dim=1, correction=0) + EPSILON)
    grad = torch.randn_like(x) if grad is None else grad
    return grad, x, weight, mean, inverse


def hard_slopes():
    """Rows whose gradients have come out wrong, few enough to be interpreted."""
    yield "7 columns", with_slope(torch.randn(3, 7))
    yield "129 columns, mean 100", with_slope(torch.randn(3, 129) + 100)
    yield "300 rows for few programs", with_slope(torch.randn(300, 33))
    yield "129 columns of a wider matrix", with_slope(torch.randn(4, 200)[:, :129])
    yield "every second column", with_slope(torch.randn(4, 66)[:, ::2])
    x = torch.randn(5, 70)
    yield "one slope for all, as of a sum", with_slope(x, torch.ones(1, 1).expand(5, 70))


# 2^27 elements: 256 MiB each of x, its slope and the slope of out.
SIZE = {"rows": 2**15, "cols": 2**12}

LAYER_NORM_FORWARD = replace(LAYER_NORM, name="LayerNorm's forward", size=SIZE)

LAYER_NORM_BACKWARD = Case(
    name="LayerNorm's backward",
    inputs=slopes,
    reference=torch_layer_norm_backward,
    size=SIZE,
    small={"rows": 5, "cols": 33},
    # x, grad and what the forward kept; dx, dweight and dbias.
    bytes_moved=lambda grad, x, weight, mean, inverse: (
        3 * x.nbytes + 3 * weight.nbytes + mean.nbytes + inverse.nbytes
    ),
    # Scaled: 2. Pull: 1. Two means: 3. dx: 4. dweight and dbias: 3.
    flops=lambda grad, x, weight, mean, inverse: 13 * x.numel(),
    mix="2:1",
    hard=hard_slopes,
)


def heads(batch, heads, queries, keys, width, causal=0):
    return *three(batch, heads, queries, keys, width), bool(causal)


def three(batch, heads, queries, keys, width):
    """q, k and v, of bfloat16."""
    lengths = queries, keys, keys
    return tuple(torch.randn(batch, heads, n, width, dtype=torch.bfloat16) for n in lengths)


def hard_heads():
    """Shapes, layouts and scores that have broken such kernels, few programs each."""
    yield "129 queries and keys, causal", heads(1, 1, 129, 129, 32, 1)
    yield "one query", heads(2, 1, 1, 70, 16)
    yield "one key", heads(1, 2, 70, 1, 16)
    yield "more keys than queries, causal", heads(1, 1, 20, 150, 16, 1)
    yield "more queries than keys, causal", heads(1, 1, 150, 20, 16, 1)
    yield "width 80: no power of two", heads(1, 1, 30, 70, 80)
    turned = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in three(2, 3, 20, 40, 16))
    yield "heads within a row, as a projection leaves them", (*turned, False)
    q, k, v = three(1, 1, 40, 100, 32)
    yield "huge scores", (30 * q, k, v, True)


def pairs(q, k, causal):
    """Scores that are needed: of a query with each key it sees."""
    queries, keys = q.shape[2], k.shape[2]
    seen = sum(min(n + 1, keys) for n in range(queries)) if causal else queries * keys
    return q.shape[0] * q.shape[1] * seen


ATTENTION = Case(
    name="attention",
    inputs=heads,
    reference=torch_attention,
    # A width of 2,048 in all, and 16K queries.
    size={"batch": 4, "heads": 16, "queries": 4096, "keys": 4096, "width": 128},
    small={"batch": 1, "heads": 2, "queries": 70, "keys": 70, "width": 32},
    bytes_moved=lambda q, k, v, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
    # Two products; the exponentials are not counted.
    flops=lambda q, k, v, causal: 4 * q.shape[3] * pairs(q, k, causal),
    mix="3:1",
    arithmetic="bf16",
    hard=hard_heads,
    # In float64 its scores alone would take 8 GiB.
    wide="float32",
)

TAKEN = ("129 queries and keys, causal", "one query")


def hard_for_libraries():
    """What PyTorch's own kernels take as well."""
    yield from ((name, given) for name, given in hard_heads() if name in TAKEN)


BESIDE_LIBRARIES = replace(ATTENTION, hard=hard_for_libraries)

CAUSAL_ATTENTION = replace(
    BESIDE_LIBRARIES,
    name="causal attention",
    size={**ATTENTION.size, "causal": 1},
    small={**ATTENTION.small, "causal": 1},
    # The first rows see few keys: they are larger than the mean of all, and so are their errors.
    relative=0.06,
)

# By parts its scores take half a GiB, several times over, and are rounded to bfloat16.
FEW_HEADS = replace(ATTENTION, size={**ATTENTION.size, "batch": 1}, relative=0.1)
