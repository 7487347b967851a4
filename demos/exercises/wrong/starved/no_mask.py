"""cause: no mask"""

import torch
import triton
import triton.language as tl


def multiprocessors(x):
    """Of this GPU; few where there is none, as interpreting takes time."""
    if not x.is_cuda:
        return 8
    return torch.cuda.get_device_properties(x.device).multi_processor_count


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(n, BLOCK)

    for block in range(mine, blocks, tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)

        x = tl.load(x_ptr + i)
        y = tl.load(y_ptr + i)

        tl.store(out_ptr + i, x + y)


# 2 arrays × 4,096 elements × 4 bytes: 33 KB under way in each program.
def add(x, y, block=4096, num_warps=16):
    out = torch.empty_like(x)
    # One for each multiprocessor: leave it so.
    programs = multiprocessors(x)
    add_kernel[(programs,)](
        out, x, y, x.numel(), BLOCK=block, num_warps=num_warps
    )
    return out
