"""How a talk begins: which machine performs, which record stands behind it, which step is first."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from talk import record, runner, stage
from talk.errors import RecordError, TalkError
from talk.performer import Hello, Performer, Replayer
from talk.record import Record, SectionOutline
from talk.recorder import is_open, newest_machine
from talk.resume import Cut, cut_off
from talk.runner import Talk
from talk.source import section_module


def demo(
    sections: Sequence[int],
    *,
    quick: bool = False,
    commit: str | None = None,
    new: bool = False,
    results: Path | None = None,
) -> Talk:
    """A talk on this machine; a replay, with its reason, where nothing can run.

    results: where to record; None: `runner.RESULTS`.
    """
    known = newest_machine(runner.RESULTS)
    recording = runner.recording(known.device.name if known else "")
    reason = cannot_run()
    if reason:
        return Talk(replayer(recording, reason), first(sections, recording), recording)
    hello = Hello(
        modules=tuple(section_module(number) for number in sections),
        commit=commit,
        quick=quick,
        known=None if new else known,
        reference=recording.machine if recording else None,
    )
    from talk.worker import Worker

    state = first(sections, recording, newer=newest(sections))
    state = state if new else resumed(state, cut(sections))
    return Talk(Worker(hello), state, recording, results=results or runner.RESULTS, new=new)


def replay(sections: Sequence[int], folder: Path | None = None) -> Talk:
    """A talk whose steps are looked up in a record."""
    found = record.read(folder) if folder else runner.recording()
    held = [outline.number for outline in found.outlines] if found else []
    lacking = ", ".join(str(number) for number in sections if number not in held)
    if found and not set(held) & set(sections):
        there = ", ".join(str(number) for number in held) or "none"
        raise RecordError(f"section {lacking} is not recorded. Recorded: {there}.", hint=RECORD)
    why = f"a replay of {source_of(found)}" + (f"; not recorded: {lacking}" if lacking else "")
    return Talk(replayer(found, why), first(sections, found), found)


RECORD = "record it on a GPU with 'just record', or name a record with --record DIR"


def source_of(found: Record | None) -> str:
    """ "NVIDIA H200, 2026-11-30"."""
    if found is None:
        return "nothing"
    return f"{found.machine.device.name}, {found.machine.started[:10]}"


def replayer(recording: Record | None, why: str) -> Performer:
    if recording is None:
        raise TalkError(
            "there is no recording to replay.",
            hint="name one with 'just replay N --record DIR', or record on a GPU: 'just record'",
        )
    return Replayer(recording, why)


def cannot_run() -> str:
    """Why no kernel can run here, or nothing. Imports neither PyTorch nor Triton."""
    if not sys.platform.startswith("linux"):
        return f"a replay: there is no Triton for {sys.platform}"
    absent = [name for name in ("torch", "triton") if not importable(name)]
    return f"a replay: {' and '.join(absent)} not installed" if absent else ""


def importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def first(
    sections: Sequence[int], recording: Record | None, newer: Record | None = None
) -> stage.State:
    """The first frame: outlines of the newest record, until the worker sends its own."""
    known = {outline.number: outline for outline in outlines(recording, newer)}
    chosen = tuple(known[number] for number in sections if number in known)
    if not chosen:
        return stage.State(section=sections[0])
    return stage.State(sections=chosen, section=chosen[0].number, slug=chosen[0].steps[0].slug)


def outlines(*records: Record | None) -> tuple[SectionOutline, ...]:
    """Section outlines, a later record's first; the recording's when none is given."""
    given = records or (runner.recording(),)
    found = {o.number: o for held in given if held for o in held.outlines}
    return tuple(found[number] for number in sorted(found))


def cut(sections: Sequence[int]) -> Cut | None:
    """Where the open talk of this machine was cut off; None where it was not."""
    found = newest(sections)
    if found is None or found.folder is None or not is_open(found.folder):
        return None
    return cut_off(found, sections)


def resumed(state: stage.State, cut: Cut | None) -> stage.State:
    """The first frame of a talk that was cut off, the clock as it stood."""
    if cut is None or cut.at not in state.addresses:
        return state
    return replace(
        state,
        section=cut.at[0],
        slug=cut.at[1],
        done=cut.done,
        failed=cut.failed,
        traceable=cut.traceable,
        started=time.monotonic() - sum(cut.seconds.values()),
        message=cut.said,
    )


def newest(sections: Sequence[int]) -> Record | None:
    """The newest talk of this machine that holds any of these sections."""
    for folder in record.folders(runner.RESULTS)[:5]:
        try:
            found = record.read(folder)
        except RecordError:
            continue
        if any(outline.number in sections for outline in found.outlines):
            return found
    return None
