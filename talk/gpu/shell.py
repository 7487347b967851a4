"""IPython with what a step stands on, on the terminal that the driver lends."""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from talk.gpu.improvise import Improviser
from talk.gpu.measure import make_inputs
from talk.gpu.reload import Loaded
from talk.gpu.trouble import attempt
from talk.outcome import Failure
from talk.section import Measure, Step

BANNER = """measure(lambda: …, "mine") checks and times what you wrote; measure? says how.
exit or Ctrl-D returns to the talk."""


def open_shell(loaded: Loaded, slug: str, path: str, improviser: Improviser) -> None:
    """Blocks until it is left. path: of the terminal, whose foreground this process is."""
    with on_terminal(path):
        step = attempt(lambda: loaded.section.step(slug), last=True)
        found = {} if isinstance(step, Failure) else names_of(step, improviser)
        interact({**vars(loaded.module), **found}, f"{', '.join(found) or slug}\n{BANNER}")


def names_of(step: Step, improviser: Improviser) -> dict[str, Any]:
    """The step, and its case, candidates and inputs by the names of the reference's parameters."""
    found: dict[str, Any] = {"step": step, "measure": improviser}
    if not isinstance(step, Measure):
        return found
    case, interpreted = step.case, improviser.bench.interpreted
    found |= {"case": case, "candidates": dict(step.candidates)}
    size = case.small if interpreted else case.size
    inputs = attempt(lambda: make_inputs(case, size, interpreted=interpreted), last=True)
    if isinstance(inputs, Failure):
        print(f"no inputs: {inputs.reason}")
        return found
    found["measure"] = replace(improviser, case=case, inputs=inputs)
    return found | dict(zip(parameters(case.reference, len(inputs)), inputs, strict=True))


def parameters(fn: Callable[..., Any], count: int) -> tuple[str, ...]:
    """A name for each input: `fn`'s own, else x0, x1, …"""
    try:
        kinds = inspect.signature(fn).parameters.values()
        names = [p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return tuple(names[:count]) if len(names) >= count else tuple(f"x{n}" for n in range(count))


def interact(names: dict[str, Any], banner: str) -> None:
    try:
        import IPython  # noqa: F401
    except ImportError:
        import code

        code.interact(banner=f"{banner} (IPython is not installed.)", local=names, exitmsg="")
        return
    with_ipython(names, banner)


def with_ipython(names: dict[str, Any], banner: str) -> None:
    from IPython.terminal.embed import InteractiveShellEmbed
    from prompt_toolkit.application import create_app_session
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.TerminalInteractiveShell.confirm_exit = False
    config.TerminalInteractiveShell.term_title = False
    # Its own session: the input and output of the last shell are closed.
    with create_app_session():
        InteractiveShellEmbed.clear_instance()
        embed: Any = InteractiveShellEmbed
        # One namespace: a function that is written there finds the others, whatever the version.
        demo = type(sys)("demo")
        vars(demo).update(names)
        shell = embed(config=config, banner1=f"{banner}\n", exit_msg="", user_module=demo)
        shell()


@contextlib.contextmanager
def on_terminal(path: str) -> Iterator[None]:
    """File descriptors 0 to 2, and Python's streams over them, on the terminal; then back."""
    streams = sys.stdin, sys.stdout, sys.stderr
    handlers = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        # Ctrl-Z would stop the worker, and the driver would wait for ever.
        signal.SIGTSTP: signal.signal(signal.SIGTSTP, signal.SIG_IGN),
    }
    flush()
    saved = [os.dup(fd) for fd in (0, 1, 2)]
    terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        for fd in (0, 1, 2):
            os.dup2(terminal, fd)
        os.close(terminal)
        set_streams(*(os.fdopen(fd, mode, 1, closefd=False) for fd, mode in enumerate("rww")))
        yield
    finally:
        flush()
        for fd, kept in enumerate(saved):
            os.dup2(kept, fd)
            os.close(kept)
        set_streams(*streams)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def set_streams(stdin: Any, stdout: Any, stderr: Any) -> None:
    sys.stdin = sys.__stdin__ = stdin  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = stdout  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = stderr  # type: ignore[misc]


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The terminal may be gone.
        with contextlib.suppress(OSError):
            stream.flush()
