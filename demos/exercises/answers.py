"""Arguments and answers for the exercises that are plain Python."""

from talk import BY_TARGET, occupancy


def multiprocessor(target):
    """As exercise 3 has it: a dict."""
    has = BY_TARGET[target]
    return {
        "warps": has.warps,
        "programs": has.blocks,
        "registers": has.registers,
        "shared": has.shared,
        "reserved": has.shared_reserved,
    }


def counted(words, target, registers, shared, warps):
    """(arguments, answer, words) of one kernel on one GPU."""
    kept = occupancy(
        BY_TARGET[target], registers=registers, shared=shared, warps=warps
    )
    return (multiprocessor(target), registers, shared, warps), kept.share, words


# Each but the first and the last tells whether one rule was thought of.
OCCUPANCIES = (
    counted("H200: nothing is scarce", "sm_90", 32, 0, 4),
    counted("H200: five warps a program leave some over", "sm_90", 32, 0, 5),
    counted("RTX 4090: so many programs have places", "sm_89", 32, 0, 1),
    counted("A100: 128 registers a thread", "sm_80", 128, 0, 4),
    counted("H200: a warp's registers in units", "sm_90", 37, 0, 4),
    counted("RTX 3090: warps fit in fours", "sm_86", 152, 0, 1),
    counted("H200: 48 KiB of shared memory", "sm_90", 32, 48 * 1024, 4),
    counted("H200: 45 KiB, and what is reserved", "sm_90", 32, 45 * 1024, 4),
    counted("T4: nothing shared, nothing reserved", "sm_75", 64, 0, 8),
    counted("H200: not one program fits", "sm_90", 255, 0, 32),
)

# Of no GPU that there is; round, so that the answers can be seen by hand.
BANDWIDTH = 4e12
FLOAT32, BFLOAT16 = 6e13, 8e14
LAUNCH = 3e-6


def waits(words, answer, moved, operations, arithmetic=FLOAT32):
    return (moved, operations, BANDWIDTH, arithmetic, LAUNCH), answer, words


WALLS = (
    waits("an add of 1,000 elements", "launch", 12 * 1000, 1000),
    waits("an add of 2^28 elements", "memory", 12 * 2**28, 2**28),
    waits("softmax of 32,768 × 8,192 in 16 bits", "memory", 2**30, 5 * 2**28),
    waits(
        "a product of 64 × 64 matrices in 16 bits", "launch",
        6 * 64**2, 2 * 64**3, BFLOAT16,
    ),
    waits(
        "a product of 8,192 × 8,192 matrices in 16 bits", "arithmetic",
        6 * 8192**2, 2 * 8192**3, BFLOAT16,
    ),
    waits("32 multiply-adds an element", "memory", 8 * 2**27, 64 * 2**27),
    waits("1,024 multiply-adds", "arithmetic", 8 * 2**27, 2048 * 2**27),
)  # fmt: skip
