"""cause: block too small"""

import triton
import triton.language as tl


@triton.jit
def residual_norm_kernel(
    out_ptr, x_ptr, residual_ptr, weight_ptr, bias_ptr,
    cols, x_stride, residual_stride, epsilon, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    residual_ptr += row * residual_stride
    x = tl.load(x_ptr + row * x_stride + col, inside, other=0.0)
    residual = tl.load(residual_ptr + col, inside, other=0.0)
    total = x.to(tl.float32) + residual.to(tl.float32)

    mean = tl.sum(total, axis=0) / cols
    centred = tl.where(inside, total - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / cols
    scaled = centred * tl.rsqrt(variance + epsilon)

    weight = tl.load(weight_ptr + col, inside).to(tl.float32)
    bias = tl.load(bias_ptr + col, inside).to(tl.float32)
    tl.store(out_ptr + row * cols + col, scaled * weight + bias, inside)


def residual_norm(x, residual, weight, bias, epsilon=1e-5):
    rows, cols = x.shape
    out = x.new_empty(rows, cols)
    block = triton.next_power_of_2(cols) // 2 or 1
    warps = min(16, max(4, block // 1024))
    residual_norm_kernel[(rows,)](
        out, x, residual, weight, bias,
        cols, x.stride(0), residual.stride(0), epsilon,
        BLOCK=block, num_warps=warps,
    )  # fmt: skip
    return out
