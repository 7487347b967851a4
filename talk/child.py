"""One worker process: its socket, its captured output, its end. Linux."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from talk.messages import Report, decode, encode
from talk.source import ROOT

TAIL = 16_384
"""Bytes of output that are kept: a few screens, and no burden for the record."""


class Child:
    """A process that runs `python -m talk.gpu`, in a process group of its own.

    Not in a session of its own: it must be able to take over the terminal for a shell.
    Raises OSError where no process can be started.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "talk.gpu", str(theirs.fileno())],
                cwd=root,
                env=with_path(environment, root, ROOT),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        assert self._process.stdout is not None
        self._stdout = self._process.stdout
        self._socket.setblocking(False)
        os.set_blocking(self._stdout.fileno(), False)
        self._pidfd = pidfd(self._process.pid)
        self._unread = b""
        self._tail = b""
        self._dropped = 0

    @property
    def pid(self) -> int:
        """Also the number of its process group."""
        return self._process.pid

    def fds(self) -> tuple[int, ...]:
        """Readable when it reports, prints or dies."""
        sources = (self._socket.fileno(), self._stdout.fileno())
        return sources if self._pidfd is None else (*sources, self._pidfd)

    def send(self, message: Any) -> None:
        """To a dead worker too: its end is noticed elsewhere."""
        with contextlib.suppress(OSError):
            self._socket.sendall(encode(message))

    def reports(self) -> list[Report]:
        """What has arrived. Raises ValueError for a line that is no report."""
        *lines, self._unread = (self._unread + drained(self._socket.fileno())).split(b"\n")
        self._hear()
        return [decode(Report, line) for line in lines]

    def output(self) -> str:
        """What was printed since the last call: its tail, and how much came before."""
        self._hear()
        text = self._tail.decode(errors="replace")
        if self._dropped:
            text = f"[{self._dropped:,} bytes printed before this are not kept]\n{text}"
        self._tail, self._dropped = b"", 0
        return text

    def ended(self) -> bool:
        """Whether the process is gone; what it reported last can still be read."""
        return self._process.poll() is not None

    def interrupt(self) -> None:
        if not self.ended():
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """With everything that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()

    def close(self) -> int:
        """End it, and return its exit status: negative for a signal."""
        self.kill()
        status = self._process.wait()
        for fd in (self._socket, self._stdout):
            fd.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        return status

    def _hear(self) -> None:
        # A worker whose output nobody reads stops after 64 KiB.
        heard = self._tail + drained(self._stdout.fileno())
        self._dropped += max(0, len(heard) - TAIL)
        self._tail = heard[-TAIL:]


def pidfd(pid: int) -> int | None:
    """Readable once the process ends, whatever its children hold open; None on an old kernel."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def drained(fd: int, most: int = 1 << 24) -> bytes:
    """What can be read at once without waiting."""
    parts = [b""]
    while sum(map(len, parts)) < most:
        try:
            part = os.read(fd, 1 << 16)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def with_path(environment: Mapping[str, str], *folders: Path) -> dict[str, str]:
    """The same environment, where Python finds the modules of these folders first."""
    paths = [*map(str, folders), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, dict.fromkeys(paths)))}


def how_it_ended(status: int) -> str:
    """An exit status in words."""
    if status == -signal.SIGKILL:
        return "was killed (SIGKILL); where nobody did, memory ran out"
    if status < 0:
        # Real-time signals have numbers alone.
        names = {int(known): known.name for known in signal.Signals}
        return f"crashed ({names.get(-status, f'signal {-status}')})"
    return f"ended by itself with exit status {status}"


def tail(output: str, lines: int = 40) -> str:
    return "\n".join(output.splitlines()[-lines:])


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return f": {lines[-1].strip()}" if lines else ""
