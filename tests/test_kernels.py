"""The kernels of the demos, interpreted: right on ragged, hard, empty and strided inputs.

And compiled for GPUs that are not here. Wrong variants show that the checks would notice.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import types

import pytest
import torch

from talk.gpu.lowering import Request, lower_apart
from talk.source import ROOT
from tests.interpreted import interpreting

with interpreting():
    import triton.language as tl
    from triton.runtime.interpreter import InterpretedFunction

    import demos
    from demos.cases.vectors import hard_vectors
    from demos.kernels.elementwise import add_relu, add_then_relu
    from demos.kernels.vector_add import add, add_naive
    from tests import wrong_adds

    MODULES = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(demos.__path__, "demos.")
        # What attendees write, and what a notebook carries, have tests of their own.
        if not module.name.startswith(("demos.exercises.", "demos.notebook"))
    ]

KERNELS = {
    f"{module.__name__}.{name}": kernel
    for module in MODULES
    for name, kernel in vars(module).items()
    if isinstance(kernel, InterpretedFunction) and kernel.fn.__module__ == module.__name__
}
# Taken before any launch, which puts sixty names of the interpreter's own into the module.
GLOBALS = {name: inspect.getclosurevars(kernel.fn) for name, kernel in KERNELS.items()}

# 0 is empty (case K2), 1 the smallest; 127, 128 and 129 straddle a block of 128; 1,000 and 1,025
# are no multiple of a block, below and above 1,024.
LENGTHS = (0, 1, 127, 128, 129, 1000, 1025)
# A program an element costs 0.7 ms when interpreted.
FEW = (0, 1, 2, 129)

HARD = dict(hard_vectors())
GUARD = 4096
"""Elements behind every tensor: more than any block here reads or writes too far."""


CANARY = 77


def poisoned(length, dtype):
    poison = torch.nan if dtype.is_floating_point else torch.iinfo(dtype).max
    return torch.full((length,), poison, dtype=dtype)


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """Outputs start poisoned; what lies behind each of them, canaries, is returned."""
    behind = []

    def empty_like(x):
        memory = poisoned(x.numel() + GUARD, x.dtype)
        behind.append(memory[x.numel() :].fill_(CANARY))
        return memory[: x.numel()].view(x.shape)

    monkeypatch.setattr(torch, "empty_like", empty_like)
    # Triton's interpreter asks again at the first launch.
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    return behind


def guarded(x):
    """The same values and strides, with NaN around them (case K4)."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    memory = poisoned(max(span, 0) + GUARD, x.dtype)
    return memory.as_strided(x.shape, x.stride()).copy_(x)


def expected(fn, x, y):
    """In float64, rounded once."""
    total = x.double() + y.double()
    rectified = torch.relu(total) if fn in (add_relu, add_then_relu, wrong_adds.nan_lost) else total
    return rectified.to(x.dtype)


def assert_right(fn, x, y, guards, **options):
    """To the last bit, as one rounding leaves no tolerance; inputs and guards untouched."""
    mine = guarded(x), guarded(y)
    got = fn(*mine, **options)
    assert all((guard == CANARY).all() for guard in guards), "written past its end"
    same = {"rtol": 0, "atol": 0, "equal_nan": True}
    torch.testing.assert_close(mine, (x, y), **same)
    torch.testing.assert_close(got, expected(fn, x, y), **same)


def pair(n, dtype=torch.float32):
    torch.manual_seed(n)
    return (100 * torch.randn(n)).to(dtype), (100 * torch.randn(n)).to(dtype)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("fn", [add, add_relu, add_then_relu])
def test_any_length_is_right(fn, n, guards):
    assert_right(fn, *pair(n), guards)


@pytest.mark.parametrize("n", FEW)
def test_one_element_per_program_is_right(n, guards):
    assert_right(add_naive, *pair(n), guards)


@pytest.mark.parametrize("block", [1, 32, 128, 4096])
def test_any_block_is_right(block, guards):
    assert_right(add, *pair(129), guards, block=block)
    assert_right(add_relu, *pair(129), guards, block=block, num_warps=1)


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("fn", [add_naive, add, add_relu, add_then_relu])
def test_a_hard_input_is_right(fn, name, guards):
    assert_right(fn, *HARD[name], guards)


# bfloat16 is missing: Triton's interpreter adds its raw bits.
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int32, torch.int8])
def test_other_dtypes_are_right_and_kept(dtype, guards):
    x, y = pair(129, dtype)
    if dtype is torch.float16:
        assert add(x, y).dtype == dtype
        torch.testing.assert_close(add(x, y), x + y, rtol=0, atol=0)
    else:
        assert_right(add, x // 2, y // 2, guards)
        assert_right(add_naive, x // 2, y // 2, guards)


def test_any_shape_and_layout_is_right(guards):
    x, y = pair(128)
    square = x.view(8, 16), y.view(8, 16)
    assert_right(add, *square, guards)
    assert_right(add_relu, *(part.t() for part in square), guards)
    assert_right(add, *(part[:0] for part in square), guards)
    stretched = x[:1].expand(128), y
    assert torch.equal(add(*stretched), x[0] + y)


@pytest.mark.parametrize("fn", [add_naive, add, add_relu, add_then_relu])
@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (torch.zeros(2), r"shape: torch.Size\(\[3\]\) and torch.Size\(\[2\]\)"),
        (torch.zeros(3, dtype=torch.float64), "dtype: torch.float32 and torch.float64"),
        (torch.zeros(3, device="meta"), "device: cpu and meta"),
    ],
)
def test_inputs_that_differ_are_refused(fn, other, difference):
    with pytest.raises(ValueError, match=difference):
        fn(torch.zeros(3), other)


@pytest.mark.parametrize(
    ("wrong", "inputs"),
    [
        (wrong_adds.no_mask, pair(129)),
        (wrong_adds.tail_dropped, pair(129)),
        (wrong_adds.one_too_many, pair(129)),
        (wrong_adds.one_too_many, pair(128)),
        (wrong_adds.shifted, pair(129)),
        (wrong_adds.strides_ignored, HARD["a strided view"]),
        (wrong_adds.nan_lost, HARD["infinities and NaN"]),
    ],
)
def test_a_wrong_kernel_is_caught(wrong, inputs, guards):
    with pytest.raises(AssertionError, match=r"past its end|not close|not equal"):
        assert_right(wrong, *inputs, guards)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_fits_the_screen(name):
    lines = inspect.getsource(KERNELS[name].fn).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 72


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_uses_no_plain_globals(name):
    # They work when interpreted, and the compiler refuses them, on stage.
    used = {**GLOBALS[name].globals, **GLOBALS[name].nonlocals}
    fine = (types.ModuleType, tl.constexpr, InterpretedFunction)
    assert [key for key, value in used.items() if not isinstance(value, fine)] == []


# Compiled


TARGETS = ("sm_80", "sm_90", "gfx942")
EVERY_TARGET = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx942")

# Launcher → the function that makes its inputs, and their size.
LAUNCHERS = {
    "every_kernel": ("vectors", {"n": 2**20}),
    "every_row_kernel": ("rows", {"n": 4096}),
    "every_product": ("two_matrices", {"n": 4096}),
    "every_challenge": ("rows", {"n": 4096}),
}
ALONE = {"multiply_add": ("three_vectors", {"n": 2**20})}


def lower(launcher, targets):
    inputs, size = {**LAUNCHERS, **ALONE}.get(launcher, LAUNCHERS["every_product"])
    return lower_apart(
        Request(
            module="tests.every_kernel",
            function=launcher,
            inputs=inputs,
            size=size,
            targets=targets,
            timeout_s=400,
        )
    )


@pytest.fixture(scope="module")
def lowered():
    """By another process, as nothing compiles where kernels are interpreted."""
    return tuple(one for launcher in LAUNCHERS for one in lower(launcher, TARGETS))


def test_every_kernel_compiles_for_every_target(lowered):
    launched = {name.split(".")[-1] for name in KERNELS if name.endswith("_kernel")}
    names = launched | {"unmasked_kernel"}
    assert [one.failure for one in lowered] == [""] * len(lowered)
    assert {(one.kernel, one.target) for one in lowered} == {(n, t) for n in names for t in TARGETS}
    assert all(one.fits and not one.spills for one in lowered)


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [*LAUNCHERS, "every_configuration"])
def test_every_kernel_and_configuration_on_every_target(launcher):  # case E8
    from demos.kernels.matmul import fitting, shared_bytes

    for one in lower(launcher, EVERY_TARGET):
        if one.kernel == "matmul_grouped_kernel":
            # A configuration that is offered for so much shared memory has room in it.
            offered = [shared_bytes(config, 2) for config in fitting(one.shared_limit)]
            assert one.fits or one.shared > max(offered)
        else:
            assert not one.failure and one.fits, (one.kernel, one.target, one.failure)


def offsets(lowering):
    """The types of what is added to pointers."""
    ttir = next(stage.text for stage in lowering.stages if stage.name == "ttir")
    return set(re.findall(r"tt\.addptr [^:]*: [^,]*, (?:tensor<[\dx]+x)?(i\d+)", ttir))


# One element a program: a grid has fewer than 2^31. A chain's offsets are single ones.
NO_BLOCKS = ("add_naive_kernel", "nothing_kernel", "chain_kernel")
# Columns, and steps along k within a tile: always fewer than 2^31.
WITHIN_A_ROW = ("attention", "layer_norm", "matmul", "softmax")


def test_offsets_are_safe_beyond_2_31_elements(lowered):  # case K1
    found = {one.kernel: offsets(one) for one in lowered if one.kernel not in NO_BLOCKS}
    assert found.pop("unmasked_kernel") == {"i32"}
    for kernel, seen in found.items():
        assert "i64" in seen, kernel
        assert seen == {"i64"} or kernel.startswith(WITHIN_A_ROW), (kernel, seen)


@pytest.mark.parametrize(
    "kernel",
    ["add_kernel", "add_relu_kernel", "multiply_add_kernel", "bias_relu_kernel"],
)
def test_a_block_is_loaded_in_vectors(lowered, kernel):
    found = next(one for one in lowered if (one.kernel, one.target) == (kernel, "sm_90"))
    assert {"ld.global.v4.b32", "st.global.v4.b32"} <= found.counts["ptx"].keys()


def test_a_fused_multiply_add_is_one_instruction():
    targets = tuple(target for target in EVERY_TARGET if target.startswith("sm_"))
    found = lower("multiply_add", targets)
    assert [one.target for one in found] == list(targets)
    for one in found:  # one for each element of a lane
        assert one.counts["ptx"]["fma.rn.f32"] == 4, one.target
        assert not {"mul.f32", "add.f32", "mul.rn.f32", "add.rn.f32"} & one.counts["ptx"].keys()


BEYOND = """
import torch
from demos.kernels.elementwise import add_relu
from demos.kernels.vector_add import add
n = 2**31 + 1000  # int8: 2 GiB an array
x = torch.ones(n, dtype=torch.int8, device="cuda")
x[-1000:] = 3
for fn in (add, add_relu):
    assert torch.equal(fn(x, x)[-2000:], 2 * x[-2000:]), fn
    assert fn(x[:0], x[:0]).shape == (0,)
"""


@pytest.mark.gpu
def test_elements_beyond_2_31_are_right_on_a_gpu():  # case K1
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", BEYOND], check=True, cwd=ROOT, env=environment)
