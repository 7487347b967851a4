"""Exercise 5: diagnose a strided kernel, then mend it.

1. scale_kernel is a worked example: neighbouring lanes, neighbouring elements.
2. sectors has one blank, `...`: fill it. It is what the profiler counts.
3. weigh_kernel has a column for each program: right, and slow. Mend it.
Memory comes in sectors of 32 bytes: what else is in them had better be used.
`just exercise 5` says how far you are; with --hint it says where to look.
"""

import torch
import triton
import triton.language as tl

# 1. A worked example


@triton.jit
def scale_kernel(out_ptr, x_ptr, factor, cols, BLOCK: tl.constexpr):
    # A row for each program: lane 0 has column 0, lane 1 column 1.
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    # 32 lanes × 4 bytes, side by side: 128 bytes, four sectors.
    x = tl.load(x_ptr + row * cols + col, inside)

    tl.store(out_ptr + row * cols + col, x * factor, inside)


def scale(x, factor):
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    scale_kernel[(rows,)](out, x, factor, cols, BLOCK=block)
    return out


# 2. One blank


def sectors(stride):
    """Sectors that 32 lanes touch, `stride` elements of 4 bytes apart."""
    addresses = [lane * stride * 4 for lane in range(32)]
    return len({... for address in addresses})


# 3. Yours


@triton.jit
def weigh_kernel(
    out_ptr, x_ptr, weight_ptr, rows, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    col = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, BLOCK)
    inside = row < rows

    x = tl.load(x_ptr + row * cols + col, inside)
    weight = tl.load(weight_ptr + col)

    tl.store(out_ptr + row * cols + col, x * weight, inside)


def weigh(x, weight, num_warps=8):
    """Every column of x times its weight."""
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(rows)
    weigh_kernel[(cols,)](
        out, x, weight, rows, cols, BLOCK=block, num_warps=num_warps
    )
    return out
