"""LayerNorm that is trained: its forward, its backward, and their place in autograd."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from talk.gpu.traffic import operations
from talk.source import ROOT
from tests.guards import (
    CANARY,
    GUARD,
    assert_within,
    guard_outputs,
    guarded,
    laid_out,
    poisoned,
    spaced,
)
from tests.interpreted import interpreting

with interpreting():
    from demos.cases.challenges import LAYER_NORM_BACKWARD, hard_slopes, with_slope
    from demos.kernels import layer_norm_backward as module
    from demos.kernels.layer_norm import EPSILON, LONGEST, torch_layer_norm
    from demos.kernels.layer_norm_backward import (
        LONGEST_BACKWARD,
        layer_norm_backward,
        layer_norm_forward,
        torch_layer_norm_backward,
        trained_layer_norm,
    )
    from tests import wrong_attention as wrong

EMPTY_LIKE, NEW_EMPTY = torch.empty_like, torch.Tensor.new_empty


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    torch.manual_seed(0)
    around = guard_outputs(monkeypatch)
    guarded_alike = torch.Tensor.new_empty

    def new_empty(x, *shape, **options):
        """Beside the interpreter's own: what is wider than x, such as the sums of a program."""
        if set(options) != {"dtype"}:
            return guarded_alike(x, *shape, **options)
        memory = poisoned(math.prod(shape) + 2 * GUARD, options["dtype"])
        around.extend(end.fill_(CANARY) for end in (memory[:GUARD], memory[-GUARD:]))
        return memory[GUARD:-GUARD].view(shape)

    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    with np.errstate(all="ignore"):
        yield around


@contextmanager
def unguarded():
    """Memory is allocated as PyTorch does it."""
    with pytest.MonkeyPatch.context() as plain:
        plain.setattr(torch, "empty_like", EMPTY_LIKE)
        plain.setattr(torch.Tensor, "new_empty", NEW_EMPTY)
        yield


def gradients(grad, x, weight):
    """PyTorch's, in float64: dx, dweight, dbias."""
    leaves = [t.double().requires_grad_() for t in (x, weight, torch.zeros_like(weight))]
    return torch.autograd.grad(torch_layer_norm(*leaves), leaves, grad.double())


TOLERANCE = {torch.float16: 2e-3, torch.float32: 3e-6, torch.float64: 1e-12}


def assert_near(got, expected, near):
    """Of its own size and, near zero, of the mean size of all: a sum may cancel."""
    assert got.shape == expected.shape
    size = near * max(1.0, float(expected.abs().mean())) if expected.numel() else near
    torch.testing.assert_close(got.double(), expected, rtol=near, atol=size)


def assert_right(fn, guards, inputs, near=None, layout=guarded, **options):
    """NaN around every input does not leak; every element written, none beyond."""
    grad, x, weight, mean, inverse = inputs
    mine = layout(grad), layout(x), guarded(weight), guarded(mean), guarded(inverse)
    got = fn(*mine, **options)
    assert_within(guards)
    torch.testing.assert_close(mine, inputs, rtol=0, atol=0)
    for found, expected in zip(got, gradients(grad, x, weight), strict=True):
        assert found.dtype == x.dtype
        assert_near(found, expected, near or TOLERANCE[x.dtype])


def given(rows, cols, dtype=torch.float32):
    """As `with_slope`, its statistics in float64 where x is."""
    x = torch.randn(rows, cols).to(dtype)
    if dtype != torch.float64 or not x.numel():
        return with_slope(x)
    grad, _, weight, *_ = with_slope(x)
    inverse = torch.rsqrt(x.var(dim=1, correction=0) + EPSILON)
    return grad, x, weight, x.mean(dim=1), inverse


# 127, 128 and 129 straddle a block; 1 is the smallest; 781, 1,000 and 1,025 are no power of two.
COLUMNS = (1, 2, 3, 127, 128, 129, 781, 1000, 1025)
EMPTY = [(0, 7), (7, 0), (0, 0)]


@pytest.mark.parametrize("cols", COLUMNS)
def test_the_backward_of_any_columns(cols, guards):
    assert_right(layer_norm_backward, guards, given(5, cols))


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 300])
def test_the_backward_of_any_rows(rows, guards):
    assert_right(layer_norm_backward, guards, given(rows, 33))


@pytest.mark.parametrize("shape", EMPTY)
def test_the_backward_of_nothing(shape, guards):  # case K2
    x = torch.zeros(shape)
    weight, row = torch.ones(shape[1]), torch.ones(shape[0])
    dx, dweight, dbias = layer_norm_backward(x, x, weight, row, row)
    assert dx.shape == shape
    assert torch.equal(dweight, torch.zeros(shape[1])) and torch.equal(dbias, dweight)


@pytest.mark.parametrize("cols", [LONGEST_BACKWARD, LONGEST_BACKWARD + 1, 65_536])
def test_the_backward_of_long_rows(cols, guards):
    assert_right(layer_norm_backward, guards, given(2, cols), near=2e-5)


@pytest.mark.parametrize("name", dict(hard_slopes()))
def test_the_backward_of_hard_rows(name, guards):
    # A mean of 100 is known to 4e-6, and so is all that it is taken from.
    near = 2e-5 if "mean 100" in name else 5e-6
    layout = guarded if "one slope" not in name else lambda x: x if 0 in x.stride() else guarded(x)
    assert_right(layer_norm_backward, guards, dict(hard_slopes())[name], near, layout)


@pytest.mark.parametrize("cols", [129, LONGEST_BACKWARD + 77])
def test_the_backward_far_from_zero(cols, guards):  # case K5
    assert_right(layer_norm_backward, guards, with_slope(torch.randn(3, cols) + 100), near=5e-5)


# bfloat16 is missing: Triton's interpreter computes on its raw bits.
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
@pytest.mark.parametrize("cols", [1, 129, LONGEST_BACKWARD + 5])
def test_other_dtypes_are_right_and_kept(dtype, cols, guards):
    assert_right(layer_norm_backward, guards, given(4, cols, dtype))


def test_sums_are_taken_in_float32(guards):  # case K10
    x = (300 * torch.randn(3000, 4).sign()).half()
    grad = torch.ones_like(x)
    assert_right(layer_norm_backward, guards, with_slope(x, grad))
    # 3,000 ones: a sum in float16 would stop at 2,048.
    assert layer_norm_backward(*with_slope(x, grad))[2].eq(3000).all()


@pytest.mark.parametrize("cols", [129, LONGEST_BACKWARD + 1])
def test_rows_that_lie_apart(cols, guards):
    assert_right(layer_norm_backward, guards, given(3, cols), layout=spaced, near=2e-5)


def test_any_strides(guards):
    grad, x, weight, mean, inverse = given(6, 40)

    def upright(t):
        return laid_out(t, (1, 50))

    assert_right(layer_norm_backward, guards, (grad, x, weight, mean, inverse), layout=upright)
    other = torch.randn(80)[::2]
    assert_right(layer_norm_backward, guards, (grad, x, other, mean, inverse))


@pytest.mark.parametrize(
    "options",
    [
        {"rows_per_program": 1},
        {"rows_per_program": 8, "num_warps": 1},
        {"per_unit": 1},
        {"per_unit": 7, "stages": 2},
    ],
)
def test_any_share_of_rows_to_a_program(options, guards):
    assert_right(layer_norm_backward, guards, given(50, 33), **options)


def test_programs_have_several_rows_and_lines_are_added_up(monkeypatch):
    seen = []
    add_up = module.add_up
    monkeypatch.setattr(module, "add_up", lambda *a: seen.append(a[2].shape) or add_up(*a))
    for shape in ((300, 128), (9, LONGEST_BACKWARD + 1)):
        layer_norm_backward(*given(*shape))
    assert seen == [(2, 4, 128), (2, 3, LONGEST_BACKWARD + 1)]


@pytest.mark.parametrize("shape", [(100, 300), (9, LONGEST_BACKWARD + 3)])
def test_the_same_bits_every_time(shape):
    inputs = given(*shape)
    first = layer_norm_backward(*inputs)
    for one, other in zip(first, layer_norm_backward(*inputs), strict=True):
        assert torch.equal(one, other)


def test_nothing_locks_and_nothing_is_added_to_in_memory():
    text = (ROOT / "demos/kernels/layer_norm_backward.py").read_text()
    assert "atomic_" not in text and "debug_barrier" not in text


# Forward


@pytest.mark.parametrize("cols", [*COLUMNS, LONGEST + 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_forward_keeps_what_the_backward_needs(cols, dtype, guards):
    near = 1e-7 if dtype == torch.float64 else 1e-5  # epsilon itself is of float32
    x, weight, bias = (torch.randn(*s).to(dtype) for s in ((3, cols), (cols,), (cols,)))
    out, mean, inverse = layer_norm_forward(spaced(x), guarded(weight), guarded(bias))
    assert_within(guards)
    x = x.double()
    torch.testing.assert_close(mean.double(), x.mean(dim=1), rtol=near, atol=near)
    deviation = torch.sqrt(x.var(dim=1, correction=0) + EPSILON)
    torch.testing.assert_close(1 / inverse.double(), deviation, rtol=near, atol=near)
    expected = torch_layer_norm(x, weight.double(), bias.double())
    torch.testing.assert_close(out.double(), expected, rtol=near, atol=near)
    assert (out.dtype, mean.dtype, inverse.dtype) == (dtype,) * 3


@pytest.mark.parametrize("shape", EMPTY)
def test_the_forward_of_nothing(shape):
    out, mean, inverse = layer_norm_forward(
        torch.zeros(shape), torch.ones(shape[1]), torch.ones(shape[1])
    )
    assert out.shape == shape and mean.shape == inverse.shape == shape[:1]


# Autograd


def leaves(rows, cols, dtype):
    return [
        torch.randn(*shape, dtype=dtype, requires_grad=True)
        for shape in ((rows, cols), (cols,), (cols,))
    ]


@pytest.mark.parametrize("shape", [(1, 1), (4, 5), (6, 2)])
def test_its_gradient_is_that_of_its_formula(shape):
    assert torch.autograd.gradcheck(trained_layer_norm, leaves(*shape, torch.float64))


def test_its_gradient_is_that_of_pytorch_on_either_path():
    for cols in (37, LONGEST_BACKWARD + 1):
        mine = leaves(3, cols, torch.float64)
        theirs = [t.detach().clone().requires_grad_() for t in mine]
        (trained_layer_norm(*mine) ** 2).mean().backward()
        (torch_layer_norm(*theirs) ** 2).mean().backward()
        for got, expected in zip(mine, theirs, strict=True):
            torch.testing.assert_close(got.grad, expected.grad, rtol=1e-6, atol=1e-9)


def test_a_sum_has_one_slope_for_all():
    x, weight, bias = leaves(5, 7, torch.float32)
    trained_layer_norm(x, weight, bias).sum().backward()
    torch.testing.assert_close(bias.grad, torch.full((7,), 5.0))


def test_weights_may_be_wider_than_x():
    x, weight, bias = leaves(5, 7, torch.float32)
    half = x.detach().half().requires_grad_()
    trained_layer_norm(half, weight, bias).float().sum().backward()
    assert (half.grad.dtype, weight.grad.dtype) == (torch.float16, torch.float32)


def test_a_gradient_of_the_gradient_is_refused():
    inputs = leaves(2, 3, torch.float64)
    loss = (trained_layer_norm(*inputs) ** 2).sum()
    (first,) = torch.autograd.grad(loss, inputs[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_what_does_not_fit_is_refused():
    grad, x, weight, mean, inverse = given(3, 4)
    with pytest.raises(ValueError, match=r"grad \(2, 4\) does not fit x \(3, 4\)"):
        layer_norm_backward(grad[:2], x, weight, mean, inverse)
    with pytest.raises(ValueError, match=r"weight \(3,\) is not \(4,\)"):
        layer_norm_backward(grad, x, weight[:3], mean, inverse)
    with pytest.raises(ValueError, match=r"weight \(3,\) or bias \(4,\) is not \(4,\)"):
        layer_norm_forward(x, weight[:3], weight)
    with pytest.raises(ValueError, match="expected rows × cols"):
        layer_norm_forward(x[0], weight, weight)


# What it costs, and what is wrong


def test_x_and_the_slope_are_read_once_where_a_row_fits():
    inputs = given(300, 128)
    with unguarded():
        first, second = operations(layer_norm_backward, inputs)
    assert (first.name, second.name) == ("layer_norm_backward_kernel", "layer_norm_totals_kernel")
    lines = 2 * 4 * 128 * 4
    ends = 2 * 128 * 4
    must = LAYER_NORM_BACKWARD.bytes_moved(*inputs)
    assert first.read + first.written == must - ends + lines
    assert second.read + second.written == lines + ends


def test_pytorchs_own_is_right_too():
    for shape in ((3, 7), (20, 129)):
        assert_right(torch_layer_norm_backward, [], given(*shape))


@pytest.mark.parametrize(
    "mistake",
    [
        wrong.without_the_mean_of_pull,
        wrong.without_the_pull_along_x,
        wrong.not_divided_by_the_deviation,
        wrong.sums_of_the_first_rows,
        wrong.the_weight_in_dweight,
        wrong.padding_in_the_means,
    ],
)
def test_a_wrong_backward_is_caught(mistake):
    inputs = given(70, 33)
    assert_right(wrong.backward, [], inputs)
    with pytest.raises(AssertionError, match="not close"):
        assert_right(mistake, [], inputs, near=2e-3)


ON_A_GPU = """
import torch
from demos.kernels.layer_norm import torch_layer_norm
from demos.kernels.layer_norm_backward import trained_layer_norm
torch.manual_seed(0)
def both(rows, cols, dtype):
    shapes = ((rows, cols), (cols,), (cols,))
    mine = [torch.randn(*s, device="cuda").to(dtype).requires_grad_() for s in shapes]
    theirs = [t.detach().double().requires_grad_() for t in mine]
    grad = torch.randn(rows, cols, device="cuda").to(dtype)
    got, want = trained_layer_norm(*mine), torch_layer_norm(*theirs)
    first = torch.autograd.grad(got, mine, grad, retain_graph=True)
    again = torch.autograd.grad(got, mine, grad)
    assert all(map(torch.equal, first, again))
    return (got, *first), (want, *torch.autograd.grad(want, theirs, grad.double()))
for dtype, near in ((torch.bfloat16, 1e-2), (torch.float16, 2e-3), (torch.float32, 1e-5)):
    for cols in (1, 129, 1024, 4096, 8193, 16384, 65536):
        for rows in (5, 2001):  # compiled once: neither is a multiple of 16
            for got, want in zip(*both(rows, cols, dtype)):
                size = near * max(1.0, float(want.abs().mean()))
                torch.testing.assert_close(got.double(), want, rtol=near, atol=size)
made = [torch.randn(*s, device="cuda", dtype=torch.float64, requires_grad=True)
        for s in ((4, 5), (5,), (5,))]
assert torch.autograd.gradcheck(trained_layer_norm, made)
x = torch.randn(100, 4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)
w = torch.ones(4096, device="cuda", dtype=torch.bfloat16)
through = torch.compile(lambda x: trained_layer_norm(x, w, w) * 2, fullgraph=True)(x)
torch.testing.assert_close(through, 2 * torch_layer_norm(x, w, w), rtol=2e-2, atol=2e-2)
"""


@pytest.mark.gpu
def test_it_is_right_deterministic_and_compiled_on_a_gpu():
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", ON_A_GPU], check=True, cwd=ROOT, env=environment)
