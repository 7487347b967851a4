"""Every command of the README is run, in a copy of the checkout that shares this environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_RUN = {
    ".venv/bin/just test": "it runs this test",
    "just keep": "for a machine with a GPU: it refuses what none measured (test_record.py)",
    "just exercise 1 --watch": "it waits for a save (test_exercise_cli.py)",
    "just exercise 1 --solution": "it comes after an attempt (test_exercise_cli.py)",
}
MAY_MISS = {
    "just bench": "exits with 1 where a busy machine misses a figure",
    "just exercise 1": "exits with 1 until it is solved",
}


def commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy with its own .venv: hard links, so that it costs seconds and harms nothing."""
    copy = tmp_path_factory.mktemp("clone") / "memory-wall"
    ignore = shutil.ignore_patterns(".venv", ".git", "results", "build", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=ignore)
    environment = Path(sys.prefix)
    linked = subprocess.run(["cp", "-al", environment, copy / ".venv"], capture_output=True)
    if linked.returncode:
        shutil.copytree(environment, copy / ".venv", symlinks=True)
    return copy


def test_every_exception_is_a_command_of_the_readme():
    assert set(NOT_RUN) <= set(commands())


def test_the_two_commands_come_first():
    assert "&& .venv/bin/just demo 5" in commands()[0]
    assert commands()[1] == ".venv/bin/just test"


def each_once() -> list[str]:
    """What is to be run; a line that an earlier one ends with has been run already."""
    found: list[str] = []
    for command in commands():
        if command not in NOT_RUN and not any(earlier.endswith(command) for earlier in found):
            found.append(command)
    return found


@pytest.mark.parametrize("command", each_once())
def test_a_command_of_the_readme_works(command, checkout):
    path = f"{checkout / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=checkout,
        env=os.environ | {"PATH": path, "VIRTUAL_ENV": str(checkout / ".venv")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    allowed = (0, 1) if command in MAY_MISS else (0,)
    assert done.returncode in allowed, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "Traceback" not in done.stderr
