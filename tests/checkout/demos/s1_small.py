"""A step may do anything, and the talk goes on."""

import os
import signal
import time
from dataclasses import replace

import torch
import triton
import triton.language as tl

from demos.helper import twice
from talk import (
    Case,
    Column,
    Exercise,
    Measure,
    Predict,
    Profile,
    Run,
    Section,
    Show,
    Sweep,
    Table,
    Trace,
)


def two_vectors(n):
    return torch.randn(n), torch.randn(n)


def reference(x, y):
    return x + y


@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    total = tl.load(x_ptr + i, inside) + tl.load(y_ptr + i, inside)
    tl.store(out_ptr + i, total, inside)


def add(x, y, block=128):
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, block),)](out, x, y, n, BLOCK=block)
    return out


def forgets_the_last(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[(triton.cdiv(n, 128),)](out, x, y, n - 1, BLOCK=128)
    return out


def raises(x, y):
    raise ValueError(f"{len(x)} is not my kind of number")


def hard():
    yield "one element", (torch.ones(1), torch.ones(1))
    yield "huge", (torch.full((129,), 1e38), torch.full((129,), 1e38))


ADD = Case(
    name="add",
    inputs=two_vectors,
    reference=reference,
    size={"n": 2**20},
    small={"n": 300},
    bytes_moved=lambda x, y: 3 * x.nbytes,
    flops=lambda x, y: x.numel(),
    mix="2:1",
    hard=hard,
)


FULL = replace(ADD, name="a large add", size={"n": 2**28})


def add_1024(x, y):
    return add(x, y, block=1024)


def nap():
    time.sleep(60)


def count_for_ever():
    n = 0
    while True:
        n += 1


def hang_in_c():
    # One C call that holds the interpreter's lock for minutes.
    return str(sum(range(10**11)))


def run_out_of_memory():
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 …")


@triton.jit
def far_kernel(out_ptr):
    tl.store(out_ptr + (1 << 40), 1.0)


def store_far_away():
    far_kernel[(1,)](torch.empty(1))
    torch.cuda.synchronize()


def take_too_much():
    return str(torch.empty(2**46).shape)


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def print_much():
    for n in range(2000):
        print(f"line {n:4} " + "x" * 90)
    return "printed"


def doubled():
    rows = tuple((str(n), float(twice(n))) for n in (1, 2))
    return Table(columns=(Column(name="n"), Column(name="doubled", unit="count")), rows=rows)


SECTION = Section(
    number=1,
    title="A small section",
    minutes=3,
    naive=(
        Show("words", "What this is", text="Words.", notes="Say hello."),
        Measure("add", "Add", ADD, {"torch": reference, "triton": add}, show=(add_kernel, add)),
        Measure("wrong", "Planted", ADD, {"wrong": forgets_the_last, "triton": add}),
        Measure("raising", "Raises", ADD, {"raises": raises, "triton": add}),
        Run("doubled", "Through a helper", doubled),
    ),
    profile=(
        Profile("kernels", "What the profiler saw", ADD, {"torch": reference, "triton": add}),
        Run("nap", "Sleeps", nap),
        Run("counting", "Counts", count_for_ever),
        Run("hang", "Hangs", hang_in_c, deadline_s=1.0),
        Run("memory", "Runs out", run_out_of_memory),
        Run("crash", "Crashes", crash),
        Run("print", "Prints", print_much),
        Run("gpu", "Needs a GPU", nap, needs_gpu=True),
        Run("far", "Stores where nothing is", store_far_away, needs_gpu=True),
        Run("much", "Takes too much", take_too_much, needs_gpu=True),
    ),
    rewrite=(
        Sweep(
            "blocks",
            "By block",
            ADD,
            {"triton": add},
            over={"block": (32, 64, 100, 128)},
            small={"block": (64, 100)},
        ),
        Sweep("sizes", "By size", ADD, {"torch": reference}, over={"n": (8, 16, 32)}),
    ),
    fuse=(
        Predict(
            "guess",
            "How long?",
            about="add[triton].time",
            choices={"under 1 ms": (0.0, 1e-3), "over": (1e-3, 9.0)},
            model=lambda ceilings: ceilings.seconds(bytes=3 * 2**22, mix="2:1"),
        ),
        Measure("full", "Add much", FULL, {"torch": reference, "triton": add_1024}),
        Trace("lowered", "Lowered", ADD, {"triton": add}, targets=("sm_90",)),
    ),
    exercise=Exercise(slug="add", title="add", task="Write it again.", minutes=2),
)
