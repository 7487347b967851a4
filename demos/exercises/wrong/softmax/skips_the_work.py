"""cause: the result was not stored by the kernel"""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out_ptr, x_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols

    x = tl.load(x_ptr + row * stride + col, inside, other=-float("inf"))
    x = x.to(tl.float32)

    raised = tl.exp(x - tl.max(x, axis=0))
    share = raised / tl.sum(raised, axis=0)

    tl.store(out_ptr + row * cols + col, share, inside)


def softmax(x):
    rows, cols = x.shape
    out = x.new_empty(rows, cols)
    block = triton.next_power_of_2(cols)
    warps = min(16, max(4, block // 512))
    softmax_kernel[(rows,)](
        out, x, cols, x.stride(0), BLOCK=block, num_warps=warps
    )
    return out.copy_(x.softmax(dim=1))
