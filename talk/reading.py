"""Numbers by reference: what a view asks of a talk and of the recording behind it.

A reference is `[section/]step[key, …].field`: `5/blocks[256].gbps`,
`stopwatches[events].time`, `machine/bandwidth[2:1].gbps`. Every item in brackets must
name the candidate, a parameter's value or a cell of the row; one row must remain. Two of
them with ` / ` between name a quotient.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from talk.errors import UnknownReference
from talk.look import Badge
from talk.number import Number, quotient
from talk.outcome import Outcome
from talk.record import Machine, Record, SectionOutline, StepOutline
from talk.rows import Row, Shown, machine_values, of_machine, rows_of, table_rows

REFERENCE = re.compile(
    r"(?:(?P<section>\d{1,4}|machine)/)?(?P<step>[a-z0-9-]+)(?:\[(?P<keys>[^\]]*)\])?\.(?P<field>[a-z_]+)"
)


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
    "edge": "count",
    "each": "s",
    "arithmetic_share": "share",
    "occupancy": "share",
}


OPTIONAL = {
    ("arithmetic", "tflops"),
    ("ridge", "intensity"),
    ("latency", "time"),
    ("device", "sms"),
}
"""Figures that not every machine has, such as tensor cores'."""


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
    _rows: dict[tuple[int, int, Badge], tuple[Shown, list[Row]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def shown(self, section: int, step: str) -> tuple[Shown, ...]:
        """The talk's own outcome, and the recorded one where that holds no figures."""
        own = self._shown(self.talk, section, step)
        if own and own.outcome.failure is None and own.outcome.mode in ("live", "compiled"):
            return (own,)
        reason = why_recorded(own.outcome) if own else ""
        recorded = self._shown(self.recording, section, step)
        recorded = replace(recorded, reason=reason) if recorded else None
        return tuple(shown for shown in (own, recorded) if shown)

    def improvised(self, section: int, step: str) -> tuple[Shown, ...]:
        """What this talk measured in the shell of a step, beside the step's own outcome."""
        talk = self.talk
        here = (e for e in (talk.events if talk else ()) if (e.section, e.step) == (section, step))
        return tuple(
            Shown(e.improvised, self._badge_beside(talk, e.improvised), talk.machine, e.at)
            for e in here
            if talk and e.improvised
        )

    def _badge_beside(self, talk: Record, outcome: Outcome) -> Badge:
        """No text on disk stands behind it, so none can go stale."""
        if (outcome.mode, talk.machine.mode) != ("live", "live"):
            return Badge.SIMULATED
        return Badge.LIVE if self.live else Badge.RECORDED

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
        here = outcome.mode == "live" and record.machine.mode == "live"
        if not here and outcome.mode != "compiled":
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

    @property
    def outlines(self) -> tuple[SectionOutline, ...]:
        """The newest outline of every section, in the order of their numbers."""
        records = (record for record in (self.recording, self.talk) if record)
        found = {outline.number: outline for record in records for outline in record.outlines}
        return tuple(found[number] for number in sorted(found))

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
        # What a question is about is judged where it is asked for, not here.
        with contextlib.suppress(UnknownReference):
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
        if found is None and (step, field) in OPTIONAL:
            return Number(ref=ref, value=None, unit=UNITS.get(field, ""), badge=Badge.MISSING)
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
        rows = self._rows_of(shown)
        named = [row for row in rows if all(key in row.names for key in keys)]
        chosen = [row for row in named if field in row.fields]
        if len(chosen) > 1:  # 128, 256 is not 256, 128
            chosen = [row for row in chosen if in_order(keys, row.names)] or chosen
        if not chosen and lacks_counters(shown.outcome):
            return Number(ref=ref, value=None, unit="", badge=Badge.MISSING)
        if len(chosen) != 1:
            names = [f"[{', '.join(row.names)}].{f}" for row in rows for f in row.fields]
            problem = "has no such field" if named and not chosen else "names no figure"
            raise UnknownReference(f"{ref} {problem} of its step.", hint=nearest(ref, names))
        return replace(chosen[0].fields[field], ref=ref)

    def _rows_of(self, shown: Shown) -> list[Row]:
        """Everything that a reference can name, made once: a deck asks for a thousand numbers."""
        key = (id(shown.outcome), id(shown.machine), shown.badge)
        if key not in self._rows:
            # Kept beside what it was made of, so that no other object takes over its id.
            made = [*rows_of(shown), *self._recorded_counters(shown)]
            self._rows[key] = (shown, made)
        return self._rows[key][1]

    def _recorded_counters(self, shown: Shown) -> Iterator[Row]:
        """Those of the recording, where this outcome's own could not be read."""
        alone = replace(self, talk=None)
        other = alone.figures(shown.outcome.section, shown.outcome.step)
        if lacks_counters(shown.outcome) and other and other.outcome.counters:
            yield from table_rows(other.outcome.counters, other)


def in_order(keys: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether the names hold the keys one after the other."""
    left = iter(names)
    return all(key in left for key in keys)


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
    # Comparing long texts takes minutes; a record from elsewhere may hold any.
    names = [each[:80] for each in names[:2000]]
    close = difflib.get_close_matches(name[:80], names, n=4, cutoff=0.3) or sorted(names)[:8]
    return f"nearest: {', '.join(close)}" if close else "nothing is recorded yet"
