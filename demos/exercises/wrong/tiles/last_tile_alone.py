"""cause: the sum does not go on"""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    out_ptr, a_ptr, b_ptr, rows, cols, depth, a_row, a_k, b_k, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # A row down in a is a_row elements on, a column to the right a_k.
    m, n = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    row = m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    col = n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    k = tl.arange(0, BLOCK_K).to(tl.int64)

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for done in range(0, depth, BLOCK_K):
        along, down = (done + k)[None, :], (done + k)[:, None]
        in_a = (row < rows) & (along < depth)
        in_b = (down < depth) & (col < cols)
        a = tl.load(a_ptr + row * a_row + along * a_k, in_a, other=0.0)
        b = tl.load(b_ptr + down * b_k + col * b_col, in_b, other=0.0)
        total = tl.dot(a, b, input_precision="ieee")

    inside = (row < rows) & (col < cols)
    tl.store(out_ptr + row * cols + col, total, inside)


def matmul(a, b, block_m=128, block_n=128, block_k=32, num_warps=8):
    rows, depth = a.shape
    cols = b.shape[1]
    out = a.new_empty(rows, cols)
    grid = triton.cdiv(rows, block_m), triton.cdiv(cols, block_n)
    matmul_kernel[grid](
        out, a, b, rows, cols, depth, *a.stride(), *b.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, num_warps=num_warps,
    )  # fmt: skip
    return out
