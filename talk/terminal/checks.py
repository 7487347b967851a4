"""Right or wrong: what the comparison with the reference said."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk.outcome import Check
from talk.terminal.clean import clean, styled


def checks(found: Sequence[Check]) -> RenderableType:
    """One line for the candidates that are right on the same inputs, one for each that is wrong."""
    right = [right_line(names, passed(found, names)) for names in alike(found)]
    return Group(*right, *(wrong(check) for check in found if not check.ok))


def alike(found: Sequence[Check]) -> list[list[str]]:
    """Candidates that passed on the same inputs, together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(check.candidate for check in found if check.ok):
        inputs = tuple(dict.fromkeys(check.inputs for check in passed(found, [name])))
        groups.setdefault(inputs, []).append(name)
    return list(groups.values())


def passed(found: Sequence[Check], names: Sequence[str]) -> list[Check]:
    return [check for check in found if check.ok and check.candidate in names]


def right_line(names: Sequence[str], passed: Sequence[Check]) -> Text:
    inputs = ", ".join(dict.fromkeys(clean(check.inputs) for check in passed))
    text = styled("✓ right  ", "live").append(clean(", ".join(names)), "strong")
    return text.append(f"  on {inputs}{within(passed)}", "quiet")


def within(passed: Sequence[Check]) -> str:
    """The largest error beside its tolerance."""
    known = [c for c in passed if c.error is not None]
    if not known:
        return ""
    worst = max(known, key=lambda check: check.error or 0.0)
    if worst.tolerance is None:
        return f"; error {worst.error:.2g}"
    return f"; error {worst.error:.2g} within {worst.tolerance:.2g}"


def wrong(check: Check) -> Text:
    at = ", ".join(f"{clean(name)} {value:,}" for name, value in check.at.items())
    text = styled("✗ WRONG  ", "missing").append(clean(check.candidate), "strong")
    text.append(f"  on {clean(check.inputs)}{f' at {at}' if at else ''}")
    return text.append(f"\n         {clean(check.message)}" if check.message else "")


if __name__ == "__main__":
    from talk.terminal.made_up import OUTCOME, look_at

    planted = Check(candidate="planted", inputs="ragged", ok=False, message="3 of 9 differ")
    look_at(checks([*OUTCOME.checks, planted]))
