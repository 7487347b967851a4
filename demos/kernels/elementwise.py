"""Elementwise chains: one trip through memory an operation, or one for all of them.

torch_add_relu       the reference: two PyTorch operations, five array trips
add_then_relu        two Triton kernels, five array trips
add_relu             one kernel, three array trips

torch_multiply_add   the reference: two PyTorch operations, six array trips
torch_addcmul        PyTorch's own fused operation, four array trips
multiply_then_add    two Triton kernels, six array trips
multiply_add         one kernel, four array trips
"""

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import alike
from demos.kernels.vector_add import add


def torch_add_relu(x, y):
    total = x + y  # reads x and y, writes total
    return torch.relu(total)  # reads total, writes the result


@triton.jit
def relu_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)

    # NaN is not below zero: it passes, as in torch.relu.
    tl.store(out_ptr + i, tl.where(x < 0, 0, x), inside)


def relu(x, block=512, num_warps=4):
    (x,) = alike(x)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    relu_kernel[(programs,)](out, x, n, BLOCK=block, num_warps=num_warps)
    return out


def add_then_relu(x, y):
    total = add(x, y)  # reads x and y, writes total
    return relu(total)  # reads total, writes the result


@triton.jit
def add_relu_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)
    total = x + y

    # NaN is not below zero: it passes, as in torch.relu.
    tl.store(out_ptr + i, tl.where(total < 0, 0, total), inside)


def add_relu(x, y, block=512, num_warps=4):
    x, y = alike(x, y)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    add_relu_kernel[(programs,)](out, x, y, n, BLOCK=block, num_warps=num_warps)
    return out


def torch_multiply_add(x, y, z):
    product = x * y  # reads x and y, writes product
    return product + z  # reads product and z, writes the result


def torch_addcmul(x, y, z):
    return torch.addcmul(z, x, y)


@triton.jit
def multiply_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    x = tl.load(x_ptr + i, inside)
    y = tl.load(y_ptr + i, inside)

    tl.store(out_ptr + i, x * y, inside)


def multiply(x, y, block=512, num_warps=4):
    x, y = alike(x, y)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_kernel[(programs,)](out, x, y, n, BLOCK=block, num_warps=num_warps)
    return out


def multiply_then_add(x, y, z):
    product = multiply(x, y)  # reads x and y, writes product
    return add(product, z)  # reads product and z, writes the result


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

    # One instruction, one rounding; x * y + z may be two of each.
    tl.store(out_ptr + i, tl.fma(x, y, z), inside)


def multiply_add(x, y, z, block=512, num_warps=4):
    x, y, z = alike(x, y, z)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_add_kernel[(programs,)](out, x, y, z, n, BLOCK=block, num_warps=num_warps)
    return out
