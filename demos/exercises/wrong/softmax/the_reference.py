"""cause: the kernel is not launched"""

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
    return x.softmax(dim=1)
