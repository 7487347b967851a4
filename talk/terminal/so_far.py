"""The roofline and the table of what was done in this talk, at a key from any step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType

from talk.collect import roofline
from talk.reading import Reading
from talk.stage import Address, State
from talk.terminal.clean import styled
from talk.terminal.collected import NOTHING, drawn, every_section
from talk.terminal.growing import counts, entries, growing


def so_far(state: State, reading: Reading) -> Iterator[RenderableType]:
    """The points that the talk's own rooflines name, and every candidate; none before its step."""

    def told(address: Address) -> bool:
        return counts(address, state, reading)

    of = named(state, reading)
    found = roofline(of, reading, told)
    if found:
        due = tuple((ref, why) for ref, why in found.unplaced if told(address_of(ref)))
        yield drawn(replace(found, unplaced=due))
    else:
        yield styled(NOTHING, "quiet")
    yield growing(entries(state, reading))


def named(state: State, reading: Reading) -> tuple[str, ...]:
    """The references of every roofline, each once."""
    steps = (step for section in every_section(state, reading) for step in section.steps)
    rooflines = (step for step in steps if step.picture == "roofline")
    return tuple(dict.fromkeys(ref for step in rooflines for ref in step.of))


def address_of(ref: str) -> Address:
    """(5, "blocks") of `5/blocks[256]`."""
    section, _, rest = ref.partition("/")
    return (int(section) if section.isdecimal() else 0, rest.split("[")[0])


if __name__ == "__main__":
    from talk.terminal.made_up import READING, STATE, look_at

    look_at(*so_far(STATE, READING))
