"""What a demo needs to describe itself."""

from talk.attend.lesson import Lesson
from talk.hardware import BY_CAPABILITY, BY_TARGET, GPUS
from talk.occupancy import occupancy
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
    "BY_CAPABILITY",
    "BY_TARGET",
    "GPUS",
    "Benchmark",
    "Case",
    "Collect",
    "Column",
    "Exercise",
    "Lesson",
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
    "occupancy",
]
