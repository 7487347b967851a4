"""Edit and run again: the new code runs, and it is the code that is shown (case K11)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from talk import stage
from talk.gpu.reload import Sections
from talk.outcome import Failure, Outcome
from talk.performer import Hello
from talk.worker import Worker
from tests.test_worker import NO_GPU, Driver

DEMO = "demos/s1_small.py"


@pytest.fixture
def stood(checkout: Path) -> Iterator[tuple[Driver, Path]]:
    """A worker on a checkout that may be edited."""
    hello = Hello(modules=("demos.s1_small",), commit="")
    worker = Worker(hello, root=checkout, environment=NO_GPU)
    driver = Driver(worker)
    driver.until(stage.Opened)
    yield driver, checkout
    worker.close()


def edit(root: Path, path: str, old: str, new: str) -> None:
    """As an editor saves, with the time stamps of before: size and time may tell nothing."""
    file = root / path
    text, stamps = file.read_text(), file.stat()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))


def text_of(outcome: Outcome, name: str) -> str:
    return next(code.text for code in outcome.behind if code.name == name)


def test_an_edited_kernel_and_an_edited_helper_run_and_are_shown(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    before = driver.perform("doubled")
    assert before.table is not None and before.table.rows[1][1] == 4.0

    # Of the same size, within the same second, in a module that the section imports.
    edit(root, "demos/helper.py", "return x + x", "return x * 9")
    after = driver.perform("doubled")
    assert after.table is not None and after.table.rows[1][1] == 18.0
    assert "return x * 9" in text_of(after, "twice")

    assert not [c for c in driver.perform("blocks").checks if c.at["block"] == 64 and not c.ok]
    edit(root, DEMO, "tl.load(x_ptr + i, inside) + tl", "tl.load(x_ptr + i, inside) - tl")
    wrong = driver.perform("blocks")
    assert not next(c for c in wrong.checks if c.at["block"] == 64).ok
    assert "inside) - tl" in text_of(wrong, "add_kernel")


def test_a_broken_file_fails_the_step_by_file_and_line_and_mending_it_helps(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    edit(root, "demos/helper.py", "return x + x", "return (x +")
    outlines = sum(isinstance(event, stage.Outlined) for event in driver.heard)
    failure = driver.perform("doubled").failure
    assert failure is not None and failure.kind == "error"
    assert failure.reason.startswith("demos/helper.py line 5: SyntaxError: ")
    assert sum(isinstance(event, stage.Outlined) for event in driver.heard) == outlines

    edit(root, "demos/helper.py", "return (x +", "return x + x")
    edit(root, DEMO, '"Through a helper"', '"Through another"')
    assert driver.perform("doubled").failure is None
    newest = [event.outline for event in driver.heard if isinstance(event, stage.Outlined)][-1]
    step = newest.step("doubled")
    assert step is not None and step.title == "Through another"


def test_a_step_that_was_taken_out_is_a_failure_and_not_the_end(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    edit(root, DEMO, 'Run("doubled", "Through a helper", doubled),', "")
    failure = driver.perform("doubled").failure
    assert failure is not None
    assert failure.reason == "there is no step 1/doubled any more"


PLAIN = '''"""A claim."""

from demos.values import VALUE
from talk import Exercise, Run, Section

STEP = Run("a", "A", lambda: str(VALUE))
SECTION = Section(
    number=2,
    title="Two",
    minutes=1,
    naive=(STEP,),
    profile=(Run("b", "B", lambda: ""),),
    rewrite=(Run("c", "C", lambda: ""),),
    fuse=(Run("d", "D", lambda: ""),),
    exercise=Exercise(slug="e", title="E", task="Do.", minutes=1),
)
'''


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sections]:
    """Sections in this process, in a package that no other test imports."""
    package = tmp_path / "demos"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "s2_plain.py").write_text(PLAIN)
    (package / "values.py").write_text("VALUE = 1\n")
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "demos"}
    for name in kept:
        del sys.modules[name]
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Sections(("demos.s2_plain",), tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "demos"]:
        del sys.modules[name]
    sys.modules.update(kept)


def test_nothing_is_imported_twice_while_nothing_changes(plain: Sections) -> None:
    assert [outline.number for outline in plain.refresh()] == [2]
    first = plain[2]
    assert plain.refresh() == ()
    assert plain[2] is first and plain.current()


def test_a_section_that_does_not_declare_itself_is_named(plain: Sections, tmp_path: Path) -> None:
    path = tmp_path / "demos" / "s2_plain.py"
    path.write_text(PLAIN.replace("SECTION =", "SECTIONS ="))
    assert plain.refresh() == ()
    (failure,) = plain.broken()
    assert failure.reason == (
        "demos.s2_plain has no SECTION: declare one at the bottom of the module"
    )
    path.write_text(PLAIN.replace("number=2", "number=3"))
    plain.refresh()
    assert "declares section 3" in plain.broken()[0].reason
    path.write_text(PLAIN)
    assert [outline.title for outline in plain.refresh()] == ["Two"]
    assert not isinstance(plain[2], Failure)


def test_a_section_that_was_not_opened_is_a_failure(plain: Sections) -> None:
    plain.refresh()
    unknown = plain[7]
    assert isinstance(unknown, Failure) and "section 7 was not opened" in unknown.reason


@pytest.mark.parametrize("ending", ["raise SystemExit(7)", "import os; os._exit(3)"])
def test_a_file_that_ends_its_process_ends_no_talk(stood: tuple[Driver, Path], ending: str) -> None:
    driver, root = stood
    edit(root, "demos/helper.py", "return x + x", f"return x + x\n{ending}")
    failed = driver.perform("doubled")
    assert failed.failure is not None, failed
    assert "helper.py" in failed.failure.reason or "exit status 3" in failed.failure.reason
    edit(root, "demos/helper.py", f"\n{ending}", "")
    mended = driver.perform("doubled")
    assert mended.failure is None and mended.table is not None
    assert not [e for e in driver.heard if isinstance(e, stage.Opened) and e.mode == "replay"]


def test_a_demo_that_raises_an_interrupt_of_its_own_was_cancelled_by_nobody(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    edit(root, "demos/helper.py", "return x + x", "raise KeyboardInterrupt")
    failure = driver.perform("doubled").failure
    assert failure is not None and failure.kind == "error"
    assert failure.reason == "demos/helper.py line 5: KeyboardInterrupt"
    edit(
        root, "demos/helper.py", "raise KeyboardInterrupt", "return x + x\nraise KeyboardInterrupt"
    )
    at_import = driver.perform("doubled").failure
    assert at_import is not None and at_import.kind == "error"
    assert at_import.reason == "demos/helper.py line 6: KeyboardInterrupt"


def test_a_step_that_leaves_no_file_to_open_costs_no_later_step(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); return x + x"
    edit(root, "demos/helper.py", "return x + x", limit)
    assert driver.perform("doubled").failure is None
    edit(root, "demos/helper.py", limit, "return x * 9")
    after = driver.perform("doubled")
    assert after.failure is None and after.table is not None and after.table.rows[1][1] == 18.0


def test_a_step_that_uses_up_its_files_is_a_crash_and_the_next_one_runs(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    greedy = "globals().setdefault('kept', []).extend(open('/dev/null') for _ in range(10**6))"
    edit(root, "demos/helper.py", "return x + x", greedy)
    failure = driver.perform("doubled").failure
    assert failure is not None and failure.kind == "crash"
    assert failure.reason.startswith("demos/helper.py line 5: ")
    assert "Too many open files" in failure.reason
    edit(root, "demos/helper.py", greedy, "return x + x")
    assert driver.perform("doubled").failure is None


def test_after_a_file_that_ended_every_worker_the_next_run_starts_one(
    stood: tuple[Driver, Path],
) -> None:
    driver, root = stood
    edit(root, "demos/helper.py", "return x + x", "return x + x\nimport os; os._exit(3)")
    # The first death replaces the worker; the file then ends every replacement at its import.
    driver.performer.perform(1, "doubled")
    driver.until(stage.Arrived)
    while "next run" not in (said := driver.until(stage.Said).text):
        pass
    assert "exit status 3 before it was ready" in said
    assert driver.performer.fds() == () and driver.performer.timeout() is None
    driver.performer.shell(1, "doubled", 0)
    assert driver.until(stage.Said).text == "The next run starts another worker."
