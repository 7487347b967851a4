"""Theoretical occupancy by hand, for several GPUs, and the table of constants behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talk.gpu.targets import TARGETS
from talk.hardware import ARCHITECTURES, BY_CAPABILITY, BY_TARGET, GPUS, KIB
from talk.occupancy import occupancy

NVIDIA = [each for each in ARCHITECTURES if each.is_nvidia]


@pytest.mark.parametrize(
    ("target", "registers", "shared", "warps", "resident", "limiter"),
    [
        # 64 warps ÷ 4 = 16 programs; 16 registers × 32 = 512 a warp, 128 warps fit.
        ("sm_90", 16, 0, 4, 64, "warps"),
        # 40 × 32 = 1,280 a warp; 65,536 ÷ 1,280 = 51, in fours 48; ÷ 4 = 12 programs.
        ("sm_90", 40, 0, 4, 48, "registers"),
        # 70 × 32 = 2,240, in units of 256 2,304; 65,536 ÷ 2,304 = 28 programs of one warp.
        ("sm_90", 70, 0, 1, 28, "registers"),
        # One warp a program: 32 programs at most.
        ("sm_90", 26, 0, 1, 32, "blocks"),
        # 100 KiB and 1 KiB of the system's: 228 ÷ 101 = 2 programs of 8 warps.
        ("sm_90", 32, 100 * KIB, 8, 16, "shared memory"),
        # A T4: 32 warps, 16 programs, nothing taken by the system: 64 ÷ 16 = 4 programs.
        ("sm_75", 32, 16 * KIB, 4, 16, "shared memory"),
        ("sm_75", 64, 0, 4, 32, "warps"),
        # An A100: 164 ÷ (16 + 1) = 9 programs of 4 warps.
        ("sm_80", 32, 16 * KIB, 4, 36, "shared memory"),
        # An RTX 4090: 48 warps ÷ 4 = 12; 80 × 32 = 2,560; 25, in fours 24; 6 programs.
        ("sm_89", 80, 0, 4, 24, "registers"),
        ("sm_120", 32, 0, 4, 48, "warps"),
    ],
)
def test_by_hand(target, registers, shared, warps, resident, limiter):
    found = occupancy(BY_TARGET[target], registers=registers, shared=shared, warps=warps)
    assert (found.warps, found.limiter) == (resident, limiter)
    assert found.share == resident / BY_TARGET[target].warps


@pytest.mark.parametrize(("registers", "shared"), [(256, 0), (32, 228 * KIB)])
def test_what_does_not_fit_is_not_resident(registers, shared):
    found = occupancy(BY_TARGET["sm_90"], registers=registers, shared=shared, warps=4)
    assert found.blocks == 0 and found.share == 0.0


def test_no_program_has_no_warps():
    with pytest.raises(ValueError, match="no program has 0 warps"):
        occupancy(BY_TARGET["sm_90"], registers=32, shared=0, warps=0)


@given(
    st.sampled_from(NVIDIA),
    st.integers(1, 255),
    st.integers(0, 64 * KIB),
    st.sampled_from([1, 2, 4, 8, 16]),
)
def test_more_of_anything_is_never_more_resident(architecture, registers, shared, warps):
    def resident(registers, shared):
        return occupancy(architecture, registers=registers, shared=shared, warps=warps).blocks

    here = resident(registers, shared)
    assert here * warps <= architecture.warps and here <= architecture.blocks
    assert resident(registers + 1, shared) <= here and resident(registers, shared + KIB) <= here


def test_the_limits_of_the_compiler_are_those_of_the_table():
    assert {name: each.shared_limit for name, each in TARGETS.items()} == {
        each.target: each.shared_per_block for each in ARCHITECTURES
    }
    assert TARGETS["sm_75"].shared_limit == 64 * KIB and TARGETS["sm_90"].shared_limit == 227 * KIB


def test_every_gpu_of_the_table_has_an_architecture():
    assert {target for target, _ in GPUS.values()} <= BY_TARGET.keys()
    assert BY_CAPABILITY["9.0"].target == "sm_90" and BY_CAPABILITY["12.0"].target == "sm_120"
    assert BY_CAPABILITY["gfx942"].warp_size == 64
