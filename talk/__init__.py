"""What a demo needs to describe itself."""

from talk.outcome import Column, Table
from talk.section import (
    Benchmark,
    Case,
    Collect,
    Exercise,
    Measure,
    Predict,
    Profile,
    Run,
    Section,
    Show,
    Sweep,
    Trace,
    Traffic,
    Tune,
)

__all__ = [
    "Benchmark",
    "Case",
    "Collect",
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
    "Traffic",
    "Tune",
]
