"""Softmax, LayerNorm and products as people have got them wrong; the checks must notice each."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    out_ptr, x_ptr, cols, BLOCK: tl.constexpr, OTHER: tl.constexpr, SHIFT: tl.constexpr,
    MASK: tl.constexpr,
):  # fmt: skip
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + col, col < cols, other=OTHER)
    raised = tl.exp(x - tl.max(x, axis=0)) if SHIFT else tl.exp(x)
    share = raised / tl.sum(raised, axis=0)
    tl.store(out_ptr + row * cols + col, share, (col < cols) | (not MASK))


def softmax(x, *, other=-float("inf"), shift=True, mask=True):
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    softmax_kernel[(rows,)](out, x, cols, BLOCK=block, OTHER=other, SHIFT=shift, MASK=mask)
    return out


def zero_padded(x):
    return softmax(x, other=0.0)


def unshifted(x):
    return softmax(x, shift=False)


def unmasked_store(x):
    return softmax(x, mask=False)


def down_the_columns(x):
    return torch.softmax(x, dim=0)


@triton.jit
def layer_norm_kernel(
    out_ptr, x_ptr, weight_ptr, bias_ptr, cols, BLOCK: tl.constexpr, PADDED: tl.constexpr
):
    row, col = tl.program_id(0), tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, inside, other=0.0)
    centred = x - tl.sum(x.to(tl.float32), axis=0) / cols
    if not PADDED:
        centred = tl.where(inside, centred, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / cols + 1e-5)
    weight, bias = tl.load(weight_ptr + col, inside), tl.load(bias_ptr + col, inside)
    tl.store(out_ptr + row * cols + col, centred * scale * weight + bias, inside)


def layer_norm(x, weight, bias, *, padded=False):
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    layer_norm_kernel[(rows,)](out, x, weight, bias, cols, BLOCK=block, PADDED=padded)
    return out


def padding_in_the_variance(x, weight, bias):
    return layer_norm(x, weight, bias, padded=True)


def half_the_bits(x, weight, bias):
    """Squares summed in float16."""
    centred = x - x.mean(dim=1, keepdim=True)
    variance = (centred * centred).sum(dim=1, keepdim=True) / x.shape[1]
    return centred * torch.rsqrt(variance + 1e-5) * weight + bias


@triton.jit
def matmul_kernel(
    out_ptr, a_ptr, b_ptr, rows, cols, depth, BLOCK: tl.constexpr, MASK_K: tl.constexpr,
    STRIDE: tl.constexpr, HALF: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float16 if HALF else tl.float32)
    for done in range(0, depth, BLOCK):
        here = k < depth - done if MASK_K else k < BLOCK
        at = (done + k)[None, :]
        a = tl.load(a_ptr + row * depth + at, here[None, :] & (row < rows), other=0.0)
        step = cols if STRIDE else depth
        at = (done + k)[:, None]
        b = tl.load(b_ptr + at * step + col, here[:, None] & (col < cols), other=0.0)
        total += tl.dot(a, b, input_precision="ieee").to(total.dtype)
    tl.store(out_ptr + row * cols + col, total, (row < rows) & (col < cols))


def matmul(a, b, *, mask_k=True, stride=True, half=False, swapped=False):
    out = a.new_empty(a.shape[0], b.shape[1])
    rows, cols = out.shape
    grid = (triton.cdiv(rows, 16), triton.cdiv(cols, 16))
    matmul_kernel[grid[::-1] if swapped else grid](
        out, a, b, rows, cols, a.shape[1], BLOCK=16, MASK_K=mask_k, STRIDE=stride, HALF=half
    )
    return out


def unmasked_depth(a, b):
    return matmul(a, b, mask_k=False)


def wrong_stride(a, b):
    return matmul(a, b, stride=False)


def swapped_grid(a, b):
    return matmul(a, b, swapped=True)


def float16_sums(a, b):
    return matmul(a, b, half=True)


@triton.jit
def grouped_kernel(
    out_ptr, a_ptr, b_ptr, rows, cols, depth, BLOCK: tl.constexpr, GROUP: tl.constexpr,
    REMAINDER: tl.constexpr,
):  # fmt: skip
    down, across = tl.cdiv(rows, BLOCK), tl.cdiv(cols, BLOCK)
    program = tl.program_id(0)
    top = program // (GROUP * across) * GROUP
    height = tl.minimum(GROUP, down - top) if REMAINDER else GROUP
    within = program % (GROUP * across)
    row = (top + within % height) * BLOCK + tl.arange(0, BLOCK)[:, None]
    col = within // height * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(depth):
        a = tl.load(a_ptr + row * depth + k, row < rows, other=0.0)
        b = tl.load(b_ptr + k * cols + col, col < cols, other=0.0)
        total += a * b
    tl.store(out_ptr + row * cols + col, total, (row < rows) & (col < cols))


def grouped(a, b, *, remainder=True):
    out = a.new_empty(a.shape[0], b.shape[1])
    rows, cols = out.shape
    programs = triton.cdiv(rows, 16) * triton.cdiv(cols, 16)
    grouped_kernel[(programs,)](
        out, a, b, rows, cols, a.shape[1], BLOCK=16, GROUP=2, REMAINDER=remainder
    )
    return out


def remainder_forgotten(a, b):
    return grouped(a, b, remainder=False)
