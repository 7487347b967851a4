"""cause: the result was not stored by the kernel"""

import torch
import triton
import triton.language as tl


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

    scaled = (x - mean) * inverse

    tl.store(out_ptr + row * cols + col, scaled * weight + bias, inside)


def forward(x, weight, bias, mean, inverse):
    rows, cols = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(cols)
    forward_kernel[(rows,)](
        out, x, weight, bias, mean, inverse, cols, BLOCK=block
    )
    return out


@triton.jit
def slope_kernel(
    dx_ptr, grad_ptr, x_ptr, weight_ptr, mean_ptr, inverse_ptr, cols,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    at = row * cols + col
    grad = tl.load(grad_ptr + at, inside, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + at, inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, inside, other=0.0)
    mean, inverse = tl.load(mean_ptr + row), tl.load(inverse_ptr + row)

    # Beyond the row pull is 0, and so is its part of both means.
    scaled = (x - mean) * inverse
    pull = grad * weight
    level = tl.sum(pull, axis=0) / cols
    along = tl.sum(pull * scaled, axis=0) / cols

    dx = (pull - level - scaled * along) * inverse
    tl.store(dx_ptr + at, dx, inside)


@triton.jit
def sums_kernel(
    dweight_ptr, dbias_ptr, grad_ptr, x_ptr, mean_ptr, inverse_ptr,
    rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dweight = tl.zeros((BLOCK,), tl.float32)
    dbias = tl.zeros((BLOCK,), tl.float32)

    for first in range(0, rows, ROWS):
        row = (first + tl.arange(0, ROWS).to(tl.int64))[:, None]
        inside = (row < rows) & (col < cols)
        at = row * cols + col
        grad = tl.load(grad_ptr + at, inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, inside, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + row, row < rows, other=0.0)
        inverse = tl.load(inverse_ptr + row, row < rows, other=0.0)
        dweight += tl.sum(grad * (x - mean) * inverse, axis=0)
        dbias += tl.sum(grad, axis=0)

    tl.store(dweight_ptr + col, dweight, col < cols)
    tl.store(dbias_ptr + col, dbias, col < cols)


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
    leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
    norm = torch.nn.functional.layer_norm
    out = norm(leaves[0], weight.shape, *leaves[1:])
    mean, inverse = statistics(x)
    return forward(x, weight, bias, mean, inverse), *torch.autograd.grad(
        out, leaves, grad
    )
