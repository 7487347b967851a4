"""Decide before you optimise: the roofline says which wall you face.

Operations per byte place a kernel left or right of the ridge. The height above it is what the
machine allows; the distance to it is what something else costs.
"""

import math
from dataclasses import replace

from demos.cases.matrices import MATMUL
from demos.cases.rows import LAYER_NORM, SOFTMAX
from demos.cases.vectors import ADD, ADD_RELU, MULTIPLY_ADD, vectors
from demos.kernels.elementwise import add_relu, add_relu_kernel
from demos.kernels.layer_norm import layer_norm
from demos.kernels.matmul import matmul, matmul_grouped_kernel
from demos.kernels.softmax import softmax, softmax_kernel
from demos.kernels.vector_add import add, add_kernel, add_naive, add_naive_kernel, torch_add
from demos.models import attainable, usable_arithmetic
from talk import Benchmark, Collect, Column, Exercise, Measure, Predict, Run, Section, Table

TINY = replace(ADD, name="a short x + y", size={"n": 2**12})


def count_by_hand():
    """Bytes and operations of one element."""
    one = vectors(1)
    rows = []
    for case, words in (
        (ADD, "read x, read y, write: one addition"),
        (ADD_RELU, "the same bytes: an addition and a comparison"),
        (MULTIPLY_ADD, "read x, y and z, write: a product and a sum"),
    ):
        inputs = (*one, one[0])[: 3 if case is MULTIPLY_ADD else 2]
        moved, flops = case.bytes_moved(*inputs), case.flops(*inputs)
        rows.append((case.name, words, float(moved), float(flops), flops / moved))
    columns = (
        Column(name="case"),
        Column(name="an element"),
        Column(name="bytes", unit="B"),
        Column(name="operations", unit="count"),
        Column(name="intensity", unit="FLOP/B"),
    )
    return Table(columns=columns, rows=tuple(rows))


SECTION = Section(
    number=4,
    title="Decide before you optimise: roofline",
    minutes=15,
    naive=(
        Run(
            "count",
            "Count by hand: bytes and operations of one element",
            count_by_hand,
            show=(add_naive_kernel,),
            notes="Say: no profiler yet. Read the five lines and count.\n"
            "Ask: what does an add read, write and compute, for one element?\n"
            "Usual wrong answer: forgetting the write.\n"
            "1 minute.",
            says="An add does {{ n('count[x + y].operations') }} operation for "
            "{{ n('count[x + y].bytes') }}: {{ n('count[x + y].intensity') }}. "
            "{{ n('count[relu(x + y)].intensity') }} with a ReLU in the same kernel.",
        ),
        Predict(
            "guess-share",
            "Which side of the ridge: what share of the arithmetic can an add use?",
            about="blocked[triton].arithmetic_share",
            choices={
                "far left: under 1 %": (0, 0.01),
                "left: 1 to 50 %": (0.01, 0.5),
                "right: over 50 %, arithmetic is its wall": (0.5, math.inf),
            },
            model=usable_arithmetic,
            model_says="the roofline: intensity × bandwidth, over the arithmetic roof",
            misconception="A GPU is fast at arithmetic, so an add is fast.",
            show=(attainable,),
            notes="Say: the ridge is the intensity at which memory and arithmetic take equally "
            "long. Left of it memory is the wall.\n"
            "Ask: one addition for 12 bytes; how much of the arithmetic will it ever see?\n"
            "Usual wrong answer: a tenth.\n"
            "1 minute.",
        ),
        Measure(
            "baseline",
            "The baseline's own place",
            ADD,
            {"naive": add_naive},
            show=(add_naive_kernel,),
            says="{% if n('baseline[naive].intensity') < n('machine/ridge[fp32].intensity') %}"
            "Left of the ridge: memory is its roof, and it reaches "
            "{{ n('baseline[naive].share') }} of it. "
            "{% if n('baseline[naive].share') < 0.5 %}Something else is wrong."
            "{% else %}Memory is its wall.{% endif %}"
            "{% else %}Right of the ridge: arithmetic is its roof, and it reaches "
            "{{ n('baseline[naive].arithmetic_share') }} of it.{% endif %}",
            notes="Say: the roof says what is possible. The distance says how much is lost.\n"
            "Ask: can a kernel be memory-bound and use half a percent of memory?\n"
            "1 minute.",
        ),
    ),
    profile=(
        Collect(
            "roofs",
            "This machine's roofs, and the baseline under them",
            "roofline",
            of=("4/baseline[naive]",),
            says="Memory decides under {{ n('machine/ridge[fp32].intensity') }}, float32 "
            "arithmetic, {{ n('machine/arithmetic[fp32].tflops') }}, above it. "
            "{% if n('baseline[naive].intensity') < n('machine/ridge[fp32].intensity') %}"
            "{{ n('machine/ridge[fp32].intensity') / n('baseline[naive].intensity') }} the "
            "operations of an add would fit beside its bytes."
            "{% else %}An add is beyond it.{% endif %}",
            notes="Say: every roof was measured on this GPU; none is from a data sheet.\n"
            "Say: left of the ridge memory decides, right of it arithmetic.\n"
            "Ask: what would move the point up, what would move it right?\n"
            "2 minutes.",
        ),
    ),
    rewrite=(
        Measure(
            "blocked",
            "A block per program: straight up",
            ADD,
            {"torch": torch_add, "triton": add},
            show=(add_kernel,),
            says="{{ n('blocked[triton].share') }} of the bandwidth, with "
            "{{ n('blocked[triton].arithmetic_share') }} of the arithmetic; the model said "
            "{{ n('guess-share.model') }}. "
            "{% if n('blocked[triton].share') > 0.9 or "
            "n('blocked[triton].arithmetic_share') > 0.9 %}"
            "It is at its roof: better code cannot help."
            "{% else %}There is still room below its roof.{% endif %}",
            notes="Say: the same intensity, so the point moves straight up.\n"
            "Ask: what is left to gain here?\n"
            "1 minute.",
        ),
        Measure(
            "tiny",
            "The same kernel on 4,096 elements",
            TINY,
            {"triton": add},
            show=(add_kernel,),
            says="{{ n('tiny[triton].time') }}; a kernel that does nothing takes "
            "{{ n('machine/launch.time') }}. "
            "{% if n('tiny[triton].time') / n('machine/launch.time') < 5 %}"
            "The launch is its wall: no roof of the roofline is near."
            "{% else %}The launch is not its wall here.{% endif %}",
            notes="Say: a third wall, which the roofline does not draw: the launch.\n"
            "Ask: how long must a vector be before bandwidth means anything?\n"
            "1 minute.",
        ),
        Collect(
            "up",
            "Up to the roof, and one point that never gets there",
            "roofline",
            of=("4/baseline[naive]", "4/blocked[triton]", "4/tiny[triton]"),
            notes="Say: the launch-bound point has no rate; it is drawn where its time puts it.\n"
            "Ask: which of the three would a better kernel help?\n"
            "1 minute.",
        ),
    ),
    fuse=(
        Measure(
            "fused",
            "Fused: to the right",
            ADD_RELU,
            {"triton": add_relu},
            show=(add_relu_kernel,),
            says="Twice the operations on the same bytes, "
            "{{ n('fused[triton].intensity') / n('blocked[triton].intensity') }} the intensity, in "
            "{{ n('fused[triton].time') / n('blocked[triton].time') }} the time of the add. "
            "{% if n('fused[triton].time') / n('blocked[triton].time') < 1.1 %}"
            "The second operation came for free.{% else %}It is not free here.{% endif %}",
            notes="Say: fusing moves a point right, along the slanted roof: more for each byte.\n"
            "Ask: how many operations fit before the ridge?\n"
            "1 minute.",
        ),
        Benchmark(
            "others",
            "Softmax, LayerNorm and a matrix product join",
            (
                (SOFTMAX, {"triton": softmax}),
                (LAYER_NORM, {"triton": layer_norm}),
                (MATMUL, {"triton": matmul}),
            ),
            show=(softmax_kernel, matmul_grouped_kernel),
            says="Softmax reaches {{ n('others[softmax, triton].share') }} of the bandwidth, the "
            "product of 8,192 × 8,192 matrices {{ n('others[a · b, triton].arithmetic_share') }} "
            "of the arithmetic.",
            notes="Say: three famous kernels; guess the side of each before the plot.\n"
            "Ask: which of them would a faster memory help?\n"
            "1 minute.",
            deadline_s=180,
        ),
        Collect(
            "all",
            "The roofline so far",
            "roofline",
            of=(
                "4/baseline[naive]",
                "4/blocked[triton]",
                "4/tiny[triton]",
                "4/fused[triton]",
                "4/others[softmax, triton]",
                "4/others[LayerNorm, triton]",
                "4/others[a · b, triton]",
            ),
            notes="Say: this plot grows until tonight; you can find each kernel on it again.\n"
            "Ask: for each point, which of the three walls is it at?\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="roofline",
        title="Say which wall, before you run",
        task="Run just exercise 4: fill in attainable, then write wall: launch, memory or "
        "arithmetic, from bytes, operations and roofs. It is asked about an add of 1,000 "
        "elements, one of 2^28, softmax of 32,768 × 8,192, and products of 64 × 64 and "
        "of 8,192 × 8,192 matrices.",
        minutes=4,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "4", *sys.argv[1:]]))
