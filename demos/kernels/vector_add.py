"""Vector add, out = x + y: two reads and one write an element, whoever computes it.

torch_add   the reference: PyTorch's own kernel
add_naive   one element per program
add         one block of elements per program
"""

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import alike


def torch_add(x, y):
    return x + y


@triton.jit
def add_naive_kernel(out_ptr, x_ptr, y_ptr):
    i = tl.program_id(0)

    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)

    tl.store(out_ptr + i, x + y)


def add_naive(x, y, num_warps=4):
    x, y = alike(x, y)
    out = torch.empty_like(x)
    programs = x.numel()
    add_naive_kernel[(programs,)](out, x, y, num_warps=num_warps)
    return out


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # In 64 bits: an offset in 32 wraps at 2^31 elements.
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    tl.store(out_ptr + i, x + y, inside)


# Four elements a lane are one 16-byte load an array. With eight (a block of 1,024) an H200 is
# 0.3 % slower: 4,383 and 4,368 GB/s.
def add(x, y, block=512, num_warps=4):
    x, y = alike(x, y)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    add_kernel[(programs,)](out, x, y, n, BLOCK=block, num_warps=num_warps)
    return out
