"""cause: wrong stride"""

import torch
import triton
import triton.language as tl


@triton.jit
def weigh_kernel(
    out_ptr, x_ptr, weight_ptr, rows, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + col * rows + row, inside)
    weight = tl.load(weight_ptr + col, inside)

    tl.store(out_ptr + row * cols + col, x * weight, inside)


def weigh(x, weight, num_warps=8):
    """Every column of x times its weight."""
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    weigh_kernel[(rows,)](
        out, x, weight, rows, cols, BLOCK=block, num_warps=num_warps
    )
    return out
