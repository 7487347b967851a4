"""What launchers ask of their inputs, kept out of the code on display."""


def alike(*tensors):
    """The same tensors, each contiguous; a strided view is copied, at the price of two trips.

    Raises ValueError unless all have one shape, dtype and device.
    """
    first = tensors[0]
    for name in ("shape", "dtype", "device"):
        found = [getattr(tensor, name) for tensor in tensors]
        if any(value != getattr(first, name) for value in found):
            raise ValueError(f"inputs differ in {name}: {' and '.join(str(f) for f in found)}")
    return tuple(tensor.contiguous() for tensor in tensors)
