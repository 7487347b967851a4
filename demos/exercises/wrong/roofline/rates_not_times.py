"""cause: an add of 1,000 elements"""


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    seconds = {
        "launch": launch,
        "memory": bandwidth / moved,
        "arithmetic": arithmetic / operations,
    }
    return max(seconds, key=seconds.get)
