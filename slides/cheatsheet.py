"""The cheat sheet: Triton, the day's rules and this machine's figures on one printed page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slides.medium import Medium
from talk.record import Record
from talk.rows import OVERHEAD_FLOORS


def plan(record: Record, templates: Path) -> list[tuple[str, dict[str, Any]]]:
    """One template, with the outlines of the sections that the record holds."""
    return [("cheatsheet.html.j2", {"held": {o.number: o for o in record.outlines}})]


MEDIUM = Medium(
    page="cheatsheet_page.html.j2",
    parts=("cheatsheet_parts.html.j2",),
    words={"floors": f"{OVERHEAD_FLOORS:g}"},
    plan=plan,
)
