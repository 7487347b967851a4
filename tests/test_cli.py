"""The command line as a person meets it: bad input is one clear line, exit code 2, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from talk import keep
from tests import records

ROOT = Path(__file__).resolve().parent.parent
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "triton", "numpy"):
            raise ImportError(f"{name} is blocked in this test")
sys.meta_path.insert(0, Blocked())
from talk.__main__ import main
raise SystemExit(main(sys.argv[1:]))
"""


def talk(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "talk", *arguments, **environment)


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "99"], "no section 99"),
        (["demo", "five"], "no section 'five'"),
        (["demo", "²"], "no section '²'."),
        (["replay", "9" * 5000], "no section"),
        (["demo"], "which section?"),
        (["replay", "5", "--record", "/nowhere"], "name a folder that holds machine.json"),
        (["keep", "--record", "/nowhere"], "name a folder that holds machine.json"),
        (["replay", "5", "--record", "/etc/shadow"], "cannot read"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(arguments, words):
    done = talk(*arguments)
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2 and done.stdout == ""


def test_an_unreadable_record_is_one_clear_line(tmp_path):
    keep.write(tmp_path, records.whole())
    (tmp_path / "machine.json").write_bytes(b"\xff\xfe{}\n")
    done = talk("replay", "5", "--auto", "--record", str(tmp_path))
    assert (done.returncode, "not UTF-8" in done.stderr) == (2, True)


def test_a_section_that_is_not_recorded_is_one_clear_line(tmp_path):
    keep.write(tmp_path, records.whole())
    done = talk("replay", "1", "--auto", "--record", str(tmp_path))
    assert done.returncode == 2
    assert "section 1 is not recorded. Recorded: 5." in done.stderr
    done = talk("replay", "all", "--auto", "--record", str(tmp_path))
    assert done.returncode == 0 and "not recorded: 1" in done.stdout


def test_a_torn_record_replays_with_a_note(tmp_path):
    keep.write(tmp_path, records.whole())
    path = tmp_path / "events.jsonl"
    path.write_text(path.read_text()[:-30])
    done = talk("replay", "5", "--auto", "--record", str(tmp_path))
    assert "torn and was skipped" in done.stderr and "Traceback" not in done.stderr
    assert "One element per program" in done.stdout


def test_replay_works_where_torch_and_triton_cannot_be_imported(tmp_path):
    keep.write(tmp_path, records.whole())
    done = run(sys.executable, "-c", BLOCKED, "replay", "5", "--auto", "--record", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "RECORDED" in done.stdout and "Test GPU 9000" in done.stdout
    assert "LIVE" not in done.stdout


def test_demo_replays_and_says_why_where_torch_cannot_be_imported():
    done = run(sys.executable, "-c", BLOCKED, "demo", "5", "--auto")
    assert done.returncode == 0, done.stderr
    assert "torch and triton not installed" in done.stdout
    # STALE until the section is recorded anew, when somebody edits it without a GPU.
    assert "RECORDED" in done.stdout or "STALE" in done.stdout
    assert "NVIDIA H200" in done.stdout and "LIVE" not in done.stdout


def test_a_failing_step_in_a_replay_is_told_by_the_exit_code(tmp_path):
    keep.write(tmp_path, records.record())
    done = talk("replay", "5", "--auto", "--record", str(tmp_path))
    assert done.returncode == 1
    assert "the worker was ended by signal 11" in done.stdout


@pytest.mark.parametrize("command", [["--help"], ["list"], ["replay", "--help"]])
def test_cheap_commands_import_nothing_heavy(command):
    code = (
        "import sys\nfrom talk.__main__ import main\n"
        f"try: main({command!r})\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'triton', 'numpy', 'IPython', 'prompt_toolkit', 'rich', 'jinja2'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    assert "heavy: []" in run(sys.executable, "-c", code).stdout


def test_list_names_the_sections_in_running_order():
    lines = talk("list").stdout.splitlines()
    assert [line[0] for line in lines[:2]] == ["1", "2"]
    assert "Hit the memory wall" in lines[4]


@pytest.mark.parametrize("closed", ["<&-", ">&-", ">/dev/full"])
def test_a_closed_or_full_stream_is_no_traceback(tmp_path, closed):
    keep.write(tmp_path, records.whole())
    done = run("bash", "-c", f"{sys.executable} -m talk replay 5 --record {tmp_path} {closed}")
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if "full" in closed else 0)


def test_an_error_prints_no_escape_of_a_record(tmp_path):
    keep.write(tmp_path, records.whole())
    path = tmp_path / "machine.json"
    path.write_text(path.read_text().replace('"mode"', '"\\u001b]0;x\\u0007mode"'))
    done = talk("replay", "5", "--record", str(tmp_path))
    assert done.returncode == 2 and "\x1b" not in done.stderr


def test_a_closed_pipe_is_no_traceback(tmp_path):
    keep.write(tmp_path, records.whole())
    command = f"{sys.executable} -m talk replay 5 --auto --record {tmp_path} | head -1"
    done = run("bash", "-c", command)
    assert "Traceback" not in done.stderr
