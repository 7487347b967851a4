"""The terminal, lent to another process group for a while. Linux and other Unix."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def lent(terminal: int, group: int) -> Iterator[None]:
    """Make another process group the terminal's foreground, and take it back."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, group)
        yield
    finally:
        # After a hang-up there is nothing left to take back.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def heard_while(fds: Sequence[int], terminal: int) -> Iterator[None]:
    """A beat whenever one of `fds` is readable, until the terminal hangs up."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    # What is typed is not ours; a hang-up is told without being asked for.
    poll.register(terminal, 0)
    while all(fd != terminal for fd, _ in poll.poll()):
        yield
