"""Matrix product, out = a · b: every element of the inputs is needed many times.

torch_matmul    the reference: cuBLAS, or what PyTorch calls in its place
matmul_naive    a piece of one row per program: each element of b is read anew for every row
matmul_tiled    a tile per program: an element that is read is used by a whole row of the tile
matmul_fp32_tile  the same tile outside the tensor cores
matmul_grouped  the same tiles, neighbours one after the other, so that they share the L2 cache
matmul          the same, its configuration tuned on this very GPU

a: rows × depth, b: depth × cols, of one floating dtype; summed in float32.
"""

import functools

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import factors


def torch_matmul(a, b):
    return a @ b


@triton.jit
def matmul_naive_kernel(
    out_ptr, a_ptr, b_ptr, cols, depth, a_row, a_k, b_k, b_col,
    BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = col < cols

    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(depth):
        a = tl.load(a_ptr + row * a_row + k * a_k).to(tl.float32)
        b = tl.load(b_ptr + k * b_k + col * b_col, inside)
        total += a * b.to(tl.float32)

    tl.store(out_ptr + row * cols + col, total, inside)


def matmul_naive(a, b, block=256, num_warps=4):
    a, b, out = factors(a, b)
    rows, cols = out.shape
    matmul_naive_kernel[(rows, triton.cdiv(cols, block))](
        out, a, b, cols, a.shape[1], *a.stride(), *b.stride(),
        BLOCK=block, num_warps=num_warps,
    )  # fmt: skip
    return out


@triton.jit
def matmul_tiled_kernel(
    out_ptr, a_ptr, b_ptr, rows, cols, depth, a_row, a_k, b_k, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    TYPE: tl.constexpr,
):  # fmt: skip
    m, n = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    row = m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    col = n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    k = tl.arange(0, BLOCK_K)
    # Beyond the edge: an element from within, which is not stored.
    a_tile = a_ptr + row % rows * a_row + k[None, :] * a_k
    b_tile = b_ptr + k[:, None] * b_k + col % cols * b_col

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for done in range(0, depth, BLOCK_K):
        a = tl.load(a_tile, k[None, :] < depth - done, other=0.0)
        b = tl.load(b_tile, k[:, None] < depth - done, other=0.0)
        a, b = a.to(TYPE), b.to(TYPE)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_tile += BLOCK_K * a_k
        b_tile += BLOCK_K * b_k
    inside = (row < rows) & (col < cols)
    tl.store(out_ptr + row * cols + col, total, inside)


# "ieee" is float32 arithmetic; "tf32", Triton's default by version, would round its inputs first.
# The products of 16-bit inputs are exact in either.
def matmul_tiled(
    a, b, block_m=128, block_n=128, block_k=32, num_warps=8, num_stages=3, multiply_as=None
):
    a, b, out = factors(a, b)
    rows, cols = out.shape
    grid = triton.cdiv(rows, block_m), triton.cdiv(cols, block_n)
    matmul_tiled_kernel[grid](
        out, a, b, rows, cols, a.shape[1], *a.stride(), *b.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
        TYPE=multiply_as or getattr(tl, str(a.dtype).removeprefix("torch.")),
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    return out


def matmul_fp32_tile(a, b):
    return matmul_tiled(a, b, multiply_as=tl.float32)


@triton.jit
def tile_of(program, rows, cols, BLOCK_M, BLOCK_N, GROUP):
    # GROUP tiles down, then one to the right: they share b, and a.
    down, across = tl.cdiv(rows, BLOCK_M), tl.cdiv(cols, BLOCK_N)
    top = program // (GROUP * across) * GROUP
    height = tl.minimum(GROUP, down - top)
    within = program % (GROUP * across)
    return top + within % height, within // height


@triton.jit
def matmul_grouped_kernel(
    out_ptr, a_ptr, b_ptr, rows, cols, depth, a_row, a_k, b_k, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    m, n = tile_of(program, rows, cols, BLOCK_M, BLOCK_N, GROUP)
    row = m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    col = n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    k = tl.arange(0, BLOCK_K)
    # Beyond the edge: an element from within, which is not stored.
    a_tile = a_ptr + row % rows * a_row + k[None, :] * a_k
    b_tile = b_ptr + k[:, None] * b_k + col % cols * b_col

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for done in range(0, depth, BLOCK_K):
        a = tl.load(a_tile, k[None, :] < depth - done, other=0.0)
        b = tl.load(b_tile, k[:, None] < depth - done, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_tile += BLOCK_K * a_k
        b_tile += BLOCK_K * b_k
    inside = (row < rows) & (col < cols)
    tl.store(out_ptr + row * cols + col, total, inside)


def matmul_grouped(a, b, block_m=128, block_n=256, block_k=64, group=8, num_warps=8, num_stages=3):
    a, b, out = factors(a, b)
    rows, cols = out.shape
    programs = triton.cdiv(rows, block_m) * triton.cdiv(cols, block_n)
    matmul_grouped_kernel[(programs,)](
        out, a, b, rows, cols, a.shape[1], *a.stride(), *b.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=group,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    return out


def config(block_m, block_n, block_k, num_warps, num_stages, group=8):
    return {
        "block_m": block_m, "block_n": block_n, "block_k": block_k, "group": group,
        "num_warps": num_warps, "num_stages": num_stages,
    }  # fmt: skip


CONFIGS = (
    config(128, 256, 64, 8, 3),
    config(128, 256, 64, 8, 4),
    config(256, 128, 64, 8, 3),
    config(128, 128, 64, 8, 3),
    config(128, 128, 64, 4, 4),
    config(128, 128, 32, 4, 4),
    config(64, 256, 32, 4, 4),
    config(64, 64, 32, 4, 3),
)
"""From what a data-centre GPU likes to what every GPU has the shared memory for."""


def shared_bytes(config, element):
    """Shared memory of one program: the tiles of a and b, once for every stage."""
    tiles = config["block_k"] * (config["block_m"] + config["block_n"])
    return tiles * element * config["num_stages"]


def fitting(limit, element=2):
    """The configurations that a program with so many bytes of shared memory has room for."""
    return tuple(c for c in CONFIGS if shared_bytes(c, element) <= limit) or CONFIGS[-1:]


def as_triton(config):
    """The same for `triton.autotune`: constexprs in capitals, launch options apart."""
    options = {name: config[name] for name in ("num_warps", "num_stages")}
    return triton.Config({n.upper(): v for n, v in config.items() if n not in options}, **options)


@functools.cache
def tuned(limit, element):
    """The grouped kernel, tuned at its first call for each shape; winners stay on disk."""
    return triton.autotune(
        configs=[as_triton(config) for config in fitting(limit, element)],
        key=["rows", "cols", "depth"],
        cache_results=True,
    )(matmul_grouped_kernel)


LARGE = 2**20
"""Elements of a product from which tuning pays: under it, trying costs more than it gains."""


def matmul(a, b):
    a, b, out = factors(a, b)
    if not a.is_cuda or out.numel() < LARGE:
        return matmul_grouped(a, b, **CONFIGS[-1])
    rows, cols = out.shape
    properties = torch.cuda.get_device_properties(a.device)
    limit = getattr(properties, "shared_memory_per_block_optin", 64 * 1024)
    tuned(limit, a.element_size())[
        lambda meta: (triton.cdiv(rows, meta["BLOCK_M"]) * triton.cdiv(cols, meta["BLOCK_N"]),)
    ](out, a, b, rows, cols, a.shape[1], *a.stride(), *b.stride())
    return out
