"""Exercise 3: compute an occupancy.

1. by_warps is a worked example: programs that fit, were warps all they need.
2. by_shared has one blank, `...`: fill it.
3. occupancy is empty: write it, the share of a multiprocessor's warps in use.
The scarcest decides how many fit: warps, places, registers or memory.
`just exercise 3` says how far you are; with --hint it says where to look.

Plain Python: `gpu` is what a multiprocessor has. That of an H200 is

    {"warps": 64, "programs": 32, "registers": 65536,
     "shared": 233472, "reserved": 1024}

and yours are checked for other GPUs too. A kernel has `warps` warps a program,
`registers` registers a thread and `shared` bytes of shared memory a program.
"""

THREADS = 32
"""Of a warp."""
REGISTER_UNIT = 256
"""A warp's registers are rounded up to a multiple of this."""
SHARED_UNIT = 128
"""A program's shared memory is rounded up to a multiple of this."""
SCHEDULERS = 4
"""The warps whose registers fit are rounded down to a multiple of this."""


def rounded_up(value, unit):
    return -(-value // unit) * unit


# 1. A worked example


def by_warps(gpu, warps):
    """64 warps are room for 16 programs of 4, and for 12 of 5."""
    return gpu["warps"] // warps


# 2. One blank


def by_shared(gpu, shared):
    """The system takes `reserved` bytes for itself, of each program."""
    a_program = rounded_up(shared + gpu["reserved"], SHARED_UNIT)
    if not a_program:
        return gpu["programs"]
    return ...


# 3. Yours


def occupancy(gpu, registers, shared, warps):
    """0 to 1: warps in use, of those that a multiprocessor can hold."""
    # How many registers has a warp? How many such warps fit?
    # So how many programs fit by registers? By warps, shared memory, places?
    # The least decides: how many warps is that, of how many?
    ...
