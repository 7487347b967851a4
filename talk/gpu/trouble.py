"""What went wrong in a step, as data. What a demo raises is caught here, whatever it is."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from talk.errors import TalkError
from talk.gpu.bounds import cut
from talk.gpu.reasons import reason
from talk.outcome import Failure
from talk.source import ROOT

T = TypeVar("T")

DEVICE_ERRORS = ("CUDA error", "HIP error", "Triton Error [")
"""How PyTorch and Triton begin what a GPU driver answered."""
NO_FILES = (errno.EMFILE, errno.ENFILE)
"""This process can open no file any more, so it cannot even import what was edited."""

REASON = 2_000
DETAIL = 16_384
"""Characters that are kept: an exception may carry a whole array in its words."""


class Interrupted(KeyboardInterrupt):
    """Somebody asked to cancel; any other KeyboardInterrupt is the demo's own error."""


def attempt(work: Callable[[], T], *, root: Path = ROOT, last: bool = False) -> T | Failure:
    """The result of `work`, or why there is none.

    An error that leaves the device unusable is raised on, unless this is the last to hear of it.
    """
    try:
        return work()
    except Interrupted:
        raise
    # SystemExit and its like too: a stray sys.exit() in a demo ends a step, not the worker.
    except BaseException as error:
        failure = explain(error, root)
        if failure.kind == "crash" and not last:
            raise
        return failure


def explain(error: BaseException, root: Path = ROOT) -> Failure:
    """kind: `memory`, `crash` (the next step needs a fresh process) or `error`."""
    where = place(error, root)
    return Failure(
        kind=kind_of(error),
        reason=cut(f"{where}: {words(error)}" if where else words(error), REASON),
        detail=cut(short_traceback(error, root), DETAIL),
    )


def kind_of(error: BaseException) -> str:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "memory"
    if isinstance(error, OSError) and error.errno in NO_FILES:
        return "crash"
    if str(error).startswith(DEVICE_ERRORS) or device_lost():
        return "crash"
    return "error"


def device_lost() -> bool:
    """Whether the GPU answers this process no more, as after an illegal memory access."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def words(error: BaseException) -> str:
    """One sentence."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        # "CUDA out of memory. Tried to allocate 20.00 GiB." and then advice to developers.
        return ". ".join(str(error).split(". ")[:2]).rstrip(".") or "out of memory"
    if isinstance(error, SystemExit):
        return f"it called exit({'' if error.code is None else error.code!r})"
    if type(error).__name__ == "OutOfResources":
        return too_large(error)
    if str(error).startswith(DEVICE_ERRORS):
        return str(error).splitlines()[0]
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    if isinstance(error, TalkError):
        return ": ".join(str(error).replace(".\n  ", "\n").splitlines())
    return reason(error).rstrip(".")


def too_large(error: BaseException) -> str:
    """Triton's OutOfResources: what the kernel needs against what this GPU has."""
    required, limit = getattr(error, "required", 0), getattr(error, "limit", 0)
    name = getattr(error, "name", "resources")
    need, have = amount(required, name), amount(limit, name)
    advice = "halve the block or num_stages"
    return f"one program needs {need} of {name}, this GPU gives it {have}: {advice}"


def amount(count: int, name: str) -> str:
    if "memory" not in name:
        return f"{count:,}"
    return f"{count / 1024:,.0f} KiB" if count >= 1024 else f"{count:,} bytes"


def place(error: BaseException, root: Path = ROOT) -> str:
    """ "demos/kernels/add.py line 12", the innermost line of a demo; empty where there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{relative(error.filename, root)} line {error.lineno}"
    cause: BaseException | None = error
    found = ""
    while cause is not None:
        frames = traceback.extract_tb(cause.__traceback__)
        ours = [frame for frame in frames if is_demo(frame.filename, root)]
        found = f"{relative(ours[-1].filename, root)} line {ours[-1].lineno}" if ours else found
        cause = cause.__cause__
    return found


def short_traceback(error: BaseException, root: Path = ROOT) -> str:
    """The frames of demos alone; all frames where none is a demo's."""
    whole = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = whole
    while part is not None:
        ours = [frame for frame in part.stack if is_demo(frame.filename, root)]
        if ours:
            part.stack = traceback.StackSummary.from_list(ours)
        part = part.__cause__ or part.__context__
    return "".join(whole.format()).replace(f"{root}/", "")


def is_demo(filename: str, root: Path) -> bool:
    """Whether a file belongs to the checkout and neither to the stage nor to a library in it."""
    path = Path(filename)
    if not path.is_relative_to(root) or path.is_relative_to(sys.prefix):
        return False
    return path.relative_to(root).parts[0] != "talk"


def relative(filename: str, root: Path) -> str:
    path = Path(filename)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
