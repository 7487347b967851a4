"""cause: no fma.rn in the PTX"""

import torch
import triton
import triton.language as tl


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

    tl.store(out_ptr + i, x * y + z, inside)


def multiply_add(x, y, z, block=512):
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_add_kernel[(programs,)](
        out, x, y, z, n, BLOCK=block, enable_fp_fusion=False
    )
    return out
