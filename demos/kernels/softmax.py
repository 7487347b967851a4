"""Softmax of every row: exp(x - max) / sum(exp(x - max)), for any number of columns.

torch_softmax      the reference: PyTorch's own kernel
softmax_in_five    five PyTorch operations: eight trips of the matrix, where two would do
softmax_unshifted  one kernel that subtracts no maximum, and overflows
softmax            one kernel: rows that fit a program at once, longer ones block by block

x: rows × cols, of any floating dtype; computed in float32.
"""

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import matrix


def torch_softmax(x):
    return torch.softmax(x, dim=1)


def softmax_in_five(x):
    top = x.amax(dim=1, keepdim=True)  # reads x
    shifted = x - top  # reads x, writes shifted
    raised = shifted.exp()  # reads shifted, writes raised
    total = raised.sum(dim=1, keepdim=True)  # reads raised
    return raised / total  # reads raised, writes the result


@triton.jit
def softmax_kernel(
    out_ptr, x_ptr, rows, cols, stride,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (col < cols)

    # Padding is -inf: no maximum, and its exp is 0.
    x = tl.load(x_ptr + row * stride + col, inside, other=-float("inf"))
    x = x.to(tl.float32)

    raised = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    share = raised / tl.sum(raised, axis=1, keep_dims=True)

    tl.store(out_ptr + row * cols + col, share, inside)


@triton.jit
def softmax_looped_kernel(
    out_ptr, x_ptr, cols, stride,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    low = -float("inf")

    top, base, total = low, 0.0, 0.0
    for first in range(0, cols, BLOCK):
        i = first + col
        x = tl.load(x_ptr + row * stride + i, i < cols, other=low)
        x = x.to(tl.float32)
        before, top = base, tl.maximum(top, tl.max(x, axis=0))
        base = tl.where(top == low, 0.0, top)  # -inf - -inf is NaN
        total = total * tl.exp(before - base)
        total += tl.sum(tl.exp(x - base), axis=0)

    for first in range(0, cols, BLOCK):
        i = first + col
        x = tl.load(x_ptr + row * stride + i, i < cols)
        share = tl.exp(x.to(tl.float32) - base) / total
        tl.store(out_ptr + row * cols + i, share, i < cols)


@triton.jit
def softmax_unshifted_kernel(
    out_ptr, x_ptr, cols, stride,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + row * stride + col, inside, other=-float("inf"))
    x = x.to(tl.float32)

    raised = tl.exp(x)  # infinite from 89 on
    share = raised / tl.sum(raised, axis=0)

    tl.store(out_ptr + row * cols + col, share, inside)


LONGEST = 16384
"""Columns that one program holds at once; beyond, registers spill."""


def softmax_path(cols):
    """Which kernel takes rows of that many columns."""
    return "at once" if cols <= LONGEST else "looped"


def softmax(x, rows_per_program=0, num_warps=0):
    x = matrix(x)
    rows, cols = x.shape
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if not x.numel():
        return out
    if softmax_path(cols) == "looped":
        softmax_looped_kernel[(rows,)](out, x, cols, x.stride(0), BLOCK=LONGEST, num_warps=16)
        return out
    block = triton.next_power_of_2(cols)
    together = rows_per_program or rows_for(block)
    softmax_kernel[(triton.cdiv(rows, together),)](
        out, x, rows, cols, x.stride(0), ROWS=together, BLOCK=block,
        num_warps=num_warps or warps_for(block),
    )  # fmt: skip
    return out


# Rows of 1,024 two by two: 4,210 GB/s on an H200, one by one 3,890.
def rows_for(block):
    return max(1, 2048 // block)


# Long rows need the lanes: at 16,384 columns 8 warps reach 3,530 GB/s, 32 reach 3,960. At 4,096
# four are enough, and 16 wait for one another: 4,080 and 3,350.
def warps_for(block):
    return 4 if block <= 4096 else block // 512


def softmax_unshifted(x):
    x = matrix(x)
    rows, cols = x.shape
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel():
        block = triton.next_power_of_2(cols)
        softmax_unshifted_kernel[(rows,)](out, x, cols, x.stride(0), BLOCK=block)
    return out
