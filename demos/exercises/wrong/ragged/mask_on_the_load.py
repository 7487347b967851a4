"""cause: mask on the load but not the store"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    tl.store(out_ptr + i, x + y)


def add(x, y, block=256):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    add_kernel[(programs,)](out, x, y, n, BLOCK=block)
    return out
