"""Challenge: LayerNorm, forward and backward.

1. statistics_kernel is a worked example: a row's mean and 1 / deviation.
2. forward_kernel has one blank, `...`: fill it.
3. Write the backward: slope_kernel for dx, sums_kernel for dweight and dbias.
No lock and no atomic: the same inputs give the same bits, every time.
`just exercise layer_norm` grades it; with --hint it says where to look.

With grad = dloss/dout, and everything of one row:

    scaled  = (x - mean) / deviation
    pull    = grad · weight
    dx      = (pull - mean(pull) - scaled · mean(pull · scaled)) / deviation
    dweight = sum of grad · scaled over all rows
    dbias   = sum of grad over all rows
"""

import torch
import triton
import triton.language as tl

# 1. A worked example


@triton.jit
def statistics_kernel(
    mean_ptr, inverse_ptr, x_ptr, cols, epsilon,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + row * cols + col, inside, other=0.0)
    x = x.to(tl.float32)

    mean = tl.sum(x, axis=0) / cols
    # Lanes beyond the row are 0 once more, not -mean.
    centred = tl.where(inside, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / cols

    tl.store(mean_ptr + row, mean)
    tl.store(inverse_ptr + row, tl.rsqrt(variance + epsilon))


def statistics(x, epsilon=1e-5):
    rows, cols = x.shape
    mean, inverse = (x.new_empty(rows, dtype=torch.float32) for _ in range(2))
    block = triton.next_power_of_2(cols)
    statistics_kernel[(rows,)](mean, inverse, x, cols, epsilon, BLOCK=block)
    return mean, inverse


# 2. One blank


@triton.jit
def forward_kernel(
    out_ptr, x_ptr, weight_ptr, bias_ptr, mean_ptr, inverse_ptr, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + row * cols + col, inside).to(tl.float32)
    weight = tl.load(weight_ptr + col, inside).to(tl.float32)
    bias = tl.load(bias_ptr + col, inside).to(tl.float32)
    mean, inverse = tl.load(mean_ptr + row), tl.load(inverse_ptr + row)

    scaled = ...

    tl.store(out_ptr + row * cols + col, scaled * weight + bias, inside)


def forward(x, weight, bias, mean, inverse):
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    forward_kernel[(rows,)](
        out, x, weight, bias, mean, inverse, cols, BLOCK=block
    )
    return out


# 3. Yours


@triton.jit
def slope_kernel(
    dx_ptr, grad_ptr, x_ptr, weight_ptr, mean_ptr, inverse_ptr, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    # One row for each program, as above.
    ...


@triton.jit
def sums_kernel(
    dweight_ptr, dbias_ptr, grad_ptr, x_ptr, mean_ptr, inverse_ptr,
    rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # BLOCK columns for each program; all rows, ROWS at a time.
    ...


def backward(grad, x, weight, mean, inverse):
    rows, cols = x.shape
    dx = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    slope_kernel[(rows,)](dx, grad, x, weight, mean, inverse, cols, BLOCK=block)

    dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
    programs = triton.cdiv(cols, 32)
    sums_kernel[(programs,)](
        dweight, dbias, grad, x, mean, inverse, rows, cols, ROWS=64, BLOCK=32
    )  # fmt: skip
    return dx, dweight, dbias


def layer_norm(x, weight, bias, grad):
    """The LayerNorm of x, and dx, dweight and dbias of a loss of slope grad."""
    mean, inverse = statistics(x)
    out = forward(x, weight, bias, mean, inverse)
    return out, *backward(grad, x, weight, mean, inverse)
