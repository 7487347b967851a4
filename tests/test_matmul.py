"""The matrix product: every rung beside float64, on shapes that fit no tile."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
import torch

from talk.hardware import ARCHITECTURES
from tests.guards import assert_within, guard_outputs, guarded, spaced
from tests.interpreted import interpreting

with interpreting():
    import triton
    import triton.language as tl

    from demos.kernels.inputs import factors
    from demos.kernels.matmul import (
        CONFIGS,
        as_triton,
        fitting,
        matmul,
        matmul_fp32_tile,
        matmul_grouped,
        matmul_grouped_kernel,
        matmul_naive,
        matmul_tiled,
        matmul_tiled_kernel,
        shared_bytes,
    )
    from tests import wrong_rows

RUNGS = [matmul_naive, matmul_tiled, matmul_fp32_tile, matmul_grouped, matmul]


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    # What overflows float16, or was never masked, is what NumPy warns of.
    with np.errstate(all="ignore"):
        yield guard_outputs(monkeypatch)


def assert_right(fn, a, b, guards, near=1e-5, layouts=(guarded, spaced), **options):
    """Within what float32 sums of float32 products allow; every element written, none beyond."""
    expected = (a.double() @ b.double()).to(a.dtype)
    for layout in layouts:
        mine = layout(a), layout(b)
        got = fn(*mine, **options)
        assert_within(guards)
        assert got.dtype == a.dtype and got.shape == expected.shape
        torch.testing.assert_close(mine, (a, b), rtol=0, atol=0)
        torch.testing.assert_close(got, expected, rtol=near, atol=near * max(1, a.shape[1]) ** 0.5)


def two(m, n, k, dtype=torch.float32):
    torch.manual_seed(m + n + k)
    return torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)


@pytest.mark.parametrize("fn", RUNGS)
@pytest.mark.parametrize(
    ("m", "n", "k"), [*itertools.product((1, 17), repeat=3), (1, 129, 127), (127, 129, 1)]
)
def test_shapes_that_fit_no_tile(fn, m, n, k, guards):  # case K6
    assert_right(fn, *two(m, n, k), guards)


# The rung without tiles takes a step for every row and k: 2,000 here, 0.7 ms each.
@pytest.mark.parametrize("fn", RUNGS[1:])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(129, 127, 129), (127, 129, 17), (17, 127, 129), (129, 1, 127)]
)
def test_shapes_just_beside_a_tile(fn, m, n, k, guards):  # case K6
    assert_right(fn, *two(m, n, k), guards)


@pytest.mark.parametrize("fn", RUNGS)
@pytest.mark.parametrize(("m", "n", "k"), [(3, 1, 40), (9, 129, 15)])
def test_float16_is_right_and_kept(fn, m, n, k, guards):
    # Rounded once, at the end: half a unit of its last place.
    assert_right(fn, *two(m, n, k, torch.float16), guards, near=1e-3)


@pytest.mark.parametrize("fn", RUNGS)
@pytest.mark.parametrize(("m", "n", "k"), [(0, 7, 5), (7, 0, 5), (0, 0, 0)])
def test_an_empty_product_is_empty(fn, m, n, k):  # case K2
    assert fn(*two(m, n, k)).shape == (m, n)


@pytest.mark.parametrize("fn", RUNGS)
def test_a_product_over_nothing_is_zero(fn):  # case K2
    assert torch.equal(fn(*two(5, 7, 0)), torch.zeros(5, 7))


@pytest.mark.parametrize("fn", RUNGS)
def test_any_strides(fn, guards):
    a, b = two(9, 12, 11)
    for left, right in (
        (a.t().contiguous().t(), b),
        (a, b.t().contiguous().t()),
        (b.t(), a.t()),
        (torch.randn(7, 18)[:, ::2], a),
        (a[::2], b[:, ::3]),
    ):
        assert_right(fn, left, right, guards, layouts=(guarded,))


@pytest.mark.parametrize("kernel", [matmul_tiled_kernel, matmul_grouped_kernel])
def test_a_product_of_float32_is_not_left_to_tf32(kernel):  # case K9
    # The interpreter multiplies in float32 whatever is asked for, so the text must say it.
    text = inspect.getsource(kernel.fn)
    assert text.count("tl.dot(") == text.count('input_precision="ieee"') == 1


@pytest.mark.parametrize("fn", RUNGS)
def test_float16_is_summed_in_float32(fn):  # case K10
    a, b = torch.ones(3, 2500).half(), torch.ones(2500, 5).half()
    if fn is matmul_naive:
        a, b = a[:1, :140], b[:140]
    assert torch.equal(fn(a, b), (a.float() @ b.float()).half())
    large = torch.full((9, 100), 99.0).half()
    assert fn(large, large.t()).isinf().all()  # as in torch: 980,100 is beyond float16


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: "-".join(map(str, c.values())))
def test_every_configuration_is_right(config, guards):
    assert_right(matmul_grouped, *two(140, 150, 70), guards, **config)


@pytest.mark.parametrize("group", [1, 2, 3, 100])
def test_any_group_covers_every_tile(group, guards):
    tile = {"block_m": 16, "block_n": 16, "block_k": 16}
    assert_right(matmul_grouped, *two(16 * 5 + 1, 16 * 3 + 1, 16), guards, group=group, **tile)


@pytest.mark.parametrize("element", [2, 4])
@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda a: a.target)
def test_every_gpu_has_a_configuration_that_fits(architecture, element):  # case E8
    limit = architecture.shared_per_block
    offered = fitting(limit, element)
    assert offered and all(shared_bytes(config, element) <= limit for config in offered)
    assert fitting(1, element) == CONFIGS[-1:]  # the smallest of all is always tried


def test_a_configuration_is_passed_to_triton_whole():
    made = as_triton(CONFIGS[0])
    assert made.kwargs == {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 8}
    assert (made.num_warps, made.num_stages) == (8, 3)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (torch.zeros(2, 3), torch.zeros(2, 3), r"\(2, 3\) and \(2, 3\) cannot be multiplied"),
        (torch.zeros(3), torch.zeros(3, 1), "cannot be multiplied"),
        (torch.zeros(1, 1), torch.zeros(1, 1).half(), "inputs differ: torch.float32 on cpu and"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        factors(a, b)


@pytest.mark.parametrize("right", [wrong_rows.matmul, wrong_rows.grouped])
def test_the_same_without_its_mistake_is_right(right, guards):
    assert_right(right, *two(40, 20, 19), guards, layouts=(guarded,))


@pytest.mark.parametrize(
    ("wrong", "inputs"),
    [
        (wrong_rows.unmasked_depth, two(17, 20, 19)),
        (wrong_rows.wrong_stride, two(17, 20, 19)),
        (wrong_rows.swapped_grid, two(40, 20, 16)),
        (wrong_rows.remainder_forgotten, two(40, 20, 19)),
        (wrong_rows.float16_sums, (torch.full((3, 4000), 0.1).half(), torch.ones(4000, 5).half())),
    ],
)
def test_a_wrong_product_is_caught(wrong, inputs, guards):
    with pytest.raises(AssertionError, match=r"past its end|not close"):
        assert_right(wrong, *inputs, guards, near=2e-3, layouts=(guarded,))


def accumulating(**tuning):
    """out += x, tuned at its first call."""

    @triton.autotune(
        configs=[triton.Config({"BLOCK": block}) for block in (16, 32)],
        key=["n"],
        do_bench=lambda call, quantiles: [call() or 1.0] * 3,
        **tuning,
    )
    @triton.jit
    def accumulate(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        total = tl.load(out_ptr + i, i < n) + tl.load(x_ptr + i, i < n)
        tl.store(out_ptr + i, total, i < n)

    return accumulate[lambda meta: (triton.cdiv(33, meta["BLOCK"]),)]


@pytest.mark.parametrize(
    ("tuning", "after"), [({"restore_value": ["out_ptr"]}, (1.0, 2.0)), ({}, (3.0, 4.0))]
)
def test_tuning_leaves_what_a_kernel_adds_to_as_it_was(tuning, after):  # case K8
    add, out = accumulating(**tuning), torch.zeros(33)
    for total in after:
        add(out, torch.ones(33), 33)
        assert torch.equal(out, torch.full((33,), total))
