"""What a talk that is behind may leave out: steps that nothing else stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from talk.pace import Address, planned
from talk.record import SectionOutline, StepOutline

LEAST_MIN = 1.0
"""Minutes behind from which skipping is worth a word: less comes and goes within one step."""

MOST_NAMED = 8
"""More than that nobody reads while speaking."""

ASKED = re.compile(r"""\bn\(\s*(['"])(.+?)\1\s*\)""")
"""A number that a sentence stands on (`talk.sentence`)."""

STEP = re.compile(r"(?:(\d{1,4}|machine)/)?([a-z0-9-]+)")
"""The step that a reference begins with."""


@dataclass(frozen=True, kw_only=True)
class Skip:
    """A step to leave out, or an exercise to halve. minutes: won by it."""

    section: int
    step: str
    minutes: float
    halved: bool = False


def skippable(outlines: Sequence[SectionOutline], here: Address, behind: float) -> tuple[Skip, ...]:
    """What is to come after `here` and may go, in running order, until it makes up for `behind`.

    behind: minutes. A question and what settles it stay, as does every number that another step
    tells or draws, and one step of each phase. Exercises are halved where steps do not suffice.
    """
    if behind < LEAST_MIN:
        return ()
    coming = after(outlines, here)
    steps = chosen(left_out(outlines, coming), behind)
    exercises = (halved(section, step) for section, step in coming if step.kind == "now-you")
    return (*steps, *chosen(exercises, behind - sum(skip.minutes for skip in steps)))


def after(
    outlines: Sequence[SectionOutline], here: Address
) -> list[tuple[SectionOutline, StepOutline]]:
    """Every step that is still to come."""
    steps = [(outline, step) for outline in outlines for step in outline.steps]
    at = [(outline.number, step.slug) for outline, step in steps]
    return steps[at.index(here) + 1 :] if here in at else []


def left_out(
    outlines: Sequence[SectionOutline], coming: Sequence[tuple[SectionOutline, StepOutline]]
) -> Iterator[Skip]:
    """Steps that may be skipped as a whole; each leaves its phase with another one."""
    stay = kept(outlines)
    phases = [
        (o.number, step.phase) for o in outlines for step in o.steps if step.kind != "now-you"
    ]
    for outline, step in coming:
        phase = (outline.number, step.phase)
        free = (outline.number, step.slug) not in stay and planned(step)
        if free and phases.count(phase) > 1:
            phases.remove(phase)
            yield Skip(section=outline.number, step=step.slug, minutes=planned(step))


def kept(outlines: Sequence[SectionOutline]) -> set[Address]:
    """What stays in any case: questions, exercises, the last of each picture of the whole talk, and
    steps whose numbers another one asks for, tells or draws.
    """
    steps = [((o.number, step.slug), step) for o in outlines for step in o.steps]
    pictures = {step.picture: address for address, step in steps if step.picture}
    words = {address for address, step in steps if step.kind in ("predict", "now-you")}
    return words | set(pictures.values()) | {a for o in outlines for a in told(o)}


def told(outline: SectionOutline) -> Iterator[Address]:
    """The steps that others of this section refer to."""
    for step in outline.steps:
        refs = (step.about, *step.of, *(ref for _, ref in ASKED.findall(step.says)))
        parts = (part for ref in refs for part in ref.split(" / "))
        for section, slug in (match.groups() for match in map(STEP.match, parts) if match):
            if section != "machine" and (section or slug != step.slug):
                yield int(section or outline.number), slug


def halved(outline: SectionOutline, step: StepOutline) -> Skip:
    return Skip(section=outline.number, step=step.slug, minutes=planned(step) / 2, halved=True)


def chosen(skips: Iterator[Skip], minutes: float) -> list[Skip]:
    """The first of them that win these minutes together; all where they do not."""
    found: list[Skip] = []
    for skip in skips:
        if sum(each.minutes for each in found) >= minutes:
            break
        found.append(skip)
    return found


def said(skips: Sequence[Skip], behind: float) -> str:
    """ "4 min behind: skip 5/programs, halve 5/now-you (saves 4 min)"; nothing of no skips."""
    if not skips:
        return ""
    words = [f"skip {', '.join(names)}" for names in [named(skips, halved=False)] if names]
    words += [f"halve {', '.join(names)}" for names in [named(skips, halved=True)] if names]
    won = sum(skip.minutes for skip in skips)
    return f"{behind:.0f} min behind: {', '.join(words)} (saves {won:g} min)"


def named(skips: Sequence[Skip], *, halved: bool) -> list[str]:
    """Their addresses; of very many the first."""
    names = [f"{skip.section}/{skip.step}" for skip in skips if skip.halved is halved]
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], f"{more} more"] if more > 0 else names
