"""x · y + z as an operation of PyTorch: with a gradient, for eager mode and torch.compile.

multiply_add_operator  through `torch.library.triton_op`, so that torch.compile sees the kernel
multiply_add_opaque    the same body through `custom_op`, which hides it and runs interpreted too

A second import, after an edit, registers both anew.
"""

import torch
import triton

from demos.kernels.elementwise import multiply_add, multiply_add_kernel
from demos.kernels.inputs import alike


def launch(kernel, x, y, z, block=512):
    x, y, z = alike(x, y, z)
    out = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, block),)](out, x, y, z, n, BLOCK=block)
    return out


@torch.library.triton_op("memory_wall::multiply_add", mutates_args=())
def multiply_add_operator(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return launch(torch.library.wrap_triton(multiply_add_kernel), x, y, z)


@torch.library.custom_op("memory_wall::multiply_add_opaque", mutates_args=())
def multiply_add_opaque(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return multiply_add(x, y, z)


@multiply_add_opaque.register_fake
def like_x(x, y, z):
    return torch.empty_like(x)


def keep_factors(ctx, inputs, output):
    x, y, _ = inputs
    ctx.save_for_backward(x, y)


def gradients(ctx, grad):
    x, y = ctx.saved_tensors
    return grad * y, grad * x, grad


for operator in (multiply_add_operator, multiply_add_opaque):
    operator.register_autograd(gradients, setup_context=keep_factors)
