"""What profilers print, read: rows per kernel, counters per candidate, reasons in one line."""

from __future__ import annotations

import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from talk import stage
from talk.gpu import counters, profiling
from talk.performer import Hello
from talk.reading import Reading
from talk.record import Event, Record
from talk.rows import slugged
from talk.source import ROOT
from talk.worker import Worker
from tests import records
from tests.conftest import SMALL
from tests.test_worker import Driver

DRAM, SECTORS, WARPS, BLOCKS, OCCUPANCY, REGISTERS = counters.METRICS

# Made up, in the form that `ncu --csv` writes: one line a metric, messages around.
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def lines_of(number: int, kernel: str, **values: str) -> list[str]:
    metrics = {
        "dram": DRAM, "sectors": SECTORS, "warps": WARPS, "blocks": BLOCKS,
        "occupancy": OCCUPANCY, "registers": REGISTERS,
        **{f"by {name}": metric for metric, name in counters.LIMITS.items() if metric != BLOCKS},
    }  # fmt: skip
    return [
        f'"{number}","7","python","host","{kernel}","1","7","(128, 1, 1)","(8, 1, 1)","0","9.0",'
        f'"Command line profiler metrics","{metrics[name]}","%","{value}"'
        for name, value in values.items()
    ]


TORCH = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
CSV = "\n".join(
    [
        '==PROF== Connected to process 7 (/usr/bin/python "x")',
        '==PROF== Profiling "add_kernel" - 1: 0%....100% - 5 passes',
        HEAD,
        *lines_of(0, "empty_kernel", dram="0.01"),
        *lines_of(1, "add_kernel", dram="0.41", sectors="1", warps="8.7", blocks="32"),
        *lines_of(1, "add_kernel", occupancy="100", registers="16"),
        *lines_of(1, "add_kernel", **{"by warps": "16", "by registers": "16"}),
        *lines_of(1, "add_kernel", **{"by shared memory": "228"}),
        *lines_of(2, "empty_kernel", dram="0.01"),
        *lines_of(3, TORCH, dram="84.5", sectors="16", warps="82.1", blocks="1,024"),
        *lines_of(4, TORCH, dram="80.0", sectors="16", warps="82.0", blocks="1,024"),
        *lines_of(5, "reduce(float *)", dram="n/a", sectors="(!) nan"),
        "==PROF== Disconnected from process 7",
    ]
)


def test_counters_are_read_per_candidate_and_kernel() -> None:
    table = counters.table(counters.read(CSV), ("naive", "torch"))
    assert table is not None
    assert [slugged(column.name) for column in table.columns] == [
        "candidate",
        "kernel",
        "dram",
        "sectors",
        "warps_active",
        "block_limit",
        "occupancy",
        "registers",
        "limited_by",
    ]
    naive, torch, reduced = table.rows
    assert naive[:2] == ("naive", "add_kernel")
    assert naive[2:5] == (pytest.approx(0.0041), 1.0, pytest.approx(0.087))
    assert naive[5:] == (32.0, 1.0, 16.0, "warps, registers")
    assert torch[:2] == ("torch", "vectorized_elementwise_kernel")
    assert torch[2:6] == (pytest.approx(0.845), 16.0, pytest.approx(0.821), 1024.0)
    assert reduced[:3] == ("torch", "reduce", None)
    assert torch[-1] is None and reduced[-1] is None  # a limiter is named where all are known


def test_a_counter_is_named_by_its_candidate_and_its_column() -> None:
    table = counters.table(counters.read(CSV), ("naive", "32"))
    kernels = profiling.table({"naive": (profiling.Kernel("add_kernel", 1.0, 2e-3),), "32": ()})
    outcome = records.outcome("rows", table=kernels, counters=table)
    outline = Event(kind="outline", section=5, outline=records.SECTION)
    event = Event(kind="outcome", section=5, step="rows", outcome=outcome)
    reading = Reading(recording=Record(records.MACHINE, (outline, event)))
    assert str(reading.number("5/rows[naive].dram")) == "0.410 %"
    assert str(reading.number("5/rows[naive].time")) == "2.00 ms"
    limit = reading.number("5/rows[32, vectorized_elementwise_kernel].block_limit")
    assert limit.value == 1024


@pytest.mark.parametrize("text", ["", "==ERROR== nothing", HEAD, '\x00\n\n"ID"'])
def test_no_counters_are_no_table(text: str) -> None:
    assert counters.table(counters.read(text), ("naive",)) is None


@pytest.mark.parametrize(
    ("heard", "reason"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access …",
            "this GPU's counters are closed to us (ERR_NVGPUCTRPERM)",
        ),
        ("==PROF== x\n==ERROR== The application returned an error code (1).", "The application"),
        ("Traceback …\nValueError: no\n\n", "ncu read no counters: ValueError: no"),
        ("", "ncu read no counters: it said nothing"),
    ],
)
def test_why_there_are_no_counters_is_one_line(heard: str, reason: str) -> None:
    found = counters.reason(heard)
    assert found.startswith(reason) and "\n" not in found


def fake_ncu(folder: Path, script: str) -> None:
    """A program of that name, first on PATH."""
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


LOG = 'while [ "$1" != --log-file ]; do shift; done; '


def test_ncu_is_asked_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answer").write_text(CSV)
    fake_ncu(tmp_path, f'{LOG} cat {tmp_path}/answer > "$2"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    table, reason = counters.counters("demos.x", "slug", {"naive": 1, "torch": 2}, tmp_path)
    assert table is not None and len(table.rows) == 3 and reason == ""


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f'{LOG} echo "==ERROR== ERR_NVGPUCTRPERM - no" > "$2"; exit 1', "ERR_NVGPUCTRPERM"),
        ("exec sleep 9", "ncu did not end within 0.3 s"),
        ("echo nothing found; exit 3", "nothing found"),
    ],
)
def test_ncu_that_may_not_or_does_not_answer_leaves_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    fake_ncu(tmp_path, script)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    limit = 0.3 if "sleep" in script else 10.0
    table, why = counters.counters("demos.x", "slug", ("naive",), tmp_path, limit)
    assert table is None
    assert reason in why


def test_without_ncu_there_are_no_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = counters.counters("demos.x", "slug", ("naive",), tmp_path)
    assert found == (None, "Nsight Compute (ncu) is not on PATH")


@dataclass
class Averaged:
    """A row as PyTorch's profiler averages it."""

    key: str
    count: int
    self_device_time_total: float
    device_type: str = "DeviceType.CUDA"


def test_kernels_are_counted_per_call_and_instances_of_a_template_are_one() -> None:
    rows = [
        Averaged(TORCH, 10, 4000.0),
        Averaged(TORCH.replace("<4", "<2"), 10, 2000.0),
        Averaged("add_kernel", 10, 9000.0),
        Averaged("Memset (Device)", 10, 10.0),
        Averaged("cudaLaunchKernel", 30, 0.0, "DeviceType.CPU"),
    ]
    found = profiling.merged(profiling.on_device(rows))
    assert [(kernel.name, kernel.calls) for kernel in found] == [
        ("add_kernel", 1.0),
        ("vectorized_elementwise_kernel", 2.0),
        ("Memset (Device)", 1.0),
    ]
    table = profiling.table({"naive": found})
    assert [row[3] for row in table.rows] == pytest.approx([9e-4, 6e-4, 1e-6])
    assert sum(row[4] for row in table.rows if isinstance(row[4], float)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("_softmax_kernel_0d1d2", "_softmax_kernel_0d1d2"),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, 7>(float *)",
            "softmax_warp_forward",
        ),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32", "sm90_xmma_gemm_bf16bf16_bf16f32"),
    ],
)
def test_a_kernel_keeps_its_own_name(name: str, short: str) -> None:
    assert profiling.short_name(name) == short


@pytest.mark.gpu
def test_the_profilers_see_the_kernels_of_each_candidate() -> None:
    worker = Worker(Hello(modules=("demos.s1_small",), commit=""), root=SMALL)
    driver = Driver(worker)
    driver.until(stage.Opened)
    outcome = driver.perform("kernels")
    worker.close()
    assert outcome.failure is None and outcome.table is not None, outcome
    named = {(row[0], row[1]) for row in outcome.table.rows}
    assert ("triton", "add_kernel") in named
    assert "torch" in {candidate for candidate, _ in named}
    assert all(isinstance(row[3], float) and 0 < row[3] < 1 for row in outcome.table.rows)
    if outcome.counters is None:
        assert outcome.counters_reason
    else:
        shares = [row[2] for row in outcome.counters.rows]
        assert all(isinstance(share, float) and 0 < share <= 1 for share in shares)


@pytest.mark.gpu
def test_our_occupancy_is_that_of_nsight_compute() -> None:
    command = [sys.executable, "-m", "tests.on_gpu", "occupancies"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150)
    if "no counters here" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
