"""LayerNorm of every row: (x - mean) / sqrt(variance + epsilon), times weight, plus bias.

torch_layer_norm     the reference: PyTorch's own kernel
layer_norm_by_parts  PyTorch operations one by one
layer_norm           one kernel: rows that fit a program at once, longer ones block by block

x: rows × cols, of any floating dtype; weight, bias: cols. Computed in float32 (Ba, Kiros,
Hinton, 2016).
"""

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import matrix

EPSILON = 1e-5
"""As in torch.nn.LayerNorm."""


def torch_layer_norm(x, weight, bias):
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, EPSILON)


def layer_norm_by_parts(x, weight, bias):
    wide = x.float()  # reads x, writes wide
    mean = wide.mean(dim=1, keepdim=True)  # reads wide
    centred = wide - mean  # reads wide, writes centred
    squares = centred * centred  # reads centred, writes squares
    variance = squares.mean(dim=1, keepdim=True)  # reads squares
    scaled = centred * torch.rsqrt(variance + EPSILON)  # reads, writes
    return (scaled * weight + bias).to(x.dtype)  # three times: reads, writes


@triton.jit
def layer_norm_kernel(
    out_ptr, x_ptr, weight_ptr, bias_ptr, rows, cols, stride, epsilon,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (col < cols)

    x = tl.load(x_ptr + row * stride + col, inside, other=0.0)
    x = x.to(tl.float32)

    mean = tl.sum(x, axis=1, keep_dims=True) / cols
    centred = tl.where(inside, x - mean, 0.0)  # padding is not -mean
    squares = tl.sum(centred * centred, axis=1, keep_dims=True)
    scaled = centred * tl.rsqrt(squares / cols + epsilon)

    weight = tl.load(weight_ptr + col, col < cols).to(tl.float32)
    bias = tl.load(bias_ptr + col, col < cols).to(tl.float32)
    out = scaled * weight + bias
    tl.store(out_ptr + row * cols + col, out, inside)


@triton.jit
def layer_norm_looped_kernel(
    out_ptr, x_ptr, weight_ptr, bias_ptr, cols, stride, epsilon,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row, col = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        total += part_of(x_ptr + row * stride, first + col, cols)
    mean = tl.sum(total, axis=0) / cols

    for first in range(0, cols, BLOCK):
        x = part_of(x_ptr + row * stride, first + col, cols)
        centred = tl.where(first + col < cols, x - mean, 0.0)
        squares += centred * centred
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)

    for first in range(0, cols, BLOCK):
        i = first + col
        x = part_of(x_ptr + row * stride, i, cols)
        out = (x - mean) * scale * part_of(weight_ptr, i, cols)
        out += part_of(bias_ptr, i, cols)
        tl.store(out_ptr + row * cols + i, out, i < cols)


@triton.jit
def part_of(row_ptr, i, cols):
    return tl.load(row_ptr + i, i < cols, other=0.0).to(tl.float32)


LONGEST = 32768
"""Columns that one program holds at once."""


def layer_norm(x, weight, bias, rows_per_program=0, num_warps=0):
    x = matrix(x)
    rows, cols = x.shape
    if weight.shape != (cols,) or bias.shape != (cols,):
        raise ValueError(
            f"weight {tuple(weight.shape)} or bias {tuple(bias.shape)} is not ({cols},)"
        )
    weight, bias = weight.contiguous(), bias.contiguous()
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if not x.numel():
        return out
    inputs = (out, x, weight, bias)
    if cols > LONGEST:
        layer_norm_looped_kernel[(rows,)](
            *inputs, cols, x.stride(0), EPSILON, BLOCK=8192, num_warps=16
        )
        return out
    block = triton.next_power_of_2(cols)
    together = rows_per_program or rows_for(block)
    layer_norm_kernel[(triton.cdiv(rows, together),)](
        *inputs, rows, cols, x.stride(0), EPSILON, ROWS=together, BLOCK=block,
        num_warps=num_warps or warps_for(block),
    )  # fmt: skip
    return out


# Rows of 1,024 two by two: 4,220 GB/s on an H200, one by one 3,870.
def rows_for(block):
    return max(1, 2048 // block)


# Four warps hold rows of 8,192; at 16,384 eight and sixteen are alike, 3,930 and 3,910 GB/s, and
# thirty-two wait for one another: 2,490.
def warps_for(block):
    return 4 if block <= 8192 else block // 1024
