"""A talk that was cut off goes on where it was: at its step, with what was done, on its clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from talk.pace import Address
from talk.record import Event, Record

LONGEST_S = 1800.0
"""Between two events; nobody speaks for longer at one step."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Where a talk was when it was cut off. seconds: spent at every step until then."""

    at: Address
    done: frozenset[Address]
    failed: frozenset[Address]
    traceable: frozenset[Address]
    seconds: dict[Address, float]

    @property
    def said(self) -> str:
        return f"This talk goes on at {self.at[0]}/{self.at[1]}; --new starts another."


def cut_off(found: Record, sections: Collection[int]) -> Cut | None:
    """None for a talk that was left in order, or that never came to these sections."""
    visited = [e for e in found.events if e.kind == "move" and e.section in sections]
    if not visited or found.events[-1].kind == "left":
        return None
    steps = {(o.number, s.slug) for o in found.outlines for s in o.steps}
    outcomes = {(e.section, e.step): e.outcome for e in found.events if e.outcome}
    known = {address: outcome for address, outcome in outcomes.items() if address in steps}
    return Cut(
        at=(visited[-1].section, visited[-1].step),
        done=frozenset(a for a, outcome in known.items() if not outcome.failure),
        failed=frozenset(a for a, outcome in known.items() if outcome.failure),
        traceable=frozenset(a for a, outcome in known.items() if outcome.traces),
        seconds=spent(found.events),
    )


def spent(events: Iterable[Event]) -> dict[Address, float]:
    """Seconds at every step. Time in which nobody gave the talk is none."""
    seconds: dict[Address, float] = {}
    here: Address | None = None
    before: datetime | None = None
    for event in events:
        at = moment(event.at)
        if at is None:
            continue
        if here and before and event.kind != "joined":
            gone = min(max(0.0, (at - before).total_seconds()), LONGEST_S)
            seconds[here] = seconds.get(here, 0.0) + gone
        before = at
        here = (event.section, event.step) if event.kind == "move" else here
        here = None if event.kind == "left" else here
    return seconds


def moment(at: str) -> datetime | None:
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00"))
    except ValueError:
        return None
