"""Exercise 2: feed a starved kernel.

1. copy_kernel is a worked example: few programs, many bytes under way each.
2. bytes_under_way has one blank, `...`: fill it.
3. add starves: 64 elements at a time, by one warp. Mend it, by its defaults.
Little's law: bytes under way = bytes a second × seconds that a load takes.
`just exercise 2` says how far you are; with --hint it says where to look.
"""

import torch
import triton
import triton.language as tl


def multiprocessors(x):
    """Of this GPU; few where there is none, as interpreting takes time."""
    if not x.is_cuda:
        return 8
    return torch.cuda.get_device_properties(x.device).multi_processor_count


# 1. A worked example


@triton.jit
def copy_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    # My blocks: my number, then as many on as there are programs.
    mine = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(n, BLOCK)

    for block in range(mine, blocks, tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        inside = i < n

        # Loads that do not wait for one another: BLOCK at once.
        x = tl.load(x_ptr + i, inside)

        # This waits for all of them.
        tl.store(out_ptr + i, x, inside)


# 8,192 elements × 4 bytes: 33 KB under way in each program.
def copy(x, block=8192, num_warps=16):
    out = torch.empty_like(x)
    programs = multiprocessors(x)
    copy_kernel[(programs,)](
        out, x, x.numel(), BLOCK=block, num_warps=num_warps
    )
    return out


# 2. One blank


def bytes_under_way(programs, block, arrays):
    """Of float32: what all programs together have asked for and not yet got."""
    elements = ...
    return elements * torch.float32.itemsize


# 3. Yours


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(n, BLOCK)

    for block in range(mine, blocks, tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        inside = i < n

        x = tl.load(x_ptr + i, inside)
        y = tl.load(y_ptr + i, inside)

        tl.store(out_ptr + i, x + y, inside)


def add(x, y, block=64, num_warps=1):
    out = torch.empty_like(x)
    # One for each multiprocessor: leave it so.
    programs = multiprocessors(x)
    add_kernel[(programs,)](
        out, x, y, x.numel(), BLOCK=block, num_warps=num_warps
    )
    return out
