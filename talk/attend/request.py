"""What the driver asks of a grading process, and how that answers: lines of JSON with a nonce."""

from __future__ import annotations

from dataclasses import dataclass

from talk.attend.verdict import Found

PARTS = ("simulate", "compile", "gpu")


@dataclass(frozen=True, kw_only=True)
class Request:
    """One part of grading one file.

    table: the module with the `LESSONS`. text: of the file, as it was read. path: for messages.
    folder: where answers and traces go. nonce: what an answer must carry. needed: bytes that a
    program must have under way. place, ceilings: of a GPU that was measured before.
    """

    part: str
    table: str
    slug: str
    text: str
    path: str
    folder: str
    nonce: str
    seed: int = 0
    needed: int = 0
    deadline_s: float = 10.0
    place: str = ""
    ceilings: str = ""


@dataclass(frozen=True, kw_only=True)
class Message:
    """begun: the file runs from now on. doing: what takes its time. found: the answer."""

    nonce: str
    begun: bool = False
    doing: str = ""
    found: Found | None = None
