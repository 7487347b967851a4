"""Challenges: one instruction, a gradient, and a matrix that is never written.

For those who go on after the talk. A fused multiply-add that rounds once; LayerNorm with its
backward, which sums over rows without a lock; and attention, whose scores never leave the chip.
"""

import math
from dataclasses import replace

from demos.cases.challenges import (
    ATTENTION,
    BESIDE_LIBRARIES,
    CAUSAL_ATTENTION,
    FEW_HEADS,
    LAYER_NORM_BACKWARD,
    LAYER_NORM_FORWARD,
)
from demos.cases.vectors import MULTIPLY_ADD
from demos.kernels.attention import (
    attend,
    attention,
    attention_by_parts,
    attention_kernel,
    cudnn_attention,
    flash_attention,
    take_in,
    torch_attention,
)
from demos.kernels.elementwise import multiply_add, multiply_add_kernel
from demos.kernels.layer_norm import torch_layer_norm
from demos.kernels.layer_norm_backward import (
    layer_norm_backward,
    layer_norm_backward_kernel,
    layer_norm_forward,
    layer_norm_forward_kernel,
    slope,
    torch_layer_norm_backward,
)
from demos.models import three_moves
from talk import Exercise, Measure, Predict, Section, Trace, Traffic, Tune


def normalised(x, weight, bias):
    """The result alone, of a forward that keeps mean and deviation as well."""
    return layer_norm_forward(x, weight, bias)[0]


def backward_of(cols):
    """As many elements, in rows of another length."""
    size = {"rows": 2**27 // cols, "cols": cols}
    return replace(LAYER_NORM_BACKWARD, name=f"backward of {cols:,} columns", size=size)


def backward(slug, cols):
    return Measure(
        slug,
        f"LayerNorm's backward, {cols:,} columns",
        backward_of(cols),
        {"torch": torch_layer_norm_backward, "triton": layer_norm_backward},
        show=(layer_norm_backward_kernel, slope),
        says=f"{{{{ n('{slug}[torch].time') / n('{slug}[triton].time') }}}} as fast as torch, at "
        f"{{{{ n('{slug}[triton].share') }}}} of the ceiling.",
        notes="Say: dweight and dbias are summed over all rows, and no two programs meet.\n"
        "Ask: what would an atomic add cost here? The same bits twice.\n"
        "1 minute.",
    )


SECTION = Section(
    number=9,
    title="Challenges, after the talk",
    minutes=20,
    naive=(
        Measure(
            "by-parts",
            "Attention, one operation after the other",
            FEW_HEADS,
            {"naive": attention_by_parts, "torch": torch_attention},
            show=(attention_by_parts,),
            says="By parts it takes {{ n('by-parts[naive].time') / n('by-parts[torch].time') }} "
            "the time of PyTorch's one kernel.",
            notes="Say: every operation is a good kernel, and each writes the matrix of scores.\n"
            "Ask: who reads it?\n"
            "1 minute.",
        ),
    ),
    profile=(
        Traffic(
            "traffic",
            "Counted: the scores, written and read again and again",
            FEW_HEADS,
            {"naive": attention_by_parts, "triton": attention},
            show=(attention_by_parts, take_in),
            says="By parts moves "
            "{{ n('traffic[naive, total].bytes') / n('traffic[must move, total].bytes') }} the "
            "bytes that it must, one kernel "
            "{{ n('traffic[triton, total].bytes') / n('traffic[must move, total].bytes') }}.",
            notes="Say: the one kernel never has more than a tile of scores.\n"
            "Ask: a softmax needs the whole row; how can a tile do?\n"
            "1 minute.",
        ),
        Trace(
            "fma",
            "Multiply and add in one instruction, for every GPU",
            MULTIPLY_ADD,
            {"triton": multiply_add},
            targets=("sm_75", "sm_80", "sm_90", "sm_100"),
            sizes=({"n": 1048576},),
            whole=("sm_90",),
            show=(multiply_add_kernel,),
            says="{{ n('fma[triton, sm_75].fma') }} fused multiply-adds in the PTX of a lane for a "
            "T4, {{ n('fma[triton, sm_90].fma') }} for an H100.",
            notes="Say: one rounding in the place of two: find fma.rn in the PTX.\n"
            "Ask: who asked for it? The compiler may, unless told otherwise.\n"
            "1 minute.",
        ),
    ),
    rewrite=(
        Measure(
            "forward",
            "LayerNorm's forward, which keeps two numbers a row",
            LAYER_NORM_FORWARD,
            {"torch": torch_layer_norm, "triton": normalised},
            show=(layer_norm_forward_kernel,),
            says="{{ n('forward[torch].time') / n('forward[triton].time') }} as fast as torch, at "
            "{{ n('forward[triton].share') }} of the ceiling.",
            notes="Say: mean and deviation are kept for the backward: two numbers a row.\n"
            "Ask: why not compute them again?\n"
            "1 minute.",
        ),
        Predict(
            "guess-backward",
            "The backward gives three results. How much longer than the forward?",
            about="backward[triton].time / forward[triton].time",
            choices={
                "as long": (0, 1.2),
                "1.2 to 2 times": (1.2, 2),
                "2 to 3 times": (2, 3),
                "longer still": (3, math.inf),
            },
            model=three_moves,
            model_says="bytes alone: three moves of the matrix, over two",
            misconception="Three results, and sums over rows: three times the time.",
            show=(layer_norm_backward_kernel, slope),
            notes="Ask: count the matrices that come and go.\n"
            "Usual wrong answer: three times, for three results.\n"
            "1 minute.",
        ),
        backward("backward", 4096),
        backward("backward-8192", 8192),
        backward("backward-16384", 16384),
    ),
    fuse=(
        Measure(
            "attention",
            "Attention in one kernel, beside PyTorch's",
            BESIDE_LIBRARIES,
            {"flash": flash_attention, "cuDNN": cudnn_attention, "triton": attention},
            gpu_only=("flash", "cuDNN"),
            show=(take_in, attend, attention_kernel),
            says="{{ n('attention[cuDNN].time') / n('attention[triton].time') }} as fast as "
            "cuDNN's, {{ n('attention[flash].time') / n('attention[triton].time') }} as fast as "
            "PyTorch's Flash Attention: {{ n('attention[triton].tflops') }}.",
            notes="Say: a maximum and a sum for each row, mended with every tile that comes in.\n"
            "Ask: what if a later tile has the larger score? All so far shrinks.\n"
            "2 minutes.",
            deadline_s=120,
        ),
        Measure(
            "causal",
            "The same, where a query sees nothing ahead of it",
            CAUSAL_ATTENTION,
            {"flash": flash_attention, "cuDNN": cudnn_attention, "triton": attention},
            gpu_only=("flash", "cuDNN"),
            show=(attend, attention_kernel),
            says="{{ n('causal[cuDNN].time') / n('causal[triton].time') }} as fast as cuDNN's; "
            "half the scores in {{ n('causal[triton].time') / n('attention[triton].time') }} the "
            "time.",
            notes="Say: tiles ahead of a query are never computed; those across it are masked.\n"
            "Ask: why the last queries first? They have the most to do.\n"
            "1 minute.",
            deadline_s=120,
        ),
        Tune(
            "tune",
            "How many queries and keys at once?",
            ATTENTION,
            {"triton": attention},
            configs=tuple(
                {"block_m": m, "block_n": n, "num_warps": warps, "num_stages": stages}
                for m, n, warps, stages in (
                    (64, 64, 4, 3),
                    (64, 64, 4, 2),
                    (128, 64, 4, 2),
                    (128, 64, 8, 3),
                    (128, 128, 8, 3),
                )
            ),
            show=(attend,),
            says="{{ n('tune[64, 64, 4, 3].tflops') }} with two programs a multiprocessor, "
            "{{ n('tune[128, 128, 8, 3].tflops') }} with one that is four times as large.",
            notes="Say: two programs share a multiprocessor: one computes exponentials meanwhile.\n"
            "Ask: what limits how many fit? Their shared memory.\n"
            "1 minute.",
            deadline_s=180,
        ),
    ),
    exercise=Exercise(
        slug="attention",
        title="Challenges of your own",
        task="Run just exercise multiply_add, just exercise layer_norm or just exercise "
        "attention: each is graded like the eight, and has hints.",
        minutes=8,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "9", *sys.argv[1:]]))
