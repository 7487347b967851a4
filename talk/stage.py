"""The stage as a state machine: (state, event) → (state, effects). No I/O, no clock of its own.

Keys, remote commands, outcomes, a dead worker and a tick are events in one queue. Steps
are named by (section number, slug), never by position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from talk import record
from talk.outcome import Outcome
from talk.question import settled_by
from talk.record import SectionOutline, StepOutline

Address = tuple[int, str]


@dataclass(frozen=True, kw_only=True)
class State:
    """All that a view needs, the record apart.

    mode: `starting`, `live`, `simulated` or `replay`; why: the one line that says so.
    done, failed: steps performed in this talk. queued: a press waits for the running step,
    and then until its outcome, which `landed` at that second, has been seen.
    view: `step`, `help`, `jump` or `picture`. rows: height of the scrolled part; extent: lines in
    it.
    traceable: steps that left a trace to walk through. traced, form, variant, target: where in
    it one looks: the Python line, the form, what was launched and for which GPU, each counted on
    and on; whole: that form from its first line to its last. seeking: the view is to scroll there.
    """

    sections: tuple[SectionOutline, ...] = ()
    section: int = 0
    slug: str = ""
    mode: str = "starting"
    why: str = ""
    done: frozenset[Address] = frozenset()
    failed: frozenset[Address] = frozenset()
    traceable: frozenset[Address] = frozenset()
    votes: dict[Address, str] = field(default_factory=dict)
    running: Address | None = None
    since: float = 0.0
    progress: str = ""
    fraction: float | None = None
    queued: bool = False
    landed: float = 0.0
    view: str = "step"
    code: bool = False
    notes: bool = False
    blank: bool = False
    typed: str = ""
    picked: int = 0
    scroll: int = 0
    rows: int = 1
    extent: int = 0
    traced: int = 0
    form: int = 0
    variant: int = 0
    target: int = 0
    whole: bool = False
    seeking: bool = False
    message: str = ""
    started: float = 0.0
    now: float = 0.0
    over: bool = False

    @property
    def address(self) -> Address:
        return (self.section, self.slug)

    @property
    def outline(self) -> SectionOutline | None:
        return next((s for s in self.sections if s.number == self.section), None)

    @property
    def step(self) -> StepOutline | None:
        return self.outline.step(self.slug) if self.outline else None

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Every step in running order."""
        return tuple(
            (section.number, step.slug) for section in self.sections for step in section.steps
        )

    @property
    def finished(self) -> bool:
        """Whether this step has nothing left to perform."""
        return (
            self.step is None
            or not self.step.performed
            or self.address in self.done
            or self.address in self.failed
        )

    @property
    def tracing(self) -> bool:
        """Whether a trace is on screen, to walk through."""
        shown = self.address in self.traceable & self.done
        return shown and self.view == "step" and not self.code

    @property
    def whole_form(self) -> bool:
        """Whether one form of a kernel fills the screen."""
        return self.tracing and self.whole

    @property
    def most_scroll(self) -> int:
        return max(0, self.extent - self.rows)

    def matches(self) -> tuple[Address, ...]:
        """Steps that what was typed at the jump prompt can mean."""
        typed = self.typed.strip().lower()
        names = {
            (section.number, step.slug): f"{section.number}/{step.slug} {step.title.lower()}"
            for section in self.sections
            for step in section.steps
        }
        first = [a for a, name in names.items() if name.startswith(typed) or a[1].startswith(typed)]
        return tuple(first + [a for a, name in names.items() if typed in name and a not in first])


@dataclass(frozen=True)
class Press:
    """A key by its name: `right`, `pagedown`, `enter`, `ctrl-c`, `r`, …"""

    key: str


@dataclass(frozen=True)
class Command:
    """What any view may ask for: one of `COMMANDS`, with the step it is about."""

    name: str
    section: int = 0
    slug: str = ""


@dataclass(frozen=True)
class Counted:
    """Hands that were counted, answer by answer, at a question."""

    section: int
    slug: str
    votes: dict[str, int]


@dataclass(frozen=True)
class Opened:
    """What performs the steps is ready, in this mode, for this reason, on this machine."""

    mode: str
    why: str
    machine: record.Machine | None = None


@dataclass(frozen=True)
class Outlined:
    """A section's outline, at the start or after its file was edited."""

    outline: SectionOutline


@dataclass(frozen=True)
class Progressed:
    """What the running step does now. fraction: 0 to 1, None while unknown."""

    text: str
    fraction: float | None = None


@dataclass(frozen=True)
class Arrived:
    """A step's outcome, a failure included."""

    outcome: Outcome


@dataclass(frozen=True)
class Improvised:
    """Something that was measured in the shell of a step, and the words for it."""

    outcome: Outcome
    said: str = ""


@dataclass(frozen=True)
class Said:
    """A line for the presenter: a worker that restarts, a disk that is full."""

    text: str


@dataclass(frozen=True)
class Fitted:
    """What the view found when it last drew: rows of room, lines to show, those above them."""

    rows: int
    extent: int
    scroll: int = 0


@dataclass(frozen=True)
class Tick:
    """Seconds on the talk's clock."""

    now: float


Event = (
    Press
    | Command
    | Counted
    | Opened
    | Outlined
    | Progressed
    | Arrived
    | Improvised
    | Said
    | Fitted
    | Tick
)


@dataclass(frozen=True)
class Perform:
    section: int
    slug: str


@dataclass(frozen=True)
class Cancel:
    pass


@dataclass(frozen=True)
class Shell:
    """IPython with what this step stands on."""

    section: int
    slug: str


@dataclass(frozen=True)
class Keep:
    """Append to the record."""

    event: record.Event


@dataclass(frozen=True)
class Leave:
    pass


Effect = Perform | Cancel | Shell | Keep | Leave
Result = tuple[State, tuple[Effect, ...]]

KEYS = {
    "right": "next",
    "pagedown": "next",
    "space": "next",
    "enter": "next",
    "left": "back",
    "pageup": "back",
    "backspace": "back",
    "r": "run",
    "g": "jump",
    "c": "code",
    "n": "notes",
    "o": "picture",
    "b": "blank",
    ".": "blank",
    "i": "shell",
    "?": "help",
    "h": "help",
    "q": "quit",
    "ctrl-c": "cancel",
    "down": "scroll-down",
    "j": "scroll-down",
    "up": "scroll-up",
    "k": "scroll-up",
    "home": "scroll-top",
    "end": "scroll-bottom",
}
"""Esc and F5 are missing on purpose: presenter remotes send them in turn."""

TRACE_KEYS = {
    "down": "trace-line",
    "up": "trace-line-back",
    "tab": "trace-form",
    "v": "trace-variant",
    "t": "trace-target",
    "w": "trace-whole",
}
"""On a trace that is shown: it is walked through, and j and k alone scroll."""

PAGES = ("help", "picture")
"""What fills the screen until a key that does not scroll."""

DIGITS = ("1", "2", "3", "4", "5", "6", "7", "8", "9")

STRAY = ("escape", "f5")
"""They do not light up a screen that was blanked, either."""


def advance(state: State, event: Event) -> Result:
    """The next state, and what is to be done about it."""
    match event:
        case Press(key):
            return _press(state, key)
        case Command(name, section, slug):
            return _command(state, name, section, slug)
        case Counted(section, slug, votes):
            return _counted(state, (section, slug), votes)
        case Opened(mode, why):
            return _asked(replace(state, mode=mode, why=why))
        case Outlined(outline):
            kept = record.Event(kind="outline", section=outline.number, outline=outline)
            return _outlined(state, outline), (Keep(kept),)
        case Progressed(text, fraction):
            return replace(state, progress=text, fraction=fraction), ()
        case Arrived(outcome):
            return _arrived(state, outcome)
        case Improvised(outcome, said):
            return replace(state, message=f"Improvised: {said}"), (Keep(beside(outcome)),)
        case Said(text):
            return replace(state, message=text), ()
        case Fitted(rows, extent, scroll):
            fitted = replace(state, rows=rows, extent=extent, seeking=False)
            scroll = scroll if state.seeking else state.scroll
            return replace(fitted, scroll=max(0, min(scroll, fitted.most_scroll))), ()
        case Tick(now):
            return _ticked(replace(state, now=now, started=state.started or now))


def beside(outcome: Outcome) -> record.Event:
    """What was improvised at a step is none of the step's own outcomes."""
    where = {"section": outcome.section, "step": outcome.step}
    return record.Event(kind="improvised", improvised=outcome, **where)  # type: ignore[arg-type]


def _press(state: State, key: str) -> Result:
    state = replace(state, message="")
    if key == "ctrl-c" and not (state.view == "jump" and not state.running):
        return _cancel(state)
    if state.blank:
        return (state if key in STRAY else replace(state, blank=False)), ()
    if state.view in PAGES and not KEYS.get(key, "").startswith("scroll"):
        return replace(state, view="step", scroll=0), ()
    if state.view == "jump":
        return _typing(state, key)
    # Some keyboards have a key for ², which is a digit too, and no number.
    if key in DIGITS and state.step and state.step.choices:
        return _vote(state, DIGITS.index(key) + 1)
    return _command(state, _named(state, key), *state.address)


def _named(state: State, key: str) -> str:
    """What a key means here."""
    here = TRACE_KEYS if state.tracing else {}
    return here.get(key, KEYS.get(key, ""))


def _command(state: State, name: str, section: int, slug: str) -> Result:
    command = COMMANDS.get(name)
    return command(state, (section, slug)) if command else (state, ())


def _next(state: State, _: Address) -> Result:
    if state.running:
        return replace(state, queued=True), ()
    state = replace(state, queued=False)
    return _move(state, 1) if state.finished else _run(state, state.address)


def _back(state: State, _: Address) -> Result:
    return _move(replace(state, queued=False), -1)


def _move(state: State, by: int) -> Result:
    addresses = state.addresses
    if state.address not in addresses:
        return state, ()
    at = addresses.index(state.address) + by
    if not 0 <= at < len(addresses):
        edge = "This is the last step; q ends the talk." if by > 0 else "This is the first step."
        return replace(state, message=edge), ()
    return _go(state, addresses[at])


def _go(state: State, to: Address) -> Result:
    if to not in state.addresses:
        return replace(state, message=f"There is no step {to[0]}/{to[1]}."), ()
    state = replace(state, section=to[0], slug=to[1], scroll=0, view="step", typed="", message="")
    state = replace(state, traced=0, form=0, variant=0, target=0, whole=False)
    moved: tuple[Effect, ...] = (Keep(record.Event(kind="move", section=to[0], step=to[1])),)
    state, effects = _asked(state)
    return state, moved + effects


def _asked(state: State) -> Result:
    """A question needs its model's answer at hand, and costs next to nothing."""
    if state.step and state.step.kind == "predict" and not state.finished and not state.running:
        return _run(state, state.address)
    return state, ()


def _run(state: State, what: Address) -> Result:
    if state.running:
        return replace(state, message="A step is running; Ctrl-C cancels it."), ()
    known = next((s.step(what[1]) for s in state.sections if s.number == what[0]), None)
    if known is None or not known.performed:
        return replace(state, message="There is nothing to run here."), ()
    state = replace(
        state,
        running=what,
        queued=False,
        since=state.now,
        progress="",
        fraction=None,
        scroll=0,
        done=state.done - {what},
        failed=state.failed - {what},
    )
    return state, (Perform(*what),)


def _cancel(state: State, _: Address | None = None) -> Result:
    if not state.running:
        return replace(state, message="Nothing is running; q ends the talk."), ()
    return replace(state, queued=False, progress="cancelling"), (Cancel(),)


def _arrived(state: State, outcome: Outcome) -> Result:
    address = (outcome.section, outcome.step)
    failed = outcome.failure is not None
    mine = state.running == address
    state = replace(
        state,
        done=state.done - {address} if failed else state.done | {address},
        failed=state.failed | {address} if failed else state.failed - {address},
        traceable=state.traceable | {address} if outcome.traces else state.traceable - {address},
        running=None if mine else state.running,
        progress="" if mine else state.progress,
        fraction=None if mine else state.fraction,
    )
    kept: tuple[Effect, ...] = (
        Keep(record.Event(kind="outcome", section=address[0], step=address[1], outcome=outcome)),
    )
    if not (mine and state.queued):
        return state, kept
    # A failure spends the press that waited: it is never skipped over.
    return replace(state, queued=not failed, landed=state.now), kept


SEEN_S = 3.0
"""An impatient press must not take the result away before the hall has seen it."""


def _ticked(state: State) -> Result:
    """The clock lets a press go that waited for an outcome to be seen."""
    if not state.queued or state.running or state.now - state.landed < SEEN_S:
        return state, ()
    return _next(state, state.address)


def _outlined(state: State, outline: SectionOutline) -> State:
    others = {s.number: s for s in state.sections} | {outline.number: outline}
    before = state.outline
    state = replace(state, sections=tuple(others[number] for number in sorted(others)))
    if state.section == 0:
        state = replace(state, section=outline.number)
    if state.section != outline.number or outline.step(state.slug):
        return state
    gone = [s.slug for s in before.steps].index(state.slug) if before and state.slug else 0
    slug = outline.steps[min(gone, len(outline.steps) - 1)].slug
    message = f"The step {state.slug} is gone; this stands in its place." if state.slug else ""
    return replace(state, slug=slug, scroll=0, message=message)


def _vote(state: State, digit: int) -> Result:
    choices = tuple(state.step.choices) if state.step else ()
    if not 1 <= digit <= len(choices):
        return replace(state, message=f"There are answers 1 to {len(choices)}."), ()
    return _counted(state, state.address, {choices[digit - 1]: 1})


def _counted(state: State, question: Address, votes: dict[str, int]) -> Result:
    """The room's answer is the one that most hands went up for, the first of several."""
    step = next((s.step(question[1]) for s in state.sections if s.number == question[0]), None)
    known = {name: count for name, count in votes.items() if step and name in step.choices}
    if step is None or not any(count > 0 for count in known.values()):
        return replace(state, message="That is no answer to a question here."), ()
    if settled_by(question[0], step) in state.done:
        return replace(state, message="The vote is closed: it has been measured."), ()
    state = replace(state, votes=state.votes | {question: max(known, key=known.__getitem__)})
    event = record.Event(kind="vote", section=question[0], step=question[1], votes=known)
    return state, (Keep(event),)


def _typing(state: State, key: str) -> Result:
    matches = state.matches()
    if key == "enter" and matches:
        return _go(state, matches[min(state.picked, len(matches) - 1)])
    if key in ("enter", "escape", "f5", "ctrl-c"):
        return replace(state, view="step", typed=""), ()
    if key in ("up", "down"):
        picked = state.picked + (1 if key == "down" else -1)
        return replace(state, picked=max(0, min(picked, len(matches) - 1))), ()
    if key == "backspace":
        return replace(state, typed=state.typed[:-1], picked=0), ()
    typed = state.typed + (key if len(key) == 1 else "")
    return replace(state, typed=typed, picked=0), ()


def _scrolled(state: State, to: int) -> Result:
    return replace(state, scroll=max(0, min(to, state.most_scroll))), ()


def _looked(state: State, **at: int) -> Result:
    """Elsewhere in a trace; the view scrolls to what is marked in a form shown whole."""
    if not state.tracing:
        return replace(state, message="There is no trace here."), ()
    # mypy knows no fields by name.
    return replace(state, **at, seeking=True), ()  # type: ignore[arg-type]


COMMANDS: dict[str, Callable[[State, Address], Result]] = {
    "next": _next,
    "back": _back,
    "run": _run,
    "cancel": _cancel,
    "go": _go,
    "jump": lambda state, _: (replace(state, view="jump", typed="", picked=0), ()),
    "code": lambda state, _: (replace(state, code=not state.code, scroll=0), ()),
    "notes": lambda state, _: (replace(state, notes=not state.notes, scroll=0), ()),
    "blank": lambda state, _: (replace(state, blank=not state.blank), ()),
    "help": lambda state, _: (replace(state, view="help", scroll=0), ()),
    "picture": lambda state, _: (replace(state, view="picture", scroll=0), ()),
    "shell": lambda state, address: (
        (replace(state, message="A step is running; Ctrl-C cancels it."), ())
        if state.running
        else (state, (Shell(*address),))
    ),
    "trace-line": lambda state, _: _looked(state, traced=state.traced + 1),
    "trace-line-back": lambda state, _: _looked(state, traced=state.traced - 1),
    "trace-form": lambda state, _: _looked(state, form=state.form + 1),
    "trace-variant": lambda state, _: _looked(state, variant=state.variant + 1),
    "trace-target": lambda state, _: _looked(state, target=state.target + 1),
    "trace-whole": lambda state, _: _looked(replace(state, scroll=0), whole=not state.whole),
    # Kept, so that a talk which was cut off is known from one that was left.
    "quit": lambda state, _: (
        replace(state, over=True),
        (Keep(record.Event(kind="left")), Leave()),
    ),
    "scroll-down": lambda state, _: _scrolled(state, state.scroll + 1),
    "scroll-up": lambda state, _: _scrolled(state, state.scroll - 1),
    "scroll-top": lambda state, _: _scrolled(state, 0),
    "scroll-bottom": lambda state, _: _scrolled(state, state.most_scroll),
}
