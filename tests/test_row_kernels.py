"""Softmax, LayerNorm, a bias with an activation, a multiply-add: interpreted, beside float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.guards import assert_within, guard_outputs, guarded, spaced
from tests.interpreted import interpreting

with interpreting():
    from demos.cases.rows import hard_biased, hard_biased_relu, hard_normalised, hard_rows, weighted
    from demos.cases.vectors import hard_three_vectors
    from demos.kernels import bias_gelu
    from demos.kernels.elementwise import (
        multiply_add,
        multiply_then_add,
        torch_addcmul,
        torch_multiply_add,
    )
    from demos.kernels.inputs import matrix, rows_and_bias
    from demos.kernels.layer_norm import layer_norm, layer_norm_by_parts, torch_layer_norm
    from demos.kernels.softmax import (
        LONGEST,
        softmax,
        softmax_in_five,
        softmax_path,
        softmax_unshifted,
        torch_softmax,
    )
    from tests import wrong_rows

# 127, 128 and 129 straddle a block; 1 is the smallest; 781 and 1,000 are no power of two.
SHAPES = [(1, 1), (2, 3), (3, 127), (4, 128), (5, 129), (2, 781), (2, 1000)]
EMPTY = [(0, 7), (7, 0), (0, 0)]
FORMS = ["relu", "gelu", "gelu_tanh"]


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """The canaries around outputs, which start as NaN."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    torch.manual_seed(0)
    # An infinite row is what NumPy warns of.
    with np.errstate(all="ignore"):
        yield guard_outputs(monkeypatch)


# Computed in float32 whatever the inputs; float16 is rounded once more, at the end.
TOLERANCE = {torch.float16: 2e-3, torch.float32: 1e-5, torch.float64: 1e-5}


def assert_right(fn, reference, guards, *inputs, near=None, layouts=(guarded, spaced)):
    """NaN around every input and row does not leak (case K4); inputs and guards untouched."""
    expected = reference(*(x.double() for x in inputs)).to(inputs[0].dtype)
    near = near or TOLERANCE[expected.dtype]
    for layout in layouts:
        mine = layout(inputs[0]), *map(guarded, inputs[1:])
        got = fn(*mine)
        assert_within(guards)
        assert got.dtype == expected.dtype and got.shape == expected.shape
        torch.testing.assert_close(mine, inputs, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(got, expected, rtol=near, atol=near, equal_nan=True)


def biased(shape):
    return torch.randn(shape), torch.randn(shape[1])


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


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # the interpreter's maximum, by NumPy
@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_long_rows_are_as_hard_as_short_ones(value, guards):  # case K7
    x = torch.randn(3, LONGEST + 9)
    x[0, LONGEST + 1], x[1, 5], x[2] = value, value, value
    assert_right(softmax, torch_softmax, guards, x)


@pytest.mark.parametrize("name", dict(hard_rows()))
def test_softmax_of_hard_rows(name, guards):  # case K7
    (x,) = dict(hard_rows())[name]
    assert_right(softmax, torch_softmax, guards, x.float() if x.dtype == torch.bfloat16 else x)


def test_sums_are_taken_in_float32(guards):  # case K10
    assert_right(softmax, torch_softmax, guards, torch.full((1, 8192), 3.0).half())
    for x in (torch.full((2, 1000), 300.0), 300 * torch.randn(2, 1000).sign()):
        assert_right(layer_norm, torch_layer_norm, guards, *weighted(x.half()))


# bfloat16 is missing: Triton's interpreter computes on its raw bits.
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
@pytest.mark.parametrize("cols", [1, 127, 1000])
def test_other_dtypes_are_right_and_kept(dtype, cols, guards):
    x, weight, bias = weighted(torch.randn(3, cols).to(dtype))
    assert_right(softmax, torch_softmax, guards, x)
    assert_right(layer_norm, torch_layer_norm, guards, x, weight, bias)
    for form in FORMS:
        reference = getattr(bias_gelu, f"torch_bias_{form}")
        for name in (f"bias_{form}", f"bias_then_{form}"):
            assert_right(getattr(bias_gelu, name), reference, guards, x, bias)


WIDE = torch.arange(6.0 * 260).sin().view(6, 260)


@pytest.mark.parametrize("x", [WIDE[:, :129], WIDE[::2, 3:60], WIDE[:, ::2], WIDE.t()])
def test_rows_and_columns_of_a_wider_matrix(x, guards):
    strided = {"near": 1e-4, "layouts": (guarded,)}
    assert_right(softmax, torch_softmax, guards, x, **strided)
    assert_right(layer_norm, torch_layer_norm, guards, *weighted(x), **strided)
    bias = weighted(x)[2]
    assert_right(bias_gelu.bias_gelu, bias_gelu.torch_bias_gelu, guards, x, bias, **strided)
    every_second = torch.randn(2 * len(bias))[::2]
    assert_right(layer_norm, torch_layer_norm, guards, x, every_second, bias, **strided)
    assert_right(bias_gelu.bias_relu, bias_gelu.torch_bias_relu, guards, x, every_second, **strided)


@pytest.mark.parametrize("shape", SHAPES + EMPTY)
def test_layer_norm_of_any_shape(shape, guards):
    assert_right(layer_norm, torch_layer_norm, guards, *weighted(torch.randn(shape)))


@pytest.mark.parametrize("cols", [129, 40_001])  # at once, and block by block
def test_layer_norm_far_from_zero_with_an_odd_number_of_columns(cols, guards):  # case K5
    # x itself is known to 100 · 6e-8, and is scaled by one.
    inputs = weighted(torch.randn(2, cols) + 100)
    assert_right(layer_norm, torch_layer_norm, guards, *inputs, near=1e-4)


@pytest.mark.parametrize("name", dict(hard_normalised()))
def test_layer_norm_of_hard_rows(name, guards):
    inputs = dict(hard_normalised())[name]
    near = 4e-3 if inputs[0].dtype == torch.float16 else 2e-4
    assert_right(layer_norm, torch_layer_norm, guards, *inputs, near=near, layouts=(guarded,))


@pytest.mark.parametrize("shape", SHAPES)
def test_operations_one_by_one_are_right_too(shape, guards):
    x = torch.randn(shape)
    assert_right(softmax_in_five, torch_softmax, guards, x)
    assert_right(layer_norm_by_parts, torch_layer_norm, guards, *weighted(x))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES + EMPTY)
def test_a_bias_and_an_activation_of_any_shape(form, shape, guards):
    for name in (f"bias_{form}", f"bias_then_{form}"):
        fn, reference = getattr(bias_gelu, name), getattr(bias_gelu, f"torch_bias_{form}")
        assert_right(fn, reference, guards, *biased(shape))


@pytest.mark.parametrize("block", [16, 128])
@pytest.mark.parametrize("form", FORMS)
def test_a_row_may_begin_anywhere_in_a_block(form, block, guards):
    fn, reference = (getattr(bias_gelu, f"{name}bias_{form}") for name in ("", "torch_"))
    assert_right(
        lambda x, b: fn(x, b, block=block, num_warps=1), reference, guards, *biased((5, 33))
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_bias_and_an_activation_of_hard_rows(form, guards):
    hard = hard_biased_relu if form == "relu" else hard_biased
    for name in (f"bias_{form}", f"bias_then_{form}"):
        fn, reference = getattr(bias_gelu, name), getattr(bias_gelu, f"torch_bias_{form}")
        for _, inputs in hard():
            assert_right(fn, reference, guards, *inputs, layouts=(guarded,))


MULTIPLY_ADDS = [multiply_add, multiply_then_add]


@pytest.mark.parametrize("fn", [*MULTIPLY_ADDS, torch_addcmul])
@pytest.mark.parametrize("n", [0, 1, 3, 127, 128, 129, 1000])
def test_a_multiply_add_of_any_length(fn, n, guards):
    inputs = tuple(torch.randn(3, n))
    assert_right(fn, torch_multiply_add, guards, *inputs, layouts=(guarded,))
    halves = (x.half() for x in inputs)
    # A product of 8 is rounded to 2^-8, and may then cancel.
    assert_right(fn, torch_multiply_add, guards, *halves, near=1e-2, layouts=(guarded,))


@pytest.mark.parametrize("fn", MULTIPLY_ADDS)
@pytest.mark.parametrize("name", dict(hard_three_vectors()))
def test_a_multiply_add_of_hard_vectors(fn, name, guards):
    inputs = dict(hard_three_vectors())[name]
    assert_right(fn, torch_multiply_add, guards, *inputs, layouts=(guarded,))


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
        (
            lambda: softmax(torch.zeros(2, 3, 4)),
            "expected rows × cols, got 3 dimensions",
        ),
        (
            lambda: multiply_add(torch.zeros(3), torch.zeros(3), torch.zeros(2)),
            r"inputs differ in shape: torch.Size\(\[3\]\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_same_without_its_mistake_is_right(guards):
    x, weight, bias = weighted(torch.randn(3, 129))
    plain = {"layouts": (guarded,)}
    assert_right(wrong_rows.softmax, torch_softmax, guards, x, **plain)
    assert_right(wrong_rows.layer_norm, torch_layer_norm, guards, x, weight, bias, **plain)


CAUGHT = r"past its end|not close"


@pytest.mark.parametrize(
    ("wrong", "x"),
    [
        (wrong_rows.zero_padded, torch.full((2, 129), -5.0)),
        (wrong_rows.unshifted, torch.full((2, 129), 300.0)),
        (wrong_rows.unmasked_store, torch.ones(2, 129)),
        (wrong_rows.down_the_columns, torch.eye(3, 129)),
        (softmax_unshifted, torch.full((2, 129), 300.0)),
    ],
)
def test_a_wrong_softmax_is_caught(wrong, x, guards):
    with pytest.raises(AssertionError, match=CAUGHT):
        assert_right(wrong, torch_softmax, guards, x, layouts=(guarded,))


@pytest.mark.parametrize(
    ("wrong", "x"),
    [
        (wrong_rows.padding_in_the_variance, torch.eye(2, 129) + 100),
        (wrong_rows.half_the_bits, torch.tensor([300.0, -300.0]).repeat(2, 150).half()),
    ],
)
def test_a_wrong_layer_norm_is_caught(wrong, x, guards):
    with pytest.raises(AssertionError, match=CAUGHT):
        assert_right(wrong, torch_layer_norm, guards, *weighted(x), layouts=(guarded,))
