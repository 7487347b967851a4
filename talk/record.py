"""A talk on disk: `machine.json` and the append-only `events.jsonl`. Standard library only."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from talk import wire
from talk.errors import RecordError
from talk.outcome import Code, Outcome

SCHEMA = 1
T = TypeVar("T")

# A record from elsewhere is read in bounded time and memory. All sections take 0.8 MB, and a talk
# that repeats every step ten times stays far below these.
MOST_BYTES = 32_000_000
MOST_EVENTS = 20_000
MOST_STEPS = 100
MOST_TIMINGS, MOST_ROWS = 500, 2_000  # of one step: more would take minutes to draw
MOST_CHOICES = 9  # as many as there are digits to answer with
LEAST, MOST = 1e-9, 1e18
"""No ceiling lies outside, in whatever unit."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """The chip, as its driver describes it. None: the driver did not say."""

    name: str
    kind: str
    capability: str = ""
    sms: int | None = None
    warp_size: int | None = None
    max_threads_per_sm: int | None = None
    registers_per_sm: int | None = None
    shared_per_sm: int | None = None
    shared_per_block: int | None = None
    l2_bytes: int | None = None
    memory_bytes: int | None = None
    memory_clock_mhz: int | None = None
    bus_bits: int | None = None
    power_limit_w: float | None = None

    @property
    def nominal_gbps(self) -> float | None:
        """Data-sheet bandwidth: memory clock × 2 (double data rate) × bus width in bytes."""
        if not self.memory_clock_mhz or not self.bus_bits:
            return None
        return self.memory_clock_mhz * 2 * self.bus_bits / 8 / 1e3


@dataclass(frozen=True, kw_only=True)
class Software:
    """Versions. Empty: not there."""

    python: str = ""
    torch: str = ""
    triton: str = ""
    cuda: str = ""
    driver: str = ""
    system: str = ""


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """What this very device was measured to reach.

    bandwidth_gbps: traffic mix → GB/s (1e9 bytes) of a plain streaming kernel.
    launch_us: an empty kernel, device clock. programs_per_s: empty programs started.
    array_bytes: size of each array streamed. tflops: arithmetic → 1e12 operations a second.
    latency_ns: one load that depends on the one before, from memory; None: not measured.
    """

    bandwidth_gbps: dict[str, float]
    launch_us: float
    programs_per_s: float
    array_bytes: int
    tflops: dict[str, float] = field(default_factory=dict)
    latency_ns: float | None = None

    def __post_init__(self) -> None:
        known = (*self.bandwidth_gbps.values(), *self.tflops.values(), self.launch_us)
        others = (self.programs_per_s, 1.0 if self.latency_ns is None else self.latency_ns)
        if not self.bandwidth_gbps or not all(LEAST < each < MOST for each in (*known, *others)):
            raise ValueError("a ceiling is missing, or is no such figure as can be measured")

    def bandwidth(self, mix: str) -> float:
        """Bytes per second of that traffic mix."""
        return self.bandwidth_gbps[mix] * 1e9

    def arithmetic(self, name: str) -> float:
        """FLOP/s. Raises LookupError where this machine has no such roof, or none was measured."""
        if name not in self.tflops:
            raise LookupError(f"no roof of {name} arithmetic was measured here")
        return self.tflops[name] * 1e12

    @property
    def latency_s(self) -> float:
        """Raises LookupError where it was not measured."""
        if self.latency_ns is None:
            raise LookupError("the latency of memory was not measured here")
        return self.latency_ns / 1e9

    @property
    def best_gbps(self) -> float:
        return max(self.bandwidth_gbps.values())

    def seconds(
        self,
        *,
        bytes: int,
        mix: str,
        programs: int = 0,
        flops: int = 0,
        arithmetic: str = "fp32",
    ) -> float:
        """The slowest of moving the bytes, starting the programs and computing, plus one launch.

        The roofline model (Williams, Waterman, Patterson, 2009) with one more roof,
        the rate at which programs start. Arithmetic without a measured roof takes no time.
        """
        moving = bytes / self.bandwidth(mix)
        starting = programs / self.programs_per_s
        computing = flops / (self.tflops.get(arithmetic, math.inf) * 1e12)
        return max(moving, starting, computing) + self.launch_us / 1e6

    def ridge(self, mix: str, arithmetic: str = "fp32") -> float:
        """FLOP per byte at which memory and arithmetic take equally long; LookupError: no roof."""
        return self.arithmetic(arithmetic) / self.bandwidth(mix)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Provenance of a talk: where its numbers come from.

    mode: `live` or `simulated`.
    """

    schema: int = SCHEMA
    talk: str = ""
    started: str = ""
    mode: str
    host: str = ""
    device: Device
    software: Software = Software()
    ceilings: Ceilings | None = None

    def same_place(self, other: Machine) -> bool:
        """Whether two talks may be joined: one device, one host, one set of versions."""
        mine = (self.mode, self.host, self.device, self.software)
        return mine == (other.mode, other.host, other.device, other.software)


@dataclass(frozen=True, kw_only=True)
class StepOutline:
    """What the driver and the slides know of a step without importing its section."""

    slug: str
    title: str
    phase: str
    kind: str
    text: str = ""
    notes: str = ""
    says: str = ""
    about: str = ""
    choices: dict[str, tuple[float, float]] = field(default_factory=dict)
    misconception: str = ""
    model_says: str = ""
    candidates: tuple[str, ...] = ()
    over: dict[str, tuple[int, ...]] = field(default_factory=dict)
    picture: str = ""
    of: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    minutes: int = 0
    deadline_s: float = 60.0
    code: tuple[Code, ...] = ()

    def __post_init__(self) -> None:
        if len(self.choices) > MOST_CHOICES:
            raise ValueError(f"step {self.slug!r} offers {len(self.choices):,} choices")

    @property
    def performed(self) -> bool:
        """Whether the step leaves an outcome; words, pictures and the exercise do not."""
        return self.kind not in ("show", "collect", "now-you")


@dataclass(frozen=True, kw_only=True)
class SectionOutline:
    """A section as data; its last step, of kind `now-you`, is the exercise."""

    number: int
    title: str
    minutes: int
    module: str
    claim: str
    steps: tuple[StepOutline, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError(f"section {self.number} has no steps")
        if len(self.steps) > MOST_STEPS:
            raise ValueError(f"section {self.number} has more than {MOST_STEPS} steps")

    def step(self, slug: str) -> StepOutline | None:
        return next((step for step in self.steps if step.slug == slug), None)


@dataclass(frozen=True, kw_only=True)
class Event:
    """Anything that happened. kind: outline, outcome, improvised, move, vote, worker, joined, left.

    improvised: measured in the shell of a step; it is none of the talk's outcomes.
    """

    kind: str
    at: str = ""
    section: int = 0
    step: str = ""
    outline: SectionOutline | None = None
    outcome: Outcome | None = None
    improvised: Outcome | None = None
    votes: dict[str, int] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Record:
    """The events of one talk on one machine. The latest of each kind wins."""

    machine: Machine
    events: tuple[Event, ...] = ()
    folder: Path | None = None

    def __add__(self, event: Event) -> Record:
        return replace(self, events=(*self.events, event))

    def _last(self, kind: str) -> dict[tuple[int, str], Event]:
        return {(e.section, e.step): e for e in self.events if e.kind == kind}

    @property
    def outlines(self) -> tuple[SectionOutline, ...]:
        """In the order of their numbers."""
        found = {e.section: e.outline for e in self.events if e.outline}
        return tuple(found[number] for number in sorted(found))

    def event(self, section: int, step: str) -> Event | None:
        """The event that holds the latest outcome of a step."""
        return self._last("outcome").get((section, step))

    def outcome(self, section: int, step: str) -> Outcome | None:
        """The latest outcome of a step, a failure included."""
        event = self.event(section, step)
        return event.outcome if event else None

    def votes(self, section: int, step: str) -> dict[str, int]:
        event = self._last("vote").get((section, step))
        return event.votes if event else {}

    def missing(self) -> tuple[str, ...]:
        """Addresses of steps with no outcome, or a failed one."""
        steps = ((o.number, s.slug) for o in self.outlines for s in o.steps if s.performed)
        return tuple(f"{n}/{slug}" for n, slug in steps if not self._good(n, slug))

    def _good(self, section: int, slug: str) -> bool:
        outcome = self.outcome(section, slug)
        return outcome is not None and outcome.failure is None


class Journal:
    """Appends events to a talk's folder, each flushed to the disk before the next."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._end_torn_line()
        except OSError as error:
            raise cannot_write(folder, error) from error
        self.describe(machine)

    def describe(self, machine: Machine) -> None:
        """Replace machine.json, atomically."""
        text = json.dumps(wire.to_plain(machine) | {"schema": SCHEMA}, indent=1, sort_keys=True)
        write_atomically(self.folder / "machine.json", text + "\n")

    def append(self, event: Event) -> None:
        """Raises RecordError when the disk refuses; the caller keeps the event in memory."""
        path = self.folder / "events.jsonl"
        whole: int | None = None
        try:
            with open(path, "ab") as file:
                whole = file.tell()
                file.write((wire.dumps(event) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            # Half a line would damage the next one, once there is room again.
            if whole is not None:
                with contextlib.suppress(OSError):
                    os.truncate(path, whole)
            raise cannot_write(self.folder, error) from error

    def _end_torn_line(self) -> None:
        path = self.folder / "events.jsonl"
        if not path.exists() or path.stat().st_size == 0:
            return
        with open(path, "rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def cannot_write(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"cannot write {path}: {error.strerror or error}.",
        hint="free some space or allow writing there; what was measured stays on screen",
    )


def write_atomically(path: Path, text: str | bytes) -> None:
    """Write a neighbour, then rename; a reader sees the old text or the new. Raises RecordError."""
    content = text.encode() if isinstance(text, str) else text
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise cannot_write(path, error) from error


def now() -> str:
    """This moment, UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(folder: Path) -> Record:
    """The record in a folder.

    A torn last line is skipped with a warning. Raises RecordError for a missing file, an
    unknown schema, or a line that is no event.
    """
    machine = read_machine(folder)
    path = folder / "events.jsonl"
    lines = _bytes(path).split(b"\n") if path.exists() else []
    if len(lines) > MOST_EVENTS:
        raise RecordError(f"{path} has more than {MOST_EVENTS:,} lines.", hint=RESTORE)
    return Record(machine, tuple(_events(path, lines)), folder)


def read_machine(folder: Path) -> Machine:
    """The provenance alone. Raises RecordError."""
    path = folder / "machine.json"
    plain = _json(_text(path), path)
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        seen = plain.get("schema") if isinstance(plain, dict) else None
        raise RecordError(
            f"{path} has schema {str(seen)[:20]!r}; this version reads {SCHEMA}.",
            hint="update Memory Wall, or record again with 'just record'",
        )
    return _decoded(Machine, plain, path)


def _events(path: Path, lines: list[bytes]) -> Iterator[Event]:
    last = len(lines) - 1
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            plain = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            # Cut off by a crash: at the very end, or just before the talk was joined again.
            following = lines[number + 1] if number < last else b""
            if not following.strip() or b'"kind":"joined"' in following:
                warnings.warn(f"{path}: line {number + 1} is torn and was skipped", stacklevel=2)
                continue
            raise RecordError(f"{path}: line {number + 1} is no JSON.", hint=RESTORE) from None
        yield _of_one_step(_decoded(Event, plain, path, number + 1), path, number + 1)


def _no_constant(name: str) -> float:
    """Python would read NaN and Infinity, which are no JSON; what is written here holds none."""
    raise ValueError(f"{name} is no JSON")


def _of_one_step(event: Event, path: Path, line: int) -> Event:
    """The event, if what it holds is of the step that it names. Raises RecordError."""
    held = tuple(filter(None, (event.outcome, event.improvised)))
    same = all((of.section, of.step) == (event.section, event.step) for of in held)
    if not same or (event.outline and event.outline.number != event.section):
        raise RecordError(f"{path} line {line}: it names another step than it holds.", hint=RESTORE)
    if any(map(too_long, held)):
        raise RecordError(f"{path} line {line}: more rows than a step can have.", hint=RESTORE)
    return event


def too_long(outcome: Outcome) -> bool:
    """More than a worker sends: it cuts its tables, aloud, before."""
    tables = (table for table in (outcome.table, outcome.counters) if table)
    return len(outcome.timings) > MOST_TIMINGS or any(len(t.rows) > MOST_ROWS for t in tables)


RESTORE = "restore the file, or record again with 'just record'"
NEWER = "a newer version may have written it: update Memory Wall"


def _decoded(kind: type[T], plain: Any, path: Path, line: int = 0) -> T:
    try:
        return wire.from_plain(kind, plain)
    except (ValueError, RecursionError) as error:
        at = f" line {line}" if line else ""
        hint = NEWER if "unknown field" in str(error) else RESTORE
        raise RecordError(f"{path}{at}: {error}.", hint=hint) from None


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise RecordError(f"{path} is no JSON.", hint=RESTORE) from None


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise RecordError(f"{path} is not UTF-8 text.", hint=RESTORE) from None


def _bytes(path: Path) -> bytes:
    try:
        # Opened, a named pipe would wait for ever, and a device never end.
        if path.exists() and not path.is_file():
            raise RecordError(f"{path} is no file.", hint=RESTORE)
        with open(path, "rb") as file:
            found = file.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise RecordError(f"{path} is larger than {MOST_BYTES:,} bytes.", hint=RESTORE)
        return found
    except OSError as error:
        raise RecordError(
            f"cannot read {path}: {error.strerror or error}.",
            hint="name a folder that holds machine.json and events.jsonl",
        ) from error


def name_of(machine: Machine) -> str:
    """A folder name for a new talk: when and on what."""
    return f"{machine.started[:19].replace(':', '')}-{gpu_slug(machine.device.name)}"


def gpu_slug(name: str) -> str:
    """ "NVIDIA H200" → "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unknown"


def folders(root: Path) -> tuple[Path, ...]:
    """The talks under a folder, newest first by their name's date."""
    if not root.is_dir():
        return ()
    found = [path.parent for path in root.glob("*/machine.json")]
    return tuple(sorted(found, key=lambda path: path.name, reverse=True))


def outcomes(events: Iterable[Event]) -> tuple[Outcome, ...]:
    return tuple(event.outcome for event in events if event.outcome)
