"""An exercise as a notebook: its file in pieces, then the check, then the hints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from talk.attend.carried import Carrier, defined_by
from talk.attend.cells import Cell, Pages, grouped, head, helper_names, is_import, start_of
from talk.source import ROOT, parse

LESSONS = "demos.exercises"
TITLED = re.compile(r"^# (\d+\. .+)\n", re.M)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the table of exercises says of one; read from its source, nothing is imported.

    case: "module:NAME" of a case. checks: the name of known answers, for a plain function.
    The others are as in `talk.attend.lesson`: what right answers alone do not show.
    """

    slug: str
    title: str
    entry: str
    case: str = ""
    checks: str = ""
    hints: tuple[str, ...] = ()
    least_share: float = 0.8
    in_flight: bool = False
    coalesced: bool = False
    instruction: str = ""

    @property
    def more(self) -> str:
        """What the notebook's check does not judge, in words."""
        if not self.case:
            return ""
        unseen = {
            "counts the bytes under way": self.in_flight,
            "counts the sectors that a warp touches": self.coalesced,
            f"looks for {self.instruction} in the PTX": bool(self.instruction),
        }
        grader = " and ".join(words for words, wanted in unseen.items() if wanted)
        return " ".join(
            (
                "Without a GPU this says right or wrong, and nothing of speed. On one, its line "
                f"ends with the share of the ceiling: {100 * self.least_share:.0f} % is asked for.",
                f"In the checkout, `just exercise {self.slug}` {grader}." if grader else "",
            )
        ).strip()


def tasks(root: Path = ROOT) -> tuple[Task, ...]:
    """The exercises and challenges, in their order."""
    module = parse(root, LESSONS)
    node = module.definitions.get("LESSONS") if module else None
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)] if node else []
    return tuple(task_of(call) for call in calls if getattr(call.func, "id", "") == "Lesson")


def task_of(call: ast.Call) -> Task:
    told = {word.arg: word.value for word in call.keywords}
    plain = {
        name: ast.literal_eval(told[name])
        for name in (field.name for field in fields(Task) if field.name != "checks")
        if name in told
    }
    checks = told.get("checks")
    return Task(**plain, checks=checks.id if isinstance(checks, ast.Name) else "")


def exercise_cells(task: Task, root: Path = ROOT) -> tuple[Cell, ...]:
    """The notebook of an exercise: its file in pieces, then the check."""
    path = root / "demos" / "exercises" / f"{task.slug}.py"
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    mine = {name for node in tree.body for name in defined_by(node)}
    carrier = Carrier(root, taken=frozenset(helper_names(root) | mine))
    carrier.imports |= {ast.unparse(node) for node in tree.body if is_import(node)}
    module, name = task.case.split(":") if task.case else (LESSONS, task.checks)
    keys = carrier.follow(module, [name]) if name else ()
    pages = Pages()
    first, _, rest = (ast.get_docstring(tree) or task.title).partition("\n")
    pages.words("title", f"# {first.rstrip('.')}", rest.strip())
    head(pages, root, carrier)
    for _, held in grouped(carrier.pieces(keys)):
        pages.code("case", held, hidden=True)
    for title, part in parts(body_of(text, tree)):
        pages.words("part", f"## {title}" if title else "")
        pages.code("part-code", part)
    pages.words("grade", "## Is it right?", "Run this as often as you like.", task.more)
    pages.code("grade-run", grading(task, carrier, module, name))
    for number, hint in enumerate(task.hints, start=1):
        summary = f"<details><summary>Hint {number} of {len(task.hints)}</summary>"
        pages.words(f"hint-{number}", summary, hint, "</details>")
    return tuple(pages.cells)


def grading(task: Task, carrier: Carrier, module: str, name: str) -> str:
    """The cell that checks what was written."""
    if task.case:
        case = carrier.new_name(module, name)
        return f'measure("{task.slug}", {case}, {{"mine": {task.entry}}}, all_hard=True)'
    return f"checked({task.entry}, {carrier.new_name(module, name)})"


def body_of(text: str, tree: ast.Module) -> str:
    """An exercise's file after its docstring and its imports."""
    before = [n for n in tree.body if is_import(n) or isinstance(n, ast.Expr)]
    last = max((n.end_lineno or 0 for n in before if n.lineno < first_definition(tree)), default=0)
    return "\n".join(text.splitlines()[last:])


def first_definition(tree: ast.Module) -> int:
    return min(start_of(n) for n in tree.body if defined_by(n) and not is_import(n))


def parts(body: str) -> Iterator[tuple[str, str]]:
    """(title, code) between the headings; what stands before the first has none."""
    before, *rest = TITLED.split(body + "\n")
    yield from ((title, part.strip()) for title, part in (("", before),) if part.strip())
    yield from zip(rest[::2], (part.strip() for part in rest[1::2]), strict=True)
