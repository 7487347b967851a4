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


def matrix(x):
    """A matrix whose rows are contiguous; one with strided columns is copied.

    Raises ValueError for anything but two dimensions.
    """
    if x.dim() != 2:
        raise ValueError(f"expected rows × cols, got {x.dim()} dimensions")
    return x if x.stride(-1) == 1 or x.shape[-1] <= 1 else x.contiguous()


def rows_and_bias(x, bias):
    """Both contiguous. Raises ValueError unless bias has one element a column, of x's dtype."""
    if x.dim() != 2 or bias.shape != x.shape[-1:]:
        raise ValueError(f"bias {tuple(bias.shape)} does not fit x {tuple(x.shape)}")
    if x.dtype != bias.dtype or x.device != bias.device:
        raise ValueError(
            f"inputs differ: {x.dtype} on {x.device} and {bias.dtype} on {bias.device}"
        )
    return x.contiguous(), bias.contiguous()


def factors(a, b):
    """a, b and room for their product. Raises ValueError unless they can be multiplied."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"{tuple(a.shape)} and {tuple(b.shape)} cannot be multiplied")
    if a.dtype != b.dtype or a.device != b.device:
        raise ValueError(f"inputs differ: {a.dtype} on {a.device} and {b.dtype} on {b.device}")
    return a, b, a.new_empty(a.shape[0], b.shape[1])
