"""GPU checks in a process of their own: a Triton imported to interpret keeps interpreting."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from talk.record import Ceilings

import torch


def ceilings() -> None:
    """What this GPU reaches is below its data sheet, and not far below."""
    from talk.gpu import clocks, machine
    from talk.gpu.ceilings import measure_ceilings
    from talk.gpu.timer import GpuTimer

    device = machine.device(clocks.Gpu(machine.uuid()))
    found = measure_ceilings(GpuTimer(device.l2_bytes), lambda text, fraction: None)
    assert device.nominal_gbps is not None
    for mix, gbps in found.bandwidth_gbps.items():
        assert 0.5 < gbps / device.nominal_gbps < 1.0, (mix, gbps, device.nominal_gbps)
    roofs_hold(found)
    assert 0.5 < found.launch_us < 50
    assert 1e7 < found.programs_per_s < 1e11
    assert found.latency_ns is not None and 100 < found.latency_ns < 2000
    assert 1 < found.tflops["fp32"] < 500


def roofs_hold(found: Ceilings) -> None:
    """No product of whole matrices is above the roof of its type."""
    for name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        if name in found.tflops:
            reached = matmul_tflops(dtype)
            assert reached < found.tflops[name], (name, reached, found.tflops)


def matmul_tflops(dtype: torch.dtype, n: int = 8192) -> float:
    """What PyTorch reaches with two random matrices of n × n."""
    from talk.gpu.timer import GpuTimer, quantile, time_in_turn

    a, b = (torch.randn(n, n, dtype=dtype, device="cuda") for _ in range(2))
    taken = time_in_turn({"mm": lambda: a @ b}, GpuTimer(None), matrix_bound=True)
    return 2 * n**3 / quantile(taken["mm"].ms, 0.5) / 1e9


def queueing() -> None:
    """A call shorter than its queueing is timed without it, by either clock."""
    from talk.gpu.timer import GpuTimer, HotTimer, quantile

    x = torch.ones(4096, device="cuda")
    cold = GpuTimer(None)
    ms = {timer.clock: quantile(timer.samples(x.sin, 50), 0.5) for timer in (cold, HotTimer(cold))}
    assert ms["hot"] < 1.2 * ms["device"] < 0.05, ms


def streaming() -> None:
    """The kernels that ceilings are measured with move what they are counted for."""
    from talk.gpu import kernels
    from talk.gpu.check import compare

    out, x, y, z = (torch.rand(4096, device="cuda") for _ in range(4))
    for kernel, inputs, expected in (
        (kernels.write_kernel, (), torch.ones_like(x)),
        (kernels.copy_kernel, (x,), x),
        (kernels.add_kernel, (x, y), x + y),
        (kernels.add_three_kernel, (x, y, z), x + y + z),
    ):
        kernel[(16,)](out, *inputs, BLOCK=256)
        assert compare(out, expected.double(), 1e-6).ok


def computing() -> None:
    """So do those of arithmetic and latency compute what they are counted for."""
    from tests.ceiling_kernels import check_chain, check_dots, check_multiply_adds

    check_multiply_adds("cuda", repeats=4096)
    check_dots("cuda", torch.float16, repeats=64)
    check_chain("cuda", lines=2**20, loads=1000)


def occupancies() -> None:
    """Ours, of what Triton says it launched, is that of Nsight Compute."""
    from talk.gpu import counters, machine
    from talk.gpu.compiled import config_of, watched
    from talk.gpu.measure import make_inputs
    from talk.hardware import BY_TARGET
    from talk.occupancy import occupancy
    from talk.source import ROOT
    from tests.occupancy_talk import SECTION

    step = SECTION.step("kernels")
    found, reason = counters.counters(
        "tests.occupancy_talk", "kernels", tuple(step.candidates), ROOT
    )
    if found is None:
        sys.exit(f"no counters here: {reason}")
    torch.set_default_device("cuda")
    inputs = make_inputs(step.case, step.case.size)
    columns = [column.name for column in found.columns]
    architecture = BY_TARGET[machine.target()]
    limiters = set()
    assert [row[0] for row in found.rows] == list(step.candidates), found.rows
    for row in found.rows:
        read = dict(zip(columns, row, strict=True))
        with watched() as launched:
            step.candidates[read["candidate"]](*inputs)
        config = config_of(launched.kernels)
        ours = occupancy(
            architecture,
            registers=config["registers"],
            shared=config["shared"],
            warps=config["num_warps"],
        )
        print(read, config, ours)
        # On an H200 ncu said 16 where Triton said 12, and 70 where it said 70.
        assert read["registers"] >= config["registers"], (read, config)
        assert abs(read["occupancy"] - ours.share) < 0.005, (read, config, ours)
        assert ours.limiter in read["limited by"].split(", "), (read, config, ours)
        limiters.add(ours.limiter)
    assert len(limiters) >= 3, limiters


CHECKS = {
    check.__name__: check for check in (ceilings, queueing, streaming, computing, occupancies)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
