"""The lines of a traceback or a crash that tell something, and how many are left out."""

from __future__ import annotations

import re

from talk.source import ROOT
from talk.terminal.clean import clean

LINES = 12

NEWEST_FIRST = "most recent call first"
"""How faulthandler heads its frames; an ordinary traceback has the newest last."""
FATAL = re.compile(r"Fatal Python error|Windows fatal exception")
FRAME = re.compile(r'\s*File "(?P<path>[^"]*)", line \d+')
MACHINERY = re.compile(r"(^|/)talk/|/(site|dist)-packages/|/lib/python\d|^<")
"""Frames of the stage, of libraries and of Python itself."""


def telling(text: str) -> list[str]:
    """At most `LINES` lines: of a crash the demos' frames, else its head; else the end."""
    lines = clean(text).strip("\n").replace(f"{ROOT}/", "").split("\n")
    if not any(NEWEST_FIRST in line for line in lines):
        left_out = len(lines) - LINES
        said = [f"… {left_out} lines before these are in the record"] if left_out > 0 else []
        return said + lines[-LINES:]
    lines = crash(lines)
    ours = [line for line in lines if of_a_demo(line)]
    kept = [lines[0], *ours][:LINES] if ours else lines[:LINES]
    left_out = len(lines) - len(kept)
    return [*kept, *([f"… {left_out} more lines are in the record"] if left_out else [])]


def crash(lines: list[str]) -> list[str]:
    """From the error on, without the list of extension modules."""
    first = next((n for n, line in enumerate(lines) if FATAL.match(line)), 0)
    return [line for line in lines[first:] if line and not line.startswith("Extension modules:")]


def of_a_demo(line: str) -> bool:
    """Whether a line is a frame of a demo."""
    frame = FRAME.match(line)
    return frame is not None and not MACHINERY.search(frame["path"])


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    look_at(
        *telling(
            "Fatal Python error: made up\n"
            f"Current thread 0x0 ({NEWEST_FIRST}):\n"
            '  File "demos/up.py", line 1 in up\n'
            '  File "talk/made_up.py", line 1 in down'
        )
    )
