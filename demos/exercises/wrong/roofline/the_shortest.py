"""cause: an add of 1,000 elements"""


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    seconds = {
        "launch": launch,
        "memory": moved / bandwidth,
        "arithmetic": operations / arithmetic,
    }
    return min(seconds, key=seconds.get)
