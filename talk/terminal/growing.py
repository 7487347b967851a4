"""The growing table: every candidate measured so far, across the talk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.look import Badge
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.rows import CACHED, OVERHEAD, Shown
from talk.stage import Address, State
from talk.terminal.badge import mark, provenance
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.palette import style_of
from talk.terminal.results import Result, field_of, results


@dataclass(frozen=True)
class Entry:
    """One candidate at its best point, with the step that measured it."""

    address: Address
    phase: str
    result: Result
    shown: Shown


def entries(state: State, reading: Reading) -> tuple[Entry, ...]:
    """In running order. A step on stage counts once it is done, so nothing is given away."""
    return tuple(
        entry for section in known(state, reading) for entry in of_section(section, state, reading)
    )


def known(state: State, reading: Reading) -> tuple[SectionOutline, ...]:
    """The sections on stage, and those that the talk it joined had before."""
    earlier = reading.talk.outlines if reading.talk else ()
    found = {outline.number: outline for outline in (*earlier, *state.sections)}
    return tuple(found[number] for number in sorted(found))


def of_section(section: SectionOutline, state: State, reading: Reading) -> Iterator[Entry]:
    for step in section.steps:
        address = (section.number, step.slug)
        if counts(address, state, reading):
            yield from of_step(address, step, reading)


def counts(address: Address, state: State, reading: Reading) -> bool:
    """Whether a step was done in this talk: on this stage, or before where it is not on it."""
    on_stage = any(outline.number == address[0] for outline in state.sections)
    earlier = not on_stage and reading.talk and reading.talk.outcome(*address)
    return address in state.done or bool(earlier)


def of_step(address: Address, step: StepOutline, reading: Reading) -> Iterator[Entry]:
    shown = reading.figures(*address)
    found = results(shown) if shown else ()
    for key in dict.fromkeys((result.timing.case, result.timing.candidate) for result in found):
        mine = (r for r in found if (r.timing.case, r.timing.candidate) == key)
        best = max(mine, key=rate)
        if shown and best.timing.bytes:
            yield Entry(address, step.phase, best, shown)


def rate(result: Result) -> float:
    return result.number("gbps").value or 0.0


def growing(found: tuple[Entry, ...]) -> RenderableType:
    heads = [
        Head("so far"),
        Head("time", True),
        Head("rate", True),
        Head("share", True),
        Head(""),
    ]
    return Group(Grid(heads, [row(entry) for entry in found]), *places(found))


def row(entry: Entry) -> list[Text]:
    result = entry.result
    name = styled(result.name, style_of(look.ink(result.timing.candidate, entry.phase)))
    name.append(f"  {entry.address[0]}/{clean(entry.address[1])}", "quiet")
    share = result.number(WALLS.get(field_of([result]), "share"))
    return [
        name,
        Text(str(result.number("time"))),
        styled(OVERHEAD if OVERHEAD in result.flags else rated(result), "strong"),
        Text("cached?" if CACHED in result.flags else str(share) if share.value else ""),
        mark(entry.shown.badge),
    ]


WALLS = {"tflops": "arithmetic_share", "each": "arithmetic_share"}
"""Rate → the share that goes with it; a chain of loads has neither."""


def rated(result: Result) -> str:
    """The rate that fits: of a chain of loads the time of each."""
    number = result.number(field_of([result]))
    return f"{number} each" if result.timing.items else str(number)


def places(found: tuple[Entry, ...]) -> Iterator[Text]:
    """GPU and date of what was not measured here and now."""
    seen = {(e.shown.badge, e.shown.machine.device.name, e.shown.at[:10]): e.shown for e in found}
    for (badge, _, _), shown in seen.items():
        if badge is not Badge.LIVE:
            yield provenance(badge, shown.machine, shown.at)


if __name__ == "__main__":
    from talk.terminal.made_up import READING, STATE, look_at

    look_at(growing(entries(STATE, READING)))
