"""Hardware counters, read by Nsight Compute (`ncu`) in a process of its own.

`counters` starts `ncu … python -m talk.gpu.counters MODULE SLUG`: the module's other end, `main`,
launches the candidates of that step, an empty kernel between them as a mark. Times under ncu
are never results.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from talk.gpu.profiling import short_name
from talk.outcome import Column, Table

TIMEOUT_S = 90.0
MARK = "empty_kernel"

METRICS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": Column(name="dram", unit="share"),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": Column(name="sectors"),
    "sm__warps_active.avg.pct_of_peak_sustained_active": Column(name="warps active", unit="share"),
    "launch__occupancy_limit_blocks": Column(name="block limit", unit="count"),
    "sm__maximum_warps_per_active_cycle_pct": Column(name="occupancy", unit="share"),
    "launch__registers_per_thread": Column(name="registers", unit="count"),
}
"""ncu's name → our column: share of DRAM's peak, sectors of 32 bytes per load request, warps
active, blocks per SM that the hardware allows, theoretical occupancy, registers a thread."""

LIMITS = {
    "launch__occupancy_limit_blocks": "blocks",
    "launch__occupancy_limit_warps": "warps",
    "launch__occupancy_limit_registers": "registers",
    "launch__occupancy_limit_shared_mem": "shared memory",
}
"""Blocks per SM by each: ncu's name → what `talk.occupancy` calls the limiter. Known from the
launch, so that they cost no pass."""

REASONS = {
    "ERR_NVGPUCTRPERM": "this GPU's counters are closed to us (ERR_NVGPUCTRPERM)",
    "ERR_NVGPUCTRNOTSUPPORTED": "this GPU has no counters for ncu",
}

Row = tuple[str, dict[str, float]]


def counters(
    module: str, slug: str, names: Iterable[str], root: Path, timeout_s: float = TIMEOUT_S
) -> tuple[Table | None, str]:
    """The counters of a step's candidates, or None and the reason in one line."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return None, "Nsight Compute (ncu) is not on PATH"
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        heard = run([*command(ncu, log), module, slug], root, timeout_s)
        written = log.read_text(errors="replace") if log.exists() else ""
    found = table(read(written), tuple(names))
    return (found, "") if found else (None, reason(f"{written}\n{heard}"))


def command(ncu: str, log: Path) -> list[str]:
    """Everything but the step."""
    options = ["--clock-control", "none", "--profile-from-start", "off"]
    output = ["--csv", "--print-units", "base", "--log-file", str(log)]
    metrics = ["--metrics", ",".join(dict.fromkeys((*METRICS, *LIMITS)))]
    return [ncu, *options, *output, *metrics, sys.executable, "-m", "talk.gpu.counters"]


def run(arguments: list[str], root: Path, timeout_s: float) -> str:
    """What the processes print, and what went wrong with them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    try:
        done = subprocess.run(
            arguments,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        return f"==ERROR== ncu did not end within {timeout_s:g} s"
    except OSError as error:
        return f"==ERROR== ncu did not start: {error}"
    return done.stdout.decode(errors="replace")


def reason(heard: str) -> str:
    """Why there are no counters, in one line."""
    known = next((why for sign, why in REASONS.items() if sign in heard), "")
    errors = (line for line in heard.splitlines() if line.startswith("==ERROR=="))
    said = next((line.removeprefix("==ERROR==").strip() for line in errors), "")
    last = next((line for line in reversed(heard.splitlines()) if line.strip()), "it said nothing")
    return known or said or f"ncu read no counters: {last.strip()}"


def read(text: str) -> tuple[Row, ...]:
    """ncu's CSV, one line a metric, as one (kernel, metric → value) a launch, in order.

    Its messages stand around the CSV, thousands are separated, and what it could not read is
    no number.
    """
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    cells = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    launches: dict[str, Row] = {}
    for line in cells:
        name = short_name(line.get("Kernel Name") or "")
        _, values = launches.setdefault(line.get("ID") or "", (name, {}))
        value = number(line.get("Metric Value") or "")
        if value is not None:
            values[line.get("Metric Name") or ""] = value
    return tuple(launches.values())


def number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def table(launches: Iterable[Row], names: tuple[str, ...]) -> Table | None:
    """A row per kernel of each candidate; None where no launch was read."""
    told = (*METRICS.values(), Column(name="limited by"))
    columns = (Column(name="candidate"), Column(name="kernel"), *told)
    rows = tuple(rows_of(launches, names))
    return Table(columns=columns, rows=rows) if rows else None


def rows_of(
    launches: Iterable[Row], names: tuple[str, ...]
) -> Iterator[tuple[str | float | None, ...]]:
    """A mark stands before the launches of each candidate; those before the first are nobody's."""
    turn = -1
    seen: set[tuple[int, str]] = set()
    for kernel, values in launches:
        if kernel == MARK:
            turn += 1
        elif 0 <= turn < len(names) and (turn, kernel) not in seen:
            seen.add((turn, kernel))
            yield (names[turn], kernel, *(scaled(m, values) for m in METRICS), limited_by(values))


def scaled(metric: str, values: dict[str, float]) -> float | None:
    """ncu's percentages as shares."""
    value = values.get(metric)
    return value / 100 if value is not None and METRICS[metric].unit == "share" else value


def limited_by(values: dict[str, float]) -> str | None:
    """What allows the fewest blocks, all that tie; None where ncu does not say."""
    limits = {name: values[metric] for metric, name in LIMITS.items() if metric in values}
    if len(limits) < len(LIMITS):
        return None
    return ", ".join(name for name, blocks in limits.items() if blocks == min(limits.values()))


def main(module: str, slug: str) -> None:
    """Under ncu: every candidate once, warm, with a mark before it."""
    import importlib

    import torch

    from talk.gpu.kernels import empty_kernel
    from talk.gpu.measure import make_inputs
    from talk.gpu.process import end_with_parent

    end_with_parent()
    torch.set_default_device("cuda")
    step = importlib.import_module(module).SECTION.step(slug)
    inputs = make_inputs(step.case, step.case.size)
    mark = torch.zeros(1)
    for candidate in step.candidates.values():
        candidate(*inputs)
    empty_kernel[(1,)](mark)
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for candidate in step.candidates.values():
        empty_kernel[(1,)](mark)
        candidate(*inputs)
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
