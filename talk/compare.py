"""Two records side by side, row by row, each under its own ceiling. Standard library only.

Rows are paired by reference: the same step, case, candidate and point. What was asked of the two
machines must be the same, or the pair is not compared, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from talk import keep, look, record, runner
from talk.errors import RecordError
from talk.look import Badge
from talk.number import Number, quotient, tie
from talk.outcome import Outcome, Timing
from talk.reading import Reading
from talk.record import Machine, Record
from talk.rows import CACHED, CACHED_ABOVE, OVERHEAD, Shown, rate_field, row_of
from talk.source import Standing, texts

Fresh = Callable[[int, Outcome], bool]

SHARES = {"gbps": "share", "tflops": "arithmetic_share"}
"""Field of a rate → that of its share of the machine's own ceiling; the time of a load has none."""

SAME = ("shape", "dtype", "bytes", "flops", "items", "mix", "clock", "arithmetic")
"""What must agree before two times are held against each other."""

COMPILED = ("registers", "spills", "shared")
"""What a compiler made of the same configuration; it may differ from GPU to GPU."""


@dataclass(frozen=True)
class Measured:
    """One row on one machine."""

    timing: Timing
    shown: Shown

    def number(self, field: str) -> Number:
        return row_of(self.timing, self.shown).fields[field]

    @property
    def config(self) -> dict[str, int]:
        return {name: v for name, v in self.timing.config.items() if name not in COMPILED}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One row on two machines. ref: its reference. decisive: what its step comes down to."""

    ref: str
    section: int
    step: str
    first: Measured
    second: Measured
    decisive: bool

    @property
    def sides(self) -> tuple[Measured, Measured]:
        return self.first, self.second

    @property
    def field(self) -> str:
        """The rate that fits both."""
        return rate_field([self.first.timing, self.second.timing])

    @property
    def times(self) -> tuple[Number, Number]:
        return self.first.number("time"), self.second.number("time")

    @property
    def rates(self) -> tuple[Number, Number]:
        return self.first.number(self.field), self.second.number(self.field)

    @property
    def shares(self) -> tuple[Number | None, Number | None]:
        """Each of its own machine's ceiling; None where there is none, or memory cannot do it."""
        field = SHARES.get(self.field)
        if field is None:
            return None, None
        mine, theirs = (side.number(field) for side in self.sides)
        return believed(mine), believed(theirs)

    @property
    def differs(self) -> str:
        """Why the two are not compared, or nothing."""
        a, b = self.first, self.second
        for name in SAME:
            mine, theirs = getattr(a.timing, name), getattr(b.timing, name)
            if mine != theirs:
                return f"{name} {mine} against {theirs}"
        return "" if a.config == b.config else f"{told(a.config)} against {told(b.config)}"

    @property
    def other_code(self) -> bool:
        """Whether another text stands behind the step."""
        return texts(self.first.shown.outcome.behind) != texts(self.second.shown.outcome.behind)

    @property
    def launch_bound(self) -> bool:
        return any(OVERHEAD in time.flags for time in self.times)

    @property
    def faster(self) -> Number | None:
        """How many times faster the second is; None of a tie, or where the launch dominates."""
        mine, theirs = self.times
        if self.launch_bound or tie(mine, theirs):
            return None
        return quotient(mine, theirs)

    @property
    def verdict(self) -> str:
        """ "×1.8 faster" says it of the second."""
        if self.launch_bound:
            return OVERHEAD
        return directed(self.faster) if self.faster else "a tie"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the row: flags, other code, a side whose code has changed since."""
        flags = (flag for time in self.times for flag in time.flags if flag != OVERHEAD)
        stale = any(side.shown.badge is Badge.STALE for side in self.sides)
        said = (
            *flags,
            *(["its two codes differ"] if self.other_code else []),
            *([f"{Badge.STALE.value}: its code has changed since"] if stale else []),
        )
        return tuple(dict.fromkeys(said))


def directed(ratio: Number) -> str:
    """ "×1.8 faster" of 1.8, "×1.8 slower" of 1 / 1.8, "as fast" where three digits agree."""
    value = float(ratio)
    times = look.quantity(max(value, 1 / value), "ratio")
    if times == look.quantity(1.0, "ratio"):
        return "as fast"
    return f"{times} faster" if value >= 1 else f"{times} slower"


def told(config: dict[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in config.items()) or "nothing set"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two machines and their rows.

    names: of the two, which tell them apart. apart: held by both, not compared. alone: references
    of the rows that one of them alone holds.
    """

    machines: tuple[Machine, Machine]
    names: tuple[str, str]
    pairs: tuple[Pair, ...]
    apart: tuple[Pair, ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def decisive(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.decisive)


Key = tuple[int, str, str, str, tuple[tuple[str, int], ...]]
"""Section, step, case, candidate and point of a row."""


def compare(
    first: Record, second: Record, *, sections: Sequence[int] = (), fresh: Fresh | None = None
) -> Comparison:
    """Every timed row of two records; of all sections where none is given.

    fresh: whether the code behind an outcome still stands in this checkout.
    Raises RecordError for a record whose figures claim nothing of a GPU.
    """
    fresh = fresh or Standing()
    mine, theirs = (held(talk, sections, fresh) for talk in (first, second))
    kinds = kinds_of(second) | kinds_of(first)
    final = decisive(mine, kinds)
    both = [paired(key, mine[key], theirs[key], key in final) for key in mine if key in theirs]
    return Comparison(
        machines=(first.machine, second.machine),
        names=names_of(first.machine, second.machine),
        pairs=tuple(pair for pair in both if not pair.differs),
        apart=tuple(pair for pair in both if pair.differs),
        alone=(lacking(mine, theirs), lacking(theirs, mine)),
    )


def held(talk: Record, sections: Sequence[int], fresh: Fresh) -> dict[Key, Measured]:
    """The timed rows of a record in running order, those of an interpreter left out."""
    refuse_unfounded(talk)
    reading = Reading(talk=talk, fresh=fresh)
    return {
        key_of(outline.number, step.slug, timing): Measured(timing, shown)
        for outline in talk.outlines
        if not sections or outline.number in sections
        for step in outline.steps
        if (shown := reading.figures(outline.number, step.slug))
        if shown.badge is not Badge.SIMULATED
        for timing in shown.outcome.timings
    }


def refuse_unfounded(talk: Record) -> None:
    """Raises RecordError for a record whose figures claim nothing of a GPU."""
    problem = keep.unfounded(talk)
    if problem:
        where = keep.nearby(talk.folder.absolute()) if talk.folder else "a record in memory"
        raise RecordError(f"{where} has no figures to compare: {problem}.", hint=AGAIN)


AGAIN = "record again on a GPU with 'just record', or name another record"


def key_of(section: int, step: str, timing: Timing) -> Key:
    return section, step, timing.case, timing.candidate, tuple(timing.at.items())


def ref_of(key: Key) -> str:
    """ "5/blocks[triton, 256]"."""
    section, step, case, candidate, at = key
    names = (*([case] if case else []), candidate, *(str(value) for _, value in at))
    return f"{section}/{step}[{', '.join(names)}]"


def paired(key: Key, mine: Measured, theirs: Measured, final: bool) -> Pair:
    section, step, *_ = key
    return Pair(
        ref=ref_of(key), section=section, step=step, first=mine, second=theirs, decisive=final
    )


def kinds_of(talk: Record) -> dict[tuple[int, str], str]:
    return {(o.number, step.slug): step.kind for o in talk.outlines for step in o.steps}


def decisive(rows: dict[Key, Measured], kinds: dict[tuple[int, str], str]) -> set[Key]:
    """Of each step, or each case of a benchmark: its last candidate at its last point.

    Of configurations tuned, which stand in no order: the fastest.
    """
    groups: dict[tuple[int, str, str], list[Key]] = {}
    for key in rows:
        groups.setdefault(key[:3], []).append(key)
    return {
        min(keys, key=lambda key: rows[key].timing.median_ms)
        if kinds.get((section, step)) == "tune"
        else keys[-1]
        for (section, step, _), keys in groups.items()
    }


def lacking(mine: dict[Key, Measured], theirs: dict[Key, Measured]) -> tuple[str, ...]:
    return tuple(ref_of(key) for key in mine if key not in theirs)


def names_of(first: Machine, second: Machine) -> tuple[str, str]:
    """The names of two GPUs, or what else tells the two records apart."""
    for length in (0, 10, 19):
        mine, theirs = (
            ", ".join(part for part in (m.device.name, m.started[:length]) if part)
            for m in (first, second)
        )
        if mine != theirs:
            return mine, theirs
    return f"{mine} (first)", f"{theirs} (second)"


def by_step(refs: Sequence[str]) -> Iterator[tuple[str, int]]:
    """(step, how many of its rows), in order."""
    steps = [ref.split("[")[0] for ref in refs]
    return ((step, steps.count(step)) for step in dict.fromkeys(steps))


# Which records


def named(texts: Sequence[str]) -> tuple[Record, ...]:
    """The records of folders or recordings; one alone stands beside the committed recording.

    Raises RecordError for what is no record, and for one that would be held against itself.
    """
    if not texts:
        raise RecordError("which record?", hint=known())
    found = tuple(map(load, texts))
    if len(found) == 1:
        committed = runner.recording()
        if committed is None:
            raise RecordError("there is no recording to compare with.", hint="name two records")
        found = (committed, *found)
    places = [talk.folder.resolve() for talk in found if talk.folder]
    if len(set(places)) < len(places):
        raise RecordError(f"{keep.nearby(places[-1])} would be compared with itself.", hint=known())
    return found


def load(text: str) -> Record:
    folder = Path(text)
    recorded = runner.RECORDINGS / text
    if not folder.is_dir() and text == record.gpu_slug(text) and recorded.is_dir():
        folder = recorded
    if not folder.is_dir():
        raise RecordError(f"there is no record {text!r}.", hint=known())
    return record.read(folder)


def known() -> str:
    recordings = ", ".join(sorted(folder.name for folder in record.folders(runner.RECORDINGS)))
    return f"name a talk's folder, as in results/…, or a recording: {recordings or 'there is none'}"


def machine_rows(comparison: Comparison) -> Iterator[tuple[str, Number | None, Number | None]]:
    """(what, of the first, of the second) of every ceiling that one of the two has."""
    readings = [Reading(talk=Record(machine)) for machine in comparison.machines]
    for name, ref, has in ceilings_of(comparison.machines):
        mine, theirs = (
            reading.number(ref) if held else None
            for reading, held in zip(readings, has, strict=True)
        )
        yield name, mine, theirs


def ceilings_of(
    machines: tuple[Machine, Machine],
) -> Iterator[tuple[str, str, tuple[bool, bool]]]:
    """(name, reference, which of the two has it)."""
    every = [machine.ceilings for machine in machines]
    mixes = dict.fromkeys(mix for each in every if each for mix in each.bandwidth_gbps)
    roofs = dict.fromkeys(name for each in every if each for name in each.tflops)
    both = tuple(each is not None for each in every)
    for mix in mixes:
        mine, theirs = (bool(each and mix in each.bandwidth_gbps) for each in every)
        yield mix, f"machine/bandwidth[{mix}].gbps", (mine, theirs)
    for roof in roofs:
        mine, theirs = (bool(each and roof in each.tflops) for each in every)
        yield roof, f"machine/arithmetic[{roof}].tflops", (mine, theirs)
    yield "launch", "machine/launch.time", (both[0], both[1])


def higher_is_faster(number: Number) -> bool:
    return look.BETTER.get(number.unit, "").startswith("higher")


def ceilings_apart(mine: Number | None, theirs: Number | None) -> str:
    """ "×1.8 faster" of the second's ceiling; nothing where one of them has none."""
    if mine is None or theirs is None or not mine.value or not theirs.value:
        return ""
    if higher_is_faster(mine):
        mine, theirs = theirs, mine
    return directed(quotient(mine, theirs))


def believed(number: Number) -> Number | None:
    """A share; None where it has no value, or is of more than the ceiling."""
    if number.value is None or CACHED in number.flags or number.value > CACHED_ABOVE:
        return None
    return number
