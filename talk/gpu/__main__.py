"""The worker process: `python -m talk.gpu FD`, where FD is its end of a socket pair."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import signal
import sys
from pathlib import Path

from talk import stage
from talk.gpu.ground import choose
from talk.gpu.link import Link
from talk.gpu.process import end_with_parent
from talk.messages import Report


def main() -> None:
    settle()
    ground = choose()
    if ground.mode == "replay":
        Link(int(sys.argv[1])).report(Report(opened=stage.Opened("replay", ground.why)))
        return
    # Not sooner: without bytecode PyTorch takes seconds to import. Not later: demos are edited.
    sys.dont_write_bytecode = True
    from talk.gpu.session import Session, leave

    link = Link(int(sys.argv[1]))
    signal.signal(signal.SIGINT, link.on_interrupt)
    Session(link, link.hello(), ground, Path.cwd()).run()
    leave()


def settle() -> None:
    """A process group of its own, an end with the driver's, and output that is never lost."""
    with contextlib.suppress(PermissionError):
        os.setpgid(0, 0)
    end_with_parent()
    signal.signal(signal.SIGINT, lambda number, frame: None)
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)


main()
