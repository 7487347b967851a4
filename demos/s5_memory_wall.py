"""One constraint explains why the baseline is slow, and finds the memory wall.

The roofline expects the naive add at the bandwidth ceiling. It is nowhere near, so something
that the roofline does not know stands in the way. We find it by measurement, add it to the
model, and let the model say at which block memory becomes the wall.
"""

import math

import torch
import triton

from demos.cases.vectors import ADD, ADD_RELU, vectors
from demos.kernels.elementwise import add_relu, add_relu_kernel, add_then_relu, torch_add_relu
from demos.kernels.vector_add import add, add_kernel, add_naive, add_naive_kernel, torch_add
from demos.models import saving, share, wall
from demos.stopwatches import events, median
from talk import Column, Exercise, Measure, Predict, Profile, Run, Section, Sweep, Table


@triton.jit
def nothing_kernel():
    pass


PROGRAMS = 2**21


def equal_programs():
    """As many programs each time, with more work in each."""
    x, y = vectors(PROGRAMS * 128)
    out = torch.empty_like(x)

    def start(block):
        add_kernel[(PROGRAMS,)](out, x, y, PROGRAMS * block, BLOCK=block)

    works = {
        "nothing": nothing_kernel[(PROGRAMS,)],
        "1 element": lambda: start(1),
        "32 elements": lambda: start(32),
        "128 elements": lambda: start(128),
    }
    names = Column(name="each adds"), Column(name="programs", unit="count")
    return Table(
        columns=(*names, Column(name="time", unit="s")),
        rows=tuple((name, PROGRAMS, median(events, work)) for name, work in works.items()),
    )


SECTION = Section(
    number=5,
    title="Hit the memory wall",
    minutes=15,
    naive=(
        Predict(
            "guess-share",
            "One element per program: what share of the bandwidth ceiling?",
            about="baseline[naive].share",
            choices={
                "under 1 %": (0, 0.01),
                "1 to 10 %": (0.01, 0.1),
                "10 to 50 %": (0.1, 0.5),
                "over 50 %": (0.5, math.inf),
            },
            model=share,
            model_says="the roofline: bytes ÷ bandwidth, and one launch",
            misconception="An add does next to nothing, so memory sets its speed.",
            show=(add_naive_kernel,),
            notes="Say: section 1 gave us its time. Now as a share of what memory can do.\n"
            "Ask: one addition for 12 bytes; what does the roofline of section 4 say?\n"
            "Usual wrong answer: over half, it is memory-bound after all.\n"
            "1 minute.",
        ),
        Measure(
            "baseline",
            "The baseline again",
            ADD,
            {"naive": add_naive, "torch": torch_add},
            show=(add_naive_kernel, add_naive),
            says="{{ n('baseline[naive].gbps') }}, {{ n('baseline[naive].share') }} of the "
            "ceiling; the roofline expected {{ n('guess-share.model') }}. "
            "{% if n('baseline[naive].share') < 0.5 %}Something it does not know is in the way."
            "{% else %}Memory is the wall here.{% endif %}",
            notes="Say: the same bytes, the same additions, the same GPU as torch.\n"
            "Ask: so what is it waiting for?\n"
            "Usual wrong answer: memory. Look at the bar of torch.\n"
            "1 minute.",
        ),
    ),
    profile=(
        Profile(
            "profile",
            "What the profiler sees",
            ADD,
            {"naive": add_naive, "triton": add},
            show=(add_naive_kernel, add_kernel),
            says="The naive kernel takes {{ n('profile[naive].time') }}. "
            "DRAM works at {{ n('profile[naive].dram') }} of its peak, with "
            "{{ n('profile[naive].warps_active') }} of the warps active"
            "{% if n('profile[naive].dram') < 0.5 %}: memory waits for work."
            "{% else %}: memory is at work.{% endif %}",
            notes="Say: compare the profiler's time with our stopwatch. The counters say more.\n"
            "Say: a load of a warp is one request; a sector is the 32 bytes it brings at least.\n"
            "Ask: how busy is memory? So can it be what the naive kernel waits for?\n"
            "Usual wrong answer: uncoalesced loads. Look at the DRAM column.\n"
            "2 minutes.",
        ),
    ),
    rewrite=(
        Run(
            "programs",
            "As many programs, more work in each",
            equal_programs,
            needs_gpu=True,
            show=(nothing_kernel, add_kernel),
            says="{% if n('programs[128 elements].time') / n('programs[nothing].time') < 1.15 %}"
            "Nothing or 128 elements: the same time. The wall is the program rate, "
            "{{ n('programs[nothing].programs') / n('programs[nothing].time') }}."
            "{% else %}128 elements take {{ n('programs[128 elements].time') / "
            "n('programs[nothing].time') }} as long as none. The wall is the work, not the program "
            "rate, {{ n('programs[nothing].programs') / n('programs[nothing].time') }}.{% endif %}",
            notes="Say: two million programs each time. The first kernel is empty.\n"
            "Ask: before the key, which row is slowest?\n"
            "Say: so GB/s = 12 bytes × block × programs per second, until memory ends it.\n"
            "2 minutes.",
        ),
        Predict(
            "guess-wall",
            "At which block does the add hit the memory wall?",
            about="blocks[triton].knee",
            choices={
                "32 or less": (0, 33),
                "64 or 128": (33, 129),
                "256": (129, 257),
                "512 or more": (257, math.inf),
            },
            model=wall,
            model_says="ceiling ÷ (12 bytes × programs per second)",
            misconception="A block should be as large as it can be.",
            show=(add_kernel,),
            notes="Say: GB/s = 12 bytes × block × programs per second. You have every number.\n"
            "Ask: at which block does that reach the ceiling? Divide.\n"
            "Usual wrong answer: the largest.\n"
            "1 minute.",
        ),
        Sweep(
            "blocks",
            "The block, until memory is the wall",
            ADD,
            {"triton": add},
            over={"block": (1, 32, 128, 256, 512, 1024)},
            show=(add_kernel, add),
            says="32 times the block: {{ n('blocks[32].gbps') / n('blocks[1].gbps') }} the GB/s. "
            "{% if n('blocks[triton].knee') < 1024 %}"
            "The wall stands at {{ n('blocks[triton].knee') }}; "
            "{% else %}No wall in sight up to 1,024; {% endif %}"
            "the model said {{ n('guess-wall.model') }}.",
            notes="Say: each bar is 12 bytes × block × the program rate, up to the ceiling.\n"
            "Say: one constraint explains the failure, and predicts where it ends.\n"
            "Ask: what would a block of 4,096 gain?\n"
            "2 minutes.",
        ),
    ),
    fuse=(
        Predict(
            "guess-fused",
            "Add, then ReLU: how much longer do two kernels take than one?",
            about="fused[unfused].time / fused[fused].time",
            choices={
                "as long: the ReLU is free": (0, 1.2),
                "1.2 to 1.8 times": (1.2, 1.8),
                "twice, or more": (1.8, math.inf),
            },
            model=saving,
            model_says="bytes alone: five array trips against three, each at its ceiling",
            misconception="Two kernels, twice the time.",
            show=(add_then_relu, add_relu_kernel),
            notes="Say: at the wall no block helps any more. What is left to save?\n"
            "Ask: count the trips of both versions.\n"
            "Usual wrong answer: twice.\n"
            "1 minute.",
        ),
        Measure(
            "fused",
            "Past the wall only fewer bytes help",
            ADD_RELU,
            {"torch": torch_add_relu, "unfused": add_then_relu, "fused": add_relu},
            show=(add_relu_kernel, add_then_relu),
            says="Two kernels take {{ n('fused[unfused].time') / n('fused[fused].time') }} the "
            "time of one; bytes alone say {{ n('guess-fused.model') }}. "
            "{% if n('fused[unfused].time') / n('fused[fused].time') > 1.1 %}"
            "Fewer bytes, less time.{% else %}Fewer bytes, and nothing gained.{% endif %}",
            notes="Say: each of the two kernels is at its roof; together they move five arrays.\n"
            "Say: a share counts the bytes that must move, three arrays, so the rest shows.\n"
            "Ask: what does fusing save, operations or bytes?\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="strided",
        title="Diagnose a strided kernel, then mend it",
        task="Run just exercise 5: a kernel with a column for each program, right and slow. "
        "Say from its stride how many sectors 32 lanes touch, then let neighbouring "
        "lanes read neighbouring elements. The grader counts sectors, with no GPU too.",
        minutes=4,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "5", *sys.argv[1:]]))
