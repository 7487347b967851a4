"""Kill the memory wall: fast kernels are not the answer, fewer trips are.

Each of two kernels can be at its roof and both together still slow. One kernel that makes one
trip is fast, until arithmetic becomes the next wall.
"""

import math

import torch

from demos.cases.matrices import MATMUL
from demos.cases.rows import (
    ADD_BIAS,
    BIAS_GELU,
    BIAS_GELU_TANH,
    BIAS_RELU,
    LAYER_NORM,
    RELU,
    SOFTMAX,
)
from demos.cases.vectors import ADD, ADD_RELU, MULTIPLY_ADD
from demos.kernels.bias_gelu import (
    BLOCK,
    add_bias,
    add_bias_kernel,
    bias_gelu,
    bias_gelu_kernel,
    bias_gelu_tanh,
    bias_gelu_tanh_kernel,
    bias_relu,
    bias_relu_kernel,
    bias_then_gelu,
    bias_then_gelu_tanh,
    bias_then_relu,
    torch_add_bias,
    torch_bias_gelu,
    torch_bias_gelu_tanh,
    torch_bias_relu,
)
from demos.kernels.compiled import (
    compiled_add_relu,
    compiled_bias_gelu,
    compiled_bias_gelu_tanh,
    compiled_bias_relu,
    compiled_layer_norm,
    compiled_multiply_add,
    compiled_softmax,
)
from demos.kernels.elementwise import (
    add_relu,
    multiply_add,
    relu,
    torch_add_relu,
    torch_multiply_add,
)
from demos.kernels.layer_norm import layer_norm, layer_norm_by_parts, torch_layer_norm
from demos.kernels.matmul import matmul, torch_matmul
from demos.kernels.softmax import softmax, softmax_in_five, torch_softmax
from demos.kernels.vector_add import add, add_naive, torch_add
from demos.models import at_the_roof, half_the_bytes
from talk import Benchmark, Collect, Exercise, Measure, Predict, Section, Traffic


def relu_alone(x):
    """In the blocks that the two kernels take for bfloat16."""
    return relu(x, block=BLOCK)


PATHS = (
    "1/baseline[naive]",
    "8/final[x + y, triton]",
    "8/final[relu(x + y), triton]",
    "8/final[x · y + z, triton]",
    "8/final[relu(x + bias), torch]",
    "8/final[relu(x + bias), triton]",
    "8/final[gelu(x + bias), triton]",
    "8/final[softmax, naive]",
    "8/final[softmax, triton]",
    "8/final[LayerNorm, triton]",
    "8/final[a · b, triton]",
)
"""From where each kernel started to where it ended."""

SECTION = Section(
    number=8,
    title="Kill the memory wall",
    minutes=15,
    naive=(
        Measure(
            "eager",
            "GELU(x + bias), as one writes it in PyTorch",
            BIAS_GELU,
            {"torch": torch_bias_gelu},
            show=(torch_bias_gelu,),
            says="{{ n('eager[torch].gbps') }}, {{ n('eager[torch].share') }} of the ceiling.",
            notes="Say: two operations, each a kernel that experts wrote.\n"
            "Ask: what would you look at first?\n"
            "1 minute.",
        ),
    ),
    profile=(
        Traffic(
            "traffic",
            "Counted: what the two operations move",
            BIAS_GELU,
            {"torch": torch_bias_gelu, "two kernels": bias_then_gelu, "triton": bias_gelu},
            show=(torch_bias_gelu, bias_gelu_kernel),
            says="Two operations move "
            "{{ n('traffic[torch, total].bytes') / n('traffic[must move, total].bytes') }} the "
            "bytes, one kernel "
            "{{ n('traffic[triton, total].bytes') / n('traffic[must move, total].bytes') }}.",
            notes="Say: the sum goes out to memory and comes straight back.\n"
            "Ask: who needs it there?\n"
            "1 minute.",
        ),
        Predict(
            "guess-relu",
            "ReLU(x + bias): how much longer do two Triton kernels take than one?",
            about="relu[two kernels].time / relu[triton].time",
            choices={
                "as long": (0, 1.2),
                "1.2 to 1.8 times": (1.2, 1.8),
                "twice": (1.8, 2.2),
                "longer still": (2.2, math.inf),
            },
            model=half_the_bytes,
            model_says="bytes alone: the matrix is moved four times, or twice",
            misconception="Launching a kernel is what costs.",
            show=(bias_then_relu, bias_relu_kernel),
            notes="Ask: both kernels are at their roof. What is left to gain?\n"
            "Usual wrong answer: nothing.\n"
            "1 minute.",
        ),
    ),
    rewrite=(
        Benchmark(
            "parts",
            "Each operation alone: PyTorch's kernel, and ours",
            (
                (ADD_BIAS, {"torch": torch_add_bias, "triton": add_bias}),
                (RELU, {"torch": torch.relu, "triton": relu_alone}),
            ),
            show=(add_bias_kernel,),
            says="Ours reach {{ n('parts[x + bias, triton].share') }} and "
            "{{ n('parts[relu(x), triton].share') }} of the ceiling. PyTorch's broadcast add "
            "reaches {{ n('parts[x + bias, torch].share') }}"
            "{% if n('parts[x + bias, torch].time') / n('parts[x + bias, triton].time') > 1.1 %}: "
            "a reason of its own why eager is slower still{% endif %}.",
            notes="Say: at its ceiling a kernel is as fast as it can be. Run both: still slow.\n"
            "Say: where eager's broadcast add is far below, that is a second reason, its own.\n"
            "Ask: can a faster kernel help now?\n"
            "1 minute.",
        ),
    ),
    fuse=(
        Measure(
            "relu",
            "One kernel, one trip: ReLU(x + bias)",
            BIAS_RELU,
            {
                "torch": torch_bias_relu,
                "two kernels": bias_then_relu,
                "torch.compile": compiled_bias_relu,
                "triton": bias_relu,
            },
            gpu_only=("torch.compile",),
            show=(bias_relu_kernel,),
            says="Two kernels take {{ n('relu[two kernels].time') / n('relu[triton].time') }} as "
            "long as one; bytes said {{ n('guess-relu.model') }}. Eager takes "
            "{{ n('relu[torch].time') / n('relu[triton].time') }}.",
            notes="Say: the byte model had it right before we ran anything.\n"
            "Ask: what did torch.compile do?\n"
            "1 minute.",
            deadline_s=120,
        ),
        Predict(
            "guess-gelu",
            "With an exact GELU: what share of the ceiling does one kernel reach?",
            about="gelu[triton].share",
            choices={
                "under 50 %": (0, 0.5),
                "50 to 80 %": (0.5, 0.8),
                "80 to 95 %": (0.8, 0.95),
                "over 95 %": (0.95, math.inf),
            },
            model=at_the_roof,
            model_says="bytes alone: what only moves bytes reaches its ceiling",
            misconception="Fused is fast, whatever is fused.",
            show=(bias_gelu_kernel,),
            notes="Say: the same bytes, one trip. Only the function differs: erf.\n"
            "Ask: is it still memory that decides?\n"
            "Usual wrong answer: yes, it is elementwise.\n"
            "1 minute.",
        ),
        Measure(
            "gelu",
            "One kernel with the exact erf",
            BIAS_GELU,
            {
                "torch": torch_bias_gelu,
                "two kernels": bias_then_gelu,
                "torch.compile": compiled_bias_gelu,
                "triton": bias_gelu,
            },
            gpu_only=("torch.compile",),
            show=(bias_gelu_kernel,),
            says="{{ n('gelu[triton].share') }} of the ceiling; with a ReLU, the same bytes reach "
            "{{ n('relu[triton].share') }}. "
            "{% if n('gelu[triton].time') / n('relu[triton].time') > 1.15 %}A new wall: "
            "arithmetic, the erf of every element.{% else %}No new wall: the erf costs next to "
            "nothing here.{% endif %}",
            notes="Say: the roofline counts an erf as one operation; it is some thirty "
            "instructions.\n"
            "Ask: which wall is it now, and how do you know?\n"
            "1 minute.",
            deadline_s=120,
        ),
        Measure(
            "tanh",
            "One kernel with the tanh form",
            BIAS_GELU_TANH,
            {
                "torch": torch_bias_gelu_tanh,
                "two kernels": bias_then_gelu_tanh,
                "torch.compile": compiled_bias_gelu_tanh,
                "triton": bias_gelu_tanh,
            },
            gpu_only=("torch.compile",),
            show=(bias_gelu_tanh_kernel,),
            says="{{ n('tanh[triton].share') }} of the ceiling, "
            "{{ n('gelu[triton].time') / n('tanh[triton].time') }} as fast as with erf.",
            notes="Say: fewer instructions an element. It is another function, so say so.\n"
            "Ask: would your model notice the difference?\n"
            "1 minute.",
            deadline_s=120,
        ),
        Benchmark(
            "final",
            "Every kernel of the day",
            (
                (ADD, {"naive": add_naive, "torch": torch_add, "triton": add}),
                (
                    ADD_RELU,
                    {
                        "torch": torch_add_relu,
                        "torch.compile": compiled_add_relu,
                        "triton": add_relu,
                    },
                ),
                (
                    MULTIPLY_ADD,
                    {
                        "torch": torch_multiply_add,
                        "torch.compile": compiled_multiply_add,
                        "triton": multiply_add,
                    },
                ),
                (
                    BIAS_RELU,
                    {
                        "torch": torch_bias_relu,
                        "torch.compile": compiled_bias_relu,
                        "triton": bias_relu,
                    },
                ),
                (
                    BIAS_GELU,
                    {
                        "torch": torch_bias_gelu,
                        "torch.compile": compiled_bias_gelu,
                        "triton": bias_gelu,
                    },
                ),
                (
                    BIAS_GELU_TANH,
                    {
                        "torch": torch_bias_gelu_tanh,
                        "torch.compile": compiled_bias_gelu_tanh,
                        "triton": bias_gelu_tanh,
                    },
                ),
                (
                    SOFTMAX,
                    {
                        "naive": softmax_in_five,
                        "torch": torch_softmax,
                        "torch.compile": compiled_softmax,
                        "triton": softmax,
                    },
                ),
                (
                    LAYER_NORM,
                    {
                        "naive": layer_norm_by_parts,
                        "torch": torch_layer_norm,
                        "torch.compile": compiled_layer_norm,
                        "triton": layer_norm,
                    },
                ),
                (MATMUL, {"torch": torch_matmul, "triton": matmul}),
            ),
            gpu_only=("torch.compile",),
            show=(add_relu,),
            says="From {{ n('final[x + y, naive].share') }} of the ceiling to "
            "{{ n('final[x + y, triton].share') }}; softmax "
            "{{ n('final[softmax, naive].time') / n('final[softmax, triton].time') }} as fast as "
            "in five operations.",
            notes="Say: one table, timed in turn in one process. Find your own kernel in it.\n"
            "Ask: which of these would you write yourself, and which leave to the compiler?\n"
            "1 minute.",
            deadline_s=240,
        ),
        Collect(
            "paths",
            "The roofline of the day, and the paths travelled",
            "roofline",
            of=PATHS,
            notes="Say: up is better code, right is fewer bytes. You did both today.\n"
            "Ask: which point is still far from its roof, and why? Mind what it counts as one.\n"
            "1 minute.",
        ),
        Collect(
            "calibration",
            "How good were we? The room, the model, the measurement",
            "calibration",
            notes="Say: nobody is always right; the model is wrong where it leaves a wall out.\n"
            "Ask: which surprise will you remember tomorrow?\n"
            "1 minute.",
        ),
        Collect(
            "table",
            "Take home: what each step was worth",
            "table",
            of=(
                "1/baseline[naive]",
                "1/block[triton]",
                "5/fused[unfused]",
                "5/fused[fused]",
                "6/fused[naive]",
                "6/fused[triton]",
                "8/relu[two kernels]",
                "8/relu[triton]",
            ),
            says="A block for each program: {{ n('1/baseline[naive].time') / "
            "n('1/block[triton].time') }} as fast. One kernel for two: "
            "{{ n('5/fused[unfused].time') / n('5/fused[fused].time') }} and "
            "{{ n('relu[two kernels].time') / n('relu[triton].time') }}; for five: "
            "{{ n('6/fused[naive].time') / n('6/fused[triton].time') }}.",
            notes="Say: measure, find the wall, then take the trips away.\n"
            "Ask: what will you measure first at home?\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="residual",
        title="Residual add and LayerNorm in one kernel",
        task="Run just exercise 8: the LayerNorm of x + residual, in three moves of the "
        "matrix instead of five. Challenges: just exercise multiply_add (one "
        "instruction), layer_norm (with its backward), attention (Flash Attention).",
        minutes=3,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "8", *sys.argv[1:]]))
