"""cause: wrong axis"""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    out_ptr, x_ptr, rows, cols, stride, BLOCK: tl.constexpr, COLS: tl.constexpr
):
    row = tl.arange(0, BLOCK)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)

    x = tl.load(x_ptr + row * stride + col, inside, other=-float("inf"))
    x = x.to(tl.float32)

    raised = tl.exp(x - tl.max(x, axis=0, keep_dims=True))
    share = raised / tl.sum(raised, axis=0, keep_dims=True)

    tl.store(out_ptr + row * cols + col, share, inside)


def softmax(x):
    rows, cols = x.shape
    out = x.new_empty(rows, cols)
    block = triton.next_power_of_2(rows)
    warps = min(16, max(4, block // 512))
    softmax_kernel[(1,)](
        out,
        x,
        rows,
        cols,
        x.stride(0),
        BLOCK=block,
        COLS=triton.next_power_of_2(cols),
        num_warps=warps,
    )
    return out
