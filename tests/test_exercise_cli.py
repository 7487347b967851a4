"""`just exercise`: the whole way of an attendee, from an empty folder, and each part of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from talk.attend.exercise import Desk, chosen, command, lessons, listed, saves
from talk.attend.folder import Folder, Progress
from talk.attend.grade import Grader
from talk.errors import TalkError
from talk.source import ROOT

SOLVED = ROOT / "demos" / "exercises" / "solutions"
WRONG = ROOT / "demos" / "exercises" / "wrong"
ROOFLINE = chosen("roofline", lessons())


class Said(list):
    @property
    def text(self):
        return "\n".join(self)


@pytest.fixture
def said():
    return Said()


@pytest.fixture
def desk(tmp_path, said):
    return Desk(Folder(tmp_path / "my"), Grader(), said.append, lambda seconds: None)


def solve(desk, lesson=ROOFLINE, source=None):
    text = (source or SOLVED / f"{lesson.slug}.py").read_text(encoding="utf-8")
    desk.folder.file(lesson.slug).write_text(text, encoding="utf-8")


# The folder


def test_an_exercise_is_copied_once_and_never_overwritten(tmp_path):
    folder = Folder(tmp_path / "my")
    assert folder.copy("ragged") and not folder.copy("ragged")
    assert folder.untouched("ragged", folder.file("ragged").read_text(encoding="utf-8"))
    folder.file("ragged").write_text("mine", encoding="utf-8")
    assert not folder.copy("ragged") and folder.file("ragged").read_text() == "mine"


def test_a_reset_keeps_every_copy(tmp_path):
    folder = Folder(tmp_path / "my")
    assert folder.reset("ragged") == ""
    for n in (1, 2):
        folder.file("ragged").write_text(f"mine {n}", encoding="utf-8")
        assert folder.reset("ragged") == f"my/ragged.{n}.py"
    assert [folder.file(f"ragged.{n}").read_text() for n in (1, 2)] == ["mine 1", "mine 2"]
    assert "add_kernel" in folder.file("ragged").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "{", '{"exercises": 3}', '{"other": 1}'])
def test_a_progress_that_cannot_be_read_is_begun_anew(tmp_path, text):
    folder = Folder(tmp_path)
    (tmp_path / ".progress.json").write_text(text)
    assert folder.progress("ragged") == Progress()
    assert folder.note("ragged", hints=2).hints == folder.progress("ragged").hints == 2
    assert folder.progress("tiles") == Progress()


# The desk


def test_the_first_time_it_says_what_to_do_and_an_untouched_file_is_no_answer(desk, said):
    assert desk.run(ROOFLINE) == 1
    assert "Copied to my/roofline.py." in said.text and "--watch" in said.text
    assert "still to be written" in said.text and "just exercise 4 --hint" in said.text
    assert desk.run(ROOFLINE) == 1 and said.text.count("Copied") == 1


def test_a_right_answer_is_solved_and_stays_so(desk, said):
    desk.run(ROOFLINE)
    solve(desk)
    assert desk.run(ROOFLINE) == 0 and said[-1] == "Solved."
    desk.reset(ROOFLINE)
    assert [line.split()[-1] for line in listed(lessons(), desk.folder)][3] == "solved"


def test_hints_come_one_by_one_and_are_remembered(desk, said):
    for number in (1, 2, 3):
        said.clear()
        desk.hint(ROOFLINE)
        assert f"Hint {number} of 3" in said.text and said.text.count("Hint") == 1
    said.clear()
    desk.hint(ROOFLINE)
    assert said.text.count("Hint") == 3 and "--solution" in said[-1]


def test_the_solution_comes_after_an_attempt(desk, said):
    with pytest.raises(TalkError, match="comes after an attempt"):
        desk.solution(ROOFLINE)
    desk.run(ROOFLINE)
    with pytest.raises(TalkError, match="comes after an attempt"):
        desk.solution(ROOFLINE)
    solve(desk, source=WRONG / "roofline" / "always_memory.py")
    desk.run(ROOFLINE)
    said.clear()
    assert desk.solution(ROOFLINE) == 0
    assert said[0].startswith("# 3.") and "def wall(" in said.text and "intensity" not in said.text


def test_a_file_that_cannot_be_read_is_one_line(desk):
    desk.folder.path.mkdir()
    desk.folder.file("roofline").write_bytes(b"\xff\xfe")
    with pytest.raises(TalkError, match="not text in UTF-8"):
        desk.run(ROOFLINE)


@pytest.mark.parametrize("which", ["", "99", "rag", "\x1b[31m"])
def test_an_exercise_that_there_is_not_is_one_line(which):
    with pytest.raises(TalkError) as caught:
        chosen(which, lessons())
    assert "1 ragged" in str(caught.value) and "\x1b" not in str(caught.value)


def test_each_is_known_by_number_and_by_name():
    for lesson in lessons():
        assert chosen(str(lesson.number), lessons()) is chosen(lesson.slug, lessons())
    assert command(ROOFLINE) == "just exercise 4"
    assert command(chosen("9", lessons())) == "just exercise multiply_add"


# Watching


def test_a_watched_file_is_graded_at_each_save_and_half_a_file_is_waited_for(tmp_path):
    file, looks = tmp_path / "a.py", iter(range(100))

    def sleep(seconds):
        n = next(looks)
        if n == 3:
            file.write_text("")  # emptied, as some editors do
        if n == 5:
            file.unlink()
        if n == 7:
            file.write_text("b = 2")
        if n == 12:
            raise KeyboardInterrupt

    file.write_text("a")
    seen = []
    with pytest.raises(KeyboardInterrupt):
        for _ in saves(file, sleep):
            seen.append(file.read_text())
    assert seen == ["a", "b = 2"]


def test_watching_ends_with_ctrl_c_and_says_whether_it_is_solved(tmp_path, said):
    saved = []

    def sleep(seconds):
        if "Watching" in said.text and not saved:
            saved.append(solve(desk))
        elif desk.folder.progress("roofline").solved:
            raise KeyboardInterrupt

    desk = Desk(Folder(tmp_path / "my"), Grader(), said.append, sleep)
    assert desk.watch(ROOFLINE) == 0
    assert said.text.count("Watching my/roofline.py") == 2 and "Solved." in said


# The command


def talk(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "talk", "exercise", *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.fixture
def checkout(tmp_path):
    """What exercises need of the checkout, so that my/ stays as it is."""
    copy = tmp_path / "memory-wall"
    for name in ("talk", "demos"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "justfile", copy)
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copy(ROOT / "constraints.txt", copy)
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


def test_bad_input_is_one_line_and_exit_code_2(checkout):
    done = talk(checkout, "99")
    assert done.returncode == 2 and "no exercise '99'" in done.stderr and not done.stdout
    done = talk(checkout, "1", "--solution")
    assert done.returncode == 2 and "comes after an attempt" in done.stderr
    assert talk(checkout, "1", "--hint", "--watch").returncode == 2
    assert not (checkout / "my").exists()


def test_piped_it_is_plain_and_fits_an_old_encoding(checkout):
    done = talk(checkout, "4", PYTHONIOENCODING="ascii")
    assert done.returncode == 1 and done.stdout.isascii() and not done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert talk(checkout).stdout.splitlines()[3].split()[-1] == "begun"


class Terminal:
    """`just` in a pseudo-terminal of 80 columns."""

    def __init__(self, checkout, *arguments):
        program = str(checkout / ".venv" / "bin" / "just")
        self.child = pexpect.spawn(
            program, list(arguments), cwd=str(checkout), encoding="utf-8", timeout=120,
            dimensions=(40, 80),
        )  # fmt: skip

    def expect(self, words):
        self.child.expect_exact(words)

    def end(self):
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


def test_an_attendee_goes_the_whole_way_from_an_empty_folder(checkout):
    first = Terminal(checkout, "exercise", "1")
    first.expect("Copied to my/ragged.py.")
    first.expect("still to be written")
    first.expect("just exercise 1 --hint")
    assert first.end() == 1

    hint = Terminal(checkout, "exercise", "1", "--hint")
    hint.expect("Hint 1 of 3")
    assert hint.end() == 0

    mine = checkout / "my" / "ragged.py"
    text = mine.read_text(encoding="utf-8")
    wrong = (WRONG / "ragged" / "mask_on_the_load.py").read_text(encoding="utf-8")
    watch = Terminal(checkout, "exercise", "1", "--watch")
    watch.expect("Ctrl-C ends it.")
    mine.write_text(wrong, encoding="utf-8")
    watch.expect("mask on the load but not the store")
    watch.expect("Ctrl-C ends it.")

    solution = Terminal(checkout, "exercise", "1", "--solution")
    solution.expect("# 3. Yours")
    solution.expect("tl.store(out_ptr + i, x + y, inside)")
    assert solution.end() == 0

    solved = (SOLVED / "ragged.py").read_text(encoding="utf-8")
    half = solved[: len(solved) // 2]
    mine.write_text(half, encoding="utf-8")
    mine.write_text(solved, encoding="utf-8")
    watch.expect("Solved.")
    watch.expect("Ctrl-C ends it.")
    watch.child.send("\x03")
    assert watch.end() == 130  # just hears Ctrl-C too, and says so in its exit code

    reset = Terminal(checkout, "exercise", "1", "--reset")
    reset.expect("Yours is now my/ragged.1.py.")
    assert reset.end() == 0
    assert mine.read_text(encoding="utf-8") == text
    assert Path(checkout / "my" / "ragged.1.py").read_text(encoding="utf-8") == solved


def test_a_lone_just_exercise_lists_them_and_what_is_solved(checkout):
    lines = talk(checkout).stdout.splitlines()
    assert len(lines) == len(lessons()) and lines[0].split()[:2] == ["1", "ragged"]


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "triton", "numpy"):
            raise ImportError(f"{name} is blocked in this test", name=name)
sys.meta_path.insert(0, Blocked())
"""


def test_without_pytorch_it_says_so_and_functions_are_graded(checkout, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(BLOCKED)
    done = talk(checkout, "1", PYTHONPATH=str(site))
    assert done.returncode == 1 and "not run, numpy is not installed here" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    shutil.copy(SOLVED / "roofline.py", checkout / "my")
    assert talk(checkout, "4", PYTHONPATH=str(site)).returncode == 0
