"""Adds that are wrong in ways that have happened, to test what is to catch them."""

import torch
import triton
import triton.language as tl


@triton.jit
def unmasked_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i))


@triton.jit
def masked_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, inside) + tl.load(y_ptr + i, inside), inside)


@triton.jit
def inclusive_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i <= n
    tl.store(out_ptr + i, tl.load(x_ptr + i, inside) + tl.load(y_ptr + i, inside), inside)


@triton.jit
def clamping_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n)
    tl.store(out_ptr + i, tl.where(x > 0, x, 0), i < n)


def launch(kernel, programs, x, y, block):
    out = torch.empty_like(x)
    kernel[(programs,)](out, x, y, x.numel(), BLOCK=block)
    return out


def no_mask(x, y, block=128):
    return launch(unmasked_kernel, triton.cdiv(x.numel(), block), x, y, block)


def tail_dropped(x, y, block=128):
    return launch(masked_kernel, x.numel() // block, x, y, block)


def one_too_many(x, y, block=128):
    return launch(inclusive_kernel, triton.cdiv(x.numel() + 1, block), x, y, block)


def strides_ignored(x, y, block=128):
    return launch(masked_kernel, triton.cdiv(x.numel(), block), x, y, block)


def shifted(x, y, block=128):
    return launch(masked_kernel, triton.cdiv(x.numel(), block), x, y.roll(1), block)


def nan_lost(x, y, block=128):
    """The usual way to write a ReLU: NaN is not above zero either, so it becomes 0."""
    out = torch.empty_like(x)
    clamping_kernel[(triton.cdiv(x.numel(), block),)](out, x + y, x.numel(), BLOCK=block)
    return out
