"""Exercise 6: the inner loop of a tiled product.

1. row_sums_kernel is a worked example: tiles along the rows, one by one.
2. dot_rows_kernel has one blank, `...`: fill it.
3. The loop of matmul_kernel is empty: write it, so that matmul(a, b) is a @ b.
A tile that reaches beyond the edge is masked; what it lacks must not count.
`just exercise 6` says how far you are; with --hint it says where to look.
"""

import torch
import triton
import triton.language as tl

# 1. A worked example


@triton.jit
def row_sums_kernel(
    out_ptr, x_ptr, rows, cols,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # A column of row numbers, a row of column numbers: a tile.
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)[:, None]
    k = tl.arange(0, BLOCK)[None, :]

    total = tl.zeros((ROWS, 1), tl.float32)
    for done in range(0, cols, BLOCK):
        # The last tile is wider than what is left: there, x is 0.
        inside = (row < rows) & (done + k < cols)
        x = tl.load(x_ptr + row * cols + done + k, inside, other=0.0)
        total += tl.sum(x, axis=1, keep_dims=True)

    tl.store(out_ptr + row, total, row < rows)


def row_sums(x, rows_per_program=16, block=32):
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.empty_like(x[:, :1], memory_format=torch.contiguous_format)
    programs = triton.cdiv(rows, rows_per_program)
    row_sums_kernel[(programs,)](
        out, x, rows, cols, ROWS=rows_per_program, BLOCK=block
    )
    return out


# 2. One blank


@triton.jit
def dot_rows_kernel(
    out_ptr, x_ptr, y_ptr, rows, cols,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)[:, None]
    k = tl.arange(0, BLOCK)[None, :]

    total = tl.zeros((ROWS, 1), tl.float32)
    for done in range(0, cols, BLOCK):
        inside = ...
        x = tl.load(x_ptr + row * cols + done + k, inside, other=0.0)
        y = tl.load(y_ptr + row * cols + done + k, inside, other=0.0)
        total += tl.sum(x * y, axis=1, keep_dims=True)

    tl.store(out_ptr + row, total, row < rows)


def dot_rows(x, y, rows_per_program=16, block=32):
    """The products of rows of x with the same rows of y."""
    x, y = x.contiguous(), y.contiguous()
    rows, cols = x.shape
    out = torch.empty_like(x[:, :1], memory_format=torch.contiguous_format)
    programs = triton.cdiv(rows, rows_per_program)
    dot_rows_kernel[(programs,)](
        out, x, y, rows, cols, ROWS=rows_per_program, BLOCK=block
    )
    return out


# 3. Yours


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
        # A tile of a: my rows, and BLOCK_K columns from done on.
        # A tile of b: BLOCK_K rows from done on, and my columns.
        # tl.dot(a, b, total, input_precision="ieee") is total + a @ b.
        ...

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
