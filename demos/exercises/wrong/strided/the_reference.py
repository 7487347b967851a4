"""cause: the kernel is not launched"""

import triton
import triton.language as tl


@triton.jit
def weigh_kernel(
    out_ptr, x_ptr, weight_ptr, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + row * cols + col, inside)
    weight = tl.load(weight_ptr + col, inside)

    tl.store(out_ptr + row * cols + col, x * weight, inside)


def weigh(x, weight):
    return x * weight
