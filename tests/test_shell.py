"""The shell in the worker, on a real terminal: what it knows, and every way back to the talk."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from talk.gpu.shell import parameters
from talk.source import ROOT
from tests.test_worker import NO_GPU


@pytest.fixture
def talk() -> Iterator[pexpect.spawn]:
    """A talk that has just lent its terminal."""
    environment = {**NO_GPU, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tests.shell_talk"],
        cwd=str(ROOT),
        env=environment,
        encoding="utf-8",
        timeout=30,
        dimensions=(24, 100),
    )
    child.delaybeforesend = None
    child.expect("returns to the talk")
    child.expect("In ")
    yield child
    child.close(force=True)


def test_it_knows_the_inputs_the_case_and_the_functions_and_returns(talk: pexpect.spawn) -> None:
    talk.send("print([*x.shape], y.dtype, case.name, [*candidates], add.__name__)\r")
    talk.expect(re.escape("[300] torch.float32 add ['torch', 'triton'] add"))
    talk.send("print('same', bool((add(x, y) == x + y).all()))\r")
    talk.expect("same True")
    talk.send("print('now', 'asleep'); import time; time.sleep(60)\r")
    talk.expect("now asleep")
    talk.sendintr()
    talk.expect("KeyboardInterrupt")
    talk.expect("In ")
    talk.send("exit\r")
    talk.expect("BACK IN THE TALK")
    talk.expect("THEN Table")
    talk.expect(pexpect.EOF)


def test_a_worker_that_dies_in_the_shell_gives_the_talk_back(talk: pexpect.spawn) -> None:
    talk.send("import os, signal; os.kill(os.getpid(), signal.SIGKILL)\r")
    talk.expect("BACK IN THE TALK")
    talk.expect("THEN Table")
    talk.expect(pexpect.EOF)


def test_a_talk_that_is_killed_takes_its_worker_along(talk: pexpect.spawn) -> None:
    talk.send("import os, time; print('pid', os.getpid()); time.sleep(60)\r")
    talk.expect(r"pid (\d+)\r")
    worker = int(talk.match.group(1))
    os.kill(talk.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while runs(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not runs(worker)


def runs(pid: int) -> bool:
    """Whether the process is there, and not merely waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_inputs_without_names_are_numbered() -> None:
    assert parameters(lambda x, weight, bias=None: 0, 2) == ("x", "weight")
    assert parameters(lambda *tensors: 0, 2) == ("x0", "x1")
    assert parameters(os.getpid, 1) == ("x0",)
