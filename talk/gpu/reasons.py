"""Why a kernel does not compile, in one plain sentence. Standard library only."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

from talk.gpu.linemap import without_paths

COMPLAINT = re.compile(
    r"^.*?\b(?:error|fatal(?: python error)?)\s*: *(.+)$|^(.*assert.*)$", re.I | re.M
)
"""The line of a compiler's output that names the trouble; what follows it is a dump."""


def reason(error: BaseException, heard: str = "") -> str:
    """The sentence behind `error`: the innermost cause that has words, and the code it is about.

    heard: what native code wrote to file descriptor 2 meanwhile. MLIR's reasons stand only there:
    its exception says `PassManager::run failed`.
    """
    chain = tuple(_causes(error))
    words = next((said for cause in reversed(chain) if (said := _words(cause, heard))), "")
    code = next((quoted for cause in reversed(chain) if (quoted := _code(cause))), "")
    return sentence(f"{words}, in `{code}`" if code else words or type(error).__name__)


def ended(returncode: int, heard: str = "") -> str:
    """How a process went away without an answer, in words."""
    if returncode < 0:
        names = {int(known): known.name for known in signal.Signals}
        how = f"was ended by {names.get(-returncode, f'signal {-returncode}')}"
    else:
        how = f"ended with exit code {returncode}"
    complaint = _complaint(heard) or _last_line(heard)
    return f"the compiling process {how}" + (f": {complaint}" if complaint else "")


def sentence(words: str) -> str:
    """One line, without this machine's paths, with a full stop."""
    words = without_paths(" ".join(words.split())).rstrip(".")
    return f"{words}."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _words(error: BaseException, heard: str) -> str:
    said = _unwrapped(getattr(error, "error_message", None) or "")
    if hasattr(error, "node"):
        return said
    if said:
        return _complaint(said) or said
    if isinstance(error, RuntimeError) and (complaint := _complaint(heard)):
        return complaint
    said = str(error)
    plain = isinstance(error, (AssertionError, RuntimeError, ValueError)) or not said
    return said if plain else f"{type(error).__name__}: {said}"


def _unwrapped(message: str) -> str:
    """`NameError("Cannot access …. Note that …")` → its first two sentences."""
    inner = re.fullmatch(r"""\w+\((["'])(.*)\1\)""", message, re.S)
    return ". ".join(re.split(r"\.\s+", inner[2] if inner else message)[:2])


def _complaint(heard: str) -> str:
    found = COMPLAINT.search(heard)
    return (found[1] or found[2]) if found else ""


def _last_line(heard: str) -> str:
    lines = heard.strip().splitlines()
    return lines[-1] if lines else ""


def _code(error: BaseException) -> str:
    """The source line that a CompilationError is about."""
    number = getattr(getattr(error, "node", None), "lineno", None)
    lines = (getattr(error, "src", None) or "").splitlines()
    return lines[number - 1].strip() if number and number <= len(lines) else ""
