"""cause: the kernel is not launched"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr): ...


def add(x, y):
    return torch.add(x, y)
