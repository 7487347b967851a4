"""A real worker process: what it performs, and every way in which it can end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from talk import stage
from talk.child import how_it_ended
from talk.errors import TalkError
from talk.gpu.bounds import bounded
from talk.outcome import Column, Outcome, Table
from talk.performer import Hello, Performer
from talk.record import Ceilings, Machine
from talk.worker import Worker
from tests import records
from tests.conftest import SMALL

NO_GPU = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
HELLO = Hello(modules=("demos.s1_small",), commit="abc1234")
T = TypeVar("T")


class Driver:
    """Waits on a performer as the terminal does, and remembers what it heard."""

    def __init__(self, performer: Performer) -> None:
        self.performer = performer
        self.heard: list[stage.Event] = []

    def until(self, kind: type[T], seconds: float = 60.0) -> T:
        """The next event of this kind."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            select.select(self.performer.fds(), (), (), self.performer.timeout())
            events = self.performer.events()
            self.heard += events
            for event in events:
                if isinstance(event, kind):
                    return event
        raise AssertionError(f"no {kind.__name__} in {seconds} s; heard {self.heard[-5:]}")

    def perform(self, slug: str) -> Outcome:
        self.performer.perform(1, slug)
        return self.until(stage.Arrived).outcome

    def cancel_once(self, text: str) -> float:
        """Cancel, and the seconds until the outcome is there."""
        began = time.monotonic()
        self.performer.cancel()
        outcome = self.until(stage.Arrived).outcome
        assert outcome.failure is not None and outcome.failure.kind == "cancelled", outcome
        assert text in outcome.failure.reason
        return time.monotonic() - began


@pytest.fixture(scope="module")
def shared() -> Iterator[Driver]:
    """One worker for all tests that leave it as they found it: a start costs two seconds."""
    worker = Worker(HELLO, root=SMALL, environment=NO_GPU)
    driver = Driver(worker)
    driver.until(stage.Opened)
    yield driver
    worker.close()


def test_it_opens_with_its_mode_the_reason_and_the_machine(shared: Driver) -> None:
    (opened,) = (event for event in shared.heard if isinstance(event, stage.Opened))
    assert opened.mode == "simulated"
    assert "no GPU here" in opened.why or "a GPU driver is here, but" in opened.why
    assert opened.machine is not None and opened.machine.software.triton


def test_it_sends_the_outline_of_every_section(shared: Driver) -> None:
    (outlined,) = (event.outline for event in shared.heard if isinstance(event, stage.Outlined))
    assert outlined.claim == "A step may do anything, and the talk goes on."
    assert outlined.steps[-1].kind == "now-you"
    shown = outlined.step("add")
    assert shown is not None
    assert [code.name for code in shown.code] == ["add_kernel", "add"]


def test_a_wrong_candidate_shows_and_the_others_go_on(shared: Driver) -> None:
    outcome = shared.perform("wrong")
    checks = {(check.candidate, check.inputs): check for check in outcome.checks}
    assert outcome.failure is None
    assert not checks["wrong", "the case's inputs"].ok
    assert "expected" in checks["wrong", "the case's inputs"].message
    assert "nan" in checks["wrong", "the case's inputs"].message
    assert all(check.ok for check in outcome.checks if check.candidate == "triton")
    assert {"one element", "huge"} <= {check.inputs for check in outcome.checks}


def test_the_interpreter_leaves_no_timing_and_compiles_what_it_can(shared: Driver) -> None:
    outcome = shared.perform("add")
    assert outcome.checks and all(check.ok for check in outcome.checks)
    assert outcome.timings == () and not outcome.measured
    (lowering,) = outcome.lowerings
    assert (lowering.kernel, lowering.target, lowering.failure) == ("add_kernel", "sm_90", "")


def test_a_sweep_goes_on_past_a_point_that_cannot_be_launched(shared: Driver) -> None:
    outcome = shared.perform("blocks")
    timed = [check for check in outcome.checks if check.inputs == "the case's inputs"]
    assert [(check.at["block"], check.ok) for check in timed if check.at["block"] in (64, 100)] == [
        (64, True),
        (100, False),
    ]
    assert "power of 2" in next(check.message for check in timed if not check.ok)
    assert outcome.failure is None


def test_a_candidate_that_raises_fails_the_step_and_keeps_the_others(shared: Driver) -> None:
    outcome = shared.perform("raising")
    assert outcome.failure is not None and outcome.failure.kind == "error"
    assert outcome.failure.reason.startswith("raises: demos/s1_small.py line ")
    assert "is not my kind of number" in outcome.failure.detail
    assert any(check.ok for check in outcome.checks if check.candidate == "triton")


def test_a_function_may_leave_a_table_or_a_text(shared: Driver) -> None:
    assert shared.perform("doubled").table is not None
    printed = shared.perform("print")
    assert printed.text == "printed"


def test_output_of_200_kb_is_drained_and_its_tail_kept(shared: Driver) -> None:
    output = shared.perform("print").output
    assert output.rstrip().endswith("x" * 90)
    assert "line 1999" in output
    assert output.startswith("[") and "not kept" in output.splitlines()[0]


def test_a_step_that_needs_a_gpu_leaves_its_figures_to_the_recording(shared: Driver) -> None:
    outcome = shared.perform("gpu")
    assert outcome.failure is None and not outcome.measured


@pytest.mark.parametrize("slug", ["nap", "counting"])
def test_cancelling_ends_the_step_and_not_its_worker(shared: Driver, slug: str) -> None:
    shared.performer.perform(1, slug)
    time.sleep(0.3)
    assert shared.cancel_once("cancelled") < 0.9
    assert shared.perform("doubled").failure is None
    assert not any(isinstance(event, stage.Said) for event in shared.heard[-4:])


def test_the_passport_of_an_outcome_is_complete(shared: Driver) -> None:
    outcome = shared.perform("doubled")
    assert (outcome.section, outcome.step) == (1, "doubled")
    assert (outcome.commit, outcome.command) == ("abc1234", "just demo 1")
    assert [code.name for code in outcome.behind] == ["doubled", "step:doubled", "twice"]
    assert [code.name for code in outcome.code] == ["doubled"]


@pytest.fixture
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """A worker of its own, for a test that ends it."""
    worker = Worker(HELLO, root=SMALL, environment=NO_GPU)
    yield Driver(worker)
    worker.close()


def test_a_worker_killed_in_a_step_is_replaced_and_the_step_runs_again(driver: Driver) -> None:
    driver.until(stage.Opened)
    driver.performer.perform(1, "nap")
    time.sleep(0.3)
    os.kill(pid_of(driver.performer), signal.SIGKILL)
    failure = driver.until(stage.Arrived).outcome.failure
    assert failure is not None and failure.kind == "crash"
    assert "killed" in failure.reason
    began = time.monotonic()
    assert driver.perform("doubled").failure is None
    assert time.monotonic() - began < 10


def test_a_crash_names_its_signal_and_keeps_what_was_printed(driver: Driver) -> None:
    driver.performer.perform(1, "crash")  # asked for before it was ready
    failure = driver.until(stage.Arrived).outcome.failure
    assert failure is not None and failure.kind == "crash"
    assert "SIGSEGV" in failure.reason
    assert "in crash" in failure.detail


def test_a_hang_past_its_deadline_is_ended_and_out_of_memory_gets_a_fresh_worker(
    driver: Driver,
) -> None:
    driver.until(stage.Opened)
    began = time.monotonic()
    hung = driver.perform("hang").failure
    assert hung is not None and hung.kind == "deadline"
    assert "1 s" in hung.reason and "replaced" in hung.reason
    assert time.monotonic() - began < 5
    full = driver.perform("memory").failure
    assert full is not None and full.kind == "memory"
    assert full.reason.endswith("Tried to allocate 20.00 GiB")
    first = pid_of(driver.performer)
    assert driver.perform("doubled").failure is None
    assert pid_of(driver.performer) != first


def test_cancelling_a_step_that_has_not_begun_forgets_it(driver: Driver) -> None:
    driver.performer.perform(1, "doubled")
    assert driver.cancel_once("before it began") < 0.5
    driver.until(stage.Opened)
    assert driver.performer.timeout() is None


def test_a_worker_that_dies_before_it_is_ready_twice_makes_a_replay(tmp_path: Path) -> None:
    aborting = with_module(tmp_path, "torch", "import os; os.abort()")
    worker = Worker(HELLO, root=SMALL, environment=aborting)
    opened = Driver(worker).until(stage.Opened)
    assert opened.mode == "replay"
    assert "SIGABRT" in opened.why
    worker.close()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "torch",
            "raise OSError('libtorch.so: cannot open')",
            "PyTorch cannot be imported: OSError",
        ),
        ("triton", "raise ImportError('no such wheel')", "Triton cannot be imported: "),
        ("numpy", "raise ModuleNotFoundError('numpy')", "interpreter does not work: "),
    ],
)
def test_where_nothing_can_run_it_is_a_replay_with_the_reason(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    worker = Worker(HELLO, root=SMALL, environment=with_module(tmp_path, name, text))
    driver = Driver(worker)
    worker.perform(1, "doubled")
    opened = driver.until(stage.Opened)
    assert opened.mode == "replay"
    assert why in opened.why
    failures = [e.outcome.failure for e in driver.heard if isinstance(e, stage.Arrived)]
    assert failures and failures[0] is not None and failures[0].kind == "worker"
    worker.close()


def test_a_gpu_that_triton_cannot_launch_on_is_named_with_the_reason(tmp_path: Path) -> None:
    seen = "import torch\ntorch.cuda.is_available = lambda: True\n"
    named = "torch.cuda.get_device_name = lambda: 'Some GPU'\n"
    environment = with_module(tmp_path, "sitecustomize", seen + named)
    worker = Worker(HELLO, root=SMALL, environment=environment)
    opened = Driver(worker).until(stage.Opened)
    assert opened.mode == "simulated"
    assert opened.why.startswith("no live run: Some GPU is here, but ")
    assert "CUDA" in opened.why
    worker.close()


def test_a_demo_that_is_broken_from_the_start_is_one_clear_error(checkout: Path) -> None:
    demo = checkout / "demos" / "s1_small.py"
    demo.write_text("\n\nimport nothing_of_that_name\n")
    worker = Worker(HELLO, root=checkout)
    with pytest.raises(TalkError, match=r"demos/s1_small.py line 3: .*nothing_of_that_name"):
        Driver(worker).until(stage.Opened)
    worker.close()


def test_models_take_the_ceilings_of_the_recording_where_no_gpu_is() -> None:
    reference = Machine(mode="live", device=records.MACHINE.device, ceilings=records.CEILINGS)
    hello = Hello(modules=HELLO.modules, commit="", reference=reference)
    worker = Worker(hello, root=SMALL, environment={**os.environ, "TRITON_INTERPRET": "1"})
    driver = Driver(worker)
    outcome = driver.perform("guess")
    assert driver.heard and "TRITON_INTERPRET is set" in str(driver.heard)
    assert outcome.prediction is not None
    seconds = records.CEILINGS.seconds(bytes=3 * 2**22, mix="2:1")
    assert outcome.prediction.model == pytest.approx(seconds)
    worker.close()


@pytest.mark.gpu
def test_a_killed_worker_measures_again_within_ten_seconds() -> None:
    worker = Worker(HELLO, root=SMALL)
    driver = Driver(worker)
    assert driver.perform("add").timings
    ceilings = machine_of(driver).ceilings
    assert isinstance(ceilings, Ceilings)
    os.kill(pid_of(worker), signal.SIGKILL)
    driver.until(stage.Said)
    began = time.monotonic()
    again = driver.perform("add")
    assert again.failure is None and {t.candidate for t in again.timings} == {"torch", "triton"}
    assert time.monotonic() - began < 10
    assert machine_of(driver).ceilings == ceilings, "what was measured is taken over"
    worker.close()


@pytest.mark.gpu
def test_a_lost_device_and_a_full_one_are_failures_and_the_next_step_runs() -> None:
    worker = Worker(HELLO, root=SMALL)
    driver = Driver(worker)
    for slug, kind, reason in (("far", "crash", "illegal memory"), ("much", "memory", "Tried to")):
        failure = driver.perform(slug).failure
        assert failure is not None and failure.kind == kind, failure
        assert reason in failure.reason
        assert driver.perform("doubled").failure is None
    worker.close()


def machine_of(driver: Driver) -> Machine:
    opened = [event for event in driver.heard if isinstance(event, stage.Opened)]
    assert opened[-1].machine is not None
    return opened[-1].machine


def pid_of(performer: Performer) -> int:
    assert isinstance(performer, Worker)
    return performer.pid


def with_module(folder: Path, name: str, text: str) -> dict[str, str]:
    """An environment in which importing `name` runs this text instead."""
    (folder / f"{name}.py").write_text(text)
    return {**NO_GPU, "PYTHONPATH": str(folder)}


def test_a_step_cancelled_before_the_worker_is_ready_claims_no_gpu() -> None:
    worker = Worker(HELLO, root=SMALL, environment=NO_GPU)
    worker.perform(1, "blocks")
    worker.cancel()
    arrived = [event for event in worker.events() if isinstance(event, stage.Arrived)]
    worker.close()
    assert [event.outcome.mode for event in arrived] == ["simulated"]


LEFT = Outcome(section=1, step="s", mode="simulated", note="Read it.")


def test_a_text_without_end_is_cut_and_the_note_says_so() -> None:
    kept = bounded(replace(LEFT, text="x" * 10**6))
    assert kept.text == "x" * 65_536
    assert kept.note == "Read it. Only 65,536 of 1,000,000 characters of text are kept."


def test_a_table_without_end_is_cut_in_every_direction_and_the_note_says_so() -> None:
    columns = tuple(Column(name=f"c{n}") for n in range(40))
    row = ("y" * 300, *range(39))
    kept = bounded(replace(LEFT, table=Table(columns=columns, rows=(row,) * 3000)))
    assert kept.table is not None
    assert (len(kept.table.rows), len(kept.table.columns)) == (2_000, 32)
    assert kept.table.rows[0] == ("y" * 199 + "…", *range(31))
    assert kept.note == (
        "Read it. Only 2,000 of 3,000 rows, 32 of 40 columns, 200 of 300 characters of a cell "
        "are kept."
    )


def test_what_fits_is_left_as_it_was() -> None:
    table = Table(columns=(Column(name="n"),), rows=((1,), ("two",), (None,), (0.5,)))
    fits = replace(LEFT, text="words", table=table)
    assert bounded(fits) == fits


def test_a_value_that_no_record_can_hold_is_named() -> None:
    table = Table(columns=(Column(name="n"),), rows=((1j,),))  # type: ignore[arg-type]
    with pytest.raises(TalkError, match=r"cannot be recorded: .*complex"):
        bounded(replace(LEFT, table=table))


def test_every_signal_has_a_name_or_a_number() -> None:
    assert how_it_ended(-signal.SIGSEGV) == "crashed (SIGSEGV)"
    assert how_it_ended(-40) == "crashed (signal 40)"
