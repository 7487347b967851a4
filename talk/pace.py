"""Minutes planned against minutes spent: where a talk stands, and when it will end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from talk.record import SectionOutline, StepOutline

Address = tuple[int, str]

PLANNED = re.compile(r"(\d+) (minutes?|seconds?)\.")

LONGEST_S = 60.0
"""Between two looks at the clock; a laptop that slept did not speak."""


def planned(step: StepOutline) -> float:
    """Minutes for a step: its own, or what its notes end on, "2 minutes." or "30 seconds."."""
    if step.minutes:
        return step.minutes
    notes = step.notes.splitlines()
    found = PLANNED.fullmatch(notes[-1]) if notes else None
    if not found:
        return 0
    return float(found[1]) / (60 if found[2].startswith("second") else 1)


@dataclass
class Spent:
    """Seconds at every step so far."""

    seconds: dict[Address, float] = field(default_factory=dict)
    _at: Address = (0, "")
    _since: float | None = None

    def look(self, address: Address, now: float) -> None:
        """The talk is at this step. now: seconds of any clock that goes forward."""
        if self._since is not None:
            gone = min(max(0.0, now - self._since), LONGEST_S)
            self.seconds[self._at] = self.seconds.get(self._at, 0.0) + gone
        self._at, self._since = address, now


@dataclass(frozen=True, kw_only=True)
class Part:
    """A section's minutes, planned and spent."""

    number: int
    title: str
    planned: float
    spent: float


@dataclass(frozen=True, kw_only=True)
class Pace:
    """ahead: minutes, negative for behind. left: planned for what is to come."""

    parts: tuple[Part, ...]
    spent: float
    ahead: float
    left: float

    @property
    def total(self) -> float:
        """Minutes that the talk will have taken at this pace."""
        return self.spent + self.left


def pace(
    outlines: Sequence[SectionOutline], seconds: Mapping[Address, float], here: Address
) -> Pace:
    """Planned until here, this step included as far as it was spent, against what was spent."""
    plan = [((o.number, step.slug), planned(step)) for o in outlines for step in o.steps]
    ahead, left = against(plan, seconds, here)
    return Pace(
        parts=tuple(part(outline, seconds) for outline in outlines),
        spent=sum(seconds.values()) / 60,
        ahead=ahead,
        left=left,
    )


def against(
    plan: Sequence[tuple[Address, float]], seconds: Mapping[Address, float], here: Address
) -> tuple[float, float]:
    """Minutes ahead of a plan in minutes, and those planned for what is left of it."""
    at = next((i for i, (address, _) in enumerate(plan) if address == here), 0)
    spent, mine = sum(seconds.values()) / 60, seconds.get(here, 0.0) / 60
    now = plan[at][1] if plan else 0.0
    until = sum(minutes for _, minutes in plan[:at]) + min(mine, now)
    after = sum(minutes for _, minutes in plan[at + 1 :])
    return until - spent, after + max(0.0, now - mine)


def part(outline: SectionOutline, seconds: Mapping[Address, float]) -> Part:
    spent = sum(s for (section, _), s in seconds.items() if section == outline.number) / 60
    return Part(number=outline.number, title=outline.title, planned=outline.minutes, spent=spent)
