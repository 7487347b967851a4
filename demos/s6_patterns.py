"""Patterns that work: blocks, tiles, and fewer trips.

A block gives every lane something to do, a tile uses what was loaded many times over, and a
fused kernel does not load it again. In that order they are worth the most.
"""

import math

import torch

from demos.cases.matrices import MATMUL, MATMUL_MIDDLE, MATMUL_SMALL
from demos.cases.rows import SHORT_SOFTMAX, SOFTMAX
from demos.kernels.matmul import (
    CONFIGS,
    matmul_fp32_tile,
    matmul_grouped,
    matmul_grouped_kernel,
    matmul_naive,
    matmul_naive_kernel,
    matmul_tiled,
    matmul_tiled_kernel,
    tile_of,
    torch_matmul,
)
from demos.kernels.softmax import (
    softmax,
    softmax_in_five,
    softmax_kernel,
    softmax_unshifted,
    softmax_unshifted_kernel,
    torch_softmax,
)
from demos.models import five_trips, tensor_cores
from talk import (
    Column,
    Exercise,
    Measure,
    Predict,
    Run,
    Section,
    Sweep,
    Table,
    Traffic,
    Tune,
)


def overflow():
    """The first share of a row of equal logits: a quarter, whatever they are."""
    rows = []
    for logit in (0.0, 10.0, 80.0, 90.0, 300.0):
        x = torch.full((1, 4), logit)
        without, with_maximum = (float(f(x)[0, 0]) for f in (softmax_unshifted, softmax))
        rows.append((f"four times {logit:g}", read(without), read(with_maximum)))
    names = ("row", "without the maximum", "with it")
    return Table(columns=tuple(Column(name=name) for name in names), rows=tuple(rows))


def read(value):
    return "not a number" if math.isnan(value) else f"{value:g}"


def in_rows(a, b):
    return matmul_grouped(a, b, group=1)


SECTION = Section(
    number=6,
    title="Hardware-aware patterns that work",
    minutes=18,
    naive=(
        Measure(
            "five",
            "Softmax in five PyTorch operations",
            SOFTMAX,
            {"naive": softmax_in_five, "torch": torch_softmax},
            show=(softmax_in_five,),
            says="Five operations reach {{ n('five[naive].share') }} of the ceiling, PyTorch's own "
            "softmax {{ n('five[torch].share') }}.",
            notes="Say: five lines, each of them a fast kernel.\n"
            "Ask: which line is slow?\n"
            "Usual wrong answer: the exponential.\n"
            "1 minute.",
        ),
        Measure(
            "unused",
            "A matrix product that reads b anew for every row",
            MATMUL_SMALL,
            {"naive": matmul_naive, "torch": torch_matmul},
            show=(matmul_naive_kernel,),
            says="{{ n('unused[naive].tflops') }}, where torch does "
            "{{ n('unused[torch].tflops') }}: "
            "{{ n('unused[naive].time') / n('unused[torch].time') }} the time.",
            notes="Say: each element of b is loaded again for every row of a.\n"
            "Ask: how often is each element needed? As often as a has rows.\n"
            "1 minute.",
        ),
    ),
    profile=(
        Predict(
            "guess-traffic",
            "Softmax in five operations: how many times the bytes that it must move?",
            about="traffic[naive, total].bytes / traffic[must move, total].bytes",
            choices={
                "as many": (0, 1.5),
                "2 to 3 times": (1.5, 3.5),
                "4 times": (3.5, 4.5),
                "5 times or more": (4.5, math.inf),
            },
            model=five_trips,
            model_says="counted line by line: eight moves of the matrix, over two",
            misconception="Five operations, five times the bytes.",
            show=(softmax_in_five,),
            notes="Ask: for each line, does it read the matrix, write it, or both?\n"
            "Say: count on your fingers; eight fingers.\n"
            "Usual wrong answer: five.\n"
            "1 minute.",
        ),
        Traffic(
            "traffic",
            "Counted, not claimed: what each operation moves",
            SOFTMAX,
            {"naive": softmax_in_five, "fused": softmax},
            show=(softmax_in_five, softmax_kernel),
            says="Five operations move "
            "{{ n('traffic[naive, total].bytes') / n('traffic[must move, total].bytes') }} the "
            "bytes, one kernel "
            "{{ n('traffic[fused, total].bytes') / n('traffic[must move, total].bytes') }}.",
            notes="Say: PyTorch's dispatcher saw each operation; we only added up.\n"
            "Say: the columns of maxima and sums are a few kB; they count too.\n"
            "Ask: which operation could not be avoided?\n"
            "1 minute.",
        ),
        Run(
            "overflow",
            "Why it subtracts the maximum",
            overflow,
            show=(softmax_unshifted_kernel, softmax_kernel),
            notes="Say: exp overflows float32 from 89 on; infinity over infinity is no number.\n"
            "Ask: why may we subtract anything at all?\n"
            "1 minute.",
        ),
    ),
    rewrite=(
        Sweep(
            "rows",
            "Thinking in blocks: rows of 1,024, one or several to a program",
            SHORT_SOFTMAX,
            {"triton": softmax},
            over={"rows_per_program": (1, 2, 4, 8)},
            show=(softmax_kernel,),
            says="One row a program: {{ n('rows[1].share') }} of the ceiling, two: "
            "{{ n('rows[2].share') }}, eight: {{ n('rows[8].share') }}.",
            notes="Say: a block is a shape that you choose; the right one depends on the rows.\n"
            "Ask: what runs short with eight?\n"
            "1 minute.",
        ),
        Predict(
            "guess-tensor",
            "The same tile on tensor cores: how many times faster than in float32?",
            about="tensor[fp32].time / tensor[tensor cores].time",
            choices={
                "as fast": (0, 1.5),
                "1.5 to 5 times": (1.5, 5),
                "5 to 10 times": (5, 10),
                "more than 10 times": (10, math.inf),
            },
            model=tensor_cores,
            model_says="the roof of 16-bit products measured here, if any, over that of float32",
            misconception="16 bits instead of 32: twice as fast.",
            show=(matmul_tiled_kernel,),
            notes="Say: one line differs, the type in which the tile is multiplied.\n"
            "Ask: half the bits. How much faster?\n"
            "Usual wrong answer: twice.\n"
            "1 minute.",
        ),
        Measure(
            "tensor",
            "One tile, multiplied in float32 or on tensor cores",
            MATMUL_MIDDLE,
            {"fp32": matmul_fp32_tile, "tensor cores": matmul_tiled},
            show=(matmul_tiled_kernel,),
            says="{{ n('tensor[fp32].tflops') }} and {{ n('tensor[tensor cores].tflops') }}. "
            "{% if n('tensor[fp32].time') / n('tensor[tensor cores].time') > 1.5 %}"
            "tl.dot is what reaches the tensor cores.{% else %}"
            "No tensor cores through Triton here: both are plain arithmetic.{% endif %}",
            notes="Say: the loads are the same; only who multiplies differs.\n"
            "Ask: on which card would both be alike? Turing, a T4: Triton dropped its units.\n"
            "1 minute.",
        ),
        Sweep(
            "tiles",
            "The tile: how often what is loaded is used",
            MATMUL_MIDDLE,
            {"triton": matmul_tiled},
            over={"block_m": (32, 64, 128), "block_n": (64, 128, 256)},
            small={"block_m": (16,), "block_n": (16, 32)},
            show=(matmul_tiled_kernel,),
            says="From a tile of 32 × 64 to 128 × 256: {{ n('tiles[32, 64].tflops') }} to "
            "{{ n('tiles[128, 256].tflops') }}.",
            notes="Say: a tile of M × N loads M + N for M · N products.\n"
            "Ask: so why not larger still? Registers and shared memory.\n"
            "1 minute.",
            deadline_s=120,
        ),
        Measure(
            "grouped",
            "Programs in rows, or in groups that share the L2 cache",
            MATMUL,
            {"in rows": in_rows, "grouped": matmul_grouped},
            show=(tile_of,),
            says="{% if tie(n('grouped[in rows].time'), n('grouped[grouped].time')) %}"
            "A tie: grouping gains nothing here.{% else %}In rows takes "
            "{{ n('grouped[in rows].time') / n('grouped[grouped].time') }} the time of grouped."
            "{% endif %}",
            notes="Say: only the order of the programs differs. An honest result, large or small.\n"
            "Ask: when would it matter more? When b is far larger than the cache.\n"
            "1 minute.",
            deadline_s=120,
        ),
        Tune(
            "tune",
            "Tuning: the whole table, not one winner",
            MATMUL,
            {"triton": matmul_grouped},
            configs=CONFIGS,
            show=(matmul_grouped_kernel,),
            notes="Say: an autotuner prints one winner. Here are all, with their ties.\n"
            "Ask: how much does the second best lose? And the worst?\n"
            "2 minutes.",
            says="From {{ n('tune[triton, 64, 32, 4, 3].tflops') }} to "
            "{{ n('tune[triton, 128, 256, 8, 3].tflops') }}: the same kernel, other numbers.",
            deadline_s=240,
        ),
    ),
    fuse=(
        Measure(
            "fused",
            "Softmax in one kernel",
            SOFTMAX,
            {"naive": softmax_in_five, "torch": torch_softmax, "triton": softmax},
            show=(softmax_kernel,),
            says="{{ n('fused[triton].share') }} of the ceiling: "
            "{{ n('fused[naive].time') / n('fused[triton].time') }} as fast as five operations, "
            "{{ n('fused[torch].time') / n('fused[triton].time') }} as fast as torch.softmax.",
            notes="Say: five operations wait for memory five times; this waits once.\n"
            "Ask: the bytes said a factor of four. What else was lost, if anything?\n"
            "2 minutes.",
        ),
    ),
    exercise=Exercise(
        slug="tiles",
        title="The inner loop of a tiled product",
        task="Run just exercise 6: the loop of a tiled matmul is empty. Load a tile of a and "
        "one of b, masked where depth is no multiple of the block, multiply them with "
        "tl.dot, go on to the next. Graded at odd shapes, and transposed.",
        minutes=4,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "6", *sys.argv[1:]]))
