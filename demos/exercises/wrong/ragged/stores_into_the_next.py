"""cause: a race"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * 128
    i = first + tl.arange(0, BLOCK)
    inside = (i < n) & (i < first + 128)

    x = tl.load(x_ptr + i, inside, other=0.0)
    y = tl.load(y_ptr + i, inside, other=0.0)

    tl.store(out_ptr + i, x + y, i < n)


def add(x, y, block=256):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, 128)
    add_kernel[(programs,)](out, x, y, n, BLOCK=block)
    return out
