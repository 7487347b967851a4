"""GPU checks in a process of their own: a Triton imported to interpret keeps interpreting."""

from __future__ import annotations

import sys


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
    assert 0.5 < found.launch_us < 50
    assert 1e7 < found.programs_per_s < 1e11


def streaming() -> None:
    """The kernels that ceilings are measured with move what they are counted for."""
    import torch

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


if __name__ == "__main__":
    {"ceilings": ceilings, "streaming": streaming}[sys.argv[1]]()
