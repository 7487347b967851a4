"""The quiz: questions of which the record knows the answer, a score, and the scores before.

Each question is answered by one talk alone: this machine's newest that can, else the recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from talk import opening, record, runner
from talk.attend.questions import BELIEFS, Belief
from talk.errors import RecordError, TalkError
from talk.look import Badge
from talk.number import Number, weakest
from talk.question import question, settled_by
from talk.reading import Reading
from talk.record import Record, SectionOutline, StepOutline
from talk.sentence import Sentence, say
from talk.source import ROOT, Standing

SCORES = ROOT / "my" / "quiz.json"

RECENT = 5
"""Talks of this machine that are asked before the recording."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question with its answer. right: the number of a choice, from 1.

    numbers: what settles it, all of one talk. model: what a model expected, and why.
    """

    section: int
    slug: str
    title: str
    choices: tuple[str, ...]
    right: int
    says: str
    believes: str
    numbers: tuple[Number, ...]
    model: str = ""

    @property
    def weakest(self) -> Number | None:
        """The number with the weakest badge: what can be claimed of the answer."""
        badge = weakest(number.badge for number in self.numbers)
        return next((number for number in self.numbers if number.badge is badge), None)


@dataclass(frozen=True)
class Skipped:
    """A question that is not asked, and why."""

    name: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was picked for one question."""

    item: Item
    picked: int

    @property
    def right(self) -> bool:
        return self.picked == self.item.right


@dataclass(frozen=True, kw_only=True)
class Score:
    """One round, as it is remembered. sections: number → (right, asked). wrong: slugs."""

    date: str
    right: int
    asked: int
    of: int
    sections: dict[str, tuple[int, int]]
    wrong: tuple[str, ...]


def readings() -> tuple[Reading, ...]:
    """The live talks of this machine, newest first, then the recording; each by itself."""
    found = [*own(runner.RESULTS), runner.recording()]
    return tuple(Reading(recording=one, fresh=Standing()) for one in found if one)


def own(results: Path) -> Iterator[Record]:
    """Talks that were measured here; what cannot be read is passed over."""
    for folder in record.folders(results)[:RECENT]:
        try:
            found = record.read(folder)
        except RecordError:
            continue
        if found.machine.mode == "live":
            yield found


def items(
    known: Sequence[Reading], *, sections: Iterable[int], every: bool = False
) -> tuple[tuple[Item, ...], tuple[Skipped, ...]]:
    """The questions of these sections, and those that nothing settles.

    every: the predictions of the talk as well. Raises TalkError where nothing was recorded.
    """
    if not known:
        raise TalkError(
            "there is no recording to answer the quiz.", hint="record on a GPU: 'just record'"
        )
    outlines = {o.number: o for one in reversed(known) for o in opening.outlines(one.recording)}
    asked: list[Item] = []
    skipped: list[Skipped] = []
    for section in sections:
        mine = [belief for belief in BELIEFS if belief.section == section]
        outline = outlines.get(section)
        steps = predictions(outline) if every and outline else ()
        for found in (
            *(of_belief(b, known) for b in mine),
            *(of_step(section, s, known) for s in steps),
        ):
            (asked if isinstance(found, Item) else skipped).append(found)  # type: ignore[arg-type]
    return tuple(asked), tuple(skipped)


def predictions(outline: SectionOutline) -> tuple[StepOutline, ...]:
    return tuple(step for step in outline.steps if step.kind == "predict")


def of_belief(belief: Belief, known: Sequence[Reading]) -> Item | Skipped:
    """The question as the first talk answers it that can."""
    name = f"{belief.section}/{belief.slug}"
    why = "its measurement is not recorded"
    for reading in known:
        try:
            answer = say(belief.answer, reading, belief.section)
            says = say(belief.says, reading, belief.section)
        except TalkError:
            continue
        if answer is None or says is None:
            continue
        if not answer.text:
            why = "what was measured does not settle it"
            continue
        return Item(
            section=belief.section,
            slug=belief.slug,
            title=belief.title,
            choices=belief.choices,
            right=int(answer.text),
            says=says.text,
            believes=belief.believes,
            numbers=answer.numbers + says.numbers,
        )
    return Skipped(name, why)


def of_step(section: int, step: StepOutline, known: Sequence[Reading]) -> Item | Skipped:
    """A prediction of the talk, answered by what was measured right after it."""
    why = "its measurement is not recorded"
    for reading in known:
        try:
            asked = question(reading, section, step, votes={})
        except TalkError:
            continue
        if asked.measured is None or asked.measured.value is None:
            continue
        if asked.right is None:
            why = f"{asked.measured} lies in none of its answers"
            continue
        told = takeaway(reading, section, step)
        reason = f" ({step.model_says})" if step.model_says else ""
        return Item(
            section=section,
            slug=step.slug,
            title=step.title,
            choices=tuple(step.choices),
            right=asked.right.key,
            says=" ".join(part for part in (f"Measured: {asked.measured}.", told.text) if part),
            believes=step.misconception,
            numbers=(asked.measured, *told.numbers),
            model=f"{asked.model}{reason}" if asked.model and asked.model.value is not None else "",
        )
    return Skipped(f"{section}/{step.slug}", why)


def takeaway(reading: Reading, section: int, step: StepOutline) -> Sentence:
    """What the step that settles a prediction says; nothing where it cannot."""
    settling = settled_by(section, step)
    outline = reading.outline(*settling) if settling else None
    try:
        said = say(outline.says, reading, settling[0]) if outline and settling else None
    except TalkError:
        said = None
    return said or Sentence("", Badge.LIVE)


def score(answers: Sequence[Answer], of: int, date: str) -> Score:
    """of: how many there were to answer."""
    sections: dict[str, tuple[int, int]] = {}
    for answer in answers:
        right, asked = sections.get(str(answer.item.section), (0, 0))
        sections[str(answer.item.section)] = (right + answer.right, asked + 1)
    return Score(
        date=date,
        right=sum(answer.right for answer in answers),
        asked=len(answers),
        of=of,
        sections=sections,
        wrong=tuple(f"{a.item.section}/{a.item.slug}" for a in answers if not a.right),
    )


def remembered(path: Path = SCORES) -> list[dict[str, Any]]:
    """The scores before, oldest first. Raises RecordError for a file that holds something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise RecordError(
            f"{path} holds no scores, and is left as it is.", hint="mend it, or move it away"
        )
    return found


def remember(new: Score, path: Path = SCORES) -> None:
    """Add one round to the scores. Raises RecordError where that cannot be written."""
    text = json.dumps([*remembered(path), asdict(new)], indent=1)
    record.write_atomically(path, text + "\n")


def best(scores: Iterable[dict[str, Any]]) -> tuple[int, int] | None:
    """(right, asked) of the round with the most right answers."""
    whole = [(s.get("right"), s.get("asked")) for s in scores]
    counts = [(r, a) for r, a in whole if isinstance(r, int) and isinstance(a, int)]
    return max(counts, default=None)
