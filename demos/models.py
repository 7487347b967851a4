"""What a model expects of an add, from the ceilings measured on this very machine.

The first three know bytes, bandwidth and one launch, as the roofline does. `wall` knows one
constraint more: programs start at a limited rate.
"""

import torch

from demos.cases.probes import ARITHMETIC, COPY_BYTES
from demos.cases.vectors import ADD, ADD_BYTES, MULTIPLY_ADD_BYTES, RELU_BYTES


def seconds(ceilings, n):
    return ceilings.seconds(bytes=ADD_BYTES * n, mix=ADD.mix)


def share(ceilings, n=ADD.size["n"]):
    """Of the bandwidth ceiling: what one launch leaves of it."""
    return ADD_BYTES * n / ceilings.bandwidth(ADD.mix) / seconds(ceilings, n)


def growth(ceilings, short, long):
    """How much faster, per element, the long vector is than the short one."""
    return share(ceilings, long) / share(ceilings, short)


def saving(ceilings):
    """The time of an add and then a ReLU, over the time of both in one kernel."""
    add = ADD_BYTES / ceilings.bandwidth("2:1")
    relu = RELU_BYTES / ceilings.bandwidth("1:1")
    return (add + relu) / add


def wall(ceilings):
    """The block of which moving the bytes takes as long as starting the program."""
    return ceilings.bandwidth(ADD.mix) / (ADD_BYTES * ceilings.programs_per_s)


# Section 2


def arithmetic_growth(ceilings, n=ARITHMETIC.size["n"], few=1, many=32):
    """The time of many multiply-adds an element, over that of few."""
    moved = COPY_BYTES * n

    def seconds(k):
        return ceilings.seconds(bytes=moved, mix=ARITHMETIC.mix, flops=2 * k * n)

    return seconds(many) / seconds(few)


def latency(ceilings):
    """Seconds of one load from memory."""
    return ceilings.latency_s


def programs_in_flight(ceilings, block=1024):
    """Little's law (1961): how many programs have bandwidth × latency under way.

    A program has a block of each of its two inputs under way.
    """
    under_way = 2 * torch.float32.itemsize * block
    return ceilings.bandwidth(ADD.mix) * latency(ceilings) / under_way


# Section 3


def all_lanes(ceilings, n=ADD.size["n"], lanes=32):
    """The time of one element a program, over that of one element a lane."""
    moved = ADD_BYTES * n

    def seconds(elements):
        return ceilings.seconds(bytes=moved, mix=ADD.mix, programs=n // elements)

    return seconds(1) / seconds(lanes)


def bytes_alone(ceilings):
    """What moves the same bytes takes the same time."""
    return 1.0


# Section 4


def attainable(intensity, bandwidth, arithmetic):
    """FLOP/s under the roofline (Williams, Waterman, Patterson, 2009).

    intensity: FLOP per byte. bandwidth: bytes/s. arithmetic: FLOP/s.
    """
    return min(intensity * bandwidth, arithmetic)


def usable_arithmetic(ceilings):
    """The share of float32 arithmetic that an add can use: what the roofline leaves it."""
    arithmetic = ceilings.arithmetic("fp32")
    return attainable(1 / ADD_BYTES, ceilings.bandwidth(ADD.mix), arithmetic) / arithmetic


# Section 6


def five_trips(ceilings):
    """Softmax in five operations: eight moves of the matrix, where two must be."""
    moves = {"max": 1, "subtract": 2, "exp": 2, "sum": 1, "divide": 2}
    return sum(moves.values()) / 2


def tensor_cores(ceilings):
    """How much faster 16-bit products are; as fast where a GPU has no tensor cores for Triton."""
    plain = ceilings.arithmetic("fp32")
    return ceilings.arithmetic("bf16") / plain if "bf16" in ceilings.tflops else 1.0


# Sections 7 and 8


def two_trips(ceilings, unfused="2:1", fused="3:1"):
    """Multiply, then add, each three moves at its ceiling, over four moves at once."""
    two = 2 * ADD_BYTES / ceilings.bandwidth(unfused)
    return two / (MULTIPLY_ADD_BYTES / ceilings.bandwidth(fused))


def half_the_bytes(ceilings):
    """Two kernels read and write the matrix twice, one kernel once; the bias is nothing."""
    return 2.0


def at_the_roof(ceilings):
    """What only moves bytes reaches its ceiling."""
    return 1.0


# The challenges


def three_moves(ceilings):
    """LayerNorm's backward reads two matrices and writes one; its forward, one and one."""
    return 3 / ceilings.bandwidth("2:1") / (2 / ceilings.bandwidth("1:1"))
