"""Notebooks carry their own code, say where every figure is from, and run from top to bottom."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from talk import runner
from talk.attend.carried import renamed
from talk.attend.cells import written
from talk.attend.chapter import LEFT_OUT, section_cells
from talk.attend.notebook import saved, wanted, write
from talk.attend.worksheet import exercise_cells, tasks
from talk.errors import TalkError
from talk.question import settled_by
from talk.reading import Reading
from talk.source import ROOT, behind, section_module
from tests.test_cli import BLOCKED

SECTIONS = range(1, 9)


@pytest.fixture(scope="module")
def reading() -> Reading:
    return Reading(recording=runner.recording())


@pytest.fixture(scope="module")
def notebooks(reading):
    return {n: nbformat.reads(written(section_cells(n, reading)), as_version=4) for n in SECTIONS}


def executed(notebook):
    """Run it as Jupyter does, over sockets in a folder of its own rather than ports."""
    with tempfile.TemporaryDirectory() as folder:  # a socket's path is at most 107 characters
        config = Config()
        config.KernelManager.transport = "ipc"
        config.KernelManager.ip = f"{folder}/kernel"
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", config=config)
        return client.execute()


def code_of(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def copy_of(notebook):
    return nbformat.from_dict(notebook)


# Run


@pytest.mark.parametrize("number", SECTIONS)
def test_a_section_runs_from_top_to_bottom_and_times_nothing_without_a_gpu(notebooks, number):
    notebook = executed(copy_of(notebooks[number]))
    outputs = {cell.id: printed(cell) for cell in code_of(notebook)}
    assert "SIMULATED, no GPU here" in outputs["check"]
    runs = [out for name, out in outputs.items() if name.endswith("-run")]
    assert runs and all("SIMULATED" in out or "|" in out for out in runs)
    assert any("right on" in out for out in runs)
    assert not re.search(r"\d (ms|GB/s|TFLOP/s)", "".join(runs))
    for name, out in outputs.items():
        if name.endswith("-compare"):
            assert "NVIDIA H200" in out and "so the record decides" in out


@pytest.mark.parametrize(
    ("number", "cell", "right", "wrong", "message"),
    [
        (5, "baseline-run", "x + y)", "x - y)", "naive on the case's inputs: wrong first at [0]"),
        (5, "blocks-run", "inside = i < n", "inside = i < n - 1", "expected"),
        (6, "five-run", "/ total", "/ (total + 0.01)", "naive on"),
    ],
)
def test_code_that_is_edited_to_be_wrong_fails_in_its_check(
    notebooks, number, cell, right, wrong, message
):
    notebook = copy_of(notebooks[number])
    names = [each.id for each in notebook.cells]
    del notebook.cells[names.index(cell) + 1 :]
    changed = [c for c in code_of(notebook) if right in c.source and c.source.startswith("# demos")]
    assert changed
    for each in changed:
        each.source = each.source.replace(right, wrong)
    with pytest.raises(CellExecutionError) as caught:
        executed(notebook)
    assert message in str(caught.value) and "AssertionError" in str(caught.value)
    assert code_of(notebook)[-1].outputs[-1].output_type == "error"


PRETEND = """
import sys
import time
import torch


class Event:
    now = 0.0

    def __init__(self, **options):
        self.at = 0.0

    def record(self):
        Event.now += 1.0
        self.at = Event.now + 1e3 * time.perf_counter()

    def elapsed_time(self, other):
        return other.at - self.at


class Properties:
    L2_cache_size = 1
    name = "Pretend GPU"


torch.cuda.is_available = lambda: True
torch.cuda.get_device_name = lambda: "Pretend GPU"
torch.cuda.get_device_properties = lambda *device: Properties
torch.cuda.mem_get_info = lambda: (100_000, 100_000)
torch.cuda.synchronize = lambda: None
torch.cuda.Event = Event
torch.set_default_device = lambda device: None
torch.compile = lambda function: function
"""
"""A clock that ticks a millisecond an event, and a GPU that is not there: the kernels are
interpreted all the same."""

LARGE = {
    'device="cuda"': 'device="cpu"',
    "2**29": "2**4",
    "2**28": "2**5",
    "2**27": "2**5",
    "2**26": "2**5",
    "2**25": "2**4",
    "2**21": "2**2",
    "2**18": "2**3",
    "2**16": "2**3",
    "2**15": "2**2",
    "2**13": "2**5",
    "2**12": "2**4",
    "262144": "16",
    "8192": "16",
    "2048": "16",
    "4096": "16",
    "268435456": "32",
    "268435455": "31",
    "< 200": "< 2",
    "budget_ms=300": "budget_ms=0",
    "at_least=10": "at_least=3",
    "5 * launch_ms()": "0",
    '== "1"': '== "pretend"',
    '!= "1"': '!= "pretend"',
}


def pretended(notebook, folder, smaller):
    """Run the code on a GPU that is not there, on inputs that can be interpreted."""
    cells = [c for c in code_of(notebook) if c.id != "install"]
    text = "\n\n".join(cell.source for cell in cells).replace("= None  #", "= 1  #")
    for large, small in smaller.items():
        text = text.replace(large, small)
    # Triton reads a kernel from a file.
    script = folder / "notebook.py"
    script.write_text(f"{PRETEND}\n{text}", encoding="utf-8")
    return subprocess.run(
        [sys.executable, script],
        env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("number", [1, 4, 5, 7])
def test_on_a_gpu_it_times_and_judges_the_answers_by_its_own_figures(notebooks, tmp_path, number):
    done = pretended(notebooks[number], tmp_path, LARGE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "LIVE on Pretend GPU" in done.stdout and "SIMULATED" not in done.stdout
    questions = [c.id for c in code_of(notebooks[number]) if c.id.endswith("-compare")]
    assert len(re.findall(r"^here: +\d", done.stdout, re.M)) == len(questions) > 0
    assert f"{len(questions)} were asked" in done.stdout


def test_with_the_interpreter_asked_for_nothing_is_timed_on_a_gpu_either(notebooks, tmp_path):
    done = pretended(notebooks[5], tmp_path, {**LARGE, '== "1"': '== "1"', '!= "1"': '!= "1"'})
    assert done.returncode == 0, done.stderr[-2000:]
    assert "SIMULATED, TRITON_INTERPRET=1 is set" in done.stdout
    assert not re.search(r"\d ms \(|GB/s,", done.stdout)


@pytest.mark.gpu
@pytest.mark.parametrize("number", SECTIONS)
def test_on_this_gpu_a_section_measures_its_own_figures(notebooks, number):
    notebook = executed(copy_of(notebooks[number]))
    outputs = {cell.id: printed(cell) for cell in code_of(notebook)}
    assert "LIVE on" in outputs["check"] and "SIMULATED" not in "".join(outputs.values())
    assert re.search(r"[\d.]+ ms \(", "".join(outputs.values()))


# What it carries


def test_every_notebook_is_valid_and_the_same_bytes_twice(reading):
    for number in SECTIONS:
        text = written(section_cells(number, reading))
        assert text == written(section_cells(number, reading))
        names = [cell.id for cell in nbformat.reads(text, as_version=4).cells]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("number", SECTIONS)
def test_the_code_on_show_is_that_of_the_sources(notebooks, reading, number):
    """Kernels word for word; of the other definitions every line but a name that clashed."""
    source = "\n".join(cell.source for cell in code_of(notebooks[number]))
    outline = next(o for o in reading.recording.outlines if o.number == number)
    carried = [
        step
        for step in outline.steps
        if step.kind in ("measure", "sweep", "tune", "benchmark", "run")
        and (number, step.slug) not in LEFT_OUT
    ]
    assert carried
    for step in carried:
        shown = {(code.path, code.name) for code in step.code}
        for code in behind(section_module(number), step.slug)[1:]:
            if (code.path, code.name) in shown and "@triton.jit" in code.text:
                assert code.text in source, code.name
                assert f"# {code.path}" in source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return g(x)", "def f(x):\n    return new(x)"),
        ("def g(x):\n    return x.g + g(\n        g=g,\n    )", None),
        ("g = 2 * g  # g stays", "new = 2 * new  # g stays"),
        ("f(a, g=1, h=g)", "f(a, g=1, h=new)"),
        ("assert g == 1", "assert new == 1"),
    ],
)
def test_a_name_is_changed_and_nothing_else(text, expected):
    expected = expected or "def new(x):\n    return x.g + new(\n        g=new,\n    )"
    assert renamed(text, {"g": "new"}) == expected


@pytest.mark.parametrize("number", SECTIONS)
def test_it_needs_nothing_of_the_checkout(notebooks, number):
    for cell in code_of(notebooks[number]):
        if cell.id == "install":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in ("talk", "demos"), cell.id


def test_a_name_that_two_files_have_is_lengthened_for_one_of_them(notebooks):
    text = "\n".join(cell.source for cell in code_of(notebooks[6]))
    made = re.findall(r"^def (\w*matrix)\(", text, re.M)
    assert len(made) == len(set(made)) == 2
    assert "Another file has the same name, so here" in text
    defined = re.findall(r"^(?:def (\w+)\(|(\w+) = )", text, re.M)
    names = [function or value for function, value in defined]
    twice = {name for name in names if names.count(name) > 1}
    assert twice <= {"GPU"}


FROM = r"(RECORDED|STALE).*, NVIDIA H200, 2\d{3}-\d\d-\d\d"


@pytest.mark.parametrize("number", SECTIONS)
def test_every_recorded_figure_has_its_gpu_and_its_date(notebooks, number):
    tables = [c.source for c in notebooks[number].cells if "| ---" in c.source]
    assert tables
    for text in tables:
        assert re.search(FROM, text.split("|")[0])
    for cell in notebooks[number].cells:
        if cell.id.endswith("-recorded"):
            assert re.search(FROM, cell.source) or "compiled for the targets" in cell.source


@pytest.mark.parametrize("number", SECTIONS)
def test_a_question_comes_before_its_measurement_and_its_figures_are_folded_away(
    notebooks, reading, number
):
    names = [cell.id for cell in notebooks[number].cells]
    by_name = {cell.id: cell for cell in notebooks[number].cells}
    outline = next(o for o in reading.recording.outlines if o.number == number)
    for step in (step for step in outline.steps if step.kind == "predict"):
        asked, compared = (names.index(f"{step.slug}-{part}") for part in ("answer", "compare"))
        settling, slug = settled_by(number, step)
        assert settling == number
        assert asked < names.index(f"{slug}-recorded") < compared
        assert by_name[f"{slug}-recorded"].source.startswith("<details>")
        assert by_name[f"{step.slug}-compare"].metadata["jupyter"] == {"source_hidden": True}


def test_the_clock_of_a_notebook_is_short(notebooks):
    [cell] = [c for c in code_of(notebooks[1]) if "def times_ms" in c.source]
    assert len([line for line in cell.source.splitlines() if line.strip()]) <= 25


# Exercises


@pytest.fixture
def solved(tmp_path):
    """A checkout in which every exercise's file is its solution."""
    copy = tmp_path / "checkout"
    for part in ("talk", "demos"):
        shutil.copytree(ROOT / part, copy / part)
    exercises = copy / "demos" / "exercises"
    for solution in (exercises / "solutions").glob("[a-z]*.py"):
        shutil.copy(solution, exercises / solution.name)
    return copy


TASKS = tasks()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.slug)
def test_an_exercise_that_is_solved_passes_its_check(solved, task):
    notebook = nbformat.reads(written(exercise_cells(task, solved)), as_version=4)
    out = {cell.id: printed(cell) for cell in code_of(executed(notebook))}
    assert "right on" in out["grade-run"]


UNTOUCHED = ("ragged", "occupancy")


@pytest.mark.parametrize("slug", UNTOUCHED)
def test_an_exercise_that_is_untouched_fails_its_check_and_nothing_before(slug):
    task = next(each for each in TASKS if each.slug == slug)
    notebook = nbformat.reads(written(exercise_cells(task)), as_version=4)
    with pytest.raises(CellExecutionError, match="AssertionError"):
        executed(notebook)
    failed = [c.id for c in code_of(notebook) if any(o.output_type == "error" for o in c.outputs)]
    assert failed == ["grade-run"]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.slug)
def test_the_notebook_of_an_exercise_holds_its_file_and_its_hints(task):
    cells = exercise_cells(task)
    held = "\n".join(cell.text for cell in cells)
    text = (ROOT / "demos" / "exercises" / f"{task.slug}.py").read_text(encoding="utf-8")
    body = ast.parse(text).body
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            assert (ast.get_source_segment(text, node) or "") in held
    assert all(hint in held for hint in task.hints)
    assert written(cells) == written(exercise_cells(task))


def test_what_a_check_does_not_judge_is_said():
    """These are right as they come, and slow: no GPU, no verdict of that."""
    words = {task.slug: task.more for task in TASKS}
    assert "counts the bytes under way" in words["starved"]
    assert "counts the sectors" in words["strided"]
    assert "fma.rn" in words["multiply_add"]
    assert "80 % is asked for" in words["ragged"]


# Files


def test_a_notebook_that_was_worked_in_is_kept(tmp_path):
    path = tmp_path / "my" / "s5.ipynb"
    assert saved(path, "new") == "written"
    assert saved(path, "new") == "unchanged"
    path.write_text("mine")
    assert saved(path, "new") == "written; yours is now s5.1.ipynb"
    path.write_text("mine too")
    assert saved(path, "new") == "written; yours is now s5.2.ipynb"
    assert [p.read_text() for p in sorted(path.parent.iterdir())] == ["mine", "mine too", "new"]


def test_a_section_is_named_by_number_or_name(reading, tmp_path):
    names = [wanted(which, reading, ROOT)[0][0] for which in ("5", "memory_wall", "s5_memory_wall")]
    assert set(names) == {"s5_memory_wall"}
    told = write("5", reading, my=tmp_path)
    assert told.startswith("my/s5_memory_wall.ipynb  written\n") and "Colab" in told


def test_all_is_every_section_and_every_exercise(reading):
    assert len(wanted("all", reading, ROOT)) == len(SECTIONS) + len(TASKS)


@pytest.mark.parametrize("which", ["", "9", "nope", "\x1b[31m"])
def test_what_is_unknown_is_one_clear_line(reading, tmp_path, which):
    with pytest.raises(TalkError) as caught:
        write(which, reading, my=tmp_path)
    assert "a section, 1 to 8; 'all'" in str(caught.value) and "\x1b" not in str(caught.value)


def test_the_command_needs_neither_torch_nor_triton(tmp_path):
    for part in ("talk", "demos"):
        shutil.copytree(ROOT / part, tmp_path / part)
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "notebook", "3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "my" / "s3_hardware.ipynb").exists()
    nbformat.validate(nbformat.read(Path(tmp_path / "my" / "s3_hardware.ipynb"), as_version=4))
