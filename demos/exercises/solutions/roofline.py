"""Exercise 4: say which wall, before you run.

1. intensity is a worked example: operations for each byte that moves.
2. attainable has one blank, `...`: fill it.
3. wall is empty: write it, the answer is "launch", "memory" or "arithmetic".
The longest decides: to launch, to move the bytes, or to do the operations.
`just exercise 4` says how far you are; with --hint it says where to look.

Plain Python. Bytes and operations are those of one call; bandwidth is bytes a
second, arithmetic is operations a second, launch is seconds.
"""

# 1. A worked example


def intensity(moved, operations):
    """An add of float32 reads 8 bytes and writes 4 for one operation: 1/12."""
    return operations / moved


# 2. One blank


def attainable(intensity, bandwidth, arithmetic):
    """Operations a second: what memory can feed, and what the units can do."""
    return min(intensity * bandwidth, arithmetic)


# 3. Yours


def wall(moved, operations, bandwidth, arithmetic, launch):
    """What a kernel of so many bytes and operations waits for."""
    seconds = {
        "launch": launch,
        "memory": moved / bandwidth,
        "arithmetic": operations / arithmetic,
    }
    return max(seconds, key=seconds.get)
