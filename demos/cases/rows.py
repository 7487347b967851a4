"""Cases on rows of a matrix: softmax, LayerNorm, a bias and an activation."""

from dataclasses import replace

import torch

from demos.kernels.bias_gelu import (
    torch_add_bias,
    torch_bias_gelu,
    torch_bias_gelu_tanh,
    torch_bias_relu,
)
from demos.kernels.layer_norm import torch_layer_norm
from demos.kernels.softmax import torch_softmax
from talk import Case

# 2^28 bfloat16 elements: half a GiB in and half a GiB out.
ROWS, COLS = 2**15, 2**13
SMALL = {"rows": 5, "cols": 33}


def matrix(rows, cols):
    return (torch.randn(rows, cols, dtype=torch.bfloat16),)


def hard_rows():
    """Rows that have broken a softmax, few enough to be interpreted."""
    yield "one column", matrix(3, 1)
    yield "1,000 columns", matrix(2, 1000)  # no power of two
    yield "129 columns of a wider matrix", (matrix(4, 200)[0][:, :129],)
    yield "every second column", (matrix(4, 66)[0][:, ::2],)
    yield "huge logits", (torch.tensor([[3e4, 3e4, -3e4], [-3e4, 0.0, 3e4]]),)
    infinite = torch.tensor([[-torch.inf, 0.0, 1.0], [-torch.inf] * 3])
    yield "rows partly and wholly of -inf", (infinite,)
    yield "NaN and +inf", (torch.tensor([[0.0, torch.nan], [torch.inf, 0.0]]),)
    # A sum of 2,000 shares in float16 would stop growing at 2,048 ulps.
    yield "2,000 equal columns of float16", (torch.full((1, 2000), 4.0, dtype=torch.float16),)


# Rows of 1,024: too short to fill a program of their own.
SHORT = {"rows": 2**18, "cols": 2**10}

SOFTMAX = Case(
    name="softmax",
    inputs=matrix,
    reference=torch_softmax,
    size={"rows": ROWS, "cols": COLS},
    small=SMALL,
    bytes_moved=lambda x: 2 * x.nbytes,
    # A maximum, a difference, an exponential, a sum and a quotient for each element.
    flops=lambda x: 5 * x.numel(),
    mix="1:1",
    hard=hard_rows,
)


SHORT_SOFTMAX = replace(SOFTMAX, name="softmax of short rows", size=SHORT)


def normalised(rows, cols):
    return *matrix(rows, cols), torch.randn(cols).bfloat16(), torch.randn(cols).bfloat16()


def weighted(x):
    """A matrix with a weight and a bias of its dtype."""
    cols = x.shape[1]
    return x, torch.randn(cols).to(x.dtype), torch.randn(cols).to(x.dtype)


def hard_normalised():
    """Rows that have broken a LayerNorm."""
    yield "one column", weighted(torch.randn(3, 1))
    yield "an odd number of columns, mean 100", weighted(torch.randn(3, 129) + 100)
    yield "1,000 columns", weighted(torch.randn(2, 1000))
    yield "129 columns of a wider matrix", weighted(torch.randn(4, 200)[:, :129])
    yield "every second column", weighted(torch.randn(4, 66)[:, ::2])
    # So many that their mean is exact: what is left of 7 - 7 is scaled by 300.
    yield "equal elements", weighted(torch.full((2, 32), 7.0))
    # 300² is beyond float16: squares are summed in float32.
    large = 300 * torch.randn(2, 300).sign()
    yield "±300 in float16", weighted(large.half())


LAYER_NORM = Case(
    name="LayerNorm",
    inputs=normalised,
    reference=torch_layer_norm,
    size={"rows": ROWS, "cols": COLS},
    small=SMALL,
    bytes_moved=lambda x, weight, bias: 2 * x.nbytes + weight.nbytes + bias.nbytes,
    # Mean: 1. Variance: 3. Scaled and shifted: 4.
    flops=lambda x, weight, bias: 8 * x.numel(),
    mix="1:1",
    hard=hard_normalised,
)


def biased(rows, cols):
    return *matrix(rows, cols), torch.randn(cols).bfloat16()


def hard_biased():
    """Rows and biases that have broken such kernels."""
    for name, x in (
        ("one column", torch.randn(3, 1)),
        ("1,000 columns", torch.randn(2, 1000)),
        ("129 columns of a wider matrix", torch.randn(4, 200)[:, :129]),
        ("every second column", torch.randn(4, 66)[:, ::2]),
        ("NaN", torch.tensor([[torch.nan, 1.0]])),
        ("far from zero", torch.tensor([[-100.0, 100.0, -1e4, 1e4]])),
    ):
        yield name, (x, torch.randn(x.shape[1]))


def hard_biased_relu():
    yield from hard_biased()
    # GELU of -inf is NaN or 0, by the library: no reference.
    yield "infinities", (torch.tensor([[torch.inf, -torch.inf]]), torch.randn(2))


def bias_case(name, reference, operations, hard=hard_biased):
    """A bias and an activation of so many operations an element."""
    return Case(
        name=name,
        inputs=biased,
        reference=reference,
        size={"rows": ROWS, "cols": COLS},
        small=SMALL,
        bytes_moved=lambda x, bias: 2 * x.nbytes + bias.nbytes,
        flops=lambda x, bias: operations * x.numel(),
        mix="1:1",
        hard=hard,
    )


BIAS_RELU = bias_case("relu(x + bias)", torch_bias_relu, 2, hard_biased_relu)
# Counted as written: x · (1 + erf(c·x)) / 2, and its tanh form; erf and tanh are one each.
BIAS_GELU = bias_case("gelu(x + bias)", torch_bias_gelu, 6)
BIAS_GELU_TANH = bias_case("gelu(x + bias) by tanh", torch_bias_gelu_tanh, 10)
ADD_BIAS = bias_case("x + bias", torch_add_bias, 1, hard_biased_relu)

RELU = Case(
    name="relu(x)",
    inputs=matrix,
    reference=torch.relu,
    size={"rows": ROWS, "cols": COLS},
    small=SMALL,
    bytes_moved=lambda x: 2 * x.nbytes,
    flops=lambda x: x.numel(),
    mix="1:1",
)
