"""Check, then time: all rules of measuring, with a made-up timer and clock, on the CPU."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from talk.gpu.check import compare
from talk.gpu.measure import SEED, Bench, Measured, Point, measure
from talk.gpu.perform import Stand, perform, points_of
from talk.gpu.timer import FULL, QUICK, Budget, quantile, time_in_turn
from talk.outcome import Clocks, Outcome, Timing
from talk.rows import CACHED, OVERHEAD, flags_of
from talk.section import Case, Measure, Sweep
from tests.records import CEILINGS

AT = Point(size={"n": 1000})


class Clock:
    """Stands still until somebody lets time pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class MadeUpTimer:
    """Each candidate, by its function's name, takes the milliseconds given, in turn."""

    clock = "device"

    def __init__(self, clock: Clock, **ms: float | list[float]) -> None:
        self._clock = clock
        self._ms = {
            name: itertools.cycle([given] if isinstance(given, float) else given)
            for name, given in ms.items()
        }
        self.turns: list[str] = []

    def samples(self, call: Callable[[], Any], n: int) -> list[float]:
        name = call.func.__name__  # type: ignore[attr-defined]
        self.turns.append(name)
        call()
        taken = [next(self._ms[name]) for _ in range(n)]
        self._clock.now += sum(taken) / 1e3
        return taken


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def subtract(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x - y


def half_done(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    half = len(x) // 2
    out[:half] = x[:half] + y[:half]
    return out


def spoils(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.add_(y)


def vectors(n: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(n, dtype=dtype), torch.randn(n, dtype=dtype)


ADD = Case(
    name="add",
    inputs=vectors,
    reference=add,
    size={"n": 1000},
    small={"n": 10},
    bytes_moved=lambda x, y: 3 * x.nbytes,
    flops=lambda x, y: x.numel(),
    mix="2:1",
)


def measured(case: Case = ADD, budget: Budget = FULL, **ms: float | list[float]) -> Measured:
    """The candidates of those names, taking those milliseconds."""
    clock = Clock()
    candidates = {name: globals()[name] for name in ms}
    bench = Bench(timer=MadeUpTimer(clock, **ms), budget=budget, clock=clock)
    return measure(case, candidates, AT, bench)


def only(found: Measured) -> Timing:
    (timing,) = found.timings
    return timing


# Checking


def test_a_wrong_candidate_has_no_timing_and_the_others_do() -> None:
    found = measured(subtract=1.0, add=2.0)
    assert [(check.candidate, check.ok) for check in found.checks] == [
        ("subtract", False),
        ("add", True),
    ]
    assert "1,000 of 1,000 wrong, first at [0]: expected " in found.checks[0].message
    assert only(found).candidate == "add"


def test_what_a_candidate_leaves_unwritten_is_noticed() -> None:
    found = measured(half_done=1.0)
    assert "500 of 1,000 wrong, first at [500]" in found.checks[0].message
    assert found.checks[0].message.endswith("got nan")
    assert found.timings == ()


def test_a_candidate_that_writes_into_its_inputs_is_wrong_and_spoils_no_other() -> None:
    found = measured(spoils=1.0, add=1.0)
    assert found.checks[0].message == "input 1 was changed"
    assert only(found).candidate == "add"


def resizes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    total = x + y
    x.resize_(2 * x.numel())
    return total


def empties(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    total = x + y
    x.resize_(0)
    return total


def halves(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    total = x + y
    x.data = x.half()
    return total


@pytest.mark.parametrize("name", ["resizes", "empties", "halves"])
def test_a_candidate_that_reshapes_an_input_is_wrong_and_spoils_no_other(name: str) -> None:
    found = measured(**{name: 1.0, "add": 1.0})
    assert found.checks[0].message == "input 1 was changed"
    assert only(found).candidate == "add"


def spoils_and_raises(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(y)
    raise ValueError("too late")


def spoils_and_returns_two(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.add_(y), y


@pytest.mark.parametrize(
    ("name", "message"),
    [("spoils_and_raises", "too late"), ("spoils_and_returns_two", "2 results, expected 1")],
)
def test_a_candidate_that_fails_otherwise_leaves_the_inputs_to_the_next(
    name: str, message: str
) -> None:
    found = measured(**{name: 1.0, "add": 1.0})
    assert found.checks[0].message.endswith(message)
    assert only(found).candidate == "add"


def test_a_result_of_two_dtypes_is_held_to_each_of_them() -> None:
    def both(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x + y, (x > y)

    def twice_float(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x + y, (x > y).float()

    case = replace(ADD, reference=both)
    found = measure(case, {"both": both, "float": twice_float}, AT, Bench())
    assert [check.ok for check in found.checks] == [True, False]
    assert found.checks[1].message == "dtype float32, expected bool"


@pytest.mark.parametrize(
    "dtype",
    [
        torch.int32,
        torch.int8,
        torch.bool,
        torch.float16,
        torch.bfloat16,
        torch.float64,
        torch.float8_e4m3fn,
        torch.complex64,
    ],
)
def test_a_result_of_another_dtype_is_wrong_however_near(dtype: torch.dtype) -> None:
    def narrow(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + y).to(dtype)

    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, narrow=1.0), clock=clock)
    found = measure(ADD, {"narrow": narrow}, AT, bench)
    name = str(dtype).removeprefix("torch.")
    assert found.checks[0].message == f"dtype {name}, expected float32" and not found.timings


def test_a_candidate_that_turns_wrong_while_it_is_timed_has_no_timing() -> None:
    calls = itertools.count()

    def tires(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y + (next(calls) > 4)

    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, tires=1.0), clock=clock)
    found = measure(ADD, {"tires": tires}, AT, bench)
    assert found.timings == ()
    assert found.checks[0].message.startswith("after timing: 1,000 of 1,000 wrong")


def spoils_later(at: int) -> Callable[..., torch.Tensor]:
    calls = itertools.count()

    def later(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = x + y
        if next(calls) == at:
            x.add_(1)
        return total

    return later


def test_inputs_that_changed_while_timed_leave_nobody_a_timing() -> None:
    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, add=1.0, later=1.0), clock=clock)
    found = measure(ADD, {"add": add, "later": spoils_later(3)}, AT, bench)
    said = "after timing: input 1 was changed by one of the 2 that were timed"
    assert [check.message for check in found.checks] == [said, said] and found.timings == ()


def test_one_that_raises_while_it_is_timed_leaves_the_others_their_figures() -> None:
    calls = itertools.count()

    def tired(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if next(calls) == 3:
            x.add_(1)
            raise ValueError("too tired")
        return x + y

    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, add=1.0, tired=1.0), clock=clock)
    found = measure(ADD, {"tired": tired, "add": add}, AT, bench)
    assert only(found).candidate == "add"
    assert [check.ok for check in found.checks] == [True, False, True]
    assert "while timed: " in found.checks[1].message
    assert found.checks[1].message.endswith("too tired")
    assert [failure.reason[:7] for failure in found.failures] == ["tired: "]


def test_hard_inputs_must_be_right_before_anything_is_timed() -> None:
    def naive_mean(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + y) / 2

    def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x / 2 + y / 2

    def hard() -> Any:
        yield "huge", (torch.full((4,), 3e38), torch.full((4,), 3e38))

    case = replace(ADD, reference=reference, hard=hard)
    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, naive_mean=1.0), clock=clock)
    found = measure(case, {"naive": naive_mean}, AT, bench)
    assert [(check.inputs, check.ok) for check in found.checks] == [
        ("the case's inputs", True),
        ("huge", False),
    ]
    assert found.timings == ()


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        (torch.ones(3), torch.ones(4), "shape (3,), expected (4,)"),
        (torch.tensor([1.0, torch.nan]), torch.tensor([1.0, 2.0]), "first at [1]"),
        (torch.tensor([[1, 2], [3, 5]]), torch.tensor([[1, 2], [3, 4]]), "first at [1, 1]"),
        (torch.tensor([torch.inf]), torch.tensor([-torch.inf]), "expected -inf, got inf"),
        (torch.tensor(2.0), torch.tensor(1.0), "first at []"),
        (3, torch.ones(1), "expected a tensor, got int"),
    ],
)
def test_what_differs_is_said(got: Any, expected: torch.Tensor, message: str) -> None:
    verdict = compare(got, expected, 1e-5)
    assert not verdict.ok
    assert message in verdict.message


@pytest.mark.parametrize(
    "same",
    [torch.tensor([torch.nan, torch.inf, -torch.inf, 1.0]), torch.empty(0), torch.empty(0, 4)],
)
def test_nan_equals_nan_and_nothing_equals_nothing(same: torch.Tensor) -> None:
    assert compare(same.clone(), same.double(), 1e-5).ok


@pytest.mark.parametrize(
    ("dtype", "right", "wrong"),
    [(torch.float32, 1e-6, 1e-4), (torch.float16, 1e-3, 2e-2), (torch.bfloat16, 8e-3, 0.1)],
)
def test_the_tolerance_is_that_of_the_dtype(dtype: torch.dtype, right: float, wrong: float) -> None:
    expected = torch.ones(8, dtype=torch.float64)
    assert compare((expected + right).to(dtype), expected, 0.0).ok
    assert not compare((expected + wrong).to(dtype), expected, 0.0).ok


# Timing


def test_candidates_are_timed_in_rounds_and_another_one_begins_each() -> None:
    clock = Clock()
    # A spread that takes a few rounds to settle.
    wide = [10.0, 10.4]
    timer = MadeUpTimer(clock, add=wide, subtract=wide)
    calls = {"a": partial(add, *vectors(2)), "b": partial(subtract, *vectors(2))}
    taken = time_in_turn(calls, timer, FULL, clock=clock)
    rounds = timer.turns[-6:]
    assert rounds in (["add", "subtract", "subtract", "add", "add", "subtract"], rounds[::-1])
    assert len(taken["a"].ms) == len(taken["b"].ms) >= 10


def test_quiet_samples_stop_early_and_noisy_ones_at_the_limit_with_a_flag() -> None:
    quiet = only(measured(add=1.0))
    assert quiet.n >= 10 and quiet.flags == ()
    noisy = only(measured(add=[2000.0, 9000.0, 3000.0]))
    assert noisy.flags == ("noisy",)
    assert noisy.n < 10


def test_a_quick_budget_says_so() -> None:
    timing = only(measured(budget=QUICK, add=1.0))
    assert timing.flags == ("quick",)


def test_memory_bound_work_warms_up_for_200_ms_and_matrix_bound_until_it_is_steady() -> None:
    clock = Clock()
    timer = MadeUpTimer(clock, add=1.0)
    calls = {"a": partial(add, *vectors(2))}
    time_in_turn(calls, timer, clock=clock)
    assert 0.2 <= clock.now < 0.4
    warming = MadeUpTimer(clock := Clock(), add=[50.0 * 1.02**n for n in range(400)])
    time_in_turn(calls, warming, matrix_bound=True, clock=clock)
    assert clock.now > 3.0


def test_the_passport_of_a_timing_is_complete() -> None:
    timing = only(measured(add=1.0))
    assert (timing.shape, timing.dtype, timing.clock) == ("1,000", "float32", "device")
    assert (timing.bytes, timing.flops, timing.mix) == (12_000, 1000, "2:1")
    assert timing.seed == SEED and timing.compile_ms is None


class Kernel:
    """As Triton leaves a compiled one."""

    metadata = types.SimpleNamespace(num_warps=4, num_stages=3, shared=1024)
    n_regs, n_spills = 18, 0


class JITFunction:
    """As Triton's: it compiles at the first launch, and `run` returns what it launched."""

    fn = types.SimpleNamespace(__name__="add_kernel")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kernel: Kernel | None = None

    def run(self, *args: object, warmup: bool = False) -> Kernel:
        if self._kernel is None:
            self._clock.now += 0.7
            self._kernel = Kernel()
        return self._kernel


def test_the_first_call_of_a_kernel_is_a_figure_of_its_own_and_has_its_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.SimpleNamespace(JITFunction=JITFunction)
    monkeypatch.setitem(sys.modules, "triton.runtime.jit", module)  # type: ignore[arg-type]
    clock = Clock()
    kernel = JITFunction(clock)

    def launch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        kernel.run()
        return x + y

    bench = Bench(timer=MadeUpTimer(clock, launch=1.0), clock=clock)
    first, again = (only(measure(ADD, {"x": launch}, AT, bench)) for _ in range(2))
    assert first.compile_ms == pytest.approx(700)
    assert again.compile_ms is None, "nothing was compiled for it"
    assert first.median_ms == 1.0
    assert first.config == {
        "num_warps": 4,
        "num_stages": 3,
        "registers": 18,
        "spills": 0,
        "shared": 1024,
    }


def test_the_clocks_are_read_before_and_after() -> None:
    readings = iter((Clocks(sm_mhz=1980), Clocks(sm_mhz=1700, throttle=("power cap",))))
    clock = Clock()
    bench = Bench(
        timer=MadeUpTimer(clock, add=1.0), clock=clock, clocks=lambda: next(readings, None)
    )
    found = measure(ADD, {"add": add}, AT, bench)
    assert [reading.sm_mhz for reading in found.clocks] == [1980, 1700]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40))
def test_quantiles_never_cross(values: list[float]) -> None:
    low, p20, median, p80 = (quantile(values, q) for q in (0.0, 0.2, 0.5, 0.8))
    assert min(values) == low <= p20 <= median <= p80 <= max(values)


# Verdicts


def test_a_cache_hot_kernel_is_flagged_and_never_133_percent() -> None:
    # 12 GB at 2,000 GB/s take 6 ms; 4 ms would be a third above the ceiling.
    case = replace(ADD, bytes_moved=lambda x, y: 12_000_000_000)
    assert flags_of(only(measured(case, add=4.0)), CEILINGS) == (CACHED,)
    assert flags_of(only(measured(case, add=6.2)), CEILINGS) == ()


def test_an_add_of_4096_elements_is_overhead() -> None:
    case = replace(ADD, size={"n": 4096})
    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, add=0.0048), clock=clock)
    timing = only(measure(case, {"add": add}, Point(size=case.size), bench))
    assert timing.bytes == 49_152
    assert flags_of(timing, CEILINGS) == (OVERHEAD,)


def test_the_interpreter_is_never_timed() -> None:
    found = measure(ADD, {"add": add}, AT, Bench(interpreted=True))
    assert found.checks[0].ok and found.timings == ()


def test_bfloat16_is_widened_where_the_interpreter_would_get_it_wrong() -> None:
    seen: list[torch.dtype] = []

    def spy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        seen.append(x.dtype)
        return x + y

    case = replace(ADD, inputs=partial(vectors, dtype=torch.bfloat16))
    assert measure(case, {"spy": spy}, AT, Bench(interpreted=True)).checks[0].ok
    assert seen == [torch.float32]


# Sweeps


class OutOfResources(Exception):
    """As Triton raises it."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__("out of resource")
        self.required, self.limit, self.name = required, limit, name


def blocked(x: torch.Tensor, y: torch.Tensor, *, block: int) -> torch.Tensor:
    if block > 256:
        raise OutOfResources(block * 1024, 232448, "shared memory")
    return x + y


def swept(over: dict[str, tuple[int, ...]], candidate: Callable[..., Any] = blocked) -> Outcome:
    clock = Clock()
    name = candidate.__name__
    bench = Bench(timer=MadeUpTimer(clock, **{name: 1.0}), clock=clock)
    step = Sweep("s", "S", ADD, {"x": candidate}, over=over)
    blank = Outcome(section=1, step="s", mode="live")
    return perform(step, blank, Stand(module="demos.none", bench=bench))


def test_a_tile_too_large_for_this_gpu_names_the_next_smaller_one() -> None:
    outcome = swept({"block": (64, 256, 512)})
    assert [timing.at for timing in outcome.timings] == [{"block": 64}, {"block": 256}]
    assert outcome.failure is None
    (failed,) = (check for check in outcome.checks if not check.ok)
    assert failed.at == {"block": 512}
    assert "needs 512 KiB of shared memory, this GPU gives it 227 KiB" in failed.message
    assert failed.message.endswith("next smaller: block 256")


def test_a_size_resizes_the_inputs_and_a_point_without_inputs_goes_by() -> None:
    outcome = swept({"n": (10, -1, 20)}, add)
    assert [(timing.at, timing.shape) for timing in outcome.timings] == [
        ({"n": 10}, "10"),
        ({"n": 20}, "20"),
    ]
    assert [check.at for check in outcome.checks if not check.ok] == [{"n": -1}]


def test_what_is_wrong_on_the_hard_inputs_is_timed_at_no_point_of_a_sweep() -> None:
    def hard() -> Any:
        yield "huge", (torch.full((4,), 3e38), torch.full((4,), 3e38))

    def mean(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + y) / 2

    case = replace(ADD, reference=lambda x, y: x / 2 + y / 2, hard=hard)
    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, mean=1.0), clock=clock)
    step = Sweep("s", "S", case, {"x": mean}, over={"n": (10, 20)})
    blank = Outcome(section=1, step="s", mode="live")
    outcome = perform(step, blank, Stand(module="demos.none", bench=bench))
    assert outcome.timings == ()
    assert [check.at["n"] for check in outcome.checks if not check.ok] == [10, 20]


def test_hard_inputs_are_checked_once_where_all_are_right() -> None:
    case = replace(ADD, hard=lambda: [("ones", (torch.ones(3), torch.ones(3)))])
    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, add=1.0), clock=clock)
    # The first point has no inputs, so that nothing was checked there.
    step = Sweep("s", "S", case, {"x": add}, over={"n": (-1, 10, 20)})
    blank = Outcome(section=1, step="s", mode="live")
    checks = perform(step, blank, Stand(module="demos.none", bench=bench)).checks
    assert [check.at["n"] for check in checks if check.inputs == "ones"] == [10]


def test_two_parameters_make_a_grid_and_the_interpreter_takes_a_corner_of_it() -> None:
    over = {"n": (1, 2, 3), "block": (32, 64, 128)}
    step = Sweep("s", "S", ADD, {"x": blocked}, over=over, small={"n": (7,)})
    assert len(list(points_of(step, live=True))) == 9
    small = list(points_of(step, live=False))
    assert [point.at for point in small] == [{"n": 7, "block": 32}, {"n": 7, "block": 64}]
    assert small[0].size == {"n": 7} and small[0].keywords == {"block": 32}


def test_a_candidate_that_raises_fails_its_step_and_the_others_keep_their_figures() -> None:
    def falls(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        raise OutOfResources(2048, 1024, "threads")

    clock = Clock()
    bench = Bench(timer=MadeUpTimer(clock, add=1.0), clock=clock)
    step = Measure("m", "M", ADD, {"falls": falls, "add": add})
    blank = Outcome(section=1, step="m", mode="live")
    outcome = perform(step, blank, Stand(module="demos.none", bench=bench))
    assert outcome.failure is not None
    assert "one program needs 2,048 of threads, this GPU gives it 1,024" in outcome.failure.reason
    assert outcome.failure.reason.startswith("falls: ")
    assert [timing.candidate for timing in outcome.timings] == ["add"]
