"""A machine that works, a baseline, and a stopwatch that tells the truth.

The vector add of this section is carried through all the others, on one growing table.
"""

import math
import platform

import torch
import triton

from demos.cases.vectors import ADD, ADD_RELU, vectors
from demos.kernels.elementwise import add_relu, add_relu_kernel, torch_add_relu
from demos.kernels.vector_add import add, add_kernel, add_naive, add_naive_kernel, torch_add
from demos.models import growth, seconds, share
from demos.stopwatches import events, first_call, median, synchronised, unsynchronised
from talk import Column, Exercise, Measure, Predict, Run, Section, Sweep, Table


def machine_card():
    x = torch.arange(3.0)
    if not torch.equal(add_naive(x, x), x + x):
        raise RuntimeError("a kernel ran here, and its sum is wrong")
    rows = (
        *(gpu_rows() if x.is_cuda else [("GPU", "none")]),
        ("Python", platform.python_version()),
        ("PyTorch", torch.__version__),
        ("Triton", triton.__version__),
        ("a first kernel", "compiled, launched, right" if x.is_cuda else "interpreted, right"),
    )
    return Table(columns=(Column(name="part"), Column(name="here")), rows=rows)


def gpu_rows():
    yield "GPU", torch.cuda.get_device_name()
    if torch.version.hip:
        yield "ROCm", torch.version.hip
    else:
        yield "CUDA", torch.version.cuda
        yield "driver", nvidia_driver()


def nvidia_driver():
    import pynvml

    pynvml.nvmlInit()
    return pynvml.nvmlSystemGetDriverVersion()


SHORT, LONG = 2**12, ADD.size["n"]


def four_stopwatches():
    long, short = readings(LONG), readings(SHORT)
    names = ("long kernel", "short kernel")
    return Table(
        columns=(Column(name="stopwatch"), *(Column(name=name, unit="s") for name in names)),
        rows=tuple((clock, long[clock], short[clock]) for clock in long),
    )


def readings(n):
    x, y = vectors(n)
    out = torch.empty_like(x)
    kernel = triton.jit(add_naive_kernel.fn)  # a copy that was never compiled

    def launch():
        kernel[(n,)](out, x, y)

    return {
        "first call": first_call(launch),
        "no synchronise": median(unsynchronised, launch),
        "synchronise": median(synchronised, launch),
        "events": median(events, launch),
    }


SECTION = Section(
    number=1,
    title="Measure before you optimise",
    minutes=12,
    naive=(
        Run(
            "machine",
            "Is this machine ready?",
            machine_card,
            show=(add_naive_kernel,),
            notes="Say: versions alone prove nothing; a kernel was really compiled and launched.\n"
            "Ask: who sees the same card on their own machine?\n"
            "1 minute.",
        ),
        Measure(
            "baseline",
            "The baseline: one element per program",
            ADD,
            {"naive": add_naive},
            show=(add_naive_kernel, add_naive),
            says="{{ n('baseline[naive].bytes') }} in {{ n('baseline[naive].time') }}: "
            "{{ n('baseline[naive].gbps') }}, {{ n('baseline[naive].share') }} of the ceiling. "
            "{% if n('baseline[naive].share') < 0.5 %}Right, and slow."
            "{% else %}Right, and near the ceiling.{% endif %}",
            notes="Say: five lines. Which element is mine, load two, add, store one.\n"
            "Say: this number is the baseline of the day; we never lose sight of it.\n"
            "Ask: is that fast? Compared with what?\n"
            "Usual wrong answer: it runs on a GPU, so it is fast.\n"
            "1 minute.",
        ),
        Predict(
            "guess-lengths",
            "1,024 times as many elements: what happens to the baseline's GB/s?",
            about="lengths[naive, 268435456].gbps / lengths[naive, 262144].gbps",
            choices={
                "it stays as it is": (0, 1.5),
                "it grows, up to 10 times": (1.5, 10),
                "it grows more than 10 times": (10, math.inf),
            },
            model=lambda ceilings: growth(ceilings, 2**18, 2**28),
            model_says="bytes ÷ bandwidth, and one launch, which weighs less on a long vector",
            misconception="A GPU only needs enough data to be fast.",
            notes="Ask: hands up for each answer; type that of most before the next key.\n"
            "Usual wrong answer: it grows, because a GPU likes large inputs.\n"
            "1 minute.",
        ),
        Sweep(
            "lengths",
            "From a thousand elements to 268 million",
            ADD,
            {"naive": add_naive, "torch": torch_add},
            over={"n": (2**10, 2**14, 2**18, 2**22, 2**25, 2**28)},
            small={"n": (64, 150)},
            show=(add_naive_kernel, torch_add),
            says="1,024 times the elements: naive goes from "
            "{{ n('lengths[naive, 262144].gbps') }} to {{ n('lengths[naive, 268435456].gbps') }}. "
            "{% if n('lengths[naive, 268435456].gbps') / n('lengths[naive, 262144].gbps') < 1.5 %}"
            "It does not scale{% else %}It scales{% endif %}; "
            "torch reaches {{ n('lengths[torch, 268435456].share') }} of the ceiling.",
            notes="Say: watch torch climb from under the launch towards the ceiling.\n"
            "Say: where the launch weighs most, no GB/s is claimed.\n"
            "Ask: what does a flat line tell you? More data is not what it lacks.\n"
            "1 minute.",
        ),
    ),
    profile=(
        Predict(
            "guess-clock",
            "Time a kernel with perf_counter: how many times longer does it really run?",
            about="stopwatches[synchronise].long_kernel / stopwatches[no synchronise].long_kernel",
            choices={
                "the clock is right, or nearly": (0, 2),
                "2 to 100 times": (2, 100),
                "more than 100 times": (100, math.inf),
            },
            model=lambda ceilings: seconds(ceilings, LONG) / (ceilings.launch_us / 1e6),
            model_says="the time to move the bytes, over the time of one launch",
            misconception="When the call returns, the kernel has run.",
            show=(unsynchronised,),
            notes="Say: this is how one times any function in Python.\n"
            "Ask: the true time, over what this clock reads: what is the ratio?\n"
            "Usual wrong answer: a few per cent of overhead.\n"
            "30 seconds.",
        ),
        Run(
            "stopwatches",
            "One kernel, four stopwatches",
            four_stopwatches,
            needs_gpu=True,
            show=(unsynchronised, synchronised, events, first_call),
            says="Without a synchronise the clock reads "
            "{{ n('stopwatches[no synchronise].long_kernel') }}, with one "
            "{{ n('stopwatches[synchronise].long_kernel') }}. On a short kernel even that reads "
            "{{ n('stopwatches[synchronise].short_kernel') / "
            "n('stopwatches[events].short_kernel') }} the kernel's own time.",
            notes="Say: the first call compiles. Without a synchronise we time the launch. With "
            "one, launch and kernel. Events, on a cold cache, time the kernel.\n"
            "Say: every bar of today comes from the fourth.\n"
            "Ask: which one is in your own benchmark?\n"
            "2 minutes.",
        ),
    ),
    rewrite=(
        Predict(
            "guess-block",
            "The same add, 512 elements per program: what share of the ceiling?",
            about="block[triton].share",
            choices={
                "under 1 %: the same work": (0, 0.01),
                "1 to 50 %": (0.01, 0.5),
                "over 50 %": (0.5, math.inf),
            },
            model=share,
            model_says="bytes ÷ bandwidth, and one launch",
            misconception="The same additions and the same bytes take the same time.",
            show=(add_kernel,),
            notes="Ask: nothing is saved, neither bytes nor additions. What can change?\n"
            "Usual wrong answer: a little, since the work is the same.\n"
            "30 seconds.",
        ),
        Measure(
            "block",
            "A first taste: a block per program",
            ADD,
            {"naive": add_naive, "torch": torch_add, "triton": add},
            show=(add_kernel, add),
            says="{% if n('block[triton].time') < n('block[naive].time') %}"
            "{{ n('block[naive].time') / n('block[triton].time') }} as fast as naive, "
            "{% else %}No faster than naive, {% endif %}"
            "at {{ n('block[triton].share') }} of the ceiling, "
            "{% if tie(n('block[triton].time'), n('block[torch].time')) %}level with torch."
            "{% elif n('block[triton].time') < n('block[torch].time') %}ahead of torch."
            "{% else %}behind torch.{% endif %}",
            notes="Say: arange makes a block of offsets, the mask guards its end.\n"
            "Say: why it is faster takes us to section 5. First we learn to see it.\n"
            "1 minute.",
        ),
    ),
    fuse=(
        Measure(
            "fused",
            "A first taste: add and ReLU in one kernel",
            ADD_RELU,
            {"torch": torch_add_relu, "fused": add_relu},
            show=(add_relu_kernel, torch_add_relu),
            says="{% if n('fused[fused].time') / n('block[triton].time') < 1.05 %}"
            "Twice the operations in the time of one add"
            "{% else %}Fused, it takes {{ n('fused[fused].time') / n('block[triton].time') }} "
            "the time of one add{% endif %}; as two operations, torch takes "
            "{{ n('fused[torch].time') / n('fused[fused].time') }} as long.",
            notes="Say: the ReLU works on a number that is already in a register.\n"
            "Ask: how many trips to memory does each version make? Five, and three.\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="ragged",
        title="A length that is no multiple of the block",
        task="Run just exercise 1: it copies my/ragged.py and grades it, with no GPU too. A "
        "worked kernel, one with a blank, then yours: an add that is right at any "
        "length. Which elements are mine, which of them exist; load, add, store.",
        minutes=3,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "1", *sys.argv[1:]]))
