"""cause: an add of 1,000 elements"""


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    seconds = {
        "memory": moved / bandwidth,
        "arithmetic": operations / arithmetic,
    }
    return max(seconds, key=seconds.get)
