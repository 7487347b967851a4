"""cause: H200: 45 KiB, and what is reserved"""

THREADS = 32
REGISTER_UNIT = 256
SHARED_UNIT = 128
SCHEDULERS = 4


def rounded_up(value, unit):
    return -(-value // unit) * unit


def by_warps(gpu, warps):
    """64 warps are room for 16 programs of 4, and for 12 of 5."""
    return gpu["warps"] // warps


def by_shared(gpu, shared):
    """The system takes `reserved` bytes for itself, of each program."""
    a_program = rounded_up(shared, SHARED_UNIT)
    if not a_program:
        return gpu["programs"]
    return gpu["shared"] // a_program


def occupancy(gpu, registers, shared, warps):
    """0 to 1: warps in use, of those that a multiprocessor can hold."""
    a_warp = max(REGISTER_UNIT, rounded_up(registers * THREADS, REGISTER_UNIT))
    fit = gpu["registers"] // a_warp // SCHEDULERS * SCHEDULERS
    programs = min(
        fit // warps,
        by_warps(gpu, warps),
        by_shared(gpu, shared),
        gpu["programs"],
    )
    return programs * warps / gpu["warps"]
