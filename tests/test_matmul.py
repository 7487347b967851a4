"""The matrix product: every rung beside float64, on shapes that fit no tile."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from talk.hardware import ARCHITECTURES
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
        matmul_naive,
        matmul_tiled,
        shared_bytes,
    )
    from tests import wrong_rows

RUNGS = [matmul_naive, matmul_tiled, matmul_fp32_tile, matmul_grouped, matmul]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    # What overflows float16, or was never masked, is what NumPy warns of.
    with np.errstate(all="ignore"):
        yield


def guarded(x):
    """The same values with NaN around and between them."""
    wide = torch.full((x.shape[0] + 2, x.shape[1] + 300), torch.nan, dtype=x.dtype)
    wide[1:-1, : x.shape[1]] = x
    return wide[1:-1, : x.shape[1]]


def assert_right(fn, a, b, near=1e-5, **options):
    """Within what float32 sums of float32 products allow (case K9: nothing is rounded to TF32)."""
    expected = (a.double() @ b.double()).to(a.dtype)
    got = fn(guarded(a), guarded(b), **options)
    assert got.dtype == a.dtype and got.shape == expected.shape
    torch.testing.assert_close(got, expected, rtol=near, atol=near * max(1, a.shape[1]) ** 0.5)


def two(m, n, k, dtype=torch.float32):
    torch.manual_seed(m + n + k)
    return torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)


@pytest.mark.parametrize("fn", RUNGS)
@pytest.mark.parametrize(("m", "n", "k"), [*itertools.product((1, 17), repeat=3), (127, 129, 17)])
def test_shapes_that_fit_no_tile(fn, m, n, k):  # case K6
    assert_right(fn, *two(m, n, k))


@pytest.mark.parametrize("fn", RUNGS[1:])
@pytest.mark.parametrize(("m", "n", "k"), [(129, 127, 129), (1, 129, 127)])
def test_shapes_just_beside_a_tile(fn, m, n, k):  # case K6
    assert_right(fn, *two(m, n, k))


@pytest.mark.parametrize("fn", RUNGS)
@pytest.mark.parametrize(("m", "n", "k"), [(0, 7, 5), (7, 0, 5), (0, 0, 0)])
def test_an_empty_product_is_empty(fn, m, n, k):  # case K2
    assert fn(*two(m, n, k)).shape == (m, n)


@pytest.mark.parametrize("fn", RUNGS)
def test_a_product_over_nothing_is_zero(fn):  # case K2
    assert torch.equal(fn(*two(5, 7, 0)), torch.zeros(5, 7))


@pytest.mark.parametrize("fn", RUNGS)
def test_any_strides(fn):
    a, b = two(33, 20, 17)
    for left, right in ((a.t().contiguous().t(), b), (a, b.t().contiguous().t()), (b.t(), a.t())):
        torch.testing.assert_close(fn(left, right), left @ right, rtol=1e-4, atol=1e-4)
    every_second = torch.randn(20, 66)[:, ::2]
    torch.testing.assert_close(fn(every_second, a), every_second @ a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fn", RUNGS)
def test_float16_is_summed_in_float32(fn):
    a, b = torch.ones(3, 2500).half(), torch.ones(2500, 5).half()
    if fn is matmul_naive:
        a, b = a[:1, :140], b[:140]
    assert torch.equal(fn(a, b), (a.float() @ b.float()).half())
    large = torch.full((9, 100), 99.0).half()
    assert fn(large, large.t()).isinf().all()  # as in torch: 980,100 is beyond float16


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: "-".join(map(str, c.values())))
def test_every_configuration_is_right(config):
    assert_right(matmul_grouped, *two(140, 150, 70), **config)


@pytest.mark.parametrize("group", [1, 2, 3, 100])
def test_any_group_covers_every_tile(group):
    tile = {"block_m": 16, "block_n": 16, "block_k": 16}
    assert_right(matmul_grouped, *two(16 * 5 + 1, 16 * 3 + 1, 16), group=group, **tile)


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda a: a.target)
def test_every_gpu_has_a_configuration_that_fits(architecture):  # case E8
    offered = fitting(architecture.shared_per_block)
    assert offered and all(
        shared_bytes(config, 2) <= architecture.shared_per_block for config in offered
    )
    assert fitting(1) == CONFIGS[-1:]  # the smallest of all is always tried


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


@pytest.mark.parametrize(
    ("wrong", "inputs"),
    [
        (wrong_rows.unmasked_depth, two(17, 20, 19)),
        (wrong_rows.wrong_stride, two(17, 20, 19)),
        (wrong_rows.swapped_grid, two(40, 20, 16)),
        (wrong_rows.float16_sums, (torch.full((3, 4000), 0.1).half(), torch.ones(4000, 5).half())),
    ],
)
def test_a_wrong_product_is_caught(wrong, inputs):
    with pytest.raises(AssertionError):
        assert_right(lambda a, b: wrong(a.contiguous(), b.contiguous()), *inputs, near=2e-3)
    assert_right(lambda a, b: wrong_rows.matmul(a.contiguous(), b.contiguous()), *two(17, 20, 19))


def test_tuning_leaves_what_a_kernel_adds_to_as_it_was():  # case K8
    @triton.autotune(
        configs=[triton.Config({"BLOCK": block}) for block in (16, 32)],
        key=["n"],
        restore_value=["out_ptr"],
        do_bench=lambda call, quantiles: [call() or 1.0] * 3,
    )
    @triton.jit
    def accumulate(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        total = tl.load(out_ptr + i, i < n) + tl.load(x_ptr + i, i < n)
        tl.store(out_ptr + i, total, i < n)

    x, out = torch.ones(33), torch.zeros(33)
    for calls in (1, 2):
        accumulate[lambda meta: (triton.cdiv(33, meta["BLOCK"]),)](out, x, 33)
        assert torch.equal(out, torch.full((33,), float(calls)))
