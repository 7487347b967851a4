"""cause: an add of 2^28 elements"""


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    seconds = {
        "launch": launch,
        "memory": moved / arithmetic,
        "arithmetic": operations / bandwidth,
    }
    return max(seconds, key=seconds.get)
