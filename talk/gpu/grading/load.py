"""The attendee's file as a module, and what it raised as a line of that file and a few words."""

from __future__ import annotations

import importlib
import linecache
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from talk.gpu.reasons import reason

NAME = "exercise_answer"
WORDS = 300


def module_of(text: str, path: str) -> types.ModuleType:
    """Run the text as it was read, whatever becomes of the file. Raises what it raises."""
    module = types.ModuleType(NAME)
    module.__file__ = path
    sys.modules[NAME] = module
    # No time of change: the text stays, though the file may be deleted.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def named(where: str) -> Any:
    """ "package.module:NAME" → what is there."""
    module, name = where.split(":")
    return getattr(importlib.import_module(module), name)


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, then what caused it, and so on inwards."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def line_of(error: BaseException, path: str) -> int:
    """The innermost line of that file; 0 where the error does not come from it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    found = 0
    for cause in chain(error):
        frames = traceback.extract_tb(cause.__traceback__, limit=-2_000)
        mine = [frame.lineno or 0 for frame in frames if frame.filename == path]
        found = mine[-1] if mine else found
    return found


def in_kernel(error: BaseException) -> bool:
    """Whether Triton's interpreter was at work."""
    return any(type(cause).__name__ == "InterpreterError" for cause in chain(error))


def words(error: BaseException) -> str:
    """One sentence without its full stop."""
    if isinstance(error, SystemExit):
        return f"it called exit({error.code!r})" if error.code else "it called exit()"
    if isinstance(error, RecursionError):
        return "a function calls itself without end"
    if isinstance(error, MemoryError):
        return "it wants more memory than it is given"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    *_, last = chain(error)
    plain = isinstance(last, (AssertionError, RuntimeError)) and str(last)
    said = reason(last).rstrip(".") if plain or hasattr(last, "node") else told(last)
    return said[:WORDS]


def told(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
