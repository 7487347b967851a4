"""A section as a notebook: its words, its code, its questions, its measurements."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from talk import look
from talk.attend.carried import Carrier
from talk.attend.cells import Cell, Pages, grouped, head, helper_names
from talk.attend.figures import folded, provenance, recorded
from talk.errors import TalkError
from talk.look import Badge
from talk.question import question, settled_by
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.source import ROOT, behind, section_module

VERBS = {
    "Measure": "measure",
    "Sweep": "sweep",
    "Tune": "tune",
    "Benchmark": "benchmark",
    "Run": "run",
}
"""Kind of a step → the function of `HELPERS` that performs it."""

LEFT_OUT = {
    (1, "machine"): "The first cell has looked at this machine.",
    (4, "others"): "Three families of kernels; `just demo 4` measures them.",
    (8, "final"): "Every kernel of the day; `just demo 8` measures them all.",
}
"""What would carry half the checkout along, and what to do instead."""


def section_cells(number: int, reading: Reading, root: Path = ROOT) -> tuple[Cell, ...]:
    """The notebook of a section. reading: the record whose words and figures stand in it."""
    record = reading.recording
    known = record.outlines if record else ()
    outline = next((each for each in known if each.number == number), None)
    if outline is None:
        raise TalkError(
            f"section {number} is not recorded, so its words are not known.",
            hint="record it with 'just record', or choose another",
        )
    return Chapter(outline, reading, root).cells()


class Chapter:
    """One section on its way into a notebook."""

    def __init__(self, outline: SectionOutline, reading: Reading, root: Path) -> None:
        self.outline, self.reading = outline, reading
        self.module = section_module(outline.number, root)
        self.root = root
        self.pages = Pages()
        self.carrier = Carrier(root, taken=frozenset(helper_names(root)))
        self.keys = {step.slug: self._keys(step) for step in outline.steps if self.carries(step)}
        self.waiting: list[StepOutline] = []

    def carries(self, step: StepOutline) -> bool:
        """Whether the notebook performs it."""
        kinds = [verb.lower() for verb in VERBS]
        return step.kind in kinds and self.address(step) not in LEFT_OUT

    def _keys(self, step: StepOutline) -> tuple[tuple[str, int], ...]:
        return self.carrier.follow(self.module, names_of(self.declared(step)))

    def declared(self, step: StepOutline) -> ast.Call:
        """The step as its section declares it, its words left out."""
        found = behind(self.module, step.slug, self.root)
        if not found:
            raise TalkError(
                f"{self.outline.number}/{step.slug} is recorded, and no longer in the section.",
                hint="record the section anew: 'just record'",
            )
        call = ast.parse(found[0].text, mode="eval").body
        assert isinstance(call, ast.Call)
        call.keywords = [word for word in call.keywords if word.arg != "show"]
        return call

    def cells(self) -> tuple[Cell, ...]:
        self.opening()
        phase = ""
        for step in self.outline.steps:
            if step.phase != phase and step.kind != "now-you":
                phase = step.phase
                self.pages.words(f"phase-{phase}", f"## {phase.capitalize()}")
            self.step(step)
        for step in self.waiting:
            self.compared(step)
        if any(step.kind == "predict" for step in self.outline.steps):
            self.pages.code("score", "score()")
        return tuple(self.pages.cells)

    def opening(self) -> None:
        title = f"# {self.outline.number}. {self.outline.title}"
        self.pages.words("title", title, self.outline.claim, how_to_read(self.reading))
        head(self.pages, self.root, self.carrier)

    def step(self, step: StepOutline) -> None:
        told = step.text if step.kind != "show" else f"```python\n{step.text.strip()}\n```"
        heading = f"### {step.title}"
        if step.kind == "collect" and not step.says:
            return None  # a picture, and nothing to say of it
        if step.kind == "predict":
            return self.asked(step)
        if step.kind == "now-you":
            return self.pages.words(
                "now-you", heading, told, exercise_hint(self.outline.number, told)
            )
        self.pages.words(step.slug, heading, told, "" if self.carries(step) else self.left(step))
        if self.carries(step):
            shown = {(code.path, code.name) for code in step.code}
            for on_show, text in grouped(self.carrier.pieces(self.keys[step.slug]), shown):
                self.pages.code(f"{step.slug}-code", text, hidden=not on_show)
            self.pages.code(f"{step.slug}-run", self.call(step))
        figures = recorded(self.reading, self.outline, step)
        asked = any(settled_by(self.outline.number, s) == self.address(step) for s in self.waiting)
        self.pages.words(f"{step.slug}-recorded", *(folded(figures) if asked else figures))
        if step.kind not in ("show", "collect"):
            self.pages.words(f"{step.slug}-notes", *prose(step.notes))
        self.settle(self.address(step))

    def address(self, step: StepOutline) -> tuple[int, str]:
        return (self.outline.number, step.slug)

    def left(self, step: StepOutline) -> str:
        """Why the notebook does not perform it."""
        if step.kind in ("show", "collect"):
            return ""
        words = LEFT_OUT.get(self.address(step))
        return words or f"This takes the workshop's own tools: `just demo {self.outline.number}`."

    def call(self, step: StepOutline) -> str:
        """The cell that performs it."""
        call = self.declared(step)
        assert isinstance(call.func, ast.Name)
        call.func = ast.Name(id=VERBS[call.func.id], ctx=ast.Load())
        for node in ast.walk(call):
            if isinstance(node, ast.Name) and node is not call.func:
                node.id = self.carrier.new_name(self.module, node.id)
        return laid_out(call)

    def asked(self, step: StepOutline) -> None:
        """The question, and a cell to answer it."""
        choices = "\n".join(f"{n}. {label}" for n, label in enumerate(step.choices, start=1))
        self.pages.words(step.slug, f"### Predict: {step.title}", choices)
        keys = ", ".join(str(n + 1) for n in range(len(step.choices)))
        self.pages.code(f"{step.slug}-answer", f'answers["{step.slug}"] = None  # {keys}')
        self.waiting.append(step)

    def settle(self, address: tuple[int, str]) -> None:
        """Questions that this step has settled are compared under it."""
        for step in [s for s in self.waiting if settled_by(self.outline.number, s) == address]:
            self.waiting.remove(step)
            self.compared(step)

    def compared(self, step: StepOutline) -> None:
        cell = comparison(self.reading, self.outline.number, step)
        self.pages.code(f"{step.slug}-compare", cell, hidden=True)
        belief = f"The usual wrong belief: {step.misconception}" if step.misconception else ""
        self.pages.words(f"{step.slug}-belief", belief)


def names_of(call: ast.Call) -> list[str]:
    """Names that a declaration reads, the kind of step not among them."""
    arguments = [*call.args, *(word.value for word in call.keywords)]
    found = [n for each in arguments for n in ast.walk(each) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(n.id for n in found))


WIDE = 88


def laid_out(node: ast.expr, indent: int = 0) -> str:
    """An expression as source, an argument a line where one line is too long."""
    text = ast.unparse(node)
    text = (text.replace("'", '"') if '"' not in text else text).replace(" ** ", "**")
    if len(text) + indent <= WIDE:
        return text
    deeper = indent + 4
    if isinstance(node, ast.Call):
        parts = [laid_out(each, deeper) for each in node.args]
        parts += [f"{k.arg}={laid_out(k.value, deeper)}" for k in node.keywords]
        opening, closing = f"{ast.unparse(node.func)}(", ")"
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = [f"{laid_out(k)}: {laid_out(v, deeper)}" for k, v in pairs if k]
        opening, closing = "{", "}"
    elif isinstance(node, ast.Tuple):
        parts, opening, closing = [laid_out(each, deeper) for each in node.elts], "(", ")"
    else:
        return text
    lines = "".join(f"{' ' * deeper}{part},\n" for part in parts)
    return f"{opening}\n{lines}{' ' * indent}{closing}"


def comparison(reading: Reading, section: int, step: StepOutline) -> str:
    """The cell that holds an answer against the model and the measurement."""
    known = question(reading, section, step, votes={})
    right = known.right.key if known.right else None
    figure = str(known.measured) if known.measured else look.quantity(None, "")
    model = f"{known.model} ({step.model_says})" if known.model else ""
    source = passport(reading, section, step)
    lines = [json.dumps(step.slug), json.dumps(step.about)]
    choices = ",\n".join(
        f"        {json.dumps(k, ensure_ascii=False)}: {v}" for k, v in ranges(step)
    )
    lines.append(f"{{\n{choices},\n    }}")
    lines.append(f"recorded={json.dumps((figure, right, source), ensure_ascii=False)}")
    lines.append(f"model={json.dumps(model, ensure_ascii=False)}")
    held = "".join(f"    {line},\n" for line in lines).replace("null", "None")
    return f"compare(\n{held})"


def ranges(step: StepOutline) -> Iterator[tuple[str, str]]:
    for label, (low, high) in step.choices.items():
        yield label, f"({low:g}, {high:g})".replace("inf", "math.inf")


def passport(reading: Reading, section: int, step: StepOutline) -> str:
    """ "RECORDED, NVIDIA H200, 2026-12-01"."""
    settling = settled_by(section, step)
    shown = reading.figures(*settling) if settling else None
    return provenance(shown) if shown else Badge.MISSING.value


def how_to_read(reading: Reading) -> str:
    machine = reading.recording.machine if reading.recording else None
    source = f" on {machine.device.name}, {machine.started[:10]}" if machine else ""
    return (
        "Run the cells from the top. Before a measurement there is a question: answer it first. "
        "All code is here to be edited; each cell names the file it comes from.\n\n"
        f"Figures marked {look.SHAPE[Badge.RECORDED].glyph} **RECORDED** were measured{source}. "
        "On a GPU this notebook measures its own beside them. Without one it runs the kernels in "
        "Triton's interpreter: SIMULATED, right or wrong, and no timing."
    )


def exercise_hint(number: int, told: str) -> str:
    if "just exercise" in told:
        return ""
    return f"In the checkout, `just exercise {number}` copies it to `my/` and grades it."


ON_STAGE = re.compile(r"^\d+ (minutes?|seconds)\.$|\b(screen|the key|tonight|today)\b")
"""What makes sense in a hall alone: the time of a step, its screen, its keys."""
LABELS = {"Say: ": "", "Ask: ": "*Ask yourself:* ", "Usual wrong answer: ": "*Often thought:* "}


def prose(notes: str) -> Iterator[str]:
    """A presenter's notes as one reads them alone."""
    for line in notes.splitlines():
        if not ON_STAGE.search(line):
            label = next((label for label in LABELS if line.startswith(label)), "")
            words = line.removeprefix(label)
            name = "." in words.split(" ")[0].rstrip(".,")  # torch.compile
            yield LABELS.get(label, "") + (words if name else words[:1].upper() + words[1:])
