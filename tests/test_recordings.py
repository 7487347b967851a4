"""The committed recordings hold what replay, slides and tests need, and nothing private."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from talk import keep, record, runner, source
from talk.__main__ import numbers, parser
from talk.reading import Reading
from talk.rows import flags_of
from talk.sentence import say

FOLDERS = sorted(path.parent for path in runner.RECORDINGS.glob("*/machine.json"))


def test_there_is_one_and_all_stay_small():
    sizes = [path.stat().st_size for path in runner.RECORDINGS.rglob("*") if path.is_file()]
    assert FOLDERS and sum(sizes) < 2_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_recording_is_complete_live_and_of_one_commit(folder):
    kept = record.read(folder)
    assert keep.incomplete(kept) == ""
    assert len({event.outcome.commit for event in kept.events if event.outcome}) == 1
    assert all(event.outcome.commit for event in kept.events if event.outcome)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_recording_names_no_host_and_no_absolute_path(folder):
    assert record.read(folder).machine.host == ""
    text = "".join(path.read_text(encoding="utf-8") for path in Path(folder).iterdir())
    assert not re.findall(r"(?<![\w.])/(?:home|root|tmp|work|opt|usr|mnt)/[^\s\"\\]*", text)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_take_away_of_a_recording_can_be_said(folder):
    kept = record.read(folder)
    reading = Reading(recording=kept)
    for outline in kept.outlines:
        for step in outline.steps:
            assert not step.says or say(step.says, reading, outline.number), step.slug


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_command_that_repeats_a_number_is_one_that_runs(folder):
    commands = {event.outcome.command for event in record.read(folder).events if event.outcome}
    for command in commands:
        just, *arguments = shlex.split(command)
        options = parser().parse_args(arguments)
        assert just == "just" and numbers(options.section), command


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_recorded_bandwidth_is_above_the_nominal_peak(folder):
    kept = record.read(folder)
    nominal = kept.machine.device.nominal_gbps
    every = (t for e in kept.events if e.outcome for t in e.outcome.timings)
    timings = [t for t in every if t.clock == "device"]  # hot: out of a cache
    rated = [t for t in timings if not flags_of(t, kept.machine.ceilings)]
    assert rated and nominal
    assert max(t.bytes / t.median_ms / 1e6 for t in rated) <= nominal


@pytest.mark.gpu
def test_every_step_is_right_at_full_size_on_a_gpu(tmp_path):
    """Each candidate beside its reference, on its own inputs and the hard ones, then timed."""
    copy = tmp_path / "checkout"
    shutil.copytree(source.ROOT, copy, ignore=shutil.ignore_patterns(".venv", "results", ".git"))
    command = [sys.executable, "-m", "talk", "record", "--quick", "--commit", "0000000"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stdout[-2000:]
    assert re.search(r"^73 steps, 0 failed", done.stdout, re.MULTILINE)
    (folder,) = (copy / "results").iterdir()
    checks = [c for e in record.read(folder).events if e.outcome for c in e.outcome.checks]
    assert len(checks) > 400 and all(check.ok for check in checks)
