"""Imports point one way: read with `ast` over the whole tree, those inside functions included."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import talk
from talk.source import ROOT

HEAVY = {"torch", "triton"}

# Folder → what it may not import, by the first part of the name.
ONE_WAY = {
    "talk": {"demos", "slides"},
    "slides": {"demos", "rich", *HEAVY},
    "demos": {"slides", "rich"},
}

# Module → the folder that alone may import it.
ONLY = {"torch": "talk/gpu", "triton": "talk/gpu", "rich": "talk/terminal"}

PLAIN = ("talk/section.py", "talk/outcome.py", "talk/record.py", "talk/wire.py", "talk/look.py")

SURFACE = [
    "BY_CAPABILITY",
    "BY_TARGET",
    "GPUS",
    "Benchmark",
    "Case",
    "Collect",
    "Column",
    "Exercise",
    "Lesson",
    "Measure",
    "Predict",
    "Profile",
    "Run",
    "Section",
    "Show",
    "Sweep",
    "Table",
    "Trace",
    "Traffic",
    "Tune",
    "occupancy",
]


def imports_in(text):
    """Dotted names as imported: `from a import b` counts as `a.b`, which may be a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where they point"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_of(path):
    return set(imports_in((ROOT / path).read_text(encoding="utf-8")))


def tops(names):
    return {name.split(".")[0] for name in names}


def files(folder):
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))
    assert found, folder
    return found


def within(path, folder):
    return Path(path).is_relative_to(folder)


def offenders(paths, forbidden):
    return {path: bad for path in paths if (bad := tops(imports_of(path)) & forbidden)}


@pytest.mark.parametrize("folder", ONE_WAY)
def test_imports_point_one_way(folder):
    assert offenders(files(folder), ONE_WAY[folder]) == {}


@pytest.mark.parametrize("module", ONLY)
def test_one_folder_alone_imports(module):
    elsewhere = [
        path
        for folder in ("talk", "slides")
        for path in files(folder)
        if not within(path, ONLY[module])
    ]
    assert offenders(elsewhere, {module}) == {}


def test_the_driver_never_imports_the_other_side_of_the_pipe():
    driver = [path for path in files("talk") if not within(path, "talk/gpu")]
    crossing = {
        path: names
        for path in driver
        if (names := {name for name in imports_of(path) if name.startswith("talk.gpu")})
    }
    assert crossing == {}


@pytest.mark.parametrize("path", PLAIN)
def test_the_data_stands_on_the_standard_library_alone(path):
    waiting, seen = [path], set()
    while waiting:
        names = imports_of(waiting.pop())
        assert tops(names) <= sys.stdlib_module_names | {"talk"}
        mine = {module_file(name) for name in names if name.startswith("talk.")}
        waiting += mine - seen
        seen |= mine


def module_file(name):
    """`talk.errors.TalkError` → `talk/errors.py`."""
    base = Path(*name.split(".")[:2])
    found = base.with_suffix(".py")
    return (found if (ROOT / found).exists() else base / "__init__.py").as_posix()


@pytest.mark.parametrize("path", files("demos"))
def test_a_demo_knows_the_short_list_alone(path):
    used = {name for name in imports_of(path) if name.split(".")[0] == "talk"}
    # A section may also be run by itself: `python -m demos.s5_memory_wall`.
    assert used <= {f"talk.{name}" for name in talk.__all__} | {"talk.__main__.main"}


def test_the_surface_is_one_short_list():
    assert talk.__all__ == SURFACE
    assert all(hasattr(talk, name) for name in SURFACE)


def test_the_list_of_sections_costs_nothing():
    assert imports_of("demos/__init__.py") == set()


def test_driver_and_slides_start_without_torch():
    loads = "import sys, talk.__main__, talk.runner, talk.worker, slides.__main__, demos"
    asks = f"print(sorted(sys.modules.keys() & {HEAVY}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{loads}; {asks}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import torch.cuda", {"torch.cuda"}),
        ("def f():\n    from talk import record", {"talk.record"}),
        ("if TYPE_CHECKING:\n    from rich.text import Text", {"rich.text.Text"}),
    ],
)
def test_an_import_is_found_wherever_it_stands(text, names):
    assert set(imports_in(text)) == names
