"""Softmax, LayerNorm, and a bias with an activation: interpreted, beside float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.interpreted import interpreting

with interpreting():
    from demos.cases.rows import hard_biased_relu, hard_normalised, hard_rows
    from demos.kernels import bias_gelu
    from demos.kernels.elementwise import multiply_add, multiply_then_add
    from demos.kernels.inputs import matrix, rows_and_bias
    from demos.kernels.layer_norm import layer_norm, layer_norm_by_parts, torch_layer_norm
    from demos.kernels.softmax import (
        LONGEST,
        softmax,
        softmax_in_five,
        softmax_path,
        softmax_unshifted,
    )
    from tests import wrong_rows

# 127, 128 and 129 straddle a block; 1 is the smallest; 1,000 is no power of two.
SHAPES = [(1, 1), (3, 127), (4, 128), (5, 129), (2, 1000)]
EMPTY = [(0, 7), (7, 0), (0, 0)]
GUARD = 4096
CANARY = 77.0


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """Outputs start as NaN; the canaries behind each of them are returned."""
    behind = []

    def empty_like(x, **options):
        memory = torch.full((x.numel() + GUARD,), torch.nan, dtype=x.dtype)
        behind.append(memory[x.numel() :].fill_(CANARY))
        return memory[: x.numel()].view(x.shape)

    monkeypatch.setattr(torch, "empty_like", empty_like)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    # An infinite row is what NumPy warns of.
    with np.errstate(all="ignore"):
        yield behind


def guarded(x):
    """The same values with NaN around and between them (case K4)."""
    wide = torch.full((x.shape[0] + 2, x.shape[1] + GUARD), torch.nan, dtype=x.dtype)
    wide[1:-1, : x.shape[1]] = x
    return wide[1:-1, : x.shape[1]]


TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.float64: 1e-12}


def assert_right(fn, reference, guards, *inputs):
    expected = reference(*(x.double() for x in inputs)).to(inputs[0].dtype)
    got = fn(guarded(inputs[0]), *inputs[1:])
    assert all((guard == CANARY).all() for guard in guards), "written past its end"
    assert got.dtype == inputs[0].dtype and got.shape == expected.shape
    near = TOLERANCE[got.dtype]
    torch.testing.assert_close(got, expected, rtol=near, atol=near, equal_nan=True)


def torch_softmax(x):
    return torch.softmax(x, dim=1)


def weighted(x):
    return x, torch.randn(x.shape[1]).to(x.dtype), torch.randn(x.shape[1]).to(x.dtype)


@pytest.mark.parametrize("shape", SHAPES + EMPTY)
@pytest.mark.parametrize("fn", [softmax, softmax_unshifted])
def test_softmax_of_any_shape(fn, shape, guards):  # case K2
    assert_right(fn, torch_softmax, guards, torch.randn(shape))


@pytest.mark.parametrize("rows_per_program", [1, 2, 16])
def test_several_rows_to_a_program(rows_per_program, guards):
    def several(x):
        return softmax(x, rows_per_program=rows_per_program, num_warps=1)

    assert_right(several, torch_softmax, guards, torch.randn(5, 33))


@pytest.mark.parametrize(
    ("cols", "path"),
    [(LONGEST, "at once"), (LONGEST + 1, "looped"), (65_535, "looped"), (65_536, "looped"),
     (102_400, "looped")],
)  # fmt: skip
def test_softmax_of_long_rows(cols, path, guards):  # case K3
    assert softmax_path(cols) == path
    x = torch.randn(2, cols)
    x[0, : LONGEST + 5] = -torch.inf  # the first block has no maximum at all
    assert_right(softmax, torch_softmax, guards, x)


@pytest.mark.parametrize("name", dict(hard_rows()))
def test_softmax_of_hard_rows(name, guards):  # case K7
    (x,) = dict(hard_rows())[name]
    assert_right(softmax, torch_softmax, guards, x.float() if x.dtype == torch.bfloat16 else x)


def test_sums_are_taken_in_float32(guards):  # case K10
    assert_right(softmax, torch_softmax, guards, torch.full((1, 8192), 3.0).half())
    norm = weighted(300 * torch.randn(2, 1000).sign().half())
    assert_right(layer_norm, torch_layer_norm, guards, *norm)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_other_dtypes_are_kept(dtype):
    x = torch.randn(3, 129).to(dtype)
    assert softmax(x).dtype == dtype and layer_norm(*weighted(x)).dtype == dtype


def test_rows_and_columns_of_a_wider_matrix(guards):
    wide = torch.randn(6, 260)
    for view in (wide[:, :129], wide[::2, 3:60], wide[:, ::2], wide.t()):
        torch.testing.assert_close(softmax(view), torch_softmax(view))
        x, weight, bias = weighted(view)
        close = {"rtol": 1e-4, "atol": 1e-5}
        expected = torch_layer_norm(x.contiguous(), weight, bias)
        torch.testing.assert_close(layer_norm(x, weight, bias), expected, **close)


@pytest.mark.parametrize("shape", SHAPES + EMPTY)
def test_layer_norm_of_any_shape(shape, guards):
    assert_right(layer_norm, torch_layer_norm, guards, *weighted(torch.randn(shape)))


@pytest.mark.parametrize("cols", [129, 40_001])
def test_layer_norm_far_from_zero_with_an_odd_number_of_columns(cols):  # case K5
    x, weight, bias = weighted(torch.randn(2, cols) + 100)
    expected = torch_layer_norm(x.double(), weight.double(), bias.double()).float()
    # x itself is known to 100 · 6e-8, and is scaled by one.
    torch.testing.assert_close(layer_norm(x, weight, bias), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", dict(hard_normalised()))
def test_layer_norm_of_hard_rows(name):
    inputs = dict(hard_normalised())[name]
    expected = torch_layer_norm(*(x.double() for x in inputs)).to(inputs[0].dtype)
    near = 4e-3 if inputs[0].dtype == torch.float16 else 2e-4
    torch.testing.assert_close(layer_norm(*inputs), expected, rtol=near, atol=near)


def test_the_slow_ladder_is_right_too():
    x = torch.randn(5, 129)
    torch.testing.assert_close(softmax_in_five(x), torch_softmax(x))
    torch.testing.assert_close(
        layer_norm_by_parts(*(inputs := weighted(x))),
        torch_layer_norm(*inputs),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("form", ["relu", "gelu", "gelu_tanh"])
@pytest.mark.parametrize("shape", SHAPES + EMPTY)
def test_a_bias_and_an_activation_of_any_shape(form, shape, guards):
    x, bias = torch.randn(shape), torch.randn(shape[1])
    for fn in (getattr(bias_gelu, f"bias_{form}"), getattr(bias_gelu, f"bias_then_{form}")):
        assert_right(fn, getattr(bias_gelu, f"torch_bias_{form}"), guards, x, bias)


@pytest.mark.parametrize("name", dict(hard_biased_relu()))
def test_a_bias_and_relu_of_hard_rows(name, guards):
    assert_right(
        bias_gelu.bias_relu, bias_gelu.torch_bias_relu, guards, *dict(hard_biased_relu())[name]
    )


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000])
def test_a_multiply_add_of_any_length(n, guards):
    x, y, z = (torch.randn(n) for _ in range(3))
    expected = (x.double() * y + z).float()
    for fn in (multiply_add, multiply_then_add):
        torch.testing.assert_close(fn(x, y, z), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matrix(torch.zeros(3)), "expected rows × cols, got 1 dimensions"),
        (lambda: rows_and_bias(torch.zeros(2, 3), torch.zeros(2)), r"bias \(2,\) does not fit"),
        (
            lambda: rows_and_bias(torch.zeros(2, 3), torch.zeros(3).half()),
            "inputs differ: torch.float32 on cpu and torch.float16",
        ),
        (
            lambda: layer_norm(torch.zeros(2, 3), torch.zeros(2), torch.zeros(3)),
            r"weight \(2,\) or bias \(3,\) is not \(3,\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("wrong", "x"),
    [
        (wrong_rows.zero_padded, torch.full((2, 129), -5.0)),
        (wrong_rows.unshifted, torch.full((2, 129), 300.0)),
        (wrong_rows.unmasked_store, torch.randn(2, 129)),
        (wrong_rows.down_the_columns, torch.randn(3, 129)),
        (softmax_unshifted, torch.full((2, 129), 300.0)),
    ],
)
def test_a_wrong_softmax_is_caught(wrong, x, guards):
    with pytest.raises(AssertionError):
        assert_right(lambda x: wrong(x.contiguous()), torch_softmax, guards, x)


@pytest.mark.parametrize(
    ("wrong", "x"),
    [
        (wrong_rows.padding_in_the_variance, torch.randn(2, 129) + 100),
        (wrong_rows.half_the_bits, 300 * torch.randn(2, 300).sign().half()),
    ],
)
def test_a_wrong_layer_norm_is_caught(wrong, x, guards):
    with pytest.raises(AssertionError):
        assert_right(
            lambda x, *rest: wrong(x.contiguous(), *rest), torch_layer_norm, guards, *weighted(x)
        )
