"""From what was measured to numbers: rates, shares and flags, computed on reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from talk import look
from talk.hardware import BY_CAPABILITY
from talk.look import Badge
from talk.number import Number, Passport
from talk.occupancy import occupancy
from talk.outcome import Lowering, Outcome, Table, Timing
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
    """Rates and shares of one timing; empty where the time is mostly launch overhead.

    gbps: compulsory bytes / time / 1e9. tflops: flops / time / 1e12.
    share: of this machine's measured ceiling for the same traffic mix; none for the clock `hot`.
    arithmetic_share: of its measured roof for the same arithmetic, or for float32 where it has no
    tensor cores. each: time / items.
    """
    ceilings = shown.machine.ceilings
    flags = flags_of(timing, ceilings)
    rated = OVERHEAD not in flags
    passport = of_timing(timing, shown)
    hot = timing.clock == "hot"
    ceiling = ceilings.bandwidth_gbps.get(timing.mix) if ceilings and not hot else None
    tflops = ceilings.tflops if ceilings else {}
    roof = tflops.get(timing.arithmetic, tflops.get("fp32"))

    def number(unit: str, of_ms: Callable[[float], float] | None) -> Number:
        if of_ms is None:
            return Number(
                ref="", value=None, unit=unit, badge=shown.badge, flags=flags, passport=passport
            )
        low, high = sorted((of_ms(timing.p20_ms), of_ms(timing.p80_ms)))
        return Number(
            ref="",
            value=of_ms(timing.median_ms),
            unit=unit,
            badge=shown.badge,
            low=low,
            high=high,
            flags=flags,
            passport=passport,
        )

    def gbps(ms: float) -> float:
        return timing.bytes / ms / 1e6

    def plain(value: float | None, unit: str) -> Number:
        return Number(ref="", value=value, unit=unit, badge=shown.badge, passport=passport)

    moved = rated and timing.bytes and timing.median_ms
    computed = rated and timing.flops
    fields = {
        "time": number("s", lambda ms: ms / 1e3),
        "gbps": number("GB/s", gbps if moved else None),
        "share": number("share", (lambda ms: gbps(ms) / ceiling) if moved and ceiling else None),
        "tflops": number("TFLOP/s", (lambda ms: timing.flops / ms / 1e9) if computed else None),
        "arithmetic_share": number(
            "share", (lambda ms: timing.flops / ms / 1e9 / roof) if computed and roof else None
        ),
        "each": number("s", (lambda ms: ms / 1e3 / timing.items) if timing.items else None),
        "compile": plain(timing.compile_ms / 1e3 if timing.compile_ms is not None else None, "s"),
        "bytes": plain(timing.bytes, "B"),
        "intensity": plain(timing.flops / timing.bytes if timing.bytes else None, "FLOP/B"),
        "n": plain(timing.n, "count"),
        "registers": plain(timing.config.get("registers"), "count"),
        "spills": plain(timing.config.get("spills"), "count"),
        "shared": plain(timing.config.get("shared"), "capacity"),
        "warps": plain(timing.config.get("num_warps"), "count"),
        "occupancy": plain(occupancy_of(timing, shown.machine), "share"),
    }
    case = (timing.case,) if timing.case else ()
    return Row((*case, timing.candidate, *(str(value) for value in timing.at.values())), fields)


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
        of_machine(shown.machine), date=shown.at, commit=outcome.commit, command=outcome.command
    )


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
