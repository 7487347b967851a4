"""What NVML reads off the GPU around a measurement; None for what it does not say."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from talk.outcome import Clocks

THROTTLE = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
}
"""NVML's clocks-event reasons that slow a measurement down; idle and set clocks are none."""


class Gpu:
    """One GPU as NVML knows it; without NVML every reading is None. uuid: PyTorch's, or empty."""

    def __init__(self, uuid: str = "") -> None:
        self._nvml: Any = None
        self._handle: Any = None
        with contextlib.suppress(ImportError):
            import pynvml

            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlInit()
                self._handle = handle(pynvml, uuid)
                self._nvml = pynvml

    def driver(self) -> str:
        found = self._read(lambda nvml, handle: nvml.nvmlSystemGetDriverVersion())
        return found.decode() if isinstance(found, bytes) else str(found or "")

    def power_limit_w(self) -> float | None:
        milliwatts = self._read(lambda nvml, gpu: nvml.nvmlDeviceGetPowerManagementLimit(gpu))
        return None if milliwatts is None else milliwatts / 1e3

    def clocks(self) -> Clocks | None:
        """One reading of everything; None without NVML."""
        if self._nvml is None:
            return None
        milliwatts = self._read(lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu))
        reasons = self._read(lambda nvml, gpu: throttle_bits(nvml, gpu))
        return Clocks(
            sm_mhz=self._read(lambda nvml, gpu: clock(nvml, gpu, nvml.NVML_CLOCK_SM)),
            memory_mhz=self._read(lambda nvml, gpu: clock(nvml, gpu, nvml.NVML_CLOCK_MEM)),
            power_w=None if milliwatts is None else milliwatts / 1e3,
            temperature_c=self._read(lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(gpu, 0)),
            throttle=None if reasons is None else throttles(reasons),
        )

    def _read(self, ask: Callable[[Any, Any], Any]) -> Any:
        if self._nvml is None:
            return None
        try:
            return ask(self._nvml, self._handle)
        except self._nvml.NVMLError:
            return None


def handle(nvml: Any, uuid: str) -> Any:
    """By PyTorch's UUID, since CUDA_VISIBLE_DEVICES renumbers; else the first."""
    if uuid:
        name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        with contextlib.suppress(nvml.NVMLError):
            return nvml.nvmlDeviceGetHandleByUUID(name)
    return nvml.nvmlDeviceGetHandleByIndex(0)


def clock(nvml: Any, gpu: Any, kind: int) -> int:
    return int(nvml.nvmlDeviceGetClockInfo(gpu, kind))


def throttle_bits(nvml: Any, gpu: Any) -> int:
    return int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu))


def throttles(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in THROTTLE.items() if bits & bit)
