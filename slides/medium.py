"""What a record is drawn as: the page around its slides, and the macros that draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from talk.record import Record, SectionOutline

Plan = Callable[[Record, Path], list[tuple[str, dict[str, Any]]]]
"""A record and a folder of templates → those to draw in running order, with what each is about."""


@dataclass(frozen=True)
class Medium:
    """page: the template around all. parts: further macros; those of the last file hold.

    words: what these templates may call besides. plan: None draws title, sections and wrap-up.
    """

    page: str
    parts: tuple[str, ...] = ()
    words: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None


@dataclass(frozen=True)
class Chapter:
    """What one template drew. outline: of its section, if it has one."""

    outline: SectionOutline | None
    html: Markup
