"""The show goes on: what cannot be drawn says so, and the next step is drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def guarded(draw: Callable[[], T], instead: Callable[[Exception], T]) -> T:
    """What `draw` returns, or what stands in for it once it has failed."""
    try:
        return draw()
    except Exception as error:
        return instead(error)
