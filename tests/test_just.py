"""The stage through `just`: a step cancelled, IPython and back, and an end without a red line."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.screen import Screen

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout with this environment, so that results/ stays as it is."""
    copy = tmp_path / "memory-wall"
    ignore = shutil.ignore_patterns(".venv", ".git", "results", "build", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=ignore)
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


def just(checkout, *arguments):
    program = (str(checkout / ".venv" / "bin" / "just"),)
    return Screen(*arguments, size=(100, 30), program=program, cwd=checkout)


def test_ctrl_c_cancels_a_step_and_the_talk_ends_without_a_red_line(checkout):
    with just(checkout, "demo", "5") as screen:
        # The model's answer waits for the worker, which takes seconds to import PyTorch.
        screen.until("what share of the bandwidth ceiling?", 30)
        screen.press("\x03")
        screen.until("cancel", 30)
        screen.until("SIMULATED  no GPU here", 60)
        screen.press("g", *"baseline", "enter")
        screen.until("The baseline again")
        screen.press("right")
        screen.until("Ctrl-C cancel", 20)
        screen.press("\x03")
        screen.until("r runs it again", 30)
        screen.press("r")
        assert "◌ SIMULATED" in screen.until("✓ right", 60)
        screen.press("q")
        assert screen.ended() == 0
    assert "error" not in re.sub(r"error \d", "", screen.raw.decode().lower())
    assert len(list((checkout / "results").iterdir())) == 1


def test_ipython_opens_with_the_step_s_inputs_and_the_talk_goes_on(checkout):
    with just(checkout, "demo", "5") as screen:
        screen.until("SIMULATED  no GPU here", 60)
        screen.press("g", *"baseline", "enter")
        screen.until("The baseline again")
        screen.press("i")
        screen.until("In [1]", 60)
        screen.press("(add_naive(x, y) - x - y).abs().max().item() + 41", "enter")
        screen.until("In [2]", 60)
        assert "41.0" in screen.settle()
        screen.press("\x04")
        screen.until("The baseline again", 20)
        screen.press("q")
        assert screen.ended() == 0
