"""A section for one test on a GPU: kernels launched so that something else limits each."""

from __future__ import annotations

from dataclasses import replace

from demos.cases.vectors import ADD
from demos.kernels.matmul import matmul_tiled
from demos.kernels.vector_add import add, add_naive
from talk import Exercise, Profile, Run, Section


def nothing():
    return ""


def tiles(x, y):
    """100 KiB or so of shared memory a program."""
    a, b = (each[: 512 * 512].view(512, 512) for each in (x, y))
    return matmul_tiled(a, b, block_m=64, block_n=64, block_k=64, num_warps=4, num_stages=3)


SECTION = Section(
    number=3,
    title="Occupancy",
    minutes=1,
    naive=(Run("a", "A", nothing),),
    profile=(
        Profile(
            "kernels",
            "Kernels",
            replace(ADD, size={"n": 2**24}),
            {
                "naive": add_naive,
                "many": lambda x, y: add(x, y, block=128, num_warps=1),
                "one warp": lambda x, y: add(x, y, block=1024, num_warps=1),
                "wide": lambda x, y: add(x, y, block=256, num_warps=16),
                "heavy": lambda x, y: add(x, y, block=4096, num_warps=4),
                "tiles": tiles,
            },
        ),
    ),
    rewrite=(Run("b", "B", nothing),),
    fuse=(Run("c", "C", nothing),),
    exercise=Exercise(slug="e", title="E", task="E.", minutes=0),
)
