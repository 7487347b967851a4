"""cause: softmax of 32,768 × 8,192 in 16 bits"""


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    if max(moved / bandwidth, operations / arithmetic) < launch:
        return "launch"
    return "arithmetic" if operations / moved > 1 else "memory"
