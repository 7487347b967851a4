"""Exercise 1: a length that is no multiple of the block.

1. double_kernel is a worked example: read it, it runs.
2. negate_kernel has one blank, `...`: fill it.
3. add_kernel is empty: write it, so that add(x, y) is x + y at any length.
Each program has BLOCK elements; the last has fewer, and leaves the rest.
`just exercise 1` says how far you are; with --hint it says where to look.
"""

import torch
import triton
import triton.language as tl

# 1. A worked example


@triton.jit
def double_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    # Which elements are mine? BLOCK, from BLOCK times my number on.
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    # Which of them exist? True or false for each.
    inside = i < n

    # Where it is false, nothing is read,
    x = tl.load(x_ptr + i, inside)

    # and nothing is written.
    tl.store(out_ptr + i, 2 * x, inside)


def double(x, block=256):
    out = torch.empty_like(x)
    n = x.numel()
    # Rounded up: 1,000 elements need four programs of 256.
    programs = triton.cdiv(n, block)
    double_kernel[(programs,)](out, x, n, BLOCK=block)
    return out


# 2. One blank


@triton.jit
def negate_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)

    tl.store(out_ptr + i, -x, inside)


def negate(x, block=256):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    negate_kernel[(programs,)](out, x, n, BLOCK=block)
    return out


# 3. Yours


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    tl.store(out_ptr + i, x + y, inside)


def add(x, y, block=256):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    add_kernel[(programs,)](out, x, y, n, BLOCK=block)
    return out
