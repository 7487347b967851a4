"""LayerNorm that can be trained: a forward that keeps two numbers a row, and its backward.

torch_layer_norm_backward  the reference: PyTorch's own kernels
layer_norm_forward         as `layer_norm`, with the mean and 1 / deviation of every row beside it
layer_norm_backward        dx, dweight and dbias: one trip through x and grad where a row fits
trained_layer_norm         both as one operation of PyTorch, with its gradient

With grad = dloss/dout, and all of one row (Ba, Kiros, Hinton, 2016):

    scaled  = (x - mean) / deviation
    pull    = grad · weight
    dx      = (pull - mean(pull) - scaled · mean(pull · scaled)) / deviation
    dweight = sum of grad · scaled over all rows
    dbias   = sum of grad over all rows

The sums over rows need no lock and no atomic. Every program sums its own rows into a line of its
own, and a second, small kernel adds the lines up, in their order: the same bits every time.

x, grad: rows × cols, of any floating dtype; weight, bias: cols. Computed in float32; of float64 in
float64, which is what a check of the gradient by differences needs.
"""

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

from demos.kernels.inputs import matrix
from demos.kernels.layer_norm import EPSILON, LONGEST, rows_for, warps_for


def torch_layer_norm_backward(grad, x, weight, mean, inverse):
    return torch.ops.aten.native_layer_norm_backward(
        grad, x, x.shape[1:], mean[:, None], inverse[:, None], weight, weight, [True] * 3
    )


@triton.jit
def part_of(ptr, inside, WIDE: tl.constexpr):
    return tl.load(ptr, inside, other=0.0).to(WIDE)


# Forward


@triton.jit
def layer_norm_forward_kernel(
    out_ptr, mean_ptr, inverse_ptr, x_ptr, weight_ptr, bias_ptr,
    rows, cols, stride, epsilon,
    WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (col < cols)

    x = part_of(x_ptr + row * stride + col, inside, WIDE)
    mean = tl.sum(x, axis=1, keep_dims=True) / cols
    centred = tl.where(inside, x - mean, 0.0)  # padding is not -mean
    squares = tl.sum(centred * centred, axis=1, keep_dims=True)
    inverse = tl.rsqrt(squares / cols + epsilon)

    weight = part_of(weight_ptr + col, col < cols, WIDE)
    bias = part_of(bias_ptr + col, col < cols, WIDE)
    out = centred * inverse * weight + bias
    tl.store(out_ptr + row * cols + col, out, inside)
    tl.store(mean_ptr + row, mean, row < rows)
    tl.store(inverse_ptr + row, inverse, row < rows)


@triton.jit
def statistics(
    x_ptr, cols, epsilon, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Mean and 1 / deviation of a row, which is read twice."""
    col = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), WIDE)
    for first in range(0, cols, BLOCK):
        total += part_of(x_ptr + first + col, first + col < cols, WIDE)
    mean = tl.sum(total, axis=0) / cols

    squares = tl.zeros((BLOCK,), WIDE)
    for first in range(0, cols, BLOCK):
        inside = first + col < cols
        x = part_of(x_ptr + first + col, inside, WIDE)
        centred = tl.where(inside, x - mean, 0.0)
        squares += centred * centred
    return mean, tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)


@triton.jit
def layer_norm_forward_looped_kernel(
    out_ptr, mean_ptr, inverse_ptr, x_ptr, weight_ptr, bias_ptr,
    cols, stride, epsilon,
    WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, col = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x_ptr += row * stride
    mean, inverse = statistics(x_ptr, cols, epsilon, WIDE, BLOCK)

    for first in range(0, cols, BLOCK):
        i = first + col
        scaled = (part_of(x_ptr + i, i < cols, WIDE) - mean) * inverse
        weight = part_of(weight_ptr + i, i < cols, WIDE)
        bias = part_of(bias_ptr + i, i < cols, WIDE)
        out = scaled * weight + bias
        tl.store(out_ptr + row * cols + i, out, i < cols)

    tl.store(mean_ptr + row, mean)
    tl.store(inverse_ptr + row, inverse)


def layer_norm_forward(x, weight, bias, rows_per_program=0, num_warps=0):
    """out, and of each row the mean and 1 / deviation."""
    x = matrix(x)
    rows, cols = x.shape
    if weight.shape != (cols,) or bias.shape != (cols,):
        raise ValueError(
            f"weight {tuple(weight.shape)} or bias {tuple(bias.shape)} is not ({cols},)"
        )
    weight, bias = weight.contiguous(), bias.contiguous()
    out, wide = torch.empty_like(x, memory_format=torch.contiguous_format), wide_of(x)
    mean, inverse = (x.new_empty(rows, dtype=wide) for _ in range(2))
    if not x.numel():
        return out, mean.zero_(), inverse.zero_()
    given = (out, mean, inverse, x, weight, bias)
    if cols > LONGEST:
        layer_norm_forward_looped_kernel[(rows,)](
            *given, cols, x.stride(0), EPSILON, WIDE=in_triton(wide), BLOCK=8192, num_warps=16
        )
        return out, mean, inverse
    block = triton.next_power_of_2(cols)
    together = rows_per_program or rows_for(block)
    layer_norm_forward_kernel[(triton.cdiv(rows, together),)](
        *given, rows, cols, x.stride(0), EPSILON,
        WIDE=in_triton(wide), ROWS=together, BLOCK=block,
        num_warps=num_warps or warps_for(block),
    )  # fmt: skip
    return out, mean, inverse


def wide_of(x):
    """What is computed in."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def in_triton(dtype):
    return getattr(tl, str(dtype).removeprefix("torch."))


# Backward, of rows that fit


@triton.jit
def of_rows(
    grad_ptr, x_ptr, mean_ptr, inverse_ptr, row, col,
    rows, cols, grad_stride, stride, WIDE: tl.constexpr,
):  # fmt: skip
    """grad, x scaled, and 1 / deviation; beyond the edges grad is 0."""
    mean = part_of(mean_ptr + row, row < rows, WIDE)[:, None]
    inverse = part_of(inverse_ptr + row, row < rows, WIDE)[:, None]
    row = row[:, None]
    inside = (row < rows) & (col < cols)
    grad = part_of(grad_ptr + row * grad_stride + col, inside, WIDE)
    x = part_of(x_ptr + row * stride + col, inside, WIDE)
    return grad, (x - mean) * inverse, inverse


@triton.jit
def slope(grad, scaled, inverse, weight, cols):
    """dx: pull, less what would move a row's mean or deviation."""
    pull = grad * weight
    level = tl.sum(pull, axis=1, keep_dims=True) / cols
    along = tl.sum(pull * scaled, axis=1, keep_dims=True) / cols
    return (pull - level - scaled * along) * inverse


@triton.jit
def store_sums(sums_ptr, dweight, dbias, line, lines, col, cols):
    """dweight's line, and dbias's: as far behind as there are lines."""
    dweight = tl.sum(dweight, axis=0, keep_dims=True)
    dbias = tl.sum(dbias, axis=0, keep_dims=True)
    tl.store(sums_ptr + line * cols + col, dweight, col < cols)
    tl.store(sums_ptr + (line + lines) * cols + col, dbias, col < cols)


@triton.jit
def layer_norm_backward_kernel(
    dx_ptr, sums_ptr, grad_ptr, x_ptr, weight_ptr, mean_ptr,
    inverse_ptr, rows, cols, grad_stride, stride, WIDE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    line, lines = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    tiles, col = tl.cdiv(rows, ROWS), tl.arange(0, BLOCK)[None, :]
    weight = part_of(weight_ptr + col, col < cols, WIDE)
    dweight = tl.zeros((ROWS, BLOCK), WIDE)
    dbias = tl.zeros((ROWS, BLOCK), WIDE)

    for tile in tl.range(line, tiles, lines, num_stages=STAGES):
        row = tile * ROWS + tl.arange(0, ROWS)
        grad, scaled, inverse = of_rows(
            grad_ptr, x_ptr, mean_ptr, inverse_ptr, row, col,
            rows, cols, grad_stride, stride, WIDE,
        )  # fmt: skip
        dx = slope(grad, scaled, inverse, weight, cols)
        at, inside = row[:, None], (row < rows)[:, None] & (col < cols)
        tl.store(dx_ptr + at * cols + col, dx, inside)
        dweight, dbias = dweight + grad * scaled, dbias + grad

    store_sums(sums_ptr, dweight, dbias, line, lines, col, cols)


# Backward, of longer rows: dx block by block, then the sums, which read x and grad once more


@triton.jit
def pull_of(grad_ptr, weight_ptr, i, cols, WIDE: tl.constexpr):
    grad = part_of(grad_ptr + i, i < cols, WIDE)
    return grad * part_of(weight_ptr + i, i < cols, WIDE)


@triton.jit
def layer_norm_slope_kernel(
    dx_ptr, grad_ptr, x_ptr, weight_ptr, mean_ptr, inverse_ptr,
    cols, grad_stride, stride, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, col = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    mean, inverse = tl.load(mean_ptr + row), tl.load(inverse_ptr + row)
    grad_ptr, x_ptr = grad_ptr + row * grad_stride, x_ptr + row * stride
    level, along = tl.zeros((BLOCK,), WIDE), tl.zeros((BLOCK,), WIDE)
    for first in range(0, cols, BLOCK):
        i = first + col
        pull = pull_of(grad_ptr, weight_ptr, i, cols, WIDE)
        level += pull
        along += pull * (part_of(x_ptr + i, i < cols, WIDE) - mean)
    level = tl.sum(level, axis=0) / cols
    along = tl.sum(along, axis=0) / cols * inverse

    for first in range(0, cols, BLOCK):
        i = first + col
        pull = pull_of(grad_ptr, weight_ptr, i, cols, WIDE)
        scaled = (part_of(x_ptr + i, i < cols, WIDE) - mean) * inverse
        dx = (pull - level - scaled * along) * inverse
        tl.store(dx_ptr + row * cols + i, dx, i < cols)


@triton.jit
def layer_norm_sums_kernel(
    sums_ptr, grad_ptr, x_ptr, mean_ptr, inverse_ptr,
    rows, cols, grad_stride, stride,
    WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    line, lines = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    col = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[None, :]
    dweight = tl.zeros((ROWS, BLOCK), WIDE)
    dbias = tl.zeros((ROWS, BLOCK), WIDE)

    for tile in range(line, tl.cdiv(rows, ROWS), lines):
        grad, scaled, _ = of_rows(
            grad_ptr, x_ptr, mean_ptr, inverse_ptr,
            tile * ROWS + tl.arange(0, ROWS), col,
            rows, cols, grad_stride, stride, WIDE,
        )  # fmt: skip
        dweight, dbias = dweight + grad * scaled, dbias + grad

    store_sums(sums_ptr, dweight, dbias, line, lines, col, cols)


@triton.jit
def layer_norm_totals_kernel(
    dweight_ptr, dbias_ptr, sums_ptr, lines, cols,
    WIDE: tl.constexpr, LINES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    col = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[None, :]
    dweight = tl.zeros((LINES, BLOCK), WIDE)
    dbias = tl.zeros((LINES, BLOCK), WIDE)

    for first in range(0, lines, LINES):
        line = (first + tl.arange(0, LINES).to(tl.int64))[:, None]
        inside = (line < lines) & (col < cols)
        dweight += part_of(sums_ptr + line * cols + col, inside, WIDE)
        line += lines
        dbias += part_of(sums_ptr + line * cols + col, inside, WIDE)

    dweight = tl.sum(dweight, axis=0, keep_dims=True)
    dbias = tl.sum(dbias, axis=0, keep_dims=True)
    tl.store(dweight_ptr + col, dweight, col < cols)
    tl.store(dbias_ptr + col, dbias, col < cols)


LONGEST_BACKWARD = 8192
"""Columns of which one program holds x, grad and both sums at once."""


def layer_norm_backward(grad, x, weight, mean, inverse, **tuning):
    """dx, dweight, dbias: for the slope of out, and what the forward kept."""
    grad, x, weight = matrix(grad), matrix(x), weight.contiguous()
    if grad.shape != x.shape:
        raise ValueError(f"grad {tuple(grad.shape)} does not fit x {tuple(x.shape)}")
    if weight.shape != x.shape[1:]:
        raise ValueError(f"weight {tuple(weight.shape)} is not {tuple(x.shape[1:])}")
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
    if not x.numel():
        return dx, dweight.zero_(), dbias.zero_()
    parts = at_once if x.shape[1] <= LONGEST_BACKWARD else block_by_block
    sums = parts(dx, grad, x, weight, mean, inverse, **tuning)
    add_up(dweight, dbias, sums)
    return dx, dweight, dbias


def at_once(
    dx, grad, x, weight, mean, inverse, rows_per_program=0, num_warps=0, per_unit=0, stages=0
):
    """Fills dx; the sums of each program: 2 × programs × cols."""
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    together = rows_per_program or rows_for(block)
    warps = num_warps or backward_warps(block)
    programs = min(triton.cdiv(rows, together), units(x) * (per_unit or programs_a_unit(warps)))
    sums = x.new_empty(2, programs, cols, dtype=mean.dtype)
    layer_norm_backward_kernel[(programs,)](
        dx, sums, grad, x, weight, mean, inverse, rows, cols, grad.stride(0), x.stride(0),
        WIDE=in_triton(mean.dtype), ROWS=together, BLOCK=block,
        STAGES=stages or backward_stages(together * block * x.element_size()), num_warps=warps,
    )  # fmt: skip
    return sums


# Sixteen elements a thread: x, grad, weight and both sums are 80 registers.
def backward_warps(block):
    return max(4, block // 512)


# Rows that are on their way while others are computed: x and grad, in 48 KiB of shared memory.
def backward_stages(tile_bytes):
    return min(3, 1 + 48 * 1024 // (2 * tile_bytes))


# As many as are resident, each with many rows: fewer lines to add up.
def programs_a_unit(warps):
    return max(1, 16 // warps)


def units(x):
    """Multiprocessors of its device; interpreted, so few that each program has several rows."""
    if x.device.type != "cuda":
        return 1
    return torch.cuda.get_device_properties(x.device).multi_processor_count


def block_by_block(dx, grad, x, weight, mean, inverse, block=8192, num_warps=16, lines=32):
    """Fills dx; the sums of each line: 2 × lines × cols."""
    rows, cols = x.shape
    strides, wide = (grad.stride(0), x.stride(0)), in_triton(mean.dtype)
    layer_norm_slope_kernel[(rows,)](
        dx, grad, x, weight, mean, inverse, cols, *strides,
        WIDE=wide, BLOCK=block, num_warps=num_warps,
    )  # fmt: skip
    lines = min(lines, triton.cdiv(rows, 4))
    sums = x.new_empty(2, lines, cols, dtype=mean.dtype)
    layer_norm_sums_kernel[(triton.cdiv(cols, 512), lines)](
        sums, grad, x, mean, inverse, rows, cols, *strides, WIDE=wide, ROWS=4, BLOCK=512
    )
    return sums


def add_up(dweight, dbias, sums):
    _, lines, cols = sums.shape
    block = 32 if cols <= LONGEST_BACKWARD else 128
    layer_norm_totals_kernel[(triton.cdiv(cols, block),)](
        dweight,
        dbias,
        sums,
        lines,
        cols,
        WIDE=in_triton(sums.dtype),
        LINES=2048 // block,
        BLOCK=block,
    )


class TrainedLayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        out, mean, inverse = layer_norm_forward(x, weight, bias)
        ctx.save_for_backward(x, weight, mean, inverse)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return layer_norm_backward(grad, *ctx.saved_tensors)


def trained_layer_norm(x, weight, bias):
    return TrainedLayerNorm.apply(x, weight, bias)
