"""What driver and worker say to each other, one JSON line a message. Standard library only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from talk import stage, wire

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Ask:
    """To the worker. do: `perform` or `shell`. terminal: path of the one lent to the shell."""

    do: str
    section: int
    step: str
    terminal: str = ""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """Work that must end within `deadline_s` has begun."""

    deadline_s: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """From the worker; one field is set.

    broken: why a section cannot be imported. shut: the shell has ended.
    """

    begun: Begun | None = None
    opened: stage.Opened | None = None
    outlined: stage.Outlined | None = None
    progressed: stage.Progressed | None = None
    arrived: stage.Arrived | None = None
    improvised: stage.Improvised | None = None
    said: stage.Said | None = None
    broken: str = ""
    shut: bool = False


def encode(message: Any) -> bytes:
    """One line. A lone surrogate, which UTF-8 cannot hold, becomes a question mark."""
    return (wire.dumps(message) + "\n").encode(errors="replace")


def decode(kind: type[T], line: bytes) -> T:
    """Raises ValueError for what is no `kind`."""
    return wire.from_plain(kind, json.loads(line))
