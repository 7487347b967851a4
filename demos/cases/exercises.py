"""What the exercises compute: at full size, and where a small mistake shows.

Every `hard` name is what the grader says when that case fails.
"""

import torch

from demos.kernels.elementwise import torch_multiply_add
from demos.kernels.layer_norm import torch_layer_norm
from demos.kernels.matmul import torch_matmul
from demos.kernels.softmax import torch_softmax
from demos.kernels.vector_add import torch_add
from talk import Case


def vectors(n):
    return torch.randn(n), torch.randn(n)


def lengths():
    yield "length 1: one element", vectors(1)
    yield "length 256: one block", vectors(256)
    yield "length 257: one element more than a block", vectors(257)
    infinite = torch.tensor([torch.inf, -torch.inf, torch.nan, 1.0])
    yield "infinities and NaN", (infinite, infinite.flip(0))


RAGGED = Case(
    name="x + y at any length",
    inputs=vectors,
    reference=torch_add,
    size={"n": 2**28},
    small={"n": 1000},
    bytes_moved=lambda x, y: 3 * x.nbytes,
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=lengths,
)


def short():
    yield "length 1: one element", vectors(1)
    yield "length 4,097: most programs have nothing", vectors(4097)


STARVED = Case(
    name="x + y by a program for each multiprocessor",
    inputs=vectors,
    reference=torch_add,
    size={"n": 2**27},
    # More than a block of 4,096 for each of 8 programs.
    small={"n": 40_000},
    bytes_moved=lambda x, y: 3 * x.nbytes,
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=short,
)


def weigh(x, weight):
    return x * weight


def weighed(rows, cols):
    return torch.randn(rows, cols), torch.randn(cols)


def shapes():
    yield "one row", weighed(1, 70)
    yield "one column", weighed(40, 1)
    yield "33 columns: no power of two", weighed(5, 33)


STRIDED = Case(
    name="columns times weights",
    inputs=weighed,
    reference=weigh,
    size={"rows": 2**15, "cols": 2**12},
    small={"rows": 48, "cols": 70},
    bytes_moved=lambda x, weight: 2 * x.nbytes + weight.nbytes,
    flops=lambda x, weight: x.numel(),
    mix="1:1",
    hard=shapes,
)


def factors(m, n, k, dtype=torch.float32):
    return torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)


def bfloat16_factors(m, n, k):
    return factors(m, n, k, torch.bfloat16)


def products():
    yield "17 × 129 by 129 × 127: no multiple of a tile", factors(17, 127, 129)
    yield "one column", factors(5, 1, 33)
    yield "depth 1", factors(33, 20, 1)
    a, b = factors(33, 40, 50)
    yield "both transposed: rows are not contiguous", (b.t(), a.t())
    yield "long sums in float16", (torch.ones(3, 3200).half(), first_large(3200, 5).half())


def first_large(depth, cols):
    """2,048, and then so little that float16 loses it, tile by tile: 2 % in all."""
    b = torch.full((depth, cols), 0.015)
    b[0] = 2048
    return b


TILES = Case(
    name="a · b in tiles",
    inputs=bfloat16_factors,
    reference=torch_matmul,
    size={"m": 4096, "n": 4096, "k": 4096},
    small={"m": 150, "n": 140, "k": 50},
    bytes_moved=lambda a, b: a.nbytes + b.nbytes + a.element_size() * a.shape[0] * b.shape[1],
    flops=lambda a, b: 2 * a.numel() * b.shape[1],
    mix="2:1",
    arithmetic="bf16",
    hard=products,
    # float64 takes minutes on most cards; the error of float32 is far under bfloat16's.
    wide="float32",
)


def matrix(rows, cols):
    return (torch.randn(rows, cols),)


def bfloat16_matrix(rows, cols):
    return (torch.randn(rows, cols, dtype=torch.bfloat16),)


def logits():
    yield "one column", matrix(3, 1)
    yield "1,000 columns: no power of two", matrix(2, 1000)
    yield "129 columns of a wider matrix", (matrix(4, 200)[0][:, :129],)
    yield "rows of negative logits", (matrix(3, 37)[0] - 50,)
    yield "huge logits", (torch.tensor([[3e4, 3e4, -3e4], [-3e4, 0.0, 3e4]]),)
    yield "rows with -inf", (torch.tensor([[-torch.inf, 0.0, 1.0], [0.0, -torch.inf, 2.0]]),)
    # 70,000 times exp(0) is beyond float16.
    yield "70,000 equal columns of float16", (torch.full((1, 70_000), 4.0).half(),)


SOFTMAX = Case(
    name="softmax of rows",
    inputs=bfloat16_matrix,
    reference=torch_softmax,
    size={"rows": 2**15, "cols": 2**13},
    small={"rows": 5, "cols": 33},
    bytes_moved=lambda x: 2 * x.nbytes,
    flops=lambda x: 5 * x.numel(),
    mix="1:1",
    hard=logits,
)


def residual_norm(x, residual, weight, bias):
    return torch_layer_norm(x + residual, weight, bias)


def rows_to_norm(rows, cols, dtype=torch.bfloat16):
    matrices = (torch.randn(rows, cols).to(dtype) for _ in range(2))
    return *matrices, torch.randn(cols).to(dtype), torch.randn(cols).to(dtype)


def rows_to_add():
    yield "one column", rows_to_norm(3, 1, torch.float32)
    x, residual, weight, bias = rows_to_norm(4, 129, torch.float32)
    yield "129 columns with a mean of 100", (x + 100, residual, weight, bias)
    wide, other = torch.randn(3, 200)[:, :100], torch.randn(3, 150)[:, :100]
    yield "100 columns of wider matrices", (wide, other, weight[:100], bias[:100])
    # Their sum, 90,000, is beyond float16.
    x, residual, weight, bias = rows_to_norm(2, 300, torch.float16)
    yield "300 columns around 300 in float16", (30 * x + 300, residual, weight, bias)


RESIDUAL = Case(
    name="LayerNorm of x + residual",
    inputs=rows_to_norm,
    reference=residual_norm,
    size={"rows": 2**15, "cols": 2**12},
    small={"rows": 4, "cols": 100},
    bytes_moved=lambda x, residual, weight, bias: 3 * x.nbytes + weight.nbytes + bias.nbytes,
    flops=lambda x, residual, weight, bias: 9 * x.numel(),
    mix="2:1",
    hard=rows_to_add,
)


def three_vectors(n):
    return torch.randn(n), torch.randn(n), torch.randn(n)


def close_calls():
    yield "one element", three_vectors(1)
    yield "length 513: one element more than a block", three_vectors(513)
    infinite = torch.tensor([torch.inf, -torch.inf, torch.nan, 1.0])
    yield "infinities and NaN", (infinite, infinite.flip(0), infinite)


MULTIPLY_ADD = Case(
    name="x · y + z",
    inputs=three_vectors,
    reference=torch_multiply_add,
    size={"n": 2**28},
    small={"n": 1000},
    bytes_moved=lambda x, y, z: 4 * x.nbytes,
    flops=lambda x, y, z: 2 * x.numel(),
    mix="3:1",
    hard=close_calls,
)


def norm_and_gradients(x, weight, bias, grad):
    """PyTorch's own, in the dtype that comes in."""
    leaves = [t.detach().clone().requires_grad_() for t in (x, weight, bias)]
    with torch.enable_grad():
        out = torch_layer_norm(*leaves)
    return out.detach(), *torch.autograd.grad(out, leaves, grad)


def rows_and_slopes(rows, cols, dtype=torch.bfloat16):
    x, grad, weight, bias = rows_to_norm(rows, cols, dtype)
    return x, weight, bias, grad


def hard_slopes():
    yield "7 columns", rows_and_slopes(3, 7, torch.float32)
    x, *others = rows_and_slopes(4, 129, torch.float32)
    yield "129 columns with a mean of 100", (x + 100, *others)
    yield "65 rows: one more than a block", rows_and_slopes(65, 20, torch.float32)


LAYER_NORM = Case(
    name="LayerNorm and its gradients",
    inputs=rows_and_slopes,
    reference=norm_and_gradients,
    size={"rows": 2**14, "cols": 2**12},
    small={"rows": 5, "cols": 40},
    # Forward and backward read x, the backward the slope; out and dx are written.
    bytes_moved=lambda x, weight, bias, grad: 5 * x.nbytes + 4 * weight.nbytes,
    flops=lambda x, weight, bias, grad: 20 * x.numel(),
    mix="2:1",
    hard=hard_slopes,
)


def torch_attention(q, k, v, causal):
    """With the whole matrix of scores; a query that sees no key gives 0."""
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, dim=-1) @ v


def heads(count, queries, keys, width, causal=0, dtype=torch.float16):
    q = torch.randn(count, queries, width).to(dtype)
    k, v = (torch.randn(count, keys, width).to(dtype) for _ in range(2))
    return q, k, v, bool(causal)


def hard_heads():
    yield "129 queries, causal", heads(1, 129, 129, 16, 1, torch.float32)
    yield "one query", heads(2, 1, 70, 16, 0, torch.float32)
    yield (
        "more keys than queries, causal",
        heads(1, 20, 150, 16, 1, torch.float32),
    )
    yield "width 40: no power of two", heads(1, 30, 70, 40, 0, torch.float32)
    yield "no keys", heads(1, 3, 0, 16, 0, torch.float32)
    q, k, v, _ = heads(1, 40, 100, 32, 0, torch.float32)
    yield "huge scores", (100 * q, k, v, False)


ATTENTION = Case(
    name="attention",
    inputs=heads,
    reference=torch_attention,
    size={
        "count": 64,
        "queries": 4096,
        "keys": 4096,
        "width": 128,
        "causal": 0,
    },
    small={"count": 2, "queries": 70, "keys": 70, "width": 32, "causal": 0},
    bytes_moved=lambda q, k, v, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
    flops=lambda q, k, v, causal: 4 * q.numel() * k.shape[1],
    mix="3:1",
    arithmetic="fp16",
    hard=hard_heads,
    wide="float32",
)
