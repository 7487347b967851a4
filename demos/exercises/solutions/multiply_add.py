"""Challenge: a fused multiply-add, one kernel and one instruction.

1. multiply_kernel is a worked example: a product, two reads and one write.
2. square_add_kernel has one blank, `...`: fill it.
3. multiply_add_kernel is empty: write x · y + z, in one trip, rounded once.
The machine code must say so: `fma.rn` in the PTX, which the grader reads.
`just exercise multiply_add` grades it; with --hint it says where to look.
"""

import torch
import triton
import triton.language as tl

# 1. A worked example


@triton.jit
def multiply_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    tl.store(out_ptr + i, x * y, inside)


def multiply(x, y, block=512):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_kernel[(programs,)](out, x, y, n, BLOCK=block)
    return out


# 2. One blank


@triton.jit
def square_add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    # x · x + y. Of * and + a compiler makes one instruction or two;
    # tl.fma(a, b, c) is a · b + c in one, rounded once.
    tl.store(out_ptr + i, tl.fma(x, x, y), inside)


def square_add(x, y, block=512):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    square_add_kernel[(programs,)](out, x, y, n, BLOCK=block)
    return out


# 3. Yours


@triton.jit
def multiply_add_kernel(
    out_ptr, x_ptr, y_ptr, z_ptr, n,
    BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)
    z = tl.load(z_ptr + i, inside)

    tl.store(out_ptr + i, tl.fma(x, y, z), inside)


def multiply_add(x, y, z, block=512):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_add_kernel[(programs,)](out, x, y, z, n, BLOCK=block)
    return out
