"""What a demo needs to describe itself."""

from talk.outcome import Column, Table
from talk.section import (
    Case,
    Exercise,
    Measure,
    Predict,
    Profile,
    Run,
    Section,
    Show,
    Sweep,
    Trace,
)

__all__ = [
    "Case",
    "Column",
    "Exercise",
    "Measure",
    "Predict",
    "Profile",
    "Run",
    "Section",
    "Show",
    "Sweep",
    "Table",
    "Trace",
]
