"""What one Python line of a kernel became: its loads and stores in every assembly, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from slides import passport
from slides.context import Context
from talk import traced
from talk.outcome import Lowering, Outcome, Stage

WORDS = ("lowered",)

FORMS = ("ptx", "sass", "amdgcn")
ROOM = 4
"""Lines of a form that a slide holds beside those of two others."""


@dataclass(frozen=True)
class Form:
    """One assembly. texts: for each size, the lines that move data; more: how many are left out."""

    name: str
    target: str
    texts: tuple[tuple[str, ...], ...]
    more: int


@dataclass(frozen=True)
class Lowered:
    """python: the line as it ran. sizes: what the kernel was compiled for, one a column."""

    python: str
    sizes: tuple[str, ...]
    forms: tuple[Form, ...]


class Traces:
    """The word about a `Trace`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def lowered(self, address: str) -> Markup:
        """The first line that loads, and what became of it at every size of the trace."""
        shown = self._context.figures(address)
        found = lowered(shown.outcome) if shown else None
        if shown is None or found is None:
            return self._context.absent(address)
        key = self._context.enter(passport.of_table(address, len(found.forms), shown))
        self._context.note(shown.badge, address)
        return self._context.draw("lowered", found, shown, key)


def lowered(outcome: Outcome) -> Lowered | None:
    """None where no assembly was kept, or no line of the kernel loads."""
    kept = traced.kept(outcome.lowerings)
    line = traced.first_load(kept[0]) if kept else 0
    source = outcome.code[0].text.split("\n") if outcome.code else []
    if not 0 < line <= len(source):
        return None
    same = [one for one in kept if one.kernel == kept[0].kernel]
    forms = (form(name, same, line) for name in FORMS)
    return Lowered(
        python=source[line - 1].strip(),
        sizes=tuple(dict.fromkeys(sized(one) for one in same)),
        forms=tuple(each for each in forms if each),
    )


def sized(one: Lowering) -> str:
    return ", ".join(f"{name} = {value:,}" for name, value in one.at.items())


def form(name: str, found: Sequence[Lowering], line: int) -> Form | None:
    """A form of every lowering that has it, as one row."""
    held = [(one, stage) for one in found for stage in one.stages if stage.name == name]
    if not held:
        return None
    texts = [moving(stage, line) for _, stage in held]
    return Form(
        name=traced.FORMS[name],
        target=held[0][0].target,
        texts=tuple(tuple(text[:ROOM]) for text in texts),
        more=sum(max(0, len(text) - ROOM) for text in texts),
    )


def moving(stage: Stage, line: int) -> list[str]:
    """The lines of a form that came from a Python line and move data."""
    lines = traced.lines_of(stage, stage.text.split("\n"), line)
    return [text for _, text in lines if traced.rank(text) == 0]
