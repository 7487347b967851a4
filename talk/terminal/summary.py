"""The end of a walk: what was performed, what failed, what was flagged, how long it took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from talk.reading import Reading
from talk.stage import Address, State
from talk.terminal.clean import clean, line, styled, words
from talk.terminal.header import elapsed
from talk.terminal.results import results


def summary(state: State, reading: Reading) -> RenderableType:
    trouble = failed(state, reading)
    count = sum(step.performed for section in state.sections for step in section.steps)
    planned = sum(section.minutes for section in state.sections)
    counted = (
        f"{count} step{'s' * (count != 1)}, {len(trouble)} failed"
        f" · {elapsed(state.now - state.started)} of {planned} min"
    )
    lines = [line(f"✗ {name(address)}: {why}", "missing") for address, why in trouble.items()]
    kept = words(kept_in(state, reading))
    return Group(styled(counted, "strong"), *lines, *flags(state, reading), kept)


def kept_in(state: State, reading: Reading) -> str:
    """Where the record of this talk is, and what it is good for."""
    folder = reading.talk.folder if reading.talk else None
    if folder is None or not folder.is_dir():
        return f"nothing was recorded{': a replay' if state.mode == 'replay' else ''}"
    here = Path.cwd()
    near = folder.relative_to(here) if folder.is_relative_to(here) else folder
    said = f"recorded in {near}"
    if state.mode == "simulated":
        said += "\nsimulated: checks only, no timings; 'just keep' refuses it"
    return said


def failed(state: State, reading: Reading) -> dict[Address, str]:
    """Steps that failed or found a candidate wrong, each with its reason."""
    reasons = {address: reason(address, state, reading) for address in state.addresses}
    return {address: why for address, why in reasons.items() if why}


def reason(address: Address, state: State, reading: Reading) -> str:
    if address not in state.done | state.failed:
        return ""
    own = next((shown.outcome for shown in reading.shown(*address)), None)
    if own and own.failure:
        return own.failure.reason
    wrong = [clean(check.candidate) for check in own.checks if not check.ok] if own else []
    if wrong:
        return f"wrong: {', '.join(dict.fromkeys(wrong))}"
    return "no outcome" if address in state.failed else ""


def flags(state: State, reading: Reading) -> Iterator[Text]:
    """Every flag of a figure that was shown."""
    for address in (address for address in state.addresses if address in state.done):
        shown = reading.figures(*address)
        for result in results(shown) if shown else ():
            if result.flags:
                yield line(f"! {name(address)} {result.name}: {', '.join(result.flags)}", "stale")


def name(address: Address) -> str:
    return f"{address[0]}/{clean(address[1])}"


if __name__ == "__main__":
    from talk.terminal.made_up import READING, STATE, look_at

    look_at(summary(STATE, READING))
