"""Probes: kernels that compute nothing of use, and show what the hardware does.

arithmetic    K multiply-adds for every element that is read and written
chain         loads of which each waits for the one before
in_flight     an add by exactly so many programs
working_set   the same bytes over and over, each time by another program
"""

import torch
import triton
import triton.language as tl

from demos.kernels.inputs import alike

KEEP = 15 / 16
"""y → KEEP · y + (1 - KEEP), exact in binary: it draws y towards 1, so that nothing overflows."""


def torch_arithmetic(x, k):
    return 1 + KEEP**k * (x - 1)


@triton.jit
def arithmetic_kernel(
    out_ptr, x_ptr, n, keep,
    K: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    inside = i < n

    y = tl.load(x_ptr + i, inside)

    for _ in range(K):
        y = tl.fma(y, keep, 1 - keep)

    tl.store(out_ptr + i, y, inside)


def arithmetic(x, k, block=1024, num_warps=4):
    (x,) = alike(x)
    out = torch.empty_like(x)
    n = x.numel()
    programs = triton.cdiv(n, block)
    arithmetic_kernel[(programs,)](out, x, n, KEEP, K=k, BLOCK=block, num_warps=num_warps)
    return out


def arithmetic_one_by_one(x, k):
    for _ in range(k):
        x = arithmetic(x, 1)  # reads x, writes x
    return x


LINE = 128 // torch.int32.itemsize
"""Elements of a cache line: one link of a chain on each."""


def random_cycle(lines):
    """`next` for a walk through all lines in random order: next[i] is where to go from i."""
    order = torch.randperm(lines) * LINE
    links = torch.zeros(lines * LINE, dtype=torch.int32)
    links[order] = order.roll(-1).int()
    return links


def torch_chain(links, loads):
    """The same walk by doubling: 2^b steps at once."""
    jump = links[::LINE].long() // LINE
    at = torch.zeros(1, dtype=torch.long, device=links.device)
    while loads:
        at = jump[at] if loads % 2 else at
        jump, loads = jump[jump], loads // 2
    return (at * LINE).int()


@triton.jit
def chain_kernel(out_ptr, links_ptr, loads):
    at = 0

    for _ in range(loads):
        at = tl.load(links_ptr + at)

    tl.store(out_ptr, at)


def chain(links, loads):
    links.amax()  # brings the set into the L2 cache, as far as it fits
    out = torch.empty_like(links[:1])
    chain_kernel[(1,)](out, links, loads, num_warps=1)
    return out


@triton.jit
def in_flight_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(n, BLOCK)

    for block in range(mine, blocks, tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        inside = i < n

        x = tl.load(x_ptr + i, inside)
        y = tl.load(y_ptr + i, inside)

        tl.store(out_ptr + i, x + y, inside)


def in_flight(x, y, programs=132, block=1024, num_warps=4):
    x, y = alike(x, y)
    out = torch.empty_like(x)
    n = x.numel()
    in_flight_kernel[(programs,)](out, x, y, n, BLOCK=block, num_warps=num_warps)
    return out


CHUNK = 2048
"""Elements that a program reads at once: 8 KiB of float32."""


def stride_of(programs):
    """How many chunks on a program goes each time: far from what its neighbours read just now."""
    return programs * 3 // 8 + 1


def torch_working_set(x, repetitions):
    """What each program sums: from its own chunk on, round and round."""
    sums = torch.nn.functional.pad(x, (0, -len(x) % CHUNK)).view(-1, CHUNK).sum(1)
    stride = stride_of(len(sums))
    return sum(sums.roll(-turn * stride) for turn in range(repetitions))


@triton.jit
def working_set_kernel(
    out_ptr, x_ptr, n, repetitions, stride,
    CHUNK: tl.constexpr,
):  # fmt: skip
    mine = tl.program_id(0).to(tl.int64)
    total = tl.zeros((CHUNK,), tl.float32)

    for turn in range(repetitions):
        # Another chunk each time: its own would come out of L1.
        chunk = (mine + turn * stride) % tl.num_programs(0)
        i = chunk * CHUNK + tl.arange(0, CHUNK)
        total += tl.load(x_ptr + i, i < n, other=0.0)

    tl.store(out_ptr + mine, tl.sum(total, axis=0))


def working_set(x, repetitions, num_warps=8):
    (x,) = alike(x)
    programs = triton.cdiv(x.numel(), CHUNK)
    out = torch.empty_like(x[:programs])
    working_set_kernel[(programs,)](
        out, x, x.numel(), repetitions, stride_of(programs),
        CHUNK=CHUNK, num_warps=num_warps,
    )  # fmt: skip
    return out
