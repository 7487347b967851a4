"""Your first fast kernel: from Python to PTX, and back to PyTorch.

Ten lines of Python become the instructions that a CUDA programmer would have written. You can
read them without a GPU, tune them with one, and call them from PyTorch like any other operation.
"""

import math

from demos.cases.vectors import ADD, MULTIPLY_ADD
from demos.kernels.compiled import compiled_multiply_add
from demos.kernels.elementwise import (
    multiply_add,
    multiply_add_kernel,
    multiply_then_add,
    torch_addcmul,
    torch_multiply_add,
)
from demos.kernels.operator import multiply_add_operator
from demos.kernels.vector_add import add, add_kernel, add_naive, add_naive_kernel, torch_add
from demos.models import bytes_alone, two_trips
from talk import Exercise, Measure, Predict, Section, Show, Sweep, Trace, Tune

EVERY_TARGET = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx942")

SKELETON = """
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # which elements are mine?
    # which of them exist?
    # load these of x and of y
    # add, and store
"""

SECTION = Section(
    number=7,
    title="Your first fast Python GPU kernel",
    minutes=15,
    naive=(
        Measure(
            "baseline",
            "Where we started",
            ADD,
            {"naive": add_naive},
            show=(add_naive_kernel, add_naive),
            says="{{ n('baseline[naive].gbps') }}, "
            "{{ n('baseline[naive].share') }} of the ceiling.",
            notes="Say: by now you can say why, in one sentence. Do.\n"
            "Ask: who can write the fast one without looking?\n"
            "1 minute.",
        ),
    ),
    profile=(
        Trace(
            "trace",
            "One Python line, all the way down",
            ADD,
            {"triton": add},
            targets=("sm_90", "gfx942"),
            sizes=({"n": 1048576}, {"n": 1000001}),
            whole=("sm_90", "gfx942"),
            show=(add_kernel,),
            says="Aligned, one load of a lane brings "
            "{{ n('trace[triton, sm_90, 1048576].widest') }}; with a length that 16 does not "
            "divide, {{ n('trace[triton, sm_90, 1000001].widest') }}: "
            "{{ n('trace[triton, sm_90, 1000001].loads') }} loads for "
            "{{ n('trace[triton, sm_90, 1048576].loads') }}.",
            notes="Say: choose a line and walk down: Triton's own forms, LLVM, PTX, machine code.\n"
            "Say: no GPU took part in this. The same for AMD beside it.\n"
            "Ask: where did the mask go? And the four elements a lane?\n"
            "2 minutes.",
        ),
        Predict(
            "guess-ragged",
            "A length that 16 does not divide: scalar loads. How much longer?",
            about="ragged[268435455].time / ragged[268435456].time",
            choices={
                "as long": (0, 1.05),
                "5 to 50 % longer": (1.05, 1.5),
                "twice as long, or more": (1.5, math.inf),
            },
            model=bytes_alone,
            model_says="bytes alone: one element fewer, so no longer",
            misconception="Four loads where one would do: four times as long.",
            show=(add_kernel,),
            notes="Say: you saw it in the PTX: four loads in the place of one.\n"
            "Ask: and in time?\n"
            "Usual wrong answer: four times.\n"
            "30 seconds.",
        ),
        Sweep(
            "ragged",
            "An aligned length, and one element fewer",
            ADD,
            {"triton": add},
            over={"n": (268435456, 268435455)},
            small={"n": (128, 127)},
            show=(add_kernel,),
            says="One element fewer takes "
            "{{ n('ragged[268435455].time') / n('ragged[268435456].time') }} the time. "
            "{% if n('ragged[268435455].time') / n('ragged[268435456].time') < 1.05 %}"
            "More instructions, and nobody waits for them.{% else %}"
            "The extra instructions cost time here.{% endif %}",
            notes="Say: look at the machine code, then at the clock. Both are true.\n"
            "Ask: when would the extra instructions cost something?\n"
            "1 minute.",
        ),
        Trace(
            "targets",
            "The same kernel for every GPU in the room, and some that are not",
            ADD,
            {"triton": add},
            targets=EVERY_TARGET,
            sizes=({"n": 1048576},),
            whole=(),
            show=(add_kernel,),
            says="{{ n('targets[sm_75].registers') }} registers on a T4, "
            "{{ n('targets[sm_90].registers') }} on an H100: the same ten lines.",
            notes="Say: compiled here and now, for GPUs that are not here.\n"
            "Ask: what would you have to change in CUDA for the last one?\n"
            "1 minute.",
        ),
    ),
    rewrite=(
        Show(
            "skeleton",
            "Dictate it to me: the body is missing",
            text=SKELETON,
            says="So far: {{ n('baseline[naive].gbps') }}, from one element a program.",
            notes="Say: empty the body of add_kernel on screen, and write it as they dictate.\n"
            "Ask: what comes first? The block, what exists of it, loads, add, store.\n"
            "Usual wrong answer: a loop over the block.\n"
            "1 minute.",
        ),
        Measure(
            "write",
            "Written live: the baseline, PyTorch's CUDA kernel, and ours",
            ADD,
            {"naive": add_naive, "torch": torch_add, "triton": add},
            show=(add_kernel, add),
            says="{{ n('write[naive].time') / n('write[triton].time') }} as fast as the baseline. "
            "{% if tie(n('write[torch].time'), n('write[triton].time')) %}A tie with torch"
            "{% else %}{{ n('write[torch].time') / n('write[triton].time') }} as fast as torch"
            "{% endif %}, at {{ n('write[triton].share') }} of the ceiling.",
            notes="Say: it was checked at every length before it was timed.\n"
            "Ask: which of the five lines made it so much faster than the baseline?\n"
            "1 minute.",
        ),
        Tune(
            "tune",
            "Block and warps, tuned: does it still matter?",
            ADD,
            {"triton": add},
            configs=tuple(
                {"block": block, "num_warps": warps}
                for block, warps in ((256, 2), (256, 4), (512, 4), (1024, 4), (1024, 8), (4096, 8))
            ),
            show=(add_kernel,),
            says="{{ n('tune[256, 2].gbps') }} with the smallest, {{ n('tune[4096, 8].gbps') }} "
            "with the largest.",
            notes="Say: every configuration, not the winner alone; ties are called ties.\n"
            "Ask: is the fastest line worth a constant in the code?\n"
            "30 seconds.",
        ),
        Measure(
            "operator",
            "A PyTorch operation: with gradients, and seen by torch.compile",
            MULTIPLY_ADD,
            {
                "torch": torch_multiply_add,
                "triton": multiply_add,
                "operator": multiply_add_operator,
                "torch.compile": compiled_multiply_add,
            },
            gpu_only=("torch.compile",),
            show=(multiply_add_operator, multiply_add_kernel),
            says="As an operation it takes "
            "{{ n('operator[operator].time') / n('operator[triton].time') }} the time of the bare "
            "kernel.",
            notes="Say: one decorator registers it; another tells its gradient.\n"
            "Say: torch.compile is PyTorch's two operations, compiled; ours fits in there too.\n"
            "Ask: who would use a kernel that autograd cannot pass through?\n"
            "1 minute.",
            deadline_s=120,
        ),
    ),
    fuse=(
        Predict(
            "guess-fused",
            "x · y + z: how much longer do two kernels take than one?",
            about="fused[two kernels].time / fused[triton].time",
            choices={
                "as long": (0, 1.2),
                "1.2 to 1.8 times": (1.2, 1.8),
                "twice, or more": (1.8, math.inf),
            },
            model=two_trips,
            model_says="bytes alone: six trips at their ceiling, over four at theirs",
            misconception="Two kernels, twice the time.",
            show=(multiply_then_add, multiply_add_kernel),
            notes="Ask: count the trips of both.\nUsual wrong answer: twice.\n1 minute.",
        ),
        Measure(
            "fused",
            "x · y + z in two operations, in two kernels, in one",
            MULTIPLY_ADD,
            {
                "torch": torch_multiply_add,
                "addcmul": torch_addcmul,
                "two kernels": multiply_then_add,
                "triton": multiply_add,
            },
            show=(multiply_add_kernel,),
            says="Two kernels take {{ n('fused[two kernels].time') / n('fused[triton].time') }} "
            "as long as one; bytes said {{ n('guess-fused.model') }}. One kernel is at "
            "{{ n('fused[triton].share') }} of its ceiling.",
            notes="Say: PyTorch has this one fused, as addcmul. Most chains it has not.\n"
            "Ask: which chains of your own code come to mind?\n"
            "1 minute.",
        ),
        Trace(
            "fma",
            "One instruction for both: fma.rn",
            MULTIPLY_ADD,
            {"triton": multiply_add},
            targets=("sm_90",),
            sizes=({"n": 1048576},),
            whole=("sm_90",),
            show=(multiply_add_kernel,),
            says="{% if n('fma[triton, sm_90].fma') > 0 %}{{ n('fma[triton, sm_90].fma') }} fused "
            "multiply-adds in the PTX of a lane: one rounding each.{% else %}No fused multiply-add "
            "in the PTX: this compiler keeps both apart.{% endif %}",
            notes="Say: one rounding, one instruction: find it in the PTX.\n"
            "Ask: is that why it is faster? No: look at the bytes.\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="softmax",
        title="A whole kernel from an empty body",
        task="Run just exercise 7: the softmax of every row, stable for any logits and for "
        "any number of columns that a block holds. Graded with huge logits, with rows of "
        "a wider matrix and in float16.",
        minutes=3,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "7", *sys.argv[1:]]))
