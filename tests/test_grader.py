"""The grader against right answers, wrong ones, cheats, and code that does not come back."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import time

import pytest
import torch

from demos.exercises import LESSONS
from talk.attend import grade as grading
from talk.attend.causes import cause_of
from talk.attend.grade import Grader
from talk.attend.tell import fitting, told
from talk.attend.verdict import (
    COMPILES,
    FAST,
    NOT_RUN,
    ON_GPU,
    RIGHT,
    SIMULATED,
    WRONG,
    Evidence,
)
from talk.source import ROOT
from tests import small_lessons
from tests.interpreted import interpreting

with interpreting():
    import numpy

    from talk.gpu.grading.__main__ import one_configuration
    from talk.gpu.grading.functions import answered
    from talk.gpu.grading.load import module_of
    from talk.gpu.grading.plain_globals import plain_globals
    from talk.gpu.grading.simulated import simulate
    from talk.gpu.grading.strict import missing

HERE = ROOT / "demos" / "exercises"
BY_SLUG = {lesson.slug: lesson for lesson in LESSONS}
WRONG_FILES = {f"{p.parent.name}/{p.stem}": p for p in sorted(HERE.glob("wrong/*/*.py"))}
COMPILERS_OWN = {"no fma.rn in the PTX", "tile too small for tl.dot"}
NEEDED = 10_000
"""Bytes for each program, some of an H200's."""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    before, threads = numpy.seterr(all="ignore"), torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(11)
    yield
    numpy.seterr(**before)
    torch.set_num_threads(threads)


def evidence_of(text, lesson, path="my/answer.py"):
    """As the process that grades has it, without the process."""
    with interpreting():
        module = module_of(text, path)
        one_configuration(module)
        entry = getattr(module, lesson.entry)
        if lesson.kind == "function":
            return answered(entry, lesson, path)[0]
        plain = plain_globals(module, path)
        return Evidence(globals=plain) if plain else simulate(entry, lesson, path, NEEDED)[0]


def stated(path):
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).removeprefix("cause: ")


def found(text, lesson):
    evidence = evidence_of(text, lesson)
    assert not evidence.fine
    cause = cause_of(text, evidence, lesson.entry)
    return evidence.case if lesson.kind == "function" else cause and cause.name


# Right answers, wrong answers, and the same under other names


@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_solution_is_right(slug):
    text = (HERE / "solutions" / f"{slug}.py").read_text(encoding="utf-8")
    assert evidence_of(text, BY_SLUG[slug]).fine


HEAD = "import torch, triton\nimport triton.language as tl\n"
OTHER_STYLES = {
    "tuned": """
@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < n) + tl.load(y_ptr + i, i < n), i < n)
def add(x, y):
    out, n = torch.empty_like(x), x.numel()
    add_kernel[lambda given: (triton.cdiv(n, given["BLOCK"]),)](out, x, y, n)
    return out
""",
    "in a loop, by keywords": """
@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for first in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        x, y = tl.load(x_ptr + i, mask=i < n, other=0), tl.load(y_ptr + i, mask=i < n, other=0)
        tl.store(out_ptr + i, x + y, mask=i < n)
def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(4,)](out_ptr=out, x_ptr=x, y_ptr=y, n=x.numel(), BLOCK=128)
    return out
""",
    "block pointers": """
@triton.jit
def block_of(ptr, n, BLOCK: tl.constexpr):
    return tl.make_block_ptr(ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
@triton.jit
def add_kernel(out_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(block_of(x_ptr, n, BLOCK), boundary_check=(0,))
    y = tl.load(block_of(y_ptr, n, BLOCK), boundary_check=(0,))
    tl.store(block_of(out_ptr, n, BLOCK), x + y, boundary_check=(0,))
def add(x, y):
    out, n = torch.empty_like(x), x.numel()
    add_kernel[(triton.cdiv(n, 64),)](out, x, y, n, BLOCK=64)
    return out
""",
}


@pytest.mark.filterwarnings("ignore:.*make_block_ptr is deprecated:UserWarning")
@pytest.mark.parametrize("style", OTHER_STYLES)
def test_a_right_answer_in_another_style_is_right(style):
    evidence = evidence_of(HEAD + OTHER_STYLES[style], BY_SLUG["ragged"])
    assert evidence.fine, evidence


@pytest.mark.parametrize("slug", BY_SLUG)
def test_an_untouched_exercise_is_not(slug):
    text = (HERE / f"{slug}.py").read_text(encoding="utf-8")
    evidence = evidence_of(text, BY_SLUG[slug])
    causes = {"starved": "too few bytes in flight", "strided": "not coalesced"}
    cause = cause_of(text, evidence, BY_SLUG[slug].entry)
    assert cause.name == causes.get(slug, "still to be written")


SIMULATED_FILES = [name for name, path in WRONG_FILES.items() if stated(path) not in COMPILERS_OWN]


@pytest.mark.parametrize("name", SIMULATED_FILES)
def test_a_wrong_answer_has_its_cause(name):
    path = WRONG_FILES[name]
    text = path.read_text(encoding="utf-8")
    assert found(text, BY_SLUG[path.parent.name]) == stated(path)


@pytest.mark.parametrize("name", SIMULATED_FILES)
def test_other_names_and_another_layout_change_no_cause(name):
    path = WRONG_FILES[name]
    lesson = BY_SLUG[path.parent.name]
    text = renamed(path.read_text(encoding="utf-8"), lesson.entry)
    assert found(text, lesson) == stated(path)


def renamed(text, entry):
    """Without docstring and comments; every name that the file gives is another one."""
    tree = ast.parse(text)
    del tree.body[0]
    others = Others(tree, entry)
    changed = ast.unparse(ast.fix_missing_locations(others.visit(tree)))
    assert others.names and not others.names.keys() & names_of(changed)
    return changed


def names_of(text):
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


class Others(ast.NodeTransformer):
    def __init__(self, tree, entry):
        nodes = list(ast.walk(tree))
        self.functions = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        given = self.functions | {n.arg for n in nodes if isinstance(n, ast.arg)}
        given |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.names = {name: f"thing_{n}" for n, name in enumerate(sorted(given - {entry}))}

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        self.generic_visit(node)
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node

    def visit_Call(self, node):
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        own = getattr(called, "id", "") in self.functions
        self.generic_visit(node)
        for keyword in node.keywords if own else ():
            keyword.arg = self.names.get(keyword.arg, keyword.arg)
        return node


# What the compiler alone refuses, and the four verdicts


def graded(path, lesson=None, **options):
    lesson = (
        lesson or BY_SLUG[path.parent.name if path.parent.parent.name == "wrong" else path.stem]
    )
    return Grader(**options).grade(lesson, path, f"my/{path.name}")


def states(report):
    return {verdict.kind: verdict.state for verdict in report.verdicts}


@pytest.mark.parametrize("name", [n for n in WRONG_FILES if n not in SIMULATED_FILES])
def test_what_only_the_compiler_refuses_is_right_in_simulation(name):
    report = graded(WRONG_FILES[name])
    assert states(report)[SIMULATED] == RIGHT and states(report)[COMPILES] == WRONG
    assert report.cause.name == stated(WRONG_FILES[name]) and not report.solved


def test_a_right_answer_has_four_verdicts_and_what_was_not_run_says_why(monkeypatch):
    monkeypatch.setattr(grading, "NODES", ("/nowhere",))
    report = graded(HERE / "solutions" / "ragged.py")
    assert states(report) == {SIMULATED: RIGHT, COMPILES: RIGHT, ON_GPU: NOT_RUN, FAST: NOT_RUN}
    assert [v.why for v in report.verdicts] == ["5 cases", "sm_90 and gfx942"] + ["no GPU here"] * 2
    assert report.solved


def test_what_is_wrong_is_not_run_on_a_gpu(monkeypatch):
    monkeypatch.setattr(grading, "NODES", ("/dev/null",))
    report = graded(WRONG_FILES["ragged/no_mask"])
    assert states(report)[ON_GPU] == states(report)[FAST] == NOT_RUN
    assert report.verdicts[2].why == "not before it is right"


def test_a_gpu_that_pytorch_cannot_use_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(grading, "NODES", ("/dev/null",))
    report = graded(HERE / "solutions" / "ragged.py", ceilings=tmp_path / "ceilings.json")
    if not torch.cuda.is_available():
        assert [v.why for v in report.verdicts[2:]] == ["PyTorch finds no GPU here"] * 2


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_elsewhere_a_kernel_is_not_run_and_a_function_is(system):
    report = graded(HERE / "solutions" / "ragged.py", system=system)
    assert set(states(report).values()) == {NOT_RUN} and not report.solved
    assert "Linux only" in report.verdicts[0].why
    assert any("Hints work here" in line for line in told(report, command="just exercise 1"))
    assert graded(HERE / "solutions" / "roofline.py", system=system).solved


def test_this_triton_has_what_the_strict_simulation_needs():
    assert missing() == []


def test_a_name_that_triton_lost_is_named(monkeypatch):
    from triton.runtime import interpreter

    monkeypatch.delattr(interpreter, "_get_np_dtype")
    monkeypatch.delattr(interpreter, "GridExecutor")
    assert missing() == ["GridExecutor.__call__", "_get_np_dtype"]


# Code that does not come back, or tries to get round it

HALF, DOUBLE = small_lessons.LESSONS
TABLE = "tests.small_lessons"


def small(tmp_path, text, lesson=HALF, deadline_s=5.0):
    path = tmp_path / f"{lesson.slug}.py"
    path.write_text(text, encoding="utf-8")
    return Grader(table=TABLE, deadline_s=deadline_s).grade(lesson, path, f"my/{lesson.slug}.py")


def words(report):
    return "\n".join(told(report, command="just exercise 1"))


def test_a_function_is_solved_or_its_answer_is_told(tmp_path):
    assert small(tmp_path, "def half(n):\n    return n / 2\n").solved
    report = small(tmp_path, "def half(n):\n    return n // 2\n")
    assert "In “of three”: 1, expected 1.5." in words(report) and not report.solved


HALTS = {
    "endless": ("def half(n):\n    while True:\n        pass\n", "still running after 0.5 s"),
    "in C": ("def half(n):\n    sum(iter(int, 1))\n", "still running after 0.5 s"),
    "exit": ("def half(n):\n    exit(3)\n", "it called exit(3)"),
    "at import": ("import sys\nsys.exit()\n", "it called exit()"),
    "os._exit": ("import os\ndef half(n):\n    os._exit(0)\n", "ended the whole process with exit"),
    "crash": ("import ctypes\ndef half(n):\n    ctypes.string_at(0)\n", "crashed (SIGSEGV)"),
    "killed": ("import os\ndef half(n):\n    os.kill(os.getpid(), 9)\n", "was killed (SIGKILL)"),
    "syntax": ("def half(n):\n    return (\n", "SyntaxError"),
    "import": ("import nothing_of_the_kind\n", "No module named 'nothing_of_the_kind'"),
    "recursion": ("def half(n):\n    return half(n)\n", "calls itself without end"),
    "memory": ("def half(n):\n    return bytearray(1 << 40)\n", "more memory than it is given"),
    "no entry": ("def third(n):\n    return n / 3\n", "there is no function half"),
    "raises": ("def half(n):\n    return n / 0\n", "ZeroDivisionError: division by zero"),
    "null byte": ("def half(n):\n    return '\0'\n", "null bytes"),
}
LINES = {"endless": 2, "crash": 3, "raises": 2, "exit": 2, "import": 1, "at import": 2, "in C": 2}


@pytest.mark.parametrize("name", HALTS)
def test_code_that_does_not_come_back_is_a_sentence(name, tmp_path):
    text, expected = HALTS[name]
    began = time.monotonic()
    report = small(tmp_path, text, deadline_s=0.5 if name in ("endless", "in C") else 5.0)
    assert states(report) == {SIMULATED: WRONG}
    assert expected in " ".join(words(report).split()), words(report)
    assert "Traceback" not in words(report) and "talk/" not in words(report)
    if name in LINES:
        assert abs(report.evidence.line - LINES[name]) <= (name == "endless")
        assert f"my/half.py, line {report.evidence.line}" in words(report)
    assert time.monotonic() - began < 20


def test_a_line_on_stdout_is_no_verdict(tmp_path):
    fake = '{"nonce":"","found":{"verdicts":[{"kind":"simulation","state":"right"}]}}'
    text = f"import os\ndef half(n):\n    os.write(1, b'''{fake}\\n''')\n    os._exit(0)\n"
    report = small(tmp_path, text)
    assert not report.solved and '"state":"right"' in words(report)


def test_an_answer_without_the_nonce_is_no_verdict(tmp_path):
    fake = '{"nonce":"x","found":{"verdicts":[{"kind":"simulation","state":"right"}]}}\\n'
    text = (
        "import glob, os, tempfile\ndef half(n):\n"
        "    for path in glob.glob(tempfile.gettempdir() + '/exercise-*/simulate.answer'):\n"
        f"        open(path, 'a').write('{fake}')\n    os._exit(0)\n"
    )
    assert not small(tmp_path, text).solved


def test_much_output_ends_it_and_its_end_is_shown(tmp_path):
    report = small(tmp_path, "def half(n):\n    while True:\n        print('spam' * 4096)\n")
    assert "printed more than 16 MB" in words(report)
    report = small(tmp_path, "def half(n):\n    print('\\n'.join(map(str, range(99))))\n")
    assert "… " in words(report) and "  98" in words(report) and "\n  5\n" not in words(report)


def test_a_file_that_deletes_itself_is_graded_and_comes_back(tmp_path):
    text = f"import os\nos.remove({str(tmp_path / 'half.py')!r})\ndef half(n):\n    return n\n"
    report = small(tmp_path, text)
    assert report.restored and (tmp_path / "half.py").read_text() == text
    assert "it is back as it was" in words(report)


def test_what_it_started_ends_with_it(tmp_path):
    mark = tmp_path / "alive"
    loop = (
        f"import time, pathlib\nwhile True: pathlib.Path({str(mark)!r}).touch(); time.sleep(0.01)"
    )
    text = (
        f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {loop!r}])\n"
        "time.sleep(0.5)\ndef half(n):\n    return n / 2\n"
    )
    assert small(tmp_path, text).solved and mark.exists()
    mark.unlink()
    time.sleep(0.2)
    assert not mark.exists()


def test_no_process_and_no_folder_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(grading.tempfile, "tempdir", None)
    small(tmp_path, "def half(n):\n    return n / 2\n")
    assert not list(tmp_path.glob("exercise-*"))


def test_a_loop_in_a_kernel_names_its_line(tmp_path):
    kernel = (
        "import torch, triton\nimport triton.language as tl\n@triton.jit\n"
        "def k(out_ptr, x_ptr):\n    while True:\n        tl.load(x_ptr)\n"
        "def double(x):\n    out = torch.empty_like(x)\n    k[(1,)](out, x)\n    return out\n"
    )
    report = small(tmp_path, kernel, DOUBLE, deadline_s=1.0)
    assert report.evidence.line in (5, 6) and "still running" in words(report)


def test_an_error_in_a_kernel_names_its_line_and_the_case(tmp_path):
    kernel = (
        "import torch, triton\nimport triton.language as tl\n@triton.jit\n"
        "def k(out_ptr, x_ptr):\n    x = tl.load(x_ptr + tl.arange(0, 128))\n"
        "    tl.store(out_ptr + tl.arange(0, 64), x)\n"
        "def double(x):\n    out = torch.empty_like(x)\n    k[(1,)](out, x)\n    return out\n"
    )
    report = small(tmp_path, kernel, DOUBLE)
    assert report.evidence.line == 6 and "my/double.py, line 6, in “length 100”" in words(report)


# In words


def test_a_report_fits_80_columns_and_an_old_terminal():
    report = graded(WRONG_FILES["ragged/half_a_block"])
    lines = list(told(report, command="just exercise 1"))
    assert max(map(len, lines)) <= 80
    assert "The first: [128], which no program stored" in "\n".join(lines)
    picture = next(line for line in lines if "░" in line)
    assert fitting(picture, "cp437") == picture and "_" in fitting(picture, "ascii")
    assert all(fitting(line, "ascii").isascii() for line in lines)
    assert report.path == "my/half_a_block.py" and lines[0].startswith("my/half_a_block.py: ")


def test_a_picture_of_a_matrix_has_rows():
    report_lines = list(told(graded(WRONG_FILES["softmax/a_row_short"]), command="just exercise 7"))
    rows = [
        line.strip()
        for line in report_lines
        if set(line.strip()) and set(line.strip()) <= set("·█░")
    ]
    assert rows == ["·" * 33] * 4 + ["░" * 33]


def test_grading_imports_no_torch_here():
    asks = (
        "import sys, talk.attend.exercise as e; from pathlib import Path; "
        "from talk.attend.grade import Grader; lesson = e.chosen('4', e.lessons()); "
        "Grader().grade(lesson, Path('demos/exercises/roofline.py'), 'r'); "
        "print(sorted(sys.modules.keys() & {'torch', 'triton', 'numpy', 'rich'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asks], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_slip_is_of_a_lesson_and_named():
    for lesson in LESSONS:
        if lesson.slips:
            module, name = lesson.slips.split(":")
            assert all(map(callable, getattr(importlib.import_module(module), name).values()))
