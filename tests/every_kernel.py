"""Launches every kernel of the demos once, and a wrong one, for the tests that compile them."""

from demos.cases.vectors import vectors  # noqa: F401  # makes the inputs, by name
from demos.kernels.elementwise import add_relu, relu
from demos.kernels.vector_add import add, add_naive
from demos.s5_memory_wall import nothing_kernel
from tests.wrong_adds import no_mask


def every_kernel(x, y):
    add_naive(x, y)
    add(x, y)
    relu(x)
    add_relu(x, y)
    nothing_kernel[(1,)]()
    no_mask(x, y)
