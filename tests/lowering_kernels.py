"""Kernels for test_lowering: what compiles, what must not, and what takes its process along."""

import os
import sys
import time

import torch
import triton
import triton.language as tl

from talk import Case, Exercise, Section, Show, Trace

PLAIN_GLOBAL = 2.0


def pair(n=1 << 20):
    return torch.randn(n), torch.randn(n)


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n

    x = tl.load(x_ptr + at, inside)
    y = tl.load(y_ptr + at, inside)

    tl.store(out_ptr + at, x + y, inside)


def add(x, y, block=1024):
    out = torch.empty_like(x)
    grid = lambda known: (triton.cdiv(known["n"], known["BLOCK"]),)  # noqa: E731
    add_kernel[grid](out, x, y, x.numel(), BLOCK=block)
    return out


@triton.jit
def doubled_sum(x):
    return tl.sum(x, axis=0) * 2


@triton.jit
def shares_kernel(out_ptr, x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    share = x / doubled_sum(x)
    tl.store(out_ptr + at, share + tl.sum(share, axis=0))


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256}, num_warps=8), triton.Config({"BLOCK": 512})],
    key=["n"],
)
@triton.heuristics({"HALF": lambda known: known["BLOCK"] // 2})
@triton.jit
def tuned_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr, HALF: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, at < n) + HALF, at < n)


@triton.jit
def tiles_kernel(out_ptr, a_ptr, b_ptr, K, SIDE: tl.constexpr, DEPTH: tl.constexpr):
    side = tl.arange(0, SIDE)
    depth = tl.arange(0, DEPTH)
    a_at = a_ptr + side[:, None] * K + depth[None, :]
    b_at = b_ptr + depth[:, None] * SIDE + side[None, :]
    total = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for _ in range(0, K, DEPTH):
        total = tl.dot(tl.load(a_at), tl.load(b_at), total)
        a_at += DEPTH
        b_at += DEPTH * SIDE
    tl.store(out_ptr + side[:, None] * SIDE + side[None, :], total)


def everything(x, y):
    """One process for all that compiles: starting one takes 2 s, a small kernel 0.3 s."""
    add(x, y)
    add(x[:1000001], y[:1000001])
    add(x[4:-12], y[4:-12])
    add(x[1:-15], y[1:-15])
    shares_kernel[(1,)](x, y, BLOCK=1024)
    tuned_kernel[(4096,)](x, y, x.numel())
    half = x.to(torch.float16)
    tiles_kernel[(1,)](x, half, half, 4096, SIDE=128, DEPTH=64, num_warps=8, num_stages=8)
    add_kernel[(1024,)](x, x, y, x.numel(), BLOCK=1024, num_warps=64)


@triton.jit
def scaled_kernel(out_ptr, x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * PLAIN_GLOBAL)


@triton.jit
def block_of(BLOCK: tl.constexpr):
    return tl.arange(0, BLOCK)


@triton.jit
def helped_kernel(out_ptr, x_ptr, BLOCK: tl.constexpr):
    at = block_of(BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


def nothing_compiles(x, y):
    add(x, y, block=1000)
    scaled_kernel[(1,)](x, y, BLOCK=1024)
    half = x.to(torch.float16)
    tiles_kernel[(1,)](x, half, half, 8, SIDE=16, DEPTH=8)
    helped_kernel[(1,)](x, y, BLOCK=1000)
    helped_kernel[(1,)](x, y, BLOCK=1024, num_warps=3)
    helped_kernel[(1,)](x, y, BLOCK=1024, num_wraps=4)
    helped_kernel[(1,)](x, y, BLOCK=16)


def leaves_out_block(x, y):
    helped_kernel[(1,)](x, y)


def in_torch(x, y):
    return x + y


def refuses(x, y):
    raise ValueError(f"{x.numel()} elements are too many")


PAIR = Case(
    name="pair",
    inputs=pair,
    reference=in_torch,
    size={"n": 1 << 28},
    small={"n": 1 << 10},
    bytes_moved=lambda x, y: 3 * x.nbytes,
)

SECTION = Section(
    number=1,
    title="Lowering",
    minutes=1,
    naive=(Show("show", "Shown"),),
    profile=(
        Trace(
            "trace",
            "Traced",
            PAIR,
            {
                "triton": lambda x, y: add(x, y),
                "torch": in_torch,
                "short": leaves_out_block,
                "refuses": refuses,
            },
            targets=("sm_90", "sm_9"),
        ),
    ),
    rewrite=(Show("write", "Written"),),
    fuse=(Show("fuse", "Fused"),),
    exercise=Exercise(slug="add", title="Add", task="Add.", minutes=1),
)


def aborting_pair():
    os.abort()


def adds_but_aborts_for_sm_80(x, y):
    """The compiler itself takes its process along, for one target."""
    lower = sys.modules["__main__"].lower
    sys.modules["__main__"].lower = lambda launch, target, *more: (
        os.abort() if target.name == "sm_80" else lower(launch, target, *more)
    )
    return add(x, y)


def hanging_pair():
    time.sleep(60)
