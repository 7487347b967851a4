"""cause: no mask"""

import torch
import triton
import triton.language as tl


@triton.jit
def weigh_kernel(
    out_ptr, x_ptr, weight_ptr, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)

    x = tl.load(x_ptr + row * cols + col)
    weight = tl.load(weight_ptr + col)

    tl.store(out_ptr + row * cols + col, x * weight)


def weigh(x, weight, num_warps=8):
    """Every column of x times its weight."""
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    weigh_kernel[(rows,)](
        out, x, weight, cols, BLOCK=block, num_warps=num_warps
    )
    return out
