"""Right or wrong: what the comparison with the reference said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from talk.outcome import Check
from talk.terminal.clean import clean, styled

INDENT = len("✗ WRONG  ")


def checks(found: Sequence[Check]) -> RenderableType:
    """One line for the candidates that are right on the same inputs, one for each that is wrong."""
    right = [right_line(names, passed(found, names)) for names in alike(found)]
    failed = dict.fromkeys(check.candidate for check in found if not check.ok)
    return Group(*right, *(wrong(name, found) for name in failed))


@dataclass(frozen=True)
class Verdict:
    """One line: its inputs by name where they fit, else by their number."""

    head: Text
    inputs: str
    number: str
    tail: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        spare = options.max_width - cell_len(self.head.plain + self.inputs + self.tail)
        inputs = self.inputs if spare >= 0 else self.number
        yield self.head.copy().append(f"{inputs}{self.tail}", "quiet")


def alike(found: Sequence[Check]) -> list[list[str]]:
    """Candidates that passed on the same inputs, together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(check.candidate for check in found if check.ok):
        inputs = tuple(dict.fromkeys(check.inputs for check in passed(found, [name])))
        groups.setdefault(inputs, []).append(name)
    return list(groups.values())


def passed(found: Sequence[Check], names: Sequence[str]) -> list[Check]:
    return [check for check in found if check.ok and check.candidate in names]


def right_line(names: Sequence[str], passed: Sequence[Check]) -> Verdict:
    inputs = names_of(passed)
    head = styled("✓ right  ", "live").append(clean(", ".join(names)), "strong").append("  on ")
    return Verdict(head, ", ".join(inputs), f"{len(inputs)} inputs", within(passed))


def names_of(found: Iterable[Check]) -> list[str]:
    """The inputs, each once."""
    return list(dict.fromkeys(clean(check.inputs) for check in found))


def within(passed: Sequence[Check]) -> str:
    """The largest error beside its tolerance."""
    known = [c for c in passed if c.error is not None]
    if not known:
        return ""
    worst = max(known, key=lambda check: check.error or 0.0)
    if worst.tolerance is None:
        return f"; error {worst.error:.2g}"
    return f"; error {worst.error:.2g} within {worst.tolerance:.2g}"


def wrong(candidate: str, found: Sequence[Check]) -> RenderableType:
    """On how many inputs and at which points, then the first of them in words."""
    own = [check for check in found if check.candidate == candidate]
    failed = [check for check in own if not check.ok]
    inputs = names_of(failed)
    number = f"{len(inputs)} of {len(names_of(own))} inputs"
    head = styled("✗ WRONG  ", "missing").append(clean(candidate), "strong").append("  on ")
    verdict = Verdict(head, ", ".join(inputs), number, points(failed))
    examples = [example(check, alone=len(failed) == 1) for check in failed if check.message]
    return Group(verdict, *examples[:1])


def points(failed: Sequence[Check]) -> str:
    """ ", at block 1 and 32": every value of a parameter at which something failed."""
    values: dict[str, dict[int, None]] = {}
    for check in failed:
        for name, value in check.at.items():
            values.setdefault(clean(name), {})[value] = None
    at = (f"{name} {listed([f'{value:,}' for value in found])}" for name, found in values.items())
    return f", at {'; '.join(at)}" if values else ""


def listed(words: Sequence[str]) -> str:
    """ "1", "1 and 32", "1, 32 and 128"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def example(check: Check, *, alone: bool) -> RenderableType:
    """What the comparison said; of several, with the inputs and the point it is about."""
    where = "" if alone else f"{clean(check.inputs)}{points([check])}: "
    return Padding(styled(f"{where}{clean(check.message)}"), (0, 0, 0, INDENT))


if __name__ == "__main__":
    from talk.terminal.made_up import OUTCOME, look_at

    planted = Check(candidate="planted", inputs="ragged", ok=False, message="3 of 9 differ")
    look_at(checks([*OUTCOME.checks, planted]))
