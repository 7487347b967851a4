"""This machine: its device, its software, the room in its memory."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import torch
import triton

from talk.gpu.clocks import Gpu
from talk.record import Device, Machine, Software


def describe(mode: str, gpu: Gpu) -> Machine:
    """mode: `live` describes the GPU, `simulated` the processor that stands in for it."""
    return Machine(
        mode=mode,
        host=platform.node(),
        device=device(gpu) if mode == "live" else processor(),
        software=software(gpu.driver()),
    )


def device(gpu: Gpu) -> Device:
    """PyTorch's device 0, as it describes itself; what neither it nor Triton says is None."""
    told = torch.cuda.get_device_properties(0)
    asked = triton_properties()
    kilohertz = getattr(told, "memory_clock_rate", None) or asked.get("mem_clock_rate")
    return Device(
        name=told.name,
        kind="hip" if torch.version.hip else "cuda",
        capability=capability(told),
        sms=told.multi_processor_count,
        warp_size=getattr(told, "warp_size", None) or asked.get("warpSize"),
        max_threads_per_sm=getattr(told, "max_threads_per_multi_processor", None),
        registers_per_sm=getattr(told, "regs_per_multiprocessor", None),
        shared_per_sm=getattr(told, "shared_memory_per_multiprocessor", None),
        shared_per_block=getattr(told, "shared_memory_per_block_optin", None)
        or asked.get("max_shared_mem"),
        l2_bytes=getattr(told, "L2_cache_size", None),
        memory_bytes=told.total_memory,
        memory_clock_mhz=kilohertz // 1000 if kilohertz else None,
        bus_bits=getattr(told, "memory_bus_width", None) or asked.get("mem_bus_width"),
        power_limit_w=gpu.power_limit_w(),
    )


def capability(told: Any) -> str:
    """ "9.0", or AMD's "gfx942". On NVIDIA, `gcnArchName` holds the name of the device."""
    if torch.version.hip:
        return str(told.gcnArchName).split(":")[0]
    return f"{told.major}.{told.minor}"


def target() -> str:
    """This GPU as the compiler names it: `sm_90`, `gfx942`."""
    found = capability(torch.cuda.get_device_properties(0))
    return found if torch.version.hip else f"sm_{found.replace('.', '')}"


def triton_properties() -> dict[str, int]:
    """What Triton's driver says of device 0: kHz, bits, bytes."""
    active: Any = triton.runtime.driver.active
    return dict(active.utils.get_device_properties(0))


def uuid() -> str:
    return str(getattr(torch.cuda.get_device_properties(0), "uuid", ""))


def processor() -> Device:
    return Device(name=processor_name(), kind="cpu")


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def software(driver: str) -> Software:
    return Software(
        python=platform.python_version(),
        torch=f"{torch.__version__}",  # a plain string, which its own class is not
        triton=triton.__version__,
        cuda=torch.version.cuda or (f"HIP {torch.version.hip}" if torch.version.hip else ""),
        driver=driver,
        system=f"{platform.system()} {platform.machine()}",
    )


def free_bytes() -> int:
    """Of the GPU, what PyTorch holds in reserve included."""
    free, _ = torch.cuda.mem_get_info()
    held = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    return int(free + held)


def spare_memory() -> None:
    """Give PyTorch's reserve back where little is left; otherwise keeping it is faster."""
    free, total = torch.cuda.mem_get_info()
    if free < total // 4:
        torch.cuda.empty_cache()
