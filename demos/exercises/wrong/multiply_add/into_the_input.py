"""cause: an input was changed"""

import triton
import triton.language as tl


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

    tl.store(out_ptr + i, tl.fma(x, y, z), inside)


def multiply_add(x, y, z, block=512):
    out = z
    n = x.numel()
    programs = triton.cdiv(n, block)
    multiply_add_kernel[(programs,)](out, x, y, z, n, BLOCK=block)
    return out
