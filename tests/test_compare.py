"""Steps that compare many things at once: configurations, cases, and what only a GPU can run."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from talk.gpu.check import expect, judge
from talk.gpu.measure import Bench
from talk.gpu.perform import Stand, perform
from talk.gpu.timer import GpuTimer, HotTimer, overwritings
from talk.outcome import Outcome
from talk.section import Benchmark, Case, Measure, Sweep, Tune
from tests.test_measure import ADD, Clock

BLANK = Outcome(section=6, step="s", mode="live")


class ByPoint:
    """A timer: what a call takes is its `block` in microseconds, 10 where it has none."""

    clock = "device"

    def __init__(self, clock: Clock, name: str = "device") -> None:
        self._clock = clock
        self.clock = name
        self.turns: list[int] = []

    def samples(self, call: Callable[[], Any], n: int) -> list[float]:
        block = call.keywords.get("block", 10)  # type: ignore[attr-defined]
        self.turns.append(block)
        self._clock.now += block * n / 1e6
        return [block / 1e3 * wobble for wobble in itertools.islice(WOBBLE, n)]


WOBBLE = itertools.cycle([1.0, 1.001, 0.999])


def add(x: torch.Tensor, y: torch.Tensor, block: int = 0, warps: int = 0) -> torch.Tensor:
    if block == 64:
        return x - y
    if block == 1024:
        raise RuntimeError("one program needs 300 KiB of shared memory, this GPU has 227: halve it")
    return x + y


def other(x: torch.Tensor, y: torch.Tensor, block: int = 0, warps: int = 0) -> torch.Tensor:
    return x + y


def stand(**bench: Any) -> Stand:
    clock = Clock()
    timer = ByPoint(clock)
    given = {"timer": timer, "hot": ByPoint(clock, "hot"), "clock": clock, **bench}
    return Stand(module="", bench=Bench(**given))


CONFIGS = tuple({"block": block, "warps": 4} for block in (32, 64, 128, 256, 1024))
TUNE = Tune("s", "S", ADD, {"triton": add}, configs=CONFIGS)


def test_every_configuration_is_checked_and_only_the_right_ones_are_timed() -> None:
    found = perform(TUNE, BLANK, stand())
    assert found.failure is None
    assert [(c.at["block"], c.ok) for c in found.checks] == [
        (32, True), (64, False), (128, True), (256, True), (1024, False),
    ]  # fmt: skip
    assert [t.at["block"] for t in found.timings] == [32, 128, 256]
    assert [t.median_ms for t in found.timings] == pytest.approx([0.032, 0.128, 0.256], rel=0.01)


def test_one_too_large_names_the_next_smaller() -> None:  # case E8
    *_, large = perform(TUNE, BLANK, stand()).checks
    assert "300 KiB" in large.message and large.message.endswith("next smaller: block 256, warps 4")


def test_the_next_smaller_is_one_that_works() -> None:
    # 128 and 256 are right; 64 is wrong, and 32 has more warps.
    configs = (CONFIGS[1], {"block": 32, "warps": 8}, CONFIGS[-1])
    *_, large = perform(replace(TUNE, configs=configs), BLANK, stand()).checks
    assert "300 KiB" in large.message and "next smaller" not in large.message


def test_a_configuration_that_other_names_describe_is_not_smaller() -> None:
    configs = ({"block": 32}, CONFIGS[-1])
    found = perform(replace(TUNE, configs=configs), BLANK, stand())
    assert [check.ok for check in found.checks] == [True, False]
    assert "next smaller" not in found.checks[1].message and found.failure is None


def test_a_candidate_that_raises_on_the_hard_inputs_alone_has_no_configuration() -> None:
    def short(x: torch.Tensor, y: torch.Tensor, block: int, warps: int) -> torch.Tensor:
        if len(x) < 10:
            raise ValueError("too short")
        return x + y

    case = replace(ADD, hard=lambda: [("one", (torch.ones(1), torch.ones(1)))])
    found = perform(replace(TUNE, case=case, candidates={"triton": short}), BLANK, stand())
    assert found.failure and found.failure.reason.endswith("too short")
    assert found.timings == () and {check.ok for check in found.checks} == {True, False}


def test_progress_says_which_of_how_many() -> None:
    told: list[str] = []
    perform(TUNE, BLANK, stand(progress=lambda text, fraction: told.append(text)))
    assert "checking triton, block 128, warps 4 (3 of 5)" in told
    assert told[-1] == "timing triton, 3 configurations"


def test_configurations_take_turns() -> None:
    here = stand()
    perform(TUNE, BLANK, here)
    turns = here.bench.timer.turns  # type: ignore[union-attr]
    sampled = [block for block, _ in itertools.groupby(turns)]
    # Warmed one by one, then sampled in rounds of which each begins with another.
    assert sampled[:3] == [32, 128, 256] and set(sampled) == {32, 128, 256}


def test_a_candidate_of_which_no_configuration_runs_fails_the_step() -> None:
    found = perform(replace(TUNE, configs=(CONFIGS[-1],)), BLANK, stand())
    assert found.failure and "300 KiB" in found.failure.reason and found.timings == ()


def test_two_configurations_are_enough_for_the_interpreter(monkeypatch: Any) -> None:
    monkeypatch.setattr("talk.gpu.perform.lowered", lambda *_: ())
    here = stand(timer=None, hot=None, interpreted=True)
    found = perform(replace(TUNE, configs=CONFIGS[2:]), BLANK, here)
    assert [c.at["block"] for c in found.checks] == [128, 256] and found.timings == ()


BENCHMARK = Benchmark(
    "s",
    "S",
    (
        (replace(ADD, name="first"), {"triton": other, "torch.compile": other}),
        (replace(ADD, name="second"), {"wrong": lambda x, y: x, "triton": other}),
        (replace(ADD, name="third", inputs=lambda n: 1 / 0), {"triton": other}),
    ),
    gpu_only=("torch.compile",),
)


def test_each_case_of_a_benchmark_keeps_its_name_and_one_that_breaks_stops_none() -> None:
    made: list[str] = []
    here = replace(stand(), make_room=lambda: made.append("room"))
    found = perform(BENCHMARK, BLANK, here)
    assert [(t.case, t.candidate) for t in found.timings] == [
        ("first", "triton"), ("first", "torch.compile"), ("second", "triton"),
    ]  # fmt: skip
    wrong = [(c.case, c.candidate, c.message) for c in found.checks if not c.ok]
    assert [w[:2] for w in wrong] == [("second", "wrong"), ("third", "triton")]
    assert "division by zero" in wrong[1][2] and len(made) == 3


BOTH = {"triton": other, "torch.compile": other}


@pytest.mark.parametrize(
    "step",
    [
        BENCHMARK,
        Measure("s", "S", ADD, BOTH, gpu_only=("torch.compile",)),
        Sweep("s", "S", ADD, BOTH, over={"n": (1, 2)}, gpu_only=("torch.compile",)),
    ],
)  # fmt: skip
def test_what_needs_a_gpu_is_left_out_aloud_where_there_is_none(
    step: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("talk.gpu.perform.lowered", lambda *_: ())
    found = perform(step, BLANK, stand(timer=None, hot=None, interpreted=True))
    assert "torch.compile" not in {check.candidate for check in found.checks}
    assert found.note == "left out without a GPU: torch.compile"


def test_a_hot_case_is_timed_hot_and_says_so() -> None:
    here = stand()
    case = replace(ADD, clock="hot", items=lambda x, y: 7, arithmetic="bf16")
    (timing,) = perform(Measure("s", "S", case, {"triton": other}), BLANK, here).timings
    assert (timing.clock, timing.items, timing.arithmetic) == ("hot", 7, "bf16")
    assert here.bench.timer.turns == []  # type: ignore[union-attr]


def test_a_hot_timer_lets_the_call_fill_the_cache_first() -> None:
    class Cold:
        def in_a_row(self, call: Callable[[], Any], n: int) -> list[float]:
            return [2.0] * n

    assert HotTimer(Cold()).samples(lambda: None, 3) == [2.0] * 3  # type: ignore[arg-type]
    assert HotTimer.clock == "hot"


class Device:
    """Runs in order what was queued, in milliseconds; queueing takes the host its time."""

    def __init__(self) -> None:
        self.host = self.until = 0.0
        self.overwritten = 0
        self.cuda = types.SimpleNamespace(Event=self.event, synchronize=self.wait)
        self.int32 = torch.int32

    def queue(self, host: float, device: float) -> None:
        self.host += host
        self.until = max(self.until, self.host) + device

    def wait(self) -> None:
        self.host = self.until = max(self.host, self.until)

    def event(self, enable_timing: bool) -> Any:
        return Event(self)

    def empty(self, *size: int, **options: Any) -> Any:
        return types.SimpleNamespace(zero_=self.overwrite)

    def overwrite(self) -> None:
        self.overwritten += 1
        self.queue(0.005, 0.12)


class Event:
    def __init__(self, device: Device) -> None:
        self._device = device

    def record(self) -> None:
        self._device.queue(0.001, 0.0)
        self.at = self._device.until

    def elapsed_time(self, other: Event) -> float:
        return other.at - self.at


@pytest.mark.parametrize("kind", ["device", "hot"])
def test_a_call_shorter_than_its_queueing_is_timed_without_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", device)  # type: ignore[arg-type]
        cold = GpuTimer(None, lambda: device.host / 1e3)
    timer = {"device": cold, "hot": HotTimer(cold)}[kind]
    # As on an H200: 5 µs on the device, 70 µs through Python.
    taken = timer.samples(lambda: device.queue(0.07, 0.005), 60)
    assert taken == pytest.approx([0.005] * 60)
    assert device.overwritten >= 60


@pytest.mark.parametrize("kind", ["device", "hot"])
def test_a_call_that_the_host_queues_for_long_is_waited_for(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", device)  # type: ignore[arg-type]
        cold = GpuTimer(None, lambda: device.host / 1e3)
    timer = {"device": cold, "hot": HotTimer(cold)}[kind]

    def call() -> None:
        for _ in range(5):  # of a backward: allocations, and two kernels
            device.queue(0.08, 0.0)
        device.queue(0.0, 0.21)

    first = timer.samples(call, 1)
    assert first[0] > 0.25, "too short an overwriting: without more of them, this would be kept"
    assert timer.samples(call, 20) == pytest.approx([0.21] * 20)


def test_a_call_that_waits_for_the_device_is_not_waited_for_without_end() -> None:
    assert overwritings(1.0, 120e-6) == 10 and overwritings(0.0, 120e-6) == 1


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def squares(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(n, n), torch.randn(n, n)


MATMUL = Case(
    name="a · b",
    inputs=squares,
    reference=product,
    size={"n": 64},
    small={"n": 8},
    bytes_moved=lambda a, b: 3 * a.nbytes,
)


def rounded(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """With inputs of ten bits, as TF32 has them."""
    return a.half().float() @ b.half().float()


def test_a_case_may_state_its_own_tolerance() -> None:  # case K9
    inputs = squares(64)
    strict, loose, strictest = (
        expect(replace(MATMUL, relative=relative), inputs) for relative in (None, 5e-3, 1e-9)
    )
    assert judge(product, strict).ok and not judge(product, strictest).ok
    assert not judge(rounded, strict).ok and judge(rounded, loose).ok
    assert loose.relative == 5e-3


def test_the_reference_is_computed_in_the_dtype_that_the_case_names() -> None:
    seen: list[torch.dtype] = []

    def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        seen.append(a.dtype)
        return a @ b

    inputs = tuple(x.half() for x in squares(8))
    expect(replace(MATMUL, reference=reference), inputs)
    expect(replace(MATMUL, reference=reference, wide="float32"), inputs)
    assert seen == [torch.float16, torch.float64, torch.float16, torch.float32]


def test_a_reference_is_never_rounded_to_tf32() -> None:
    torch.set_float32_matmul_precision("medium")
    try:
        seen: list[str] = []

        def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            seen.append(torch.get_float32_matmul_precision())
            return a @ b

        expect(replace(MATMUL, reference=reference, wide="float32"), squares(4))
        assert seen == ["medium", "highest"]
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mix": "4:1"}, "mix '4:1' of case"),
        ({"arithmetic": "fp4"}, "arithmetic 'fp4' of case"),
        ({"clock": "wall"}, "clock 'wall' of case"),
    ],
)
def test_a_case_names_what_it_does_not_know(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(ADD, **wrong)  # type: ignore[arg-type]
