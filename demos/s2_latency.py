"""A GPU hides latency behind parallel work, and only there.

One load from memory takes hundreds of nanoseconds. What counts is how many are under way at once:
bandwidth is the bytes under way, over the time that each of them takes.
"""

import math

from demos.cases.probes import ARITHMETIC, CHAIN, IN_FLIGHT
from demos.kernels.probes import (
    arithmetic,
    arithmetic_kernel,
    arithmetic_one_by_one,
    chain,
    chain_kernel,
    in_flight,
    in_flight_kernel,
)
from demos.models import arithmetic_growth, latency, programs_in_flight
from talk import Exercise, Measure, Predict, Section, Sweep

SECTION = Section(
    number=2,
    title="Why your GPU code is slow",
    minutes=15,
    naive=(
        Predict(
            "guess-arithmetic",
            "32 times the arithmetic on every element: how much longer does it take?",
            about="arithmetic[32].time / arithmetic[1].time",
            choices={
                "as long, or nearly": (0, 1.2),
                "up to 8 times as long": (1.2, 8),
                "8 times or more": (8, math.inf),
            },
            model=arithmetic_growth,
            model_says="the roofline: the slower of moving the bytes and doing the arithmetic",
            misconception="More operations, more time.",
            show=(arithmetic_kernel,),
            notes="Say: one load, K multiply-adds, one store. Only K changes.\n"
            "Ask: K from 1 to 32; how much longer?\n"
            "Usual wrong answer: 32 times.\n"
            "1 minute.",
        ),
        Sweep(
            "arithmetic",
            "K multiply-adds for every element, K from 1 to 1,024",
            ARITHMETIC,
            {"triton": arithmetic},
            over={"k": (1, 4, 16, 32, 64, 128, 256, 1024)},
            small={"k": (1, 4)},
            show=(arithmetic_kernel,),
            says="32 times the arithmetic takes "
            "{{ n('arithmetic[32].time') / n('arithmetic[1].time') }} the time. "
            "{% if n('arithmetic[triton].edge') > 1 %}"
            "Up to K = {{ n('arithmetic[triton].edge') }} it is free: memory is still at work. "
            "{% else %}Nothing is free here: each operation costs time. {% endif %}"
            "At the end, {{ n('arithmetic[1024].tflops') }}.",
            notes="Say: flat, flat, flat, then a slope. The knee is where arithmetic takes over.\n"
            "Ask: what did the arithmetic units do on the left?\n"
            "Usual wrong answer: they were busy.\n"
            "2 minutes.",
        ),
    ),
    profile=(
        Predict(
            "guess-latency",
            "One load after another, each from memory: how long does one take?",
            about="chain[1048576].each",
            choices={
                "under 10 ns": (0, 10e-9),
                "10 to 100 ns": (10e-9, 100e-9),
                "100 ns to 1 µs": (100e-9, 1e-6),
                "over 1 µs": (1e-6, math.inf),
            },
            model=latency,
            model_says="measured beside the ceilings: a walk through memory, link by link",
            misconception="Memory of thousands of GB/s answers in no time.",
            show=(chain_kernel,),
            notes="Say: each load tells where the next one is, so nothing can be done ahead.\n"
            "Ask: nanoseconds or microseconds?\n"
            "Usual wrong answer: one over the bandwidth.\n"
            "1 minute.",
        ),
        Sweep(
            "chain",
            "A chain of dependent loads, by the size of what it walks through",
            CHAIN,
            {"chain": chain},
            over={"kib": (16, 128, 512, 4096, 16384, 65536, 262144, 1048576)},
            small={"kib": (4, 16)},
            show=(chain_kernel, chain),
            says="{{ n('chain[16].each') }} a load from a set of 16 KiB, "
            "{{ n('chain[1048576].each') }} from one of 1 GiB. "
            "{{ n('machine/bandwidth[2:1].gbps') }} × {{ n('machine/latency.time') }}: "
            "{{ n('machine/bandwidth[2:1].gbps') * n('machine/latency.time') }} must be under way "
            "at once to keep memory busy.",
            notes="Say: every step of this staircase is a cache that no longer holds the set.\n"
            "Say: Little's law. Bytes under way are bandwidth times latency.\n"
            "Ask: the baseline has one element per program under way. What does it wait for: "
            "bandwidth, latency, or something else? Keep your answer for section 5.\n"
            "Usual wrong answer: bandwidth, it does nothing but load.\n"
            "2 minutes.",
        ),
    ),
    rewrite=(
        Predict(
            "guess-programs",
            "1,024 elements a program: how many programs until memory is the wall?",
            about="programs[triton].knee",
            choices={
                "under 64": (0, 64),
                "64 to 255": (64, 256),
                "256 to 1,023": (256, 1024),
                "1,024 or more": (1024, math.inf),
            },
            model=programs_in_flight,
            model_says="Little's law: bandwidth × latency, over the bytes a program has under way",
            misconception="One program for each multiprocessor uses all of the GPU.",
            show=(in_flight_kernel,),
            notes="Say: so many programs, and no more; each walks through its blocks.\n"
            "Ask: a program has two blocks of loads under way. How many programs fill the pipe?\n"
            "Usual wrong answer: as many as there are multiprocessors.\n"
            "1 minute.",
        ),
        Sweep(
            "programs",
            "The same add by 1, 8, 33 … programs at once",
            IN_FLIGHT,
            {"triton": in_flight},
            over={"programs": (1, 8, 33, 132, 264, 528, 1056)},
            small={"programs": (1, 8)},
            show=(in_flight_kernel, in_flight),
            says="One program: {{ n('programs[1].gbps') }}. "
            "132: {{ n('programs[132].gbps') }}. "
            "{% if n('programs[triton].knee') < 1056 %}"
            "The wall stands at {{ n('programs[triton].knee') }}, "
            "{{ n('programs[triton].knee') / n('machine/device.sms') }} as many as "
            "multiprocessors; "
            "{% else %}No wall in sight up to 1,056; {% endif %}"
            "Little's law said {{ n('guess-programs.model') }}.",
            notes="Say: the law counts loads alone; a program also stores, and waits between.\n"
            "Ask: what else could a program do to have more under way?\n"
            "Say: look at the next screen.\n"
            "2 minutes.",
        ),
        Sweep(
            "in-flight",
            "Programs and their block: what is under way is the product",
            IN_FLIGHT,
            {"triton": in_flight},
            over={"programs": (33, 132, 528), "block": (256, 1024, 4096)},
            small={"programs": (3,), "block": (32, 64)},
            show=(in_flight_kernel,),
            says="132 programs: {{ n('in-flight[132, 256].gbps') }} with blocks of 256, "
            "{{ n('in-flight[132, 4096].gbps') }} with 4,096. "
            "{% if n('in-flight[132, 4096].gbps') / n('in-flight[132, 256].gbps') > 1.1 %}"
            "More loads under way, more bandwidth."
            "{% elif n('in-flight[132, 4096].gbps') / n('in-flight[132, 256].gbps') < 0.9 %}"
            "More loads under way, and less bandwidth: they are not what it lacks here."
            "{% else %}The block makes no difference here.{% endif %}",
            notes="Say: more programs or larger blocks, both put more loads under way.\n"
            "Say: a block has its limit: its elements wait in registers, and those run out.\n"
            "Ask: which would you rather add, programs or elements?\n"
            "2 minutes.",
        ),
    ),
    fuse=(
        Measure(
            "fused",
            "32 operations on every element, in one kernel or in 32",
            ARITHMETIC,
            {"unfused": arithmetic_one_by_one, "fused": arithmetic},
            show=(arithmetic_kernel, arithmetic_one_by_one),
            says="32 kernels take {{ n('fused[unfused].time') / n('fused[fused].time') }} as long "
            "as one, which takes {{ n('fused[fused].time') / n('arithmetic[1].time') }} the time "
            "of a single operation. "
            "{% if n('fused[fused].time') / n('arithmetic[1].time') < 1.2 %}31 came for free."
            "{% else %}They are not free here.{% endif %}",
            notes="Say: the same 32 operations; 32 trips through memory, or one.\n"
            "Ask: so what should one kernel do?\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="starved",
        title="Feed a starved kernel",
        task="Run just exercise 2: an add by one program for each multiprocessor, 64 elements "
        "and one warp at a time. It starves. With no program more, give each enough "
        "independent loads to have bandwidth × latency under way; on a GPU, to reach 80 "
        "% of the ceiling.",
        minutes=3,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "2", *sys.argv[1:]]))
