"""The middle of the screen: what this step shows at this moment, in blocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.look import Badge
from talk.outcome import Code, Failure
from talk.question import settled_by
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.rows import Shown
from talk.stage import State
from talk.terminal import question
from talk.terminal.badge import missing, source
from talk.terminal.clean import clean, line, styled, words
from talk.terminal.code import code
from talk.terminal.collected import collected
from talk.terminal.failure import failure
from talk.terminal.improvised import improvised
from talk.terminal.outcome import outcome, unrepeated
from talk.terminal.ruled import Ruled
from talk.terminal.scored import scored
from talk.terminal.trace import Look, trace

Blocks = Iterator[RenderableType]

ABOVE = 3
"""Lines above what a step left behind: its title, a blank one, where the figures come from."""


@dataclass(frozen=True)
class Scene:
    """One step, and all that its screen may draw on.

    rows: lines there are for it; 0 on a page, where there are any number and no key moves.
    """

    state: State
    reading: Reading
    section: SectionOutline
    step: StepOutline
    rows: int = 0

    @property
    def look(self) -> Look | None:
        """Where in a trace one looks; None on a page, where no key moves."""
        state = self.state
        if not self.rows:
            return None
        return Look(
            traced=state.traced,
            form=state.form,
            variant=state.variant,
            target=state.target,
            whole=state.whole,
            rows=self.rows - ABOVE,
        )

    @property
    def shown(self) -> tuple[Shown, ...]:
        """Outcomes of this step, once it was performed in this talk."""
        address = (self.section.number, self.step.slug)
        if self.state.running == address or address not in self.state.done | self.state.failed:
            return ()
        return self.reading.shown(*address)

    @property
    def failed(self) -> bool:
        return (self.section.number, self.step.slug) in self.state.failed

    @property
    def code(self) -> tuple[Code, ...]:
        """The code that ran; before that, the code that will."""
        ran = next((shown.outcome.code for shown in self.shown if shown.outcome.code), ())
        return ran or tuple(each for each in self.step.code if each.shown)


def body(scene: Scene) -> Blocks:
    """The blocks of a step, to be set apart by blank lines."""
    if scene.state.code:
        yield code(scene.code) if scene.code else styled("This step has no code.", "quiet")
        return
    if scene.state.whole_form:
        yield from whole_form(scene)
        return
    yield title(scene)
    yield from notes(scene)
    if scene.step.kind == "now-you":
        yield from now_you(scene)
    else:
        yield from step(scene)


def whole_form(scene: Scene) -> Blocks:
    """One form of a kernel, and nothing else."""
    traces = (shown for shown in scene.shown if shown.outcome.traces)
    for shown in itertools.islice(traces, 1):
        done = shown.outcome
        yield Group(source(shown), trace(done.lowerings, done.code, scene.look))


def title(scene: Scene) -> Text:
    glyph = look.PHASE[scene.step.phase].glyph if scene.step.phase in look.PHASE else ""
    now_you = scene.step.kind == "now-you"
    style = f"{scene.step.phase}.{'here' if now_you else 'title'}" if glyph else "strong"
    words = f"{glyph} {clean(scene.step.title)}".strip()
    return styled(f" {words} " if now_you else words, style)


def notes(scene: Scene) -> Blocks:
    if scene.state.notes:
        yield Ruled(words(scene.step.notes.strip() or "no notes for this step"), "strong")


def now_you(scene: Scene) -> Blocks:
    """The exercise that ends a section, and how good one's predictions were."""
    step, own = scene.step, scored(scene.state, scene.reading)
    if step.minutes:
        yield styled(f"{step.minutes} minute{'s' * (step.minutes != 1)}", "strong")
    yield words(step.text.strip())
    if own:
        yield styled(own, "strong")


def step(scene: Scene) -> Blocks:
    if scene.section.claim and scene.step == scene.section.steps[0]:
        yield words(scene.section.claim.strip(), "strong")
    if scene.step.text.strip():
        yield words(scene.step.text.strip())
    if scene.step.kind == "predict":
        yield question.question(asked(scene, scene.step))
    elif scene.step.kind == "collect":
        yield collected(scene.step, scene.state, scene.reading)
    else:
        yield from outcomes(scene)
    found = scene.reading.improvised(scene.section.number, scene.step.slug)
    if found:
        yield improvised(found)
    # A trace shows its code itself, line by line.
    if scene.code and not (scene.state.tracing and scene.rows):
        yield code(scene.code)


def outcomes(scene: Scene) -> Blocks:
    """What the step left behind; right after its figures, the predictions that they settle."""
    found = scene.shown
    if scene.failed and not any(shown.outcome.failure for shown in found):
        yield failure(Failure(kind="missing", reason=lacking(scene)), again(scene))
    if not found:
        return
    kept = unrepeated(found)
    blocks = [
        [*outcome(s, scene.reading, scene.step.phase, again(scene), scene.look)] for s in kept
    ]
    yield from (first for first, *_ in blocks)
    if unmeasured(found):
        yield missing()
    if scene.reading.figures(scene.section.number, scene.step.slug):
        yield from answers(scene)
    yield from blocks[-1][1:]
    for shown, (_, *rest) in zip(kept[:-1], blocks[:-1], strict=True):
        yield from (Group(source(shown), part) for part in rest[:1])
        yield from rest[1:]


def unmeasured(found: Sequence[Shown]) -> bool:
    """Whether a step was only ever interpreted, and left no figures."""
    return all(
        s.badge is Badge.SIMULATED and not s.outcome.measured and not s.outcome.failure
        for s in found
    )


def answers(scene: Scene) -> Blocks:
    for earlier in predictions(scene):
        heading = styled("You were asked: ", "quiet").append_text(line(earlier.title))
        yield Group(heading, question.verdict(asked(scene, earlier)))


def predictions(scene: Scene) -> Iterable[StepOutline]:
    """The questions that this step answers."""
    here = (scene.section.number, scene.step.slug)
    steps = (step for step in scene.section.steps if step.kind == "predict")
    return tuple(step for step in steps if settled_by(scene.section.number, step) == here)


def asked(scene: Scene, step: StepOutline) -> question.Asked:
    return question.asked(scene.state, scene.reading, scene.section, step)


def again(scene: Scene) -> str:
    if scene.state.mode == "replay":
        return "it is part of the recording; → goes on."
    return "r runs it again, → goes on."


def lacking(scene: Scene) -> str:
    return f"there is no outcome of {scene.section.number}/{scene.step.slug} to show"


if __name__ == "__main__":
    from talk.terminal.made_up import READING, SECTION, STATE, STEP, look_at

    look_at(*body(Scene(STATE, READING, SECTION, STEP)))
