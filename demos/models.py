"""What a model expects of an add, from the ceilings measured on this very machine.

The first three know bytes, bandwidth and one launch, as the roofline does. `wall` knows one
constraint more: programs start at a limited rate.
"""

from demos.cases.vectors import ADD, ADD_BYTES, RELU_BYTES


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
