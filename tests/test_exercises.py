"""The exercises as files: ladders, right answers, and wrong ones that are wrong.

What the grader says of each is `test_grader`'s; here no grader takes part.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch

from demos.exercises import LESSONS
from talk.gpu.check import expect, judge
from talk.gpu.lowering import Request, lower_apart
from talk.gpu.measure import interpretable
from talk.source import ROOT, section_module
from tests.guards import assert_within, guard_outputs, guarded
from tests.interpreted import interpreting

with interpreting():
    import triton.language as tl
    from triton.runtime.interpreter import InterpretedFunction


HERE = ROOT / "demos" / "exercises"
BY_SLUG = {lesson.slug: lesson for lesson in LESSONS}
KERNELS = {slug: lesson for slug, lesson in BY_SLUG.items() if lesson.kind == "kernel"}
FUNCTIONS = {slug: lesson for slug, lesson in BY_SLUG.items() if lesson.kind == "function"}
FILES = [*HERE.glob("*.py"), *HERE.glob("solutions/*.py"), *HERE.glob("wrong/*/*.py")]
WRONG = {f"{path.parent.name}/{path.stem}": path for path in sorted(HERE.glob("wrong/*/*.py"))}

# Right by value where programs run one after another and padding is 0: the grader's to find.
BY_THE_GRADER_ALONE = {
    "a cached output",
    "a race",
    "no fma.rn in the PTX",
    "not coalesced",
    "other= missing",
    "plain global",
    "the kernel is not launched",
    "the result was not stored by the kernel",
    "tile too small for tl.dot",
    "too few bytes in flight",
}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")  # asked again at the first launch


def load(path):
    """A file as a module of its own, whatever else has its name."""
    name = "_".join(path.relative_to(HERE.parent).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with interpreting():
        spec.loader.exec_module(module)
    return module


def exercise(slug):
    return HERE / f"{slug}.py"


def solution(slug):
    return HERE / "solutions" / f"{slug}.py"


def case_of(lesson):
    module, name = lesson.case.split(":")
    return getattr(importlib.import_module(module), name)


def situations(lesson):
    """(name, inputs): the lesson's sizes, and what is hard in its case."""
    torch.manual_seed(5)
    case = case_of(lesson)
    for size in lesson.sizes:
        keywords = {key: value for key, value in size.items() if key != "name"}
        yield size["name"], case.inputs(**keywords)
    yield from case.hard()


def problem(fn, lesson, monkeypatch):
    """What is wrong with the first situation in which something is; empty where nothing is."""
    for name, inputs in situations(lesson):
        mine = tuple(
            guarded(x) if isinstance(x, torch.Tensor) else x for x in interpretable(inputs)
        )
        expected = expect(case_of(lesson), mine)
        with monkeypatch.context() as patch:
            around = guard_outputs(patch)
            try:
                verdict = judge(fn, expected)
                assert_within(around)
            except Exception as error:
                return f"{name}: {error}"
        if not verdict.ok:
            return f"{name}: {verdict.message}"
    return ""


def first_miss(fn, lesson):
    """The words of the first check that fails; empty where none does."""
    return next((words for given, answer, words in lesson.checks if fn(*given) != answer), "")


# The table


def test_there_is_one_for_each_section_and_three_challenges():
    assert [lesson.number for lesson in LESSONS] == list(range(1, 12))
    assert [lesson.slug for lesson in LESSONS[8:]] == ["multiply_add", "layer_norm", "attention"]


@pytest.mark.parametrize("lesson", LESSONS[:8], ids=lambda lesson: lesson.slug)
def test_a_section_sends_to_its_exercise(lesson):
    with interpreting():
        section = importlib.import_module(section_module(lesson.number)).SECTION
    assert (section.exercise.slug, section.exercise.title) == (lesson.slug, lesson.title)
    assert f"just exercise {lesson.number}" in section.exercise.task
    assert len(section.exercise.task) <= 330


def test_section_8_names_the_challenges():
    with interpreting():
        task = importlib.import_module(section_module(8)).SECTION.exercise.task
    assert all(lesson.slug in task for lesson in LESSONS[8:])


@pytest.mark.parametrize("slug", BY_SLUG)
def test_an_entry_stands_in_each_file(slug):
    lesson = BY_SLUG[slug]
    for path in (exercise(slug), solution(slug)):
        names = vars(load(path))
        assert all(name in names for name in (lesson.entry, *lesson.kernels)), path


# To be read


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_it_fits_80_columns(path):
    if path.name != "__init__.py":  # the table, which no attendee is given
        assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 80


@pytest.mark.parametrize("slug", BY_SLUG)
def test_the_task_is_told_in_five_lines(slug):
    title, gap, *task = ast.get_docstring(parsed(exercise(slug))).splitlines()
    assert title.endswith(".") and not gap
    assert [line[:2] for line in task[:3]] == ["1.", "2.", "3."]
    which = BY_SLUG[slug].number if BY_SLUG[slug].number <= 8 else slug
    assert task[4].startswith(f"`just exercise {which}`") and "--hint" in task[4]


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def is_blank(node):
    return isinstance(node, ast.Constant) and node.value is ...


def blanks(node):
    return sum(map(is_blank, ast.walk(node)))


def rung(path, number):
    """The definitions under the heading of a rung: "# 2. One blank"."""
    text = path.read_text(encoding="utf-8")
    heads = [text[: found.start()].count("\n") for found in re.finditer(r"^# \d\. ", text, re.M)]
    assert len(heads) == 3, path
    low, high = (*heads, text.count("\n"))[number - 1 : number + 1]
    return [node for node in ast.parse(text).body if low < node.lineno <= high]


@pytest.mark.parametrize("slug", BY_SLUG)
def test_the_ladder_fades(slug):
    worked, one, empty = (rung(exercise(slug), number) for number in (1, 2, 3))
    assert worked and not any(map(blanks, worked))
    assert sum(map(blanks, one)) == 1
    bodies = [node for node in empty if isinstance(node, ast.FunctionDef) and blanks(node)]
    # What starves and what strides is there, and is to be mended.
    assert bodies or slug in ("starved", "strided")
    assert all(is_blank(last_statement(node).value) for node in bodies if slug != "tiles")


def last_statement(node):
    return node.body[-1]


@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_solution_is_its_exercise_filled_in(slug):
    lesson = BY_SLUG[slug]
    mine = {lesson.entry, *lesson.kernels}
    asked, answered = (
        {name: ast.unparse(node) for name, node in named(path)}
        for path in (exercise(slug), solution(slug))
    )
    assert list(asked) == list(answered) and not blanks(parsed(solution(slug)))
    changed = {name for name in asked if asked[name] != answered[name]}
    untouched = {name for name in asked if "..." not in asked[name]} - mine
    assert changed and not changed & untouched


def named(path):
    """Its functions, their docstrings left out, in which "..." may stand."""
    for node in parsed(path).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node):
                del node.body[0]
            yield node.name, node


@pytest.mark.parametrize("path", [path(slug) for slug in KERNELS for path in (exercise, solution)])
def test_a_kernel_fits_the_screen_and_uses_no_plain_globals(path):
    module = load(path)
    kernels = {n: v for n, v in vars(module).items() if isinstance(v, InterpretedFunction)}
    fine = (types.ModuleType, tl.constexpr, InterpretedFunction)
    assert len(kernels) >= 2
    for name, kernel in kernels.items():
        lines = inspect.getsource(kernel.fn).splitlines()
        assert max(map(len, lines)) <= 72, name
        # Flash Attention whole, as a challenge asks for it, is longer.
        assert len(lines) <= (42 if name == "attention_kernel" else 24), name
        found = inspect.getclosurevars(kernel.fn)
        assert all(isinstance(value, fine) for value in found.globals.values()), name


@pytest.mark.parametrize("slug", BY_SLUG)
def test_hints_lead_and_do_not_hand_over(slug):
    lesson = BY_SLUG[slug]
    assert len(set(lesson.hints)) == 3 and all(len(hint) <= 240 for hint in lesson.hints)
    told = squeezed(" ".join(lesson.hints))
    answer = new_lines(slug)
    given_away = [line for line in answer if squeezed(line) in told]
    assert answer and len(given_away) <= len(answer) / 2, given_away


def new_lines(slug):
    """The statements of a solution that its exercise does not have."""
    lesson = BY_SLUG[slug]
    before, after = (
        [
            ast.unparse(statement)
            for name, node in named(path)
            if name in (lesson.entry, *lesson.kernels)
            for statement in ast.walk(node)
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return))
        ]
        + [ast.unparse(node.args) for name, node in named(path) if name == lesson.entry]
        for path in (exercise(slug), solution(slug))
    )
    return [line for line in after if line not in before]


def squeezed(text):
    return re.sub(r"[\s'\"]", "", text)


# Right, and not right


@pytest.mark.parametrize("slug", KERNELS)
def test_a_solution_is_right(slug, monkeypatch):
    lesson = KERNELS[slug]
    assert problem(getattr(load(solution(slug)), lesson.entry), lesson, monkeypatch) == ""


@pytest.mark.parametrize("slug", FUNCTIONS)
def test_a_function_that_solves_it_gives_every_answer(slug):
    lesson = FUNCTIONS[slug]
    assert len(lesson.checks) >= 5
    assert first_miss(getattr(load(solution(slug)), lesson.entry), lesson) == ""


@pytest.mark.parametrize("slug", KERNELS)
def test_an_untouched_exercise_is_wrong(slug, monkeypatch):
    lesson = KERNELS[slug]
    found = problem(getattr(load(exercise(slug)), lesson.entry), lesson, monkeypatch)
    # Right, and slow: the grader counts what is under way, and sectors.
    assert bool(found) != (lesson.in_flight or lesson.coalesced)


@pytest.mark.parametrize("slug", FUNCTIONS)
def test_an_untouched_function_is_wrong(slug):
    lesson = FUNCTIONS[slug]
    assert first_miss(getattr(load(exercise(slug)), lesson.entry), lesson)


def cause(path):
    first = ast.get_docstring(parsed(path)).splitlines()[0]
    assert first.startswith("cause: ")
    return first.removeprefix("cause: ")


@pytest.mark.parametrize("slug", BY_SLUG)
def test_there_are_five_wrong_answers_that_differ(slug):
    mine = [path for path in WRONG.values() if path.parent.name == slug]
    bodies = {ast.dump(ast.Module(parsed(path).body[1:], [])) for path in mine}
    assert len(bodies) == len(mine) >= 5 and len({cause(path) for path in mine}) >= 3


@pytest.mark.parametrize("name", [n for n, path in WRONG.items() if path.parent.name in KERNELS])
def test_a_wrong_answer_is_wrong(name, monkeypatch):
    path = WRONG[name]
    lesson = KERNELS[path.parent.name]
    found = problem(getattr(load(path), lesson.entry), lesson, monkeypatch)
    assert found or cause(path) in BY_THE_GRADER_ALONE


@pytest.mark.parametrize("name", [n for n, path in WRONG.items() if path.parent.name in FUNCTIONS])
def test_a_wrong_function_misses_first_what_it_forgot(name):
    path = WRONG[name]
    lesson = FUNCTIONS[path.parent.name]
    assert first_miss(getattr(load(path), lesson.entry), lesson) == cause(path)


# The lower rungs


def matrix(rows=5, cols=33):
    torch.manual_seed(7)
    return guarded(torch.randn(rows, cols))


def vector(n=300):
    torch.manual_seed(7)
    return guarded(torch.randn(n))


def norm(x, weight):
    return weight * x / (x.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()


# (exercise, function) → its inputs, and the same in PyTorch.
RUNGS = {
    ("ragged", "double"): ((vector(),), lambda x: 2 * x),
    ("ragged", "negate"): ((vector(),), lambda x: -x),
    ("starved", "copy"): ((vector(),), lambda x: x),
    ("strided", "scale"): ((matrix(), 3.0), lambda x, factor: x * factor),
    ("tiles", "row_sums"): ((matrix(),), lambda x: x.sum(dim=1, keepdim=True)),
    ("tiles", "dot_rows"): ((matrix(), matrix()), lambda x, y: (x * y).sum(dim=1, keepdim=True)),
    ("softmax", "row_max"): ((matrix() - 9,), lambda x: x.amax(dim=1)),
    ("softmax", "share"): ((matrix() + 9,), lambda x: x / x.sum(dim=1, keepdim=True)),
    ("residual", "centre"): ((matrix(),), lambda x: x - x.mean(dim=1, keepdim=True)),
    ("residual", "rms_norm"): ((matrix(), vector(33)), norm),
    ("multiply_add", "multiply"): ((vector(), vector()), lambda x, y: x * y),
    ("multiply_add", "square_add"): ((vector(), vector()), lambda x, y: x * x + y),
    ("attention", "log_sum_exp"): ((matrix(4, 150),), lambda x: x.logsumexp(dim=1)),
    ("attention", "average"): (
        (matrix(4, 150), matrix(150, 20)),
        lambda x, v: x.softmax(dim=1) @ v,
    ),
}


@pytest.mark.parametrize(("slug", "name"), RUNGS)
def test_a_rung_is_right(slug, name, monkeypatch):
    inputs, reference = RUNGS[slug, name]
    worked = name in {node.name for node in rung(exercise(slug), 1)}
    with monkeypatch.context() as patch:
        around = guard_outputs(patch)
        got = getattr(load((exercise if worked else solution)(slug)), name)(*inputs)
        assert_within(around)
    torch.testing.assert_close(got, reference(*inputs))


def test_a_rung_of_plain_python_is_right():
    from talk import GPUS

    gpu = {"warps": 64, "programs": 32, "registers": 65536, "shared": 233472, "reserved": 1024}
    occupancy, roofline = load(solution("occupancy")), load(solution("roofline"))
    assert (occupancy.by_warps(gpu, 5), occupancy.by_shared(gpu, 48 * 1024)) == (12, 4)
    assert roofline.intensity(12, 1) == 1 / 12
    assert roofline.attainable(1 / 12, 4e12, 6e13) == pytest.approx(4e12 / 12)
    assert roofline.attainable(100, 4e12, 6e13) == 6e13
    assert [load(solution("strided")).sectors(stride) for stride in (1, 2, 8, 70)] == [4, 8, 32, 32]
    assert load(solution("starved")).bytes_under_way(GPUS["H200"][1], 4096, 2) == 4_325_376


# Compiled

LAUNCHERS = {
    "every_vector": ("vectors", 2**20),
    "every_matrix": ("matrices", 4096),
    "every_product": ("heads", 256),
}
EVERY_TARGET = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx942")


def lowered(launcher, targets):
    inputs, n = LAUNCHERS[launcher]
    return lower_apart(
        Request(
            module="tests.every_solution",
            function=launcher,
            inputs=inputs,
            size={"n": n},
            targets=targets,
            timeout_s=400,
        )
    )


def test_every_solution_is_launched_to_be_compiled():
    text = Path(ROOT, "tests", "every_solution.py").read_text(encoding="utf-8")
    calls = {
        getattr(n.func, "id", "") for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)
    }
    entries = {lesson.entry for lesson in KERNELS.values()} | {name for _, name in RUNGS}
    assert entries <= calls


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_solutions_compile(launcher):
    found = lowered(launcher, ("sm_90",))
    assert len(found) >= 4
    assert [
        (one.kernel, one.failure, one.spills) for one in found if not one.fits or one.spills
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_solutions_compile_for_every_target(launcher):
    found = lowered(launcher, EVERY_TARGET)
    assert {one.target for one in found} == set(EVERY_TARGET)
    assert [(one.kernel, one.target, one.failure) for one in found if not one.fits] == []


def test_fma_is_one_instruction():
    found = lowered("every_vector", ("sm_90",))
    counts = {one.kernel: one.counts["ptx"] for one in found}
    assert counts["multiply_add_kernel"]["fma.rn.f32"] and counts["square_add_kernel"]["fma.rn.f32"]


# On a GPU


@pytest.mark.gpu
def test_solutions_are_right_and_fast_on_a_gpu():
    command = [sys.executable, "-m", "tests.solutions_on_gpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stdout + done.stderr
