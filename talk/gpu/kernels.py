"""The stage's own kernels: plain streams, an empty one, and one to test a place with."""

# mypy: disable-error-code="untyped-decorator, no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def read_kernel(out_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + i))

    # Never so, which the compiler cannot know: nothing is written, and no load is left out.
    tl.store(out_ptr, total, mask=total == 1.5e38)


@triton.jit
def write_kernel(out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.full((BLOCK,), 1.0, tl.float32))


@triton.jit
def copy_kernel(out_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i))


@triton.jit
def add_three_kernel(out_ptr, x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i) + tl.load(z_ptr + i))


@triton.jit
def empty_kernel(out_ptr):
    pass


@triton.jit
def multiply_adds_kernel(out_ptr, x_ptr, keep, REPEATS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + i)

    for _ in range(REPEATS):
        y = tl.fma(y, keep, 1 - keep)

    tl.store(out_ptr + i, y)


@triton.jit
def dots_kernel(out_ptr, a_ptr, b_ptr, repeats, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, col, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + row[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + col[None, :])

    total = tl.zeros((M, N), tl.float32)
    for _ in range(repeats):
        total = tl.dot(a, b, total)

    tl.store(out_ptr + tl.program_id(0) * N + col, tl.sum(total, axis=0))


@triton.jit
def chain_kernel(out_ptr, links_ptr, loads):
    at = 0
    for _ in range(loads):
        at = tl.load(links_ptr + at)
    tl.store(out_ptr, at)


@triton.jit
def column_sums_kernel(out_ptr, x_ptr, rows, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    inside = col < cols
    total = tl.zeros((BLOCK,), dtype=tl.float32)

    # A loop over a run-time value: see loops.py.
    for row in range(rows):
        total += tl.load(x_ptr + row * cols + col, inside, other=0.0)

    tl.store(out_ptr + col, total, inside)
