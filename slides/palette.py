"""The colours of `talk.look` as CSS variables, for a light and a dark ground."""

from __future__ import annotations

from talk import look
from talk.look import Ink

INKS: dict[str, Ink] = {
    **look.PHASE,
    "ceiling": look.CEILING,
    "torch": look.TORCH,
    **{badge.value.lower(): ink for badge, ink in look.SHAPE.items()},
}


def palette() -> str:
    """Both themes' rules: `--naive`, `--recorded` and their like."""
    light = "".join(f"--{name}:{ink.light};" for name, ink in INKS.items())
    dark = "".join(f"--{name}:{ink.dark};" for name, ink in INKS.items())
    return f":root{{{light}}}\n:root[data-theme=dark]{{{dark}}}"
