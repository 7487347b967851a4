"""The shell in the worker, on a real terminal: what it knows, and every way back to the talk."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

import pexpect
import pytest

from talk.gpu.shell import parameters
from talk.source import ROOT
from tests.test_worker import NO_GPU


@pytest.fixture
def talk() -> Iterator[pexpect.spawn]:
    """A talk that has just lent its terminal."""
    environment = {**NO_GPU, "TERM": "xterm-256color", "IPY_TEST_SIMPLE_PROMPT": "1"}
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
    talk.sendline("x.shape, y.dtype, case.name, list(candidates), add.__name__")
    talk.expect(re.escape("(torch.Size([300]), torch.float32, 'add', ['torch', 'triton'], 'add')"))
    talk.sendline("bool((add(x, y) == x + y).all())")
    talk.expect("True")
    talk.sendline("import time; time.sleep(60)")
    talk.sendintr()
    talk.expect("KeyboardInterrupt")
    talk.sendline("exit")
    talk.expect("BACK IN THE TALK")
    talk.expect("THEN Table")
    talk.expect(pexpect.EOF)


def test_a_worker_that_dies_in_the_shell_gives_the_talk_back(talk: pexpect.spawn) -> None:
    talk.sendline("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    talk.expect("BACK IN THE TALK")
    talk.expect("THEN Table")
    talk.expect(pexpect.EOF)


def test_inputs_without_names_are_numbered() -> None:
    assert parameters(lambda x, weight, bias=None: 0, 2) == ("x", "weight")
    assert parameters(lambda *tensors: 0, 2) == ("x0", "x1")
    assert parameters(os.getpid, 1) == ("x0",)
