"""This machine: what it says of itself, and what it was measured to reach."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from talk import stage
from talk.gpu import ceilings, clocks, machine
from talk.gpu.ceilings import LINE, array_bytes, moved_bytes, random_cycle
from talk.gpu.ground import no_gpu
from talk.gpu.selftest import explained
from talk.gpu.timer import Timer
from talk.gpu.trouble import attempt, explain
from talk.outcome import Failure
from talk.performer import Hello
from talk.section import MIXES
from talk.source import ROOT
from talk.worker import Worker
from tests.conftest import SMALL
from tests.test_worker import Driver


def test_without_a_gpu_the_processor_stands_in_and_has_no_clocks() -> None:
    described = machine.describe("simulated", clocks.Gpu())
    assert described.device.kind == "cpu" and described.device.name
    assert described.device.l2_bytes is None
    assert described.software.torch and described.software.triton and described.host


def test_a_processor_without_a_name_is_named_by_its_kind(tmp_path: Path) -> None:
    listed = tmp_path / "cpuinfo"
    listed.write_text("processor\t: 0\nmodel name\t: Some CPU: 9000\n")
    assert machine.processor_name(listed) == "Some CPU: 9000"
    assert machine.processor_name(tmp_path / "none")


class NVMLError(Exception):
    """As pynvml raises it."""


def nvml(**answers: Any) -> types.SimpleNamespace:
    """A library that knows only these answers."""

    def say(answer: Any) -> Callable[..., Any]:
        def ask(*_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return ask

    names = {
        "nvmlDeviceGetPowerUsage": answers.get("power", NVMLError()),
        "nvmlDeviceGetPowerManagementLimit": answers.get("limit", NVMLError()),
        "nvmlDeviceGetClockInfo": answers.get("clock", NVMLError()),
        "nvmlDeviceGetTemperature": answers.get("temperature", NVMLError()),
        "nvmlDeviceGetCurrentClocksThrottleReasons": answers.get("reasons", NVMLError()),
        "nvmlSystemGetDriverVersion": answers.get("driver", NVMLError()),
    }
    functions = {name: say(answer) for name, answer in names.items()}
    return types.SimpleNamespace(
        NVMLError=NVMLError, NVML_CLOCK_SM=1, NVML_CLOCK_MEM=2, **functions
    )


def gpu(**answers: Any) -> clocks.Gpu:
    found = clocks.Gpu()
    found._nvml = nvml(**answers)
    return found


def test_what_nvml_does_not_say_is_none_and_never_zero() -> None:
    reading = gpu(power=312_500, reasons=0x4 | 0x40 | 0x1).clocks()
    assert reading is not None
    assert reading.power_w == 312.5
    assert reading.throttle == ("power cap", "hardware thermal")
    assert (reading.sm_mhz, reading.memory_mhz, reading.temperature_c) == (None, None, None)
    assert gpu(reasons=0).clocks().throttle == ()  # type: ignore[union-attr]
    assert gpu().power_limit_w() is None
    assert gpu(limit=700_000, driver=b"580.1").power_limit_w() == 700.0
    assert gpu(driver=b"580.1").driver() == "580.1"


@pytest.mark.parametrize(
    ("free", "each"), [(140 * 2**30, 2**30), (8 * 2**30, 2**30), (7 * 2**30, 2**29), (2**30, 2**27)]
)
def test_arrays_shrink_where_memory_is_short(free: int, each: int) -> None:
    assert array_bytes(free) == each


def test_every_mix_has_its_bytes() -> None:
    assert [moved_bytes(mix, 10) for mix in MIXES] == [10, 10, 20, 30, 40]


def test_roofs_are_measured_with_kernels_that_compute_what_is_counted() -> None:
    interpreted = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "tests.ceiling_kernels"]
    done = subprocess.run(
        command, cwd=ROOT, env=interpreted, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lines", [1, 2, 1000])
def test_a_walk_passes_all_lines_before_it_repeats_one(lines: int) -> None:
    links, at, seen = random_cycle(lines, "cpu"), 0, set()
    for _ in range(lines):
        seen.add(at)
        at = int(links[at])
    assert at == 0 and seen == set(range(0, lines * LINE, LINE))


@pytest.mark.parametrize(
    ("major", "hip", "roofs"),
    [
        (7, None, {"fp32"}),  # case E2: a T4 has no bfloat16, and no tensor cores through Triton
        (8, None, {"fp32", "fp16", "bf16"}),
        (12, None, {"fp32", "fp16", "bf16"}),
        (9, "6.3", {"fp32", "fp16", "bf16"}),
    ],
)
def test_only_roofs_that_this_gpu_has_are_measured(
    monkeypatch: pytest.MonkeyPatch, major: int, hip: str | None, roofs: set[str]
) -> None:
    told = types.SimpleNamespace(major=major, multi_processor_count=40)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: told)
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(ceilings, "fp32_tflops", lambda sms, timer, clock: 8.0)
    monkeypatch.setattr(ceilings, "dot_tflops", lambda dtype, sms, timer, clock: 65.0)
    found = ceilings.arithmetic(cast(Timer, None), lambda: 0.0)
    assert found.keys() == roofs and found["fp32"] == 8.0


class Cuda:
    """As `torch.cuda` answers where there is no GPU."""

    def __init__(self, warning: str = "") -> None:
        self._warning = warning

    def is_available(self) -> bool:
        if self._warning:
            import warnings

            warnings.warn(self._warning, stacklevel=1)
        return False


def torch_with(cuda: str | None, warning: str = "") -> types.SimpleNamespace:
    version = types.SimpleNamespace(cuda=cuda, hip=None)
    return types.SimpleNamespace(cuda=Cuda(warning), version=version)


def test_why_there_is_no_gpu_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert no_gpu(torch_with(None)).endswith("this PyTorch is built for the CPU alone")
    assert no_gpu(torch_with("12.8")).endswith("PyTorch finds none")
    old = "CUDA initialization: The NVIDIA driver on your system is too old (found version 1)."
    assert no_gpu(torch_with("12.8", old)).endswith("driver on your system is too old")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert no_gpu(torch_with("12.8")) == "TRITON_INTERPRET is set"


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("RuntimeError: Failed to find C compiler. Please specify via CC", "install gcc"),
        ("AssertionError: libcuda.so cannot found!", "install the NVIDIA driver"),
        ("ValueError: something else", "something else"),
    ],
)
def test_what_is_missing_is_named_with_what_to_install(said: str, advice: str) -> None:
    assert advice in explained(Failure(kind="error", reason=said))


def test_python_headers_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    failed = Failure(kind="error", reason="CalledProcessError: Command '['gcc', …]' returned 1")
    assert "-dev" in explained(failed) and "Python.h" in explained(failed)


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (MemoryError(), "memory", "out of memory"),
        (
            RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with …"),
            "crash",
            "CUDA error: an illegal memory access was encountered",
        ),
        (RuntimeError("Triton Error [CUDA]: misaligned address"), "crash", "Triton Error [CUDA]"),
        (KeyError("x"), "error", "KeyError"),
    ],
)
def test_a_failure_has_its_kind_and_one_sentence(error: Exception, kind: str, reason: str) -> None:
    failure = explain(error)
    assert failure.kind == kind
    assert failure.reason.startswith(reason) and "\n" not in failure.reason


def test_a_device_that_is_lost_ends_more_than_one_attempt() -> None:
    def lose() -> None:
        raise RuntimeError("CUDA error: unspecified launch failure")

    with pytest.raises(RuntimeError):
        attempt(lose)
    assert isinstance(attempt(lose, last=True), Failure)


# On a GPU


@pytest.mark.gpu
@pytest.mark.parametrize("check", ["ceilings", "queueing", "streaming", "computing"])
def test_what_ceilings_are_measured_with_holds_on_a_gpu(check: str) -> None:
    command = [sys.executable, "-m", "tests.on_gpu", check]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.gpu
def test_an_add_at_full_size_is_near_the_ceiling_of_its_mix() -> None:
    worker = Worker(Hello(modules=("demos.s1_small",), commit=""), root=SMALL)
    driver = Driver(worker)
    driver.until(stage.Opened)
    outcome = driver.perform("full")
    opened = [event for event in driver.heard if isinstance(event, stage.Opened)][-1]
    worker.close()
    assert outcome.failure is None and opened.machine is not None, outcome
    assert opened.machine.ceilings is not None
    times = {timing.candidate: timing for timing in outcome.timings}
    triton = times["triton"]
    gbps = triton.bytes / triton.median_ms / 1e6
    assert gbps > 0.97 * opened.machine.ceilings.bandwidth_gbps["2:1"]
    assert gbps < 1.02 * opened.machine.ceilings.best_gbps
    assert triton.config["num_warps"] == 4 and triton.config["registers"] > 0
    assert triton.compile_ms is not None and triton.n >= 10
    assert len(outcome.clocks) in (0, 2)


def test_an_error_with_an_array_in_its_words_is_cut() -> None:
    failed = attempt(lambda: fails_with("x" * 10**6))
    assert isinstance(failed, Failure)
    assert len(failed.reason) == 2_000 and failed.reason.endswith("x…")
    assert len(failed.detail) <= 16_384


def fails_with(words: str) -> None:
    raise ValueError(words)
