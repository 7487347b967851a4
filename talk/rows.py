"""From what was measured to numbers: rates, shares and flags, computed on reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import truediv

from talk import look
from talk.hardware import BY_CAPABILITY
from talk.look import Badge
from talk.number import Number, Passport
from talk.occupancy import occupancy
from talk.outcome import Clocks, Lowering, Outcome, Table, Timing
from talk.record import Ceilings, Machine

OVERHEAD = "overhead-bound"
CACHED = "above the ceiling: cache-resident?"
CACHED_ABOVE = 1.02
"""More than 2 % above the best ceiling of all cannot come from memory (rule 9 of measuring)."""
OVERHEAD_FLOORS = 5.0
"""Under five times the launch floor a time says nothing of bandwidth (rule 1)."""


@dataclass(frozen=True)
class Shown:
    """An outcome as a view draws it: with its badge and the machine it comes from."""

    outcome: Outcome
    badge: Badge
    machine: Machine
    at: str
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """The numbers of one candidate at one point, or of one row of a table."""

    names: tuple[str, ...]
    fields: dict[str, Number]


def rows_of(shown: Shown) -> Iterator[Row]:
    """Everything of an outcome that a reference can name."""
    outcome = shown.outcome
    for timing in outcome.timings:
        yield row_of(timing, shown)
    for candidate, ends in outcome.plateaus.items():
        number = Number(ref="", value=None, unit="count", badge=shown.badge)
        number = replace(number, passport=of_shown(shown))
        knee, edge = (replace(number, value=end) for end in ends)
        yield Row((candidate,), {"knee": knee, "edge": edge})
    for lowering in outcome.lowerings:
        if lowering.counts:
            yield lowering_row(lowering, shown)
    for table in (outcome.table, outcome.counters):
        yield from table_rows(table, shown) if table else ()
    if outcome.prediction:
        model = Number(
            ref="",
            value=outcome.prediction.model,
            unit="",
            badge=shown.badge,
            passport=replace(of_shown(shown), case="modelled from the ceilings"),
        )
        yield Row(("model",), {"model": model})


def row_of(timing: Timing, shown: Shown) -> Row:
    """The numbers of one timing: what its time says, and what was known beside it."""
    case = (timing.case,) if timing.case else ()
    names = (*case, timing.candidate, *(str(value) for value in timing.at.values()))
    passport = of_timing(timing, shown)
    blank = Number(ref="", value=None, unit="", badge=shown.badge, passport=passport)
    return Row(names, {**timed(timing, shown, blank), **beside(timing, shown, blank)})


def timed(timing: Timing, shown: Shown, blank: Number) -> dict[str, Number]:
    """Rates and shares, with their spread; empty where the time is mostly launch overhead.

    gbps: compulsory bytes / time / 1e9. tflops: flops / time / 1e12.
    share: of this machine's measured ceiling for the same traffic mix; none for the clock `hot`.
    arithmetic_share: of its measured roof for the same arithmetic, or for float32 where it has no
    tensor cores. each: time / items.
    """
    ceilings = shown.machine.ceilings
    blank = replace(blank, flags=flags_of(timing, ceilings))
    rated = OVERHEAD not in blank.flags
    hot = timing.clock == "hot"
    ceiling = ceilings.bandwidth_gbps.get(timing.mix) if ceilings and not hot else None
    tflops = ceilings.tflops if ceilings else {}
    roof = tflops.get(timing.arithmetic, tflops.get("fp32"))
    moved, computed = rated and timing.bytes, rated and timing.flops
    # Field → its unit, and what is divided by the milliseconds; None: nothing is claimed.
    per_ms = {
        "gbps": ("GB/s", timing.bytes / 1e6 if moved else None),
        "share": ("share", timing.bytes / 1e6 / ceiling if moved and ceiling else None),
        "tflops": ("TFLOP/s", timing.flops / 1e9 if computed else None),
        "arithmetic_share": ("share", timing.flops / 1e9 / roof if computed and roof else None),
    }
    each = 1e3 * timing.items if timing.items else None
    return {
        "time": spread_of(timing, blank, "s", lambda ms: ms / 1e3),
        "each": spread_of(timing, blank, "s", (lambda ms: ms / each) if each else None),
        **{
            name: spread_of(timing, blank, unit, partial(truediv, amount) if amount else None)
            for name, (unit, amount) in per_ms.items()
        },
    }


def spread_of(
    timing: Timing, blank: Number, unit: str, of_ms: Callable[[float], float] | None
) -> Number:
    """A number computed from the median, with those of p20 and p80 as its ends."""
    if of_ms is None:
        return replace(blank, unit=unit)
    low, high = sorted((of_ms(timing.p20_ms), of_ms(timing.p80_ms)))
    return replace(blank, unit=unit, value=of_ms(timing.median_ms), low=low, high=high)


def beside(timing: Timing, shown: Shown, blank: Number) -> dict[str, Number]:
    """What is known beside the time: counts, and the kernel's own configuration."""
    config, moved = timing.config, timing.bytes
    known: dict[str, tuple[float | None, str]] = {
        "compile": (timing.compile_ms / 1e3 if timing.compile_ms is not None else None, "s"),
        "bytes": (moved, "B"),
        "intensity": (timing.flops / moved if moved else None, "FLOP/B"),
        "n": (timing.n, "count"),
        "registers": (config.get("registers"), "count"),
        "spills": (config.get("spills"), "count"),
        "shared": (config.get("shared"), "capacity"),
        "warps": (config.get("num_warps"), "count"),
        "occupancy": (occupancy_of(timing, shown.machine), "share"),
    }
    return {name: replace(blank, value=value, unit=unit) for name, (value, unit) in known.items()}


MATRIX = 100.0
"""FLOP per byte from which a rate is told in TFLOP/s: memory is no wall there."""


def rate_field(timings: Sequence[Timing]) -> str:
    """The rate that fits them all: time of each item, TFLOP/s of much arithmetic, else GB/s."""
    if all(timing.items for timing in timings):
        return "each"
    return "tflops" if all(t.flops > MATRIX * t.bytes for t in timings) else "gbps"


def occupancy_of(timing: Timing, machine: Machine) -> float | None:
    """Theoretical, of the one kernel that was launched; None where it or the GPU is not known."""
    architecture = BY_CAPABILITY.get(machine.device.capability)
    known = {"registers", "shared", "num_warps"} <= timing.config.keys()
    if architecture is None or not architecture.is_nvidia or not known:
        return None
    return occupancy(
        architecture,
        registers=timing.config["registers"],
        shared=timing.config["shared"],
        warps=timing.config["num_warps"],
    ).share


GLOBAL_LOAD = re.compile(r"ld\.global|global_load|buffer_load")
WIDTH = re.compile(r"(?:\.v(?P<many>\d))?\.[bfus](?P<bits>\d+)$|dword(?:x(?P<words>\d))?$")


def widest_load(counts: Mapping[str, int]) -> int | None:
    """Bytes that one lane brings with its widest load from memory; None where none is known."""
    widths = [width(name) for name in counts if GLOBAL_LOAD.match(name)]
    return max((w for w in widths if w), default=None)


def width(name: str) -> int:
    """`ld.global.v4.b32` → 16, `global_load_dwordx4` → 16; 0 for what is not understood."""
    found = WIDTH.search(name)
    if not found:
        return 0
    if found["bits"]:
        return int(found["many"] or 1) * int(found["bits"]) // 8
    return 4 * int(found["words"] or 1)


def lowering_row(lowering: Lowering, shown: Shown) -> Row:
    """registers, spills, shared, and of the PTX (or AMD's code): instructions, loads from memory,
    the widest of them, and fused multiply-adds.
    """
    counts, passport = lowering.machine_code, replace(of_shown(shown), config=lowering.target)

    def number(value: float | None, unit: str = "count") -> Number:
        return Number(ref="", value=value, unit=unit, badge=shown.badge, passport=passport)

    def matching(pattern: str) -> int:
        return sum(count for name, count in counts.items() if re.match(pattern, name))

    at = (str(value) for value in lowering.at.values())
    return Row(
        (lowering.candidate, lowering.kernel, lowering.target, *at),
        {
            "registers": number(lowering.registers),
            "spills": number(lowering.spills, "capacity"),
            "shared": number(lowering.shared, "capacity"),
            "instructions": number(sum(counts.values())),
            "loads": number(matching(GLOBAL_LOAD.pattern)),
            "widest": number(widest_load(counts), "B"),
            "fma": number(matching(r"fma\.|v_fma|v_pk_fma")),
        },
    )


def flags_of(timing: Timing, ceilings: Ceilings | None) -> tuple[str, ...]:
    """The timing's own flags, and what its size says beside this machine's ceilings."""
    flags = list(timing.flags)
    if ceilings and timing.median_ms * 1e3 < OVERHEAD_FLOORS * ceilings.launch_us:
        flags.append(OVERHEAD)
    elif timing.clock == "hot":
        pass  # nothing is claimed of memory
    elif ceilings and timing.bytes / (timing.median_ms * 1e6) > CACHED_ABOVE * ceilings.best_gbps:
        flags.append(CACHED)
    return tuple(flags)


def table_rows(table: Table, shown: Shown) -> Iterator[Row]:
    """Each row named by its words and its whole numbers' digits."""
    passport = of_shown(shown)
    for cells in table.rows:
        names = tuple(str(cell) for cell in cells if isinstance(cell, (str, int)))
        fields = {
            slugged(column.name): Number(
                ref="", value=float(cell), unit=column.unit, badge=shown.badge, passport=passport
            )
            for column, cell in zip(table.columns, cells, strict=True)
            if isinstance(cell, (int, float)) and not isinstance(cell, bool)
        }
        yield Row(names, fields)


def slugged(name: str) -> str:
    """A column's name as a field: lower case, words joined by '_'."""
    return re.sub(r"[^a-z]+", "_", name.lower()).strip("_")


def machine_values(
    machine: Machine, ceilings: Ceilings
) -> dict[tuple[str, ...], tuple[float, str]]:
    """What `machine/…` can name: (name, key…, field) → (value, unit)."""
    values: dict[tuple[str, ...], tuple[float, str]] = {
        ("bandwidth", mix, "gbps"): (gbps, "GB/s") for mix, gbps in ceilings.bandwidth_gbps.items()
    }
    values["launch", "time"] = (ceilings.launch_us / 1e6, "s")
    values["programs", "rate"] = (ceilings.programs_per_s, "/s")
    for name, tflops in ceilings.tflops.items():
        values["arithmetic", name, "tflops"] = (tflops, "TFLOP/s")
        values["ridge", name, "intensity"] = (tflops * 1e3 / ceilings.best_gbps, "FLOP/B")
    if ceilings.latency_ns is not None:
        values["latency", "time"] = (ceilings.latency_ns / 1e9, "s")
    if machine.device.sms:
        values["device", "sms"] = (machine.device.sms, "count")
    return values


def of_machine(machine: Machine) -> Passport:
    """The part of a passport that a whole talk shares."""
    software = machine.software
    versions = {"torch": software.torch, "triton": software.triton, "driver": software.driver}
    return Passport(
        gpu=machine.device.name,
        capability=machine.device.capability,
        date=machine.started,
        software=", ".join(f"{name} {version}" for name, version in versions.items() if version),
    )


def of_shown(shown: Shown) -> Passport:
    """The part that every number of an outcome shares."""
    outcome = shown.outcome
    return replace(
        of_machine(shown.machine),
        date=shown.at,
        clocks=said(outcome.clocks[-1]) if outcome.clocks else "",
        commit=outcome.commit,
        command=outcome.command,
    )


def said(clocks: Clocks) -> str:
    """ "SM 1,965 MHz, memory 3,201 MHz, 694 W, power cap": what was read after the timing."""
    parts = (
        f"SM {clocks.sm_mhz:,} MHz" if clocks.sm_mhz is not None else "",
        f"memory {clocks.memory_mhz:,} MHz" if clocks.memory_mhz is not None else "",
        f"{clocks.power_w:.0f} W" if clocks.power_w is not None else "",
        *(clocks.throttle or ()),
    )
    return ", ".join(part for part in parts if part)


def of_timing(timing: Timing, shown: Shown) -> Passport:
    times = (timing.p20_ms, timing.median_ms, timing.p80_ms)
    p20, median, p80 = (look.quantity(ms / 1e3, "s") for ms in times)
    config = {**timing.at, **timing.config}
    return replace(
        of_shown(shown),
        case=" ".join(part for part in (timing.shape, timing.dtype, f"seed {timing.seed}") if part),
        clock=timing.clock,
        n=timing.n,
        spread=f"median {median}, p20 {p20}, p80 {p80}",
        config=", ".join(f"{name} {value}" for name, value in config.items()),
    )
