"""Flash Attention, forward: softmax(q · kᵀ · scale) · v, and never the whole matrix of scores.

torch_attention     the reference: PyTorch's own, by whichever of its kernels it picks
flash_attention     PyTorch's, by the kernel of Dao and others
cudnn_attention     PyTorch's, by NVIDIA's library
attention_by_parts  PyTorch operations one by one, with queries × keys scores in memory
attention           one kernel: a tile of scores at a time, which never leaves the chip
attention_and_lse   the same, with the logarithm of every row's sum: what a backward needs

A softmax needs the maximum and the sum of a whole row, and a tile shows a piece of it. So each row
carries three things along, true for the keys seen so far (Milakov and Gimelshein, 2018; Dao and
others, 2022):

    top    the largest score
    total  the sum of exp(score - top)
    sums   the sum of exp(score - top) · v, a vector

1. A tile of k comes in, and with q · kᵀ the scores of the next keys. Their maximum may raise top.
2. What was added up so far was taken against the old top. exp(old top - new top), at most 1, is
   the factor that total and sums shrink by: as if the new top had been known from the start.
3. The exponentials of the tile are added to total and, times its v, to sums.
4. After the last key the result is sums / total, and its lse top + log(total).

The kernel counts in powers of two, exp(x) = 2^(x · log2 e), as the hardware does.

q: batch × heads × queries × width, k and v: batch × heads × keys × width, of one floating dtype, at
any strides but those of width: both (B, H, S, D) and a (B, S, H, D) that is transposed are read
where they lie. Sums are taken in float32. A causal query n sees keys 0 to n, as with torch's
is_causal: aligned at the first key, also where there are more keys than queries, or fewer. A query
that sees nothing gives 0, and an lse of -inf.
"""

import math

import torch
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel


def torch_attention(q, k, v, causal=False, scale=None):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def flash_attention(q, k, v, causal=False):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch_attention(q, k, v, causal)


def cudnn_attention(q, k, v, causal=False):
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return torch_attention(q, k, v, causal)


def attention_by_parts(q, k, v, causal=False, scale=None):
    scores = q @ k.mT  # reads q and k, writes the scores
    scores = scores * scale_of(q, scale)  # reads and writes them
    if causal:
        seen = torch.ones_like(scores, dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -torch.inf)  # reads and writes them
    weights = torch.softmax(scores, dim=-1)  # reads and writes them
    return weights @ v  # reads them and v, writes the result


def scale_of(q, scale):
    return q.shape[-1] ** -0.5 if scale is None else scale


@triton.jit
def places(ptr, row, stride, BLOCK_D: tl.constexpr):
    """Where the elements of some rows of a matrix are."""
    d = tl.arange(0, BLOCK_D)[None, :]
    return ptr + row.to(tl.int64)[:, None] * stride + d


@triton.jit
def tile_of(
    at, row, rows,
    WIDTH: tl.constexpr, BLOCK_D: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """What is there; beyond the edges of the matrix, 0."""
    if MASKED or WIDTH < BLOCK_D:
        inside = tl.arange(0, BLOCK_D)[None, :] < WIDTH
        return tl.load(at, (row < rows)[:, None] & inside, other=0.0)
    else:
        return tl.load(at)


@triton.jit
def seen_of(scores, row, key, keys, CAUSAL: tl.constexpr):
    """Of keys that exist and, causal, are not ahead; else -inf."""
    seen = (key < keys)[None, :]
    if CAUSAL:
        seen = seen & (key[None, :] <= row[:, None])
    return tl.where(seen, scores, -float("inf"))


@triton.jit
def keys_of(
    m, keys, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Keys in whole blocks that all see, or, masked, the others."""
    whole, end = keys, keys
    if CAUSAL:
        whole = tl.minimum(keys, m * BLOCK_M)
        end = tl.minimum(keys, (m + 1) * BLOCK_M)
    whole = whole // BLOCK_N * BLOCK_N
    return whole if MASKED else 0, end if MASKED else whole


@triton.jit
def take_in(top, total, sums, scores, v, scale):
    before, top = top, tl.maximum(top, tl.max(scores, 1) * scale)
    raised = tl.exp2(scores * scale - top[:, None])
    shrink = tl.exp2(before - top)

    total = total * shrink + tl.sum(raised, 1)
    sums, raised = sums * shrink[:, None], raised.to(v.dtype)
    sums = tl.dot(raised, v, sums, input_precision="ieee")
    return top, total, sums


@triton.jit
def attend(
    top, total, sums, q, k_ptr, v_ptr, k_row, v_row, m, row, keys,
    scale, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    WIDTH: tl.constexpr, BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    begin, end = keys_of(m, keys, MASKED, CAUSAL, BLOCK_M, BLOCK_N)
    n, step = tl.arange(0, BLOCK_N), tl.cast(BLOCK_N, tl.int64)
    k_at = places(k_ptr, begin + n, k_row, BLOCK_D)
    v_at = places(v_ptr, begin + n, v_row, BLOCK_D)
    for first in range(begin, end, BLOCK_N):
        k = tile_of(k_at, first + n, keys, WIDTH, BLOCK_D, MASKED)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee")
        if MASKED:
            scores = seen_of(scores, row, first + n, keys, CAUSAL)

        v = tile_of(v_at, first + n, keys, WIDTH, BLOCK_D, MASKED)
        top, total, sums = take_in(top, total, sums, scores, v, scale)
        k_at, v_at = k_at + step * k_row, v_at + step * v_row
    return top, total, sums


@triton.jit
def nothing_seen(BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr):
    # Not -inf: -inf - -inf is NaN, where a score is -inf itself.
    top = tl.full((BLOCK_M,), -1e38, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    return top, total, tl.zeros((BLOCK_M, BLOCK_D), tl.float32)


@triton.jit
def place_of(queries, heads, BLOCK_M: tl.constexpr):
    """Tile of queries, its rows, which of the batch, which head."""
    program, tiles = tl.program_id(0), tl.cdiv(queries, BLOCK_M)
    # The last queries first: causal, they have the most to do.
    m = tiles - 1 - program % tiles
    row = m * BLOCK_M + tl.arange(0, BLOCK_M)
    head = (program // tiles).to(tl.int64)
    return m, row, head // heads, head % heads


@triton.jit
def attention_kernel(
    out_ptr, lse_ptr, q_ptr, k_ptr, v_ptr, out_batch, out_head, out_row,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head,
    v_row, heads, queries, keys, scale,
    CAUSAL: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    m, row, batch, head = place_of(queries, heads, BLOCK_M)
    out_ptr += batch * out_batch + head * out_head
    lse_ptr += (batch * heads + head) * queries
    k_ptr += batch * k_batch + head * k_head
    v_ptr += batch * v_batch + head * v_head
    q_ptr += batch * q_batch + head * q_head
    q_at = places(q_ptr, row, q_row, BLOCK_D)
    q = tile_of(q_at, row, queries, WIDTH, BLOCK_D, True)

    top, total, sums = nothing_seen(BLOCK_M, BLOCK_D)
    for MASKED in tl.static_range(2):
        top, total, sums = attend(top, total, sums, q, k_ptr, v_ptr,
            k_row, v_row, m, row, keys, scale, MASKED, CAUSAL, WIDTH,
            BLOCK_M, BLOCK_N, BLOCK_D)  # fmt: skip
    finish(out_ptr, lse_ptr, top, total, sums, row, queries, out_row,
           WIDTH, BLOCK_D)  # fmt: skip


@triton.jit
def finish(
    out_ptr, lse_ptr, top, total, sums, row, queries, out_row,
    WIDTH: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Divides, once. A row that saw nothing: 0, and an lse of -inf."""
    row, some = row.to(tl.int64), tl.where(total == 0, 1.0, total)
    lse = 0.6931471805599453 * (top + tl.log2(some))  # ln 2: e's again
    lse = tl.where(total == 0, -float("inf"), lse)
    tl.store(lse_ptr + row, lse, row < queries)

    d = tl.arange(0, BLOCK_D)[None, :]
    at = out_ptr + row[:, None] * out_row + d
    inside = (row < queries)[:, None] & (d < WIDTH)
    tl.store(at, sums / some[:, None], inside)


def config(block_m, block_n, num_warps, num_stages):
    return {
        "block_m": block_m, "block_n": block_n,
        "num_warps": num_warps, "num_stages": num_stages,
    }  # fmt: skip


CONFIGS = tuple(
    config(m, n, warps, stages)
    for m, warps in ((64, 4), (128, 4), (128, 8))
    for n in (32, 64, 128)
    for stages in (2, 3)
)
"""What tuning tries. Four warps with 128 queries of 128 spill registers, from 64 keys on a lot."""

# Measured at 4,096 queries and keys. Two programs of 112 KiB and less share a multiprocessor: one
# takes exponentials while the other multiplies. Rows of 256 leave no room for a second.
LARGE = {
    16: config(64, 64, 4, 3),
    32: config(64, 64, 4, 3),
    64: config(64, 64, 4, 3),
    128: config(64, 64, 4, 3),
    256: config(128, 64, 8, 2),
}
"""By padded width, for 200 KiB of shared memory a program and more."""

SMALL = {
    16: config(64, 64, 4, 2),
    32: config(64, 64, 4, 2),
    64: config(64, 64, 4, 2),
    128: config(64, 32, 4, 2),
    256: config(32, 16, 4, 2),
}
"""By padded width, for the 64 KiB that every GPU has."""

# Outside the tensor cores, where 32 keys spill registers.
FLOAT32 = config(32, 16, 4, 2)


def config_for(q):
    if q.dtype == torch.float32:
        return FLOAT32
    return (LARGE if shared_limit(q.device) >= 200 * 1024 else SMALL)[padded(q.shape[3])]


def shared_limit(device):
    """Bytes of shared memory that a program may have there."""
    if device.type != "cuda":
        return 64 * 1024
    properties = torch.cuda.get_device_properties(device)
    return getattr(properties, "shared_memory_per_block_optin", 64 * 1024)


def padded(width):
    """A matrix instruction wants 16 at least, and a tile a power of two."""
    return max(16, triton.next_power_of_2(width))


def attention_and_lse(q, k, v, causal=False, scale=None, **config):
    must_fit(q, k, v)
    q, k, v, scale = readable(q, k, v, scale_of(q, scale))
    config = config or config_for(q)
    batch, heads, queries, width = q.shape
    out, lse = torch.empty_like(q), q.new_empty(batch, heads, queries, dtype=torch.float32)
    if not out.numel():
        return out, lse
    tiles = triton.cdiv(queries, config["block_m"])
    attention_kernel[(tiles * heads * batch,)](
        out, lse, q, k, v, *(n for x in (out, q, k, v) for n in x.stride()[:3]),
        heads, queries, k.shape[2], scale * math.log2(math.e), CAUSAL=bool(causal), WIDTH=width,
        BLOCK_M=config["block_m"], BLOCK_N=config["block_n"], BLOCK_D=padded(width),
        num_warps=config["num_warps"], num_stages=config["num_stages"],
    )  # fmt: skip
    return out, lse


def attention(q, k, v, causal=False, scale=None, **config):
    return attention_and_lse(q, k, v, causal, scale, **config)[0]


WIDEST = 256
"""A row of sums that wide takes half of a thread's registers."""


def must_fit(q, k, v):
    """Raises ValueError unless they go together."""
    shapes = ", ".join(str(tuple(x.shape)) for x in (q, k, v))
    if q.dim() != 4 or k.dim() != 4 or k.shape != v.shape:
        raise ValueError(f"expected batch × heads × length × width, v as k: got {shapes}")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q differs from k in batch, heads or width: {shapes}")
    if not 0 < q.shape[3] <= WIDEST:
        raise ValueError(f"heads are 1 to {WIDEST} wide, not {q.shape[3]}")
    if len({(x.dtype, x.device) for x in (q, k, v)}) > 1:
        found = " and ".join(f"{x.dtype} on {x.device}" for x in (q, k, v))
        raise ValueError(f"inputs differ: {found}")


def readable(q, k, v, scale):
    """Contiguous in width, and the scale above 0: times another, a maximum is none any more."""
    q, scale = (q, scale) if scale > 0 else (q * scale, 1.0)
    return *(x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v)), scale
