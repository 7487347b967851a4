"""The hardware you really program: lanes, warps, and how far the data is.

Of all that a GPU is, four things matter to a kernel's author: lanes work in warps, warps wait
in turn, registers and shared memory are shared out, and each level of memory is slower.
"""

import math

import torch

from demos.cases.probes import WORKING_SET
from demos.cases.vectors import ADD, ADD_RELU
from demos.kernels.elementwise import add_relu, add_relu_kernel, add_then_relu
from demos.kernels.probes import working_set, working_set_kernel
from demos.kernels.vector_add import add, add_kernel, add_naive, add_naive_kernel
from demos.models import all_lanes, bytes_alone
from talk import (
    BY_CAPABILITY,
    BY_TARGET,
    GPUS,
    Collect,
    Column,
    Exercise,
    Measure,
    Predict,
    Run,
    Section,
    Sweep,
    Table,
    Traffic,
    occupancy,
)


def device_card():
    """What this GPU has, or an H200 where there is none here."""
    rows = this_gpu() if torch.ones(()).is_cuda else by_data_sheet("H200")
    return Table(columns=(Column(name="part"), Column(name="here")), rows=tuple(rows))


def this_gpu():
    told = torch.cuda.get_device_properties(0)
    yield "GPU", told.name
    yield "multiprocessors", told.multi_processor_count
    yield from of_architecture(BY_CAPABILITY.get(f"{told.major}.{told.minor}"))
    yield "L2 cache, MiB", told.L2_cache_size // 2**20
    yield "memory, GiB", told.total_memory // 2**30


def by_data_sheet(name):
    target, multiprocessors = GPUS[name]
    yield "GPU", f"none here; an {name} by its data sheet"
    yield "multiprocessors", multiprocessors
    yield from of_architecture(BY_TARGET[target])


def of_architecture(known):
    if known:
        yield "lanes of a warp", known.warp_size
        yield "warps on a multiprocessor", known.warps
        yield "registers there, 4 bytes each", known.registers
        yield "shared memory there, KiB", known.shared // 1024


def naive_one_warp(x, y):
    return add_naive(x, y, num_warps=1)


def add_one_warp(x, y):
    return add(x, y, block=BY_TARGET["sm_90"].warp_size, num_warps=1)


def occupancies(registers=40, warps=4):
    """Of the same kernel on other GPUs: it is the GPU's registers and limits that differ."""
    rows = []
    for name, (target, sms) in GPUS.items():
        found = occupancy(BY_TARGET[target], registers=registers, shared=0, warps=warps)
        rows.append((name, float(sms), float(found.warps), found.share, found.limiter))
    columns = (
        Column(name="GPU"),
        Column(name="multiprocessors", unit="count"),
        Column(name="warps", unit="count"),
        Column(name="occupancy", unit="share"),
        Column(name="limited by"),
    )
    return Table(columns=columns, rows=tuple(rows))


SECTION = Section(
    number=3,
    title="The hardware you're actually programming",
    minutes=15,
    naive=(
        Run(
            "card",
            "What this GPU is made of",
            device_card,
            notes="Say: of a data sheet's hundred lines these matter to a kernel's author.\n"
            "Ask: multiprocessors times warps times lanes: how many threads at once?\n"
            "1 minute.",
        ),
        Predict(
            "guess-lanes",
            "One element per program, one warp: use all its lanes. How many times faster?",
            about="lanes[32 lanes].gbps / lanes[1 lane].gbps",
            choices={
                "up to 2 times": (0, 2),
                "2 to 16 times": (2, 16),
                "more than 16 times": (16, math.inf),
            },
            model=all_lanes,
            model_says="each program takes as long to start, and brings 32 elements, not one",
            misconception="A program is a thread.",
            show=(add_naive_kernel,),
            notes="Say: a program here is one warp, launched with num_warps=1: 32 lanes in step.\n"
            "Ask: how many of them add something?\n"
            "Usual wrong answer: all; the GPU shares the work out.\n"
            "1 minute.",
        ),
        Measure(
            "lanes",
            "One warp a program: 1 lane at work, or 32 (both with num_warps=1)",
            ADD,
            {"1 lane": naive_one_warp, "32 lanes": add_one_warp},
            show=(add_naive_kernel, add_kernel),
            says="{{ n('lanes[1 lane].gbps') }} with one lane, "
            "{{ n('lanes[32 lanes].gbps') }} with 32: "
            "{{ n('lanes[32 lanes].gbps') / n('lanes[1 lane].gbps') }}. "
            "{% if n('lanes[32 lanes].gbps') / n('lanes[1 lane].gbps') > 2 %}"
            "The other lanes were there all the time.{% else %}Lanes are not what it lacks here."
            "{% endif %}",
            notes="Say: the hardware executes a warp; what you do not use is idle.\n"
            "Ask: and is 32 enough? Look at the share.\n"
            "1 minute.",
        ),
    ),
    profile=(
        Sweep(
            "hierarchy",
            "The same bytes again and again: bandwidth by the size of the set",
            WORKING_SET,
            {"triton": working_set},
            over={"kib": (4096, 8192, 16384, 32768, 49152, 65536, 131072, 262144, 1048576)},
            small={"kib": (20, 40)},
            show=(working_set_kernel, working_set),
            says="A set of 16 MiB: {{ n('hierarchy[16384].gbps') }}. Of 1 GiB: "
            "{{ n('hierarchy[1048576].gbps') }}. "
            "{% if n('hierarchy[16384].gbps') / n('hierarchy[1048576].gbps') > 1.2 %}"
            "Near is {{ n('hierarchy[16384].gbps') / n('hierarchy[1048576].gbps') }} as fast as "
            "far.{% else %}16 MiB are no nearer than 1 GiB here.{% endif %}",
            notes="Say: each chunk is read by another program every time, or we would measure L1.\n"
            "Ask: where on this curve is the L2 cache full? The card said how large it is.\n"
            "Usual wrong answer: exactly there; a cache does not end at an edge.\n"
            "2 minutes.",
        ),
        Collect(
            "ladder",
            "The ladder: how far the data is, on this machine",
            "table",
            of=(
                "2/chain[16]",
                "2/chain[4096]",
                "2/chain[1048576]",
                "3/hierarchy[16384]",
                "3/hierarchy[1048576]",
            ),
            says="A load takes {{ n('2/chain[16].each') }} from a set of 16 KiB, "
            "{{ n('2/chain[4096].each') }} from 4 MiB, "
            "{{ n('2/chain[1048576].each') }} from 1 GiB. "
            "{% if n('2/chain[1048576].each') / n('2/chain[16].each') > 1.2 %}"
            "The last is {{ n('2/chain[1048576].each') / n('2/chain[16].each') }} as far as the "
            "first.{% else %}The last is no farther than the first here.{% endif %}",
            notes="Say: registers stand above all of these; then L1 and shared memory, which on "
            "NVIDIA are one memory of the multiprocessor; then L2; then memory.\n"
            "Ask: which rung does a vector add stand on?\n"
            "Usual wrong answer: L2; it reads each element once, so it never gets there.\n"
            "1 minute.",
        ),
    ),
    rewrite=(
        Predict(
            "guess-occupancy",
            "Blocks of 256: sixteen warps each, not one. How many times faster?",
            about="warps[16, 256].gbps / warps[1, 256].gbps",
            choices={
                "slower": (0, 0.98),
                "no faster": (0.98, 1.1),
                "1.1 to 1.5 times": (1.1, 1.5),
                "more than 1.5 times": (1.5, math.inf),
            },
            model=bytes_alone,
            model_says="bytes alone: both move the same, at the ceiling",
            misconception="Higher occupancy is faster.",
            show=(add_kernel,),
            notes="Say: the same block, spread over more warps: fewer elements a lane.\n"
            "Ask: more warps resident, more latency hidden. So?\n"
            "Usual wrong answer: as many warps as possible.\n"
            "1 minute.",
        ),
        Sweep(
            "warps",
            "Warps and block: registers, occupancy and what they give",
            ADD,
            {"triton": add},
            over={"num_warps": (1, 4, 16), "block": (256, 1024, 4096)},
            small={"num_warps": (1,), "block": (32, 128)},
            show=(add_kernel,),
            says="Blocks of 256 on one warp: {{ n('warps[1, 256].gbps') }} at "
            "{{ n('warps[1, 256].occupancy') }} occupancy. On sixteen: "
            "{{ n('warps[16, 256].gbps') }} at {{ n('warps[16, 256].occupancy') }}. "
            "{% if n('warps[16, 256].occupancy') > n('warps[1, 256].occupancy') and "
            "n('warps[16, 256].gbps') < n('warps[1, 256].gbps') and "
            "not tie(n('warps[16, 256].gbps'), n('warps[1, 256].gbps')) %}"
            "Higher occupancy, and slower."
            "{% elif n('warps[16, 1024].occupancy') > n('warps[1, 1024].occupancy') and "
            "n('warps[16, 1024].gbps') < n('warps[1, 1024].gbps') and "
            "not tie(n('warps[16, 1024].gbps'), n('warps[1, 1024].gbps')) %}"
            "Higher occupancy is slower with blocks of 1,024: {{ n('warps[16, 1024].gbps') }} "
            "instead of {{ n('warps[1, 1024].gbps') }}."
            "{% else %}No counter-example here, nor with blocks of 1,024.{% endif %}",
            notes="Say: occupancy is a means. What hides latency is bytes under way.\n"
            "Say: a warp with eight elements a lane has much under way. Sixteen warps have 512 "
            "lanes for 256 elements: half of them have none of their own.\n"
            "Ask: which cell is best, and which has the highest occupancy?\n"
            "2 minutes.",
        ),
        Run(
            "occupancies",
            "The same kernel on other GPUs: 40 registers a thread, 4 warps",
            occupancies,
            notes="Say: computed as NVIDIA's occupancy calculator does.\n"
            "Ask: why does the same kernel fill one GPU and not another?\n"
            "1 minute.",
            says="The same kernel: {{ n('occupancies[T4].occupancy') }} of a T4's warps, "
            "{{ n('occupancies[RTX 4090].occupancy') }} of an RTX 4090's, "
            "{{ n('occupancies[H200].occupancy') }} of an H200's.",
        ),
    ),
    fuse=(
        Traffic(
            "trips",
            "Two operations, through memory or through registers: the bytes",
            ADD_RELU,
            {"unfused": add_then_relu, "fused": add_relu},
            show=(add_then_relu, add_relu_kernel),
            says="Through memory: {{ n('trips[unfused, total].bytes') }}, "
            "{{ n('trips[unfused, total].bytes') / n('trips[fused, total].bytes') }} the "
            "{{ n('trips[fused, total].bytes') }} through registers.",
            notes="Say: what the sum needs next is in a register already. Why send it away?\n"
            "Ask: which of these bytes could not be saved?\n"
            "1 minute.",
        ),
        Measure(
            "fused",
            "The same, as time",
            ADD_RELU,
            {"unfused": add_then_relu, "fused": add_relu},
            show=(add_relu_kernel,),
            says="Through memory takes {{ n('fused[unfused].time') / n('fused[fused].time') }} as "
            "long; the bytes said "
            "{{ n('trips[unfused, total].bytes') / n('trips[fused, total].bytes') }}.",
            notes="Say: count the bytes, and you know the time before you run it.\n"
            "Ask: what does the register cost?\n"
            "1 minute.",
        ),
    ),
    exercise=Exercise(
        slug="occupancy",
        title="Compute an occupancy",
        task="Run just exercise 3: how many programs fit a multiprocessor by their number, by "
        "warps, by registers (in units of 256 a warp) and by shared memory; the least "
        "decides. Plain Python, checked for the GPUs of the table.",
        minutes=3,
    ),
)


if __name__ == "__main__":
    import sys

    from talk.__main__ import main

    raise SystemExit(main(["demo", "3", *sys.argv[1:]]))
