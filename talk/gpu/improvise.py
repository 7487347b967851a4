"""What is made up in the shell, measured with one call: checked and timed as a step is."""

from __future__ import annotations

import contextlib
import inspect
import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from talk import record
from talk.gpu.bounds import bounded, cut
from talk.gpu.measure import Bench, Measured, Point, measure
from talk.gpu.outline import unwrapped
from talk.gpu.trouble import Interrupted, attempt
from talk.improvised import words
from talk.look import Badge
from talk.outcome import Code, Failure, Outcome
from talk.record import Machine
from talk.rows import Shown
from talk.section import Case

NAME = 60
CODE = 20_000
FUNCTIONS = 20
"""Characters of a name and of a text, functions: what a record keeps of an improvisation."""

UNCHECKED = "not checked: against= names what is right"


@dataclass(frozen=True, kw_only=True)
class Improviser:
    """`measure` in the shell of a step.

    blank: an outcome of that step. machine: this one, its ceilings measured. tell: takes what
    came of it, and the words for it. case, inputs: the step's own, where it has any.
    """

    bench: Bench
    blank: Outcome
    machine: Callable[[], Machine]
    tell: Callable[[Outcome, str], None]
    case: Case | None = None
    inputs: tuple[Any, ...] = ()

    def __call__(
        self,
        fn: Callable[[], Any],
        name: str = "mine",
        *,
        moves: int | None = None,
        flops: int = 0,
        mix: str = "",
        against: Any = None,
    ) -> None:
        """Check and time a call of `fn`, which takes no arguments; it becomes part of the record.

        moves, flops: bytes and operations of one call; by default those of the step's case, for
            what is checked against its reference. mix: of the traffic, such as "2:1".
        against: the right result, or a function that returns it; by default the step's reference
            on the step's inputs. False: no check.
        """
        case = self._case(moves, flops, mix, against)
        checked = case.reference is not nothing
        name = cut(str(name), NAME)
        with on_interrupt(signal.SIG_IGN):
            machine = self.machine()
        began = time.monotonic()
        work = partial(measure, case, {name: called(fn, checked)}, Point(size={}), self.bench)
        with on_interrupt(interrupt):
            found = attempt(work, root=self.bench.root, last=True)
        outcome = replace(
            self.blank,
            text=name,
            behind=code_of(fn, name),
            note="" if checked else UNCHECKED,
            seconds=round(time.monotonic() - began, 3),
        )
        outcome = bounded(filled(outcome, found, checked))
        said = words(Shown(outcome, self._badge, machine, record.now()))
        print(f"{self._badge.value}  {said}")
        # Cut off, half a line would be left on the pipe.
        with on_interrupt(signal.SIG_IGN):
            self.tell(outcome, said)

    @property
    def _badge(self) -> Badge:
        return Badge.LIVE if self.blank.mode == "live" else Badge.SIMULATED

    def _case(self, moves: int | None, flops: int, mix: str, against: Any) -> Case:
        """The step's own with what was said here; its hard inputs are no arguments of `fn`."""
        own = self.case if against is None else None
        base = self.case or BLANK
        reference = own.reference if own else right_result(against)
        return replace(
            base,
            # What nobody checks may write where it likes.
            inputs=lambda: () if reference is nothing else self.inputs,
            reference=reference,
            hard=tuple,
            mix=mix or base.mix,
            bytes_moved=own.bytes_moved if own and moves is None else lambda *_: moves or 0,
            flops=own.flops if own and not flops else lambda *_: flops,
            items=own.items if own else lambda *_: 0,
        )


def right_result(against: Any) -> Callable[..., Any]:
    """What tells the right result; `nothing` where nobody can."""
    if against is None or against is False:
        return nothing
    return lambda *_: against() if callable(against) else against


def nothing(*_: Any) -> torch.Tensor:
    """In the place of results that are not compared."""
    return torch.zeros(1)


BLANK = Case(name="", inputs=tuple, reference=nothing, size={}, small={}, bytes_moved=lambda *_: 0)


def called(fn: Callable[[], Any], checked: bool) -> Callable[..., Any]:
    """As a candidate, which is handed the inputs that `fn` knows already."""
    done = nothing()

    def call(*_: Any) -> Any:
        result = fn()
        return result if checked else done

    return call


def filled(blank: Outcome, found: Measured | Failure, checked: bool) -> Outcome:
    if isinstance(found, Failure):
        return replace(blank, failure=found)
    return replace(
        blank,
        checks=found.checks if checked else (),
        timings=found.timings,
        clocks=found.clocks,
        failure=next(iter(found.failures), None),
    )


def code_of(fn: Any, name: str) -> tuple[Code, ...]:
    """Its text and that of the functions it calls by name, as far as they can be found."""
    texts: dict[int, Code] = {}
    waiting = [(name, unwrapped(fn))]
    while waiting and len(texts) < FUNCTIONS:
        called_as, function = waiting.pop(0)
        if id(function) not in texts and hasattr(function, "__code__"):
            texts[id(function)] = Code(path="", name=called_as, text=text_of(function))
            waiting += named_by(function)
    return tuple(code for code in texts.values() if code.text)


def named_by(function: Any) -> Iterator[tuple[str, Any]]:
    """The Python functions that it names, those of libraries apart."""
    for name in function.__code__.co_names:
        found = unwrapped(function.__globals__.get(name))
        code = getattr(found, "__code__", None)
        if code and "site-packages" not in Path(code.co_filename).parts:
            yield name, found


def text_of(function: Any) -> str:
    """Empty where it stands in no file and in no cell."""
    try:
        return cut(textwrap.dedent(inspect.getsource(function)).rstrip(), CODE)
    except (OSError, TypeError):
        return ""


def interrupt(*_: Any) -> None:
    """Ctrl-C ends a measurement, and is no error of what is measured."""
    raise Interrupted


@contextlib.contextmanager
def on_interrupt(handler: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
