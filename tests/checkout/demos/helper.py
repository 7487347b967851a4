"""What the small section imports."""


def twice(x):
    return x + x
