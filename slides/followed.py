"""One Python line of a kernel, followed through every form that the compiler made of it."""

from __future__ import annotations

from dataclasses import dataclass

from talk import traced
from talk.outcome import Lowering, Outcome, Stage

MOST = 70
"""Characters of 18 px that fit beside the name of a form."""

HEAD = 16
"""Characters kept of a line whose middle is left out."""


@dataclass(frozen=True)
class Form:
    """key: as the record names it. text: its most telling line, where one was kept."""

    key: str
    name: str
    text: str


@dataclass(frozen=True)
class Followed:
    """python: the line as it ran. target: what it was compiled for."""

    python: str
    target: str
    forms: tuple[Form, ...]


NOTHING = Followed(
    python="",
    target="",
    forms=tuple(Form(key, name, "") for key, name in traced.FORMS.items() if key != "amdgcn"),
)
"""Where no lowering was kept: the names alone, of NVIDIA's."""


def followed(outcome: Outcome) -> Followed | None:
    """The first line that loads; None where no lowering was kept, or no line loads."""
    kept = traced.kept(outcome.lowerings)
    one = next(filter(traced.is_nvidia, kept), kept[0] if kept else None)
    line = traced.first_load(one) if one else 0
    source = outcome.code[0].text.split("\n") if outcome.code else []
    if one is None or not 0 < line <= len(source):
        return None
    return Followed(
        python=shortened(source[line - 1].strip()), target=one.target, forms=tuple(forms(one, line))
    )


def forms(one: Lowering, line: int) -> list[Form]:
    known = (stage for stage in one.stages if stage.name in traced.FORMS)
    return [Form(s.name, traced.FORMS[s.name], telling(s, line)) for s in known]


def telling(stage: Stage, line: int) -> str:
    """The line of a form that tells most of what a Python line became; empty for none."""
    lines = traced.lines_of(stage, stage.text.split("\n"), line)
    best = traced.most_telling(lines, 1)
    return shortened(best[0][1]) if best else ""


def shortened(text: str) -> str:
    """Cut at the end, and in the middle where what it tells would be lost."""
    told = traced.TELLING[0].search(text)
    if told and told.end() > MOST:
        text = f"{text[:HEAD].rstrip()} … {text[told.start() :]}"
    return text if len(text) <= MOST else text[: MOST - 1].rstrip() + "…"
