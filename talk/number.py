"""A number that knows its run: references, and what is computed on reading.

A reference is `[section/]step[key, …].field`: `5/blocks[256].gbps`,
`stopwatches[events].time`, `machine/bandwidth[2:1].gbps`. Every item in brackets must
name the candidate, a parameter's value or a cell of the row; one row must remain. Two of
them with ` / ` between name a quotient.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import SupportsFloat

from talk import look
from talk.errors import NoValue, UnknownReference
from talk.look import Badge
from talk.outcome import Outcome, Table, Timing
from talk.record import Ceilings, Event, Machine, Record, StepOutline

REFERENCE = re.compile(
    r"(?:(?P<section>\d+|machine)/)?(?P<step>[a-z0-9-]+)(?:\[(?P<keys>[^\]]*)\])?\.(?P<field>[a-z_]+)"
)

OVERHEAD = "overhead-bound"
CACHED = "above the ceiling: cache-resident?"
CACHED_ABOVE = 1.02
"""More than 2 % above the best ceiling of all cannot come from memory (rule 9 of measuring)."""
OVERHEAD_FLOORS = 5.0
"""Under five times the launch floor a time says nothing of bandwidth (rule 1)."""


@dataclass(frozen=True, kw_only=True)
class Passport:
    """What a number needs to be believed, and repeated."""

    gpu: str = ""
    capability: str = ""
    date: str = ""
    software: str = ""
    case: str = ""
    clock: str = ""
    n: int | None = None
    spread: str = ""
    config: str = ""
    commit: str = ""
    command: str = ""

    def lines(self) -> tuple[tuple[str, str], ...]:
        """(label, words) of what is known."""
        pairs = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return tuple(
            (label, f"{value}") for label, value in pairs.items() if value not in ("", None)
        )


@dataclass(frozen=True, kw_only=True)
class Number:
    """A value in its base unit, with its badge, its flags and its passport.

    Compares and counts as a float, so that sentences can depend on it.
    """

    ref: str
    value: float | None
    unit: str
    badge: Badge
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    passport: Passport = Passport()

    def __float__(self) -> float:
        if self.value is None:
            raise NoValue(f"{self.ref} has no value: {', '.join(self.flags) or 'not measured'}.")
        return float(self.value)

    def __lt__(self, other: SupportsFloat) -> bool:
        return float(self) < float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return float(self) > float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return float(self) <= float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return float(self) >= float(other)

    def __truediv__(self, other: SupportsFloat) -> Number:
        """By a number: their `quotient`. By a constant: scaled, in the same unit."""
        value = float(self) / float(other)
        if isinstance(other, Number):
            return quotient(self, other)
        return replace(self, value=value, low=None, high=None)

    def __str__(self) -> str:
        return look.quantity(self.value, self.unit)

    @property
    def spread(self) -> str:
        """p20 to p80, or nothing for a single value."""
        if self.low is None or self.high is None:
            return ""
        return f"{look.quantity(self.low, self.unit)} – {look.quantity(self.high, self.unit)}"


QUOTIENTS = {("count", "s"): "/s"}
"""Units over units that make a unit of their own; all others are a ratio."""


def quotient(above: Number, below: Number) -> Number:
    """One number by another, with the weaker badge; no value where one of them has none."""
    known = above.value is not None and below.value
    return replace(
        above,
        ref=f"{above.ref} / {below.ref}",
        value=above.value / below.value if known else None,  # type: ignore[operator]
        unit=QUOTIENTS.get((above.unit, below.unit), "ratio"),
        badge=weakest((above.badge, below.badge)),
        low=None,
        high=None,
        flags=tuple(dict.fromkeys((*above.flags, *below.flags))),
    )


# From the strongest to the weakest claim.
STRENGTH = (Badge.LIVE, Badge.RECORDED, Badge.STALE, Badge.SIMULATED, Badge.MISSING)


def weakest(badges: Iterable[Badge]) -> Badge:
    """What can be claimed of several numbers together; LIVE of none."""
    return max(badges, key=STRENGTH.index, default=Badge.LIVE)


@dataclass(frozen=True)
class Shown:
    """An outcome as a view draws it: with its badge and the machine it comes from."""

    outcome: Outcome
    badge: Badge
    machine: Machine
    at: str
    reason: str = ""


@dataclass(frozen=True)
class Reading:
    """The numbers of a talk and, for what it lacks, those of a recording.

    live: whether the talk is being given now; what it measured is RECORDED once it is over.
    fresh: whether the definitions behind an outcome still stand as they ran.
    """

    talk: Record | None = None
    recording: Record | None = None
    live: bool = False
    fresh: Callable[[int, Outcome], bool] = lambda section, outcome: True

    def __add__(self, event: Event) -> Reading:
        assert self.talk is not None
        return replace(self, talk=self.talk + event)

    def shown(self, section: int, step: str) -> tuple[Shown, ...]:
        """The talk's own outcome, and the recorded one where that holds no figures."""
        own = self._shown(self.talk, section, step)
        if own and own.outcome.failure is None and own.outcome.mode == "live":
            return (own,)
        reason = why_recorded(own.outcome) if own else ""
        recorded = self._shown(self.recording, section, step)
        recorded = replace(recorded, reason=reason) if recorded else None
        return tuple(shown for shown in (own, recorded) if shown)

    def figures(self, section: int, step: str) -> Shown | None:
        """The outcome that numbers are taken from: the first with figures of its own."""
        shown = self.shown(section, step)
        return next((s for s in shown if s.outcome.measured and not s.outcome.failure), None)

    def _shown(self, record: Record | None, section: int, step: str) -> Shown | None:
        event = record.event(section, step) if record else None
        if record is None or event is None or event.outcome is None:
            return None
        outcome = event.outcome
        return Shown(outcome, self._badge(record, section, outcome), record.machine, event.at)

    def _badge(self, record: Record, section: int, outcome: Outcome) -> Badge:
        if outcome.mode != "live":
            return Badge.SIMULATED
        if not self.fresh(section, outcome):
            return Badge.STALE
        return Badge.LIVE if self.live and record is self.talk else Badge.RECORDED

    def machine(self) -> Machine | None:
        """The machine whose ceilings hold: the talk's own once measured, else the recording's."""
        for record in (self.talk, self.recording):
            if record and record.machine.ceilings:
                return record.machine
        return None

    def outline(self, section: int, step: str) -> StepOutline | None:
        """The newest outline of a step."""
        for record in (self.talk, self.recording):
            for outline in record.outlines if record else ():
                if outline.number == section and outline.step(step):
                    return outline.step(step)
        return None

    def number(self, ref: str, section: int = 0) -> Number:
        """The number a reference names; MISSING where its step was not performed.

        Raises UnknownReference where the step is performed and has no such row or field,
        or where no outline knows the step.
        """
        if " / " in ref:
            above, below = (self.number(part, section) for part in ref.split(" / ", 1))
            return quotient(above, below)
        match = REFERENCE.fullmatch(ref.strip())
        if not match:
            raise UnknownReference(
                f"{ref!r} is no reference.",
                hint="write section/step[key].field, as in 5/blocks[256].gbps",
            )
        where, step, keys, field = match.group("section", "step", "keys", "field")
        wanted = tuple(key.strip() for key in (keys or "").split(",") if key.strip())
        if where == "machine":
            return self._of_machine(ref, step, wanted, field)
        number = int(where) if where else section
        full = f"{number}/{step}" + (f"[{keys}]" if keys else "") + f".{field}"
        shown = self.figures(number, step)
        if shown is None:
            self._known(full, number, step)
            return Number(ref=full, value=None, unit=UNITS.get(field, ""), badge=Badge.MISSING)
        found = self._of_outcome(full, shown, wanted, field)
        return self._modelled(found, number, step) if field == "model" else found

    def _modelled(self, found: Number, section: int, step: str) -> Number:
        """A model's answer in the unit of its question, with the badge of the ceilings it knew."""
        outline, machine = self.outline(section, step), self.machine()
        if outline and outline.about:
            found = replace(found, unit=self.number(outline.about, section).unit)
        if found.badge is Badge.SIMULATED and machine:
            found = replace(found, badge=Badge.RECORDED, passport=of_machine(machine))
        return found

    def _known(self, ref: str, section: int, step: str) -> None:
        if self.outline(section, step) is None:
            raise UnknownReference(f"{ref} names no step.", hint=nearest(step, self.addresses()))

    def addresses(self) -> tuple[str, ...]:
        """Every step that can be referred to, as section/slug."""
        found = {
            f"{outline.number}/{step.slug}"
            for record in (self.talk, self.recording)
            if record
            for outline in record.outlines
            for step in outline.steps
        }
        return tuple(sorted(found))

    def _of_machine(self, ref: str, step: str, keys: tuple[str, ...], field: str) -> Number:
        machine = self.machine()
        if machine is None or machine.ceilings is None:
            return Number(ref=ref, value=None, unit=UNITS.get(field, ""), badge=Badge.MISSING)
        values = machine_values(machine, machine.ceilings)
        found = values.get((step, *keys, field))
        if found is None:
            names = [
                f"machine/{n[0]}" + (f"[{n[1]}]" if len(n) > 2 else "") + f".{n[-1]}"
                for n in values
            ]
            raise UnknownReference(
                f"{ref} names no figure of the machine.", hint=nearest(ref, names)
            )
        own = self.talk is not None and machine is self.talk.machine
        badge = Badge.LIVE if own and self.live else Badge.RECORDED
        return Number(
            ref=ref, value=found[0], unit=found[1], badge=badge, passport=of_machine(machine)
        )

    def _of_outcome(self, ref: str, shown: Shown, keys: tuple[str, ...], field: str) -> Number:
        rows = [*rows_of(shown), *self._recorded_counters(shown)]
        named = [row for row in rows if all(key in row.names for key in keys)]
        chosen = [row for row in named if field in row.fields]
        if not chosen and lacks_counters(shown.outcome):
            return Number(ref=ref, value=None, unit="", badge=Badge.MISSING)
        if len(chosen) != 1:
            names = [f"[{', '.join(row.names)}].{f}" for row in rows for f in row.fields]
            problem = "has no such field" if named and not chosen else "names no figure"
            raise UnknownReference(f"{ref} {problem} of its step.", hint=nearest(ref, names))
        return replace(chosen[0].fields[field], ref=ref)

    def _recorded_counters(self, shown: Shown) -> Iterator[Row]:
        """Those of the recording, where this outcome's own could not be read."""
        alone = replace(self, talk=None)
        other = alone.figures(shown.outcome.section, shown.outcome.step)
        if lacks_counters(shown.outcome) and other and other.outcome.counters:
            yield from table_rows(other.outcome.counters, other)


@dataclass(frozen=True)
class Row:
    """The numbers of one candidate at one point, or of one row of a table."""

    names: tuple[str, ...]
    fields: dict[str, Number]


UNITS = {
    "time": "s",
    "gbps": "GB/s",
    "share": "share",
    "tflops": "TFLOP/s",
    "compile": "s",
    "intensity": "FLOP/B",
    "bytes": "B",
    "n": "count",
    "rate": "/s",
    "model": "",
    "knee": "count",
}


def rows_of(shown: Shown) -> Iterator[Row]:
    """Everything of an outcome that a reference can name."""
    outcome, machine = shown.outcome, shown.machine
    for timing in outcome.timings:
        yield row_of(timing, shown)
    for candidate, value in outcome.knees.items():
        knee = Number(ref="", value=value, unit="count", badge=shown.badge)
        yield Row((candidate,), {"knee": replace(knee, passport=of_machine(machine))})
    for table in (outcome.table, outcome.counters):
        yield from table_rows(table, shown) if table else ()
    if outcome.prediction:
        model = Number(
            ref="",
            value=outcome.prediction.model,
            unit="",
            badge=shown.badge,
            passport=of_machine(machine),
        )
        yield Row(("model",), {"model": model})


def row_of(timing: Timing, shown: Shown) -> Row:
    """Rates and shares of one timing; empty where the time is mostly launch overhead.

    gbps: compulsory bytes / time / 1e9. tflops: flops / time / 1e12.
    share: of this machine's measured ceiling for the same traffic mix.
    """
    ceilings = shown.machine.ceilings
    flags = flags_of(timing, ceilings)
    rated = OVERHEAD not in flags
    passport = of_timing(timing, shown)
    ceiling = ceilings.bandwidth_gbps.get(timing.mix) if ceilings else None

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
    fields = {
        "time": number("s", lambda ms: ms / 1e3),
        "gbps": number("GB/s", gbps if moved else None),
        "share": number("share", (lambda ms: gbps(ms) / ceiling) if moved and ceiling else None),
        "tflops": number(
            "TFLOP/s", (lambda ms: timing.flops / ms / 1e9) if rated and timing.flops else None
        ),
        "compile": plain(timing.compile_ms / 1e3 if timing.compile_ms is not None else None, "s"),
        "bytes": plain(timing.bytes, "B"),
        "intensity": plain(timing.flops / timing.bytes if timing.bytes else None, "FLOP/B"),
        "n": plain(timing.n, "count"),
    }
    return Row((timing.candidate, *(str(value) for value in timing.at.values())), fields)


def flags_of(timing: Timing, ceilings: Ceilings | None) -> tuple[str, ...]:
    """The timing's own flags, and what its size says beside this machine's ceilings."""
    flags = list(timing.flags)
    if ceilings and timing.median_ms * 1e3 < OVERHEAD_FLOORS * ceilings.launch_us:
        flags.append(OVERHEAD)
    elif ceilings and timing.bytes / (timing.median_ms * 1e6) > CACHED_ABOVE * ceilings.best_gbps:
        flags.append(CACHED)
    return tuple(flags)


def table_rows(table: Table, shown: Shown) -> Iterator[Row]:
    """Each row named by its words and its whole numbers' digits."""
    passport = replace(of_machine(shown.machine), date=shown.at, commit=shown.outcome.commit)
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


def of_timing(timing: Timing, shown: Shown) -> Passport:
    times = (timing.p20_ms, timing.median_ms, timing.p80_ms)
    p20, median, p80 = (look.quantity(ms / 1e3, "s") for ms in times)
    config = {**timing.at, **timing.config}
    return replace(
        of_machine(shown.machine),
        date=shown.at,
        case=" ".join(part for part in (timing.shape, timing.dtype, f"seed {timing.seed}") if part),
        clock=timing.clock,
        n=timing.n,
        spread=f"median {median}, p20 {p20}, p80 {p80}",
        config=", ".join(f"{name} {value}" for name, value in config.items()),
        commit=shown.outcome.commit,
        command=shown.outcome.command,
    )


def lacks_counters(outcome: Outcome) -> bool:
    """Whether hardware counters were asked for and could not be read."""
    return outcome.counters is None and bool(outcome.counters_reason)


def why_recorded(outcome: Outcome) -> str:
    """Why figures of a recording stand in for this outcome's."""
    if outcome.failure:
        return outcome.failure.reason
    return "no GPU here: the kernels ran in Triton's interpreter, which has no timings"


def nearest(name: str, names: list[str] | tuple[str, ...]) -> str:
    """A hint with the closest of the names that exist."""
    close = difflib.get_close_matches(name, names, n=4, cutoff=0.3) or sorted(names)[:8]
    return f"nearest: {', '.join(close)}" if close else "nothing is recorded yet"


def tie(a: Number, b: Number) -> bool:
    """Whether two results cannot be told apart: their p20–p80 overlap."""
    spans = (a.low, a.high, b.low, b.high)
    if any(edge is None for edge in spans):
        return False
    return a.low <= b.high and b.low <= a.high  # type: ignore[operator]  # None is ruled out above
