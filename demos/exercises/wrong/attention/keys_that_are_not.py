"""cause: padding in the reduction"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_of(ptr, row, rows, width, BLOCK_D: tl.constexpr):
    """Rows of a matrix as a tile; what lies beyond its edges is 0."""
    d = tl.arange(0, BLOCK_D)[None, :]
    inside = (row < rows)[:, None] & (d < width)
    return tl.load(ptr + row[:, None] * width + d, inside, other=0.0)


@triton.jit
def attention_kernel(
    out_ptr, q_ptr, k_ptr, v_ptr, queries, keys, width, scale,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64)
    q_ptr += head * queries * width
    q = rows_of(q_ptr, row, queries, width, BLOCK_D)

    top = tl.full((BLOCK_M, 1), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M, 1), tl.float32)
    sums = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    ahead = head * keys * width
    for first in range(0, keys, BLOCK_N):
        key = first + tl.arange(0, BLOCK_N)
        k = rows_of(k_ptr + ahead, key, keys, width, BLOCK_D)
        v = rows_of(v_ptr + ahead, key, keys, width, BLOCK_D)

        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (key >= 0)[None, :]
        if CAUSAL:
            seen = seen & (key[None, :] <= row[:, None])
        scores = tl.where(seen, scores, -float("inf"))

        # Key 0 is seen by all, in the first block: so top is finite.
        new = tl.maximum(top, tl.max(scores, 1, keep_dims=True))
        before, top = top, new
        raised, shrink = tl.exp(scores - top), tl.exp(before - top)
        total = total * shrink + tl.sum(raised, 1, keep_dims=True)
        sums *= shrink
        share = raised.to(v.dtype)
        sums = tl.dot(share, v, sums, input_precision="ieee")

    # With no key, both are 0.
    out = sums / tl.where(total > 0, total, 1.0)
    d = tl.arange(0, BLOCK_D)[None, :]
    at = (head * queries + row)[:, None] * width + d
    tl.store(out_ptr + at, out, (row < queries)[:, None] & (d < width))


def attention(q, k, v, causal=False, block_m=64, block_n=64):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    heads, queries, width = q.shape
    out = torch.empty_like(q)
    grid = triton.cdiv(queries, block_m), heads
    attention_kernel[grid](
        out, q, k, v, queries, k.shape[1], width, width**-0.5,
        CAUSAL=bool(causal), BLOCK_M=block_m, BLOCK_N=block_n,
        BLOCK_D=max(16, triton.next_power_of_2(width)),
    )  # fmt: skip
    return out
