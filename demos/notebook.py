"""What a notebook carries beside the kernels: a case, a clock, a check, and a prediction.

`just notebook` copies each part between two `# %%` into a cell, so it stands on PyTorch and Triton
alone. On a GPU it times; in Triton's interpreter it says right or wrong, and no more.
"""

# %% Every part of this notebook stands on these
import functools
import itertools
import math
import os
import re
import time
import warnings
from dataclasses import dataclass

import torch
import triton
from triton.runtime.errors import OutOfResources

GPU = torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1"


# %% What is computed and what it must cost; a table
@dataclass(frozen=True, kw_only=True)
class Case:
    """Inputs of a size, the right result, and the bytes and operations that it must cost."""

    name: str
    inputs: object
    reference: object
    size: dict
    small: dict
    bytes_moved: object
    flops: object = lambda *inputs: 0
    items: object = lambda *inputs: 0
    mix: str = "1:1"
    arithmetic: str = "fp32"
    clock: str = "device"
    hard: object = lambda: ()
    relative: object = None
    wide: str = "float64"


@dataclass(frozen=True, kw_only=True)
class Column:
    name: str
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    columns: tuple
    rows: tuple


# %% The clock: events around the kernel, on a cold cache, warmed up, with their spread
def times_ms(run, cold=True, at_least=10, budget_ms=300):
    """Milliseconds of one call: (median, p20, p80), after 200 ms of warming up."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    flush = torch.empty(max(3 * l2, 2**29) if cold else 1, dtype=torch.int8, device="cuda")
    often, warm = overwritings(run, flush), 0.0
    while warm < 200:
        warm += max(0.1, once_ms(run, flush, often))
    samples = []
    while len(samples) < at_least or (sum(samples) < budget_ms and len(samples) < 300):
        samples.append(once_ms(run, flush, often))
    samples.sort()
    return tuple(samples[round(part * (len(samples) - 1))] for part in (0.5, 0.2, 0.8))


def once_ms(run, flush, often=1):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(often):
        flush.zero_()  # writes over the cache; the launch is queued behind it
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


# %% How often the cache is overwritten: until the host has queued the call
def overwritings(run, flush):
    """How many outlast the host, which queues the call meanwhile: at most ten."""
    flush_ms = min(once_ms(flush.zero_, flush) for _ in range(3))
    run()
    torch.cuda.synchronize()
    began = time.perf_counter()
    run()
    queueing_ms = 1e3 * (time.perf_counter() - began)
    return max(1, min(10, math.ceil(1.5 * queueing_ms / max(flush_ms, 1e-3))))


# %% The ceilings: what PyTorch's own streaming kernels reach here, never a data sheet
MIXES = ("read", "write", "1:1", "2:1", "3:1")


@functools.cache
def ceiling_gbps(mix):
    """Of a traffic mix, bytes read to bytes written."""
    x, y, z, out = (torch.ones(2**26, device="cuda") for _ in range(4))
    arrays, run = {
        "read": (1, lambda: x.sum()),
        "write": (1, lambda: out.zero_()),
        "1:1": (2, lambda: out.copy_(x)),
        "2:1": (3, lambda: torch.add(x, y, out=out)),
        "3:1": (4, lambda: torch.addcmul(z, x, y, out=out)),
    }[mix]
    return arrays * x.nbytes / times_ms(run)[0] / 1e6


@functools.cache
def roof_tflops(arithmetic):
    """Of a large matrix product: float32, or 16 bits on tensor cores."""
    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[arithmetic]
    a, b = (torch.randn(4096, 4096, device="cuda").to(dtype) for _ in range(2))
    return 2 * 4096**3 / times_ms(lambda: a @ b)[0] / 1e9


@triton.jit
def nothing_at_all_kernel():
    pass


@functools.cache
def launch_ms():
    """A kernel that does nothing."""
    return times_ms(lambda: nothing_at_all_kernel[(1,)]())[0]


# %% The check: every candidate beside the reference, in higher precision, before any clock runs
RELATIVE = {torch.float64: 1e-10, torch.float32: 3e-5, torch.float16: 4e-3, torch.bfloat16: 2.5e-2}
"""How far a result may be off, of its own size and of the mean size of all."""


def check(name, candidate, case, what, inputs, **keywords):
    """Raises AssertionError with the first wrong element."""
    expected = several(case.reference(*(widened(x, getattr(torch, case.wide)) for x in inputs)))
    before = [x.clone() if torch.is_tensor(x) else x for x in inputs]
    got = several(poisoned(candidate, *inputs, **keywords))
    where = f"{name} on {what}"
    assert len(got) == len(expected), f"{where}: {len(got)} results, expected {len(expected)}"
    for number, (g, e) in enumerate(zip(got, expected, strict=True), start=1):
        which = f"{where}, result {number}" if len(got) > 1 else where
        same_kind(which, g, e)
        wrong = first_wrong(g, e, tolerance(case, g, inputs))
        assert wrong is None, f"{which}: {wrong}"
    for x, old in zip(inputs, before, strict=True):
        same = not torch.is_tensor(x) or torch.equal(x.nan_to_num(), old.nan_to_num())
        assert same, f"{where}: it changed an input"


def several(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def same_kind(where, got, expected):
    assert torch.is_tensor(got), f"{where}: expected a tensor, got {type(got).__name__}"
    shapes = tuple(got.shape), tuple(expected.shape)
    assert shapes[0] == shapes[1], f"{where}: shape {shapes[0]}, expected {shapes[1]}"


def tolerance(case, got, inputs):
    """The case's own, or that of the coarsest dtype in it."""
    dtypes = [got.dtype, *(x.dtype for x in inputs if torch.is_tensor(x))]
    return case.relative or max(RELATIVE.get(dtype, 0.0) for dtype in dtypes)


def poisoned(candidate, *inputs, **keywords):
    """With NaN in all memory that it asks for, so that what it leaves out shows."""
    # It fills fresh memory with NaN while algorithms that differ from run to run are warned of.
    torch.set_deterministic_debug_mode("warn")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return candidate(*inputs, **keywords)
    finally:
        torch.set_deterministic_debug_mode("default")


def first_wrong(got, expected, relative, chunk=2**24):
    """Where and how it is wrong; None where it is right."""
    size = sum(finite(e).abs().sum().item() for e in expected.reshape(-1).split(chunk))
    size /= max(1, expected.numel())
    done = 0
    for g, e in zip(got.reshape(-1).split(chunk), expected.reshape(-1).split(chunk), strict=True):
        g, e = g.double(), e.to(got.dtype).double()
        allowed = relative * (finite(e).abs() + size)
        right = (g == e) | (g.isnan() & e.isnan()) | ((g - e).abs() <= allowed)
        if not right.all():
            i = int((~right).int().argmax())
            index = tuple(int(n) for n in torch.unravel_index(torch.tensor(done + i), got.shape))
            return f"wrong first at {list(index)}: expected {e[i]:.6g}, got {g[i]:.6g}"
        done += len(g)
    return None


def finite(x):
    return x.double().nan_to_num(0.0, 0.0, 0.0)


def widened(x, wide):
    narrower = torch.is_tensor(x) and x.is_floating_point() and x.itemsize < wide.itemsize
    return x.to(wide) if narrower else x


def interpretable(inputs):
    """bfloat16 as float32: Triton's interpreter computes on its raw bits."""
    return tuple(
        x.float() if torch.is_tensor(x) and x.dtype == torch.bfloat16 else x for x in inputs
    )


# %% Check, then time: one step of the talk
ROWS = []
"""(step, names, what was measured) of all that this notebook has timed or counted."""


PATIENCE_S = 1.0
"""In the interpreter no more hard inputs are tried for a candidate after so long."""


def measure(step, case, candidates, gpu_only=(), config=(), resized=(), note="", all_hard=GPU):
    """Every candidate: right on all inputs, then its time. config: keywords of the candidates."""
    size = fitting(case, dict(resized)) if GPU else {**case.small, **dict(resized)}
    torch.manual_seed(0)
    inputs = case.inputs(**size)
    for name, candidate in candidates.items():
        label = " ".join(part for part in (name, note) if part)
        if name in gpu_only and not GPU:
            print(f"{label}: needs a GPU, left out")
            continue
        try:
            count = right_on(name, candidate, case, inputs, dict(config), all_hard)
            told = timed(step, name, candidate, case, inputs, dict(config), dict(resized))
        except OutOfResources as error:
            print(f"{label}: does not fit this GPU: {error}")
            continue
        print(f"{label}: right on {count} inputs  {told}")


def right_on(name, candidate, case, inputs, config, all_hard):
    """How many inputs it was right on: those that are timed, and the hard ones."""
    every, start = [("the case's inputs", inputs), *case.hard()], time.perf_counter()
    for done, (what, given) in enumerate(every):
        if done and not all_hard and time.perf_counter() - start > PATIENCE_S:
            return f"{done} of {len(every)}"
        check(name, candidate, case, what, given if GPU else interpretable(given), **config)
    return len(every)


def timed(step, name, candidate, case, inputs, config, resized):
    """Its time and rate in words; kept in ROWS for the predictions."""
    if not GPU:
        return "SIMULATED, no timing"
    median, p20, p80 = times_ms(lambda: candidate(*inputs, **config), cold=case.clock == "device")
    moved, flops, items = (f(*inputs) for f in (case.bytes_moved, case.flops, case.items))
    numbers = {"time": median / 1e3, "gbps": moved / median / 1e6, "tflops": flops / median / 1e9}
    numbers["each"] = median / 1e3 / items if items else math.nan
    at = [str(value) for value in {**resized, **config}.values()]
    ROWS.append((step, (case.name, name, *at), {**numbers, "case": case}))
    return f"{median:.4g} ms ({p20:.4g} to {p80:.4g})  {rate(numbers, case)}"


def rate(numbers, case):
    """In words: nothing is claimed of a time that is mostly the launch, nor of a cache."""
    if not math.isnan(numbers["each"]):
        return f"{1e9 * numbers['each']:.3g} ns each"
    if overhead_bound(numbers):
        return "overhead-bound: no rate is claimed"
    if case.clock == "hot":
        return f"{numbers['gbps']:,.0f} GB/s"
    cached = numbers["gbps"] > 1.02 * max(map(ceiling_gbps, MIXES))
    share = 100 * numbers["gbps"] / ceiling_gbps(case.mix)
    of = "above the ceiling: cache-resident?" if cached else f"{share:.3g} % of the ceiling"
    return f"{numbers['gbps']:,.0f} GB/s, {of}, {numbers['tflops']:.3g} TFLOP/s"


def overhead_bound(numbers):
    """Under five times an empty launch a time says nothing of bandwidth."""
    return 1e3 * numbers["time"] < 5 * launch_ms()


def fitting(case, resized):
    """The size of the case, what was not asked for halved until it fits this GPU."""
    size = {**case.size, **resized}
    while not fits(case, size):
        largest = max((name for name in size if name not in resized), key=size.get)
        size[largest] //= 2
        print(f"{case.name}: {largest} = {size[largest]:,}, to fit this GPU")
    return size


def fits(case, size):
    """Whether there is room for three times the inputs, widened for the reference."""
    with torch.device("meta"):
        inputs = case.inputs(**size)
    wide = [widened(x, getattr(torch, case.wide)).nbytes for x in inputs if torch.is_tensor(x)]
    return 3 * sum(wide) < torch.cuda.mem_get_info()[0]


# %% The same at several points, for several configurations or cases; a table of its own
def sweep(step, case, candidates, over, small=None, gpu_only=()):
    """At every point of one or two parameters: sizes of the inputs, or keywords."""
    few = {name: values[:2] for name, values in over.items()}
    values = over if GPU else small or few
    for point in itertools.product(*values.values()):
        at = dict(zip(values, point, strict=True))
        resized = {name: value for name, value in at.items() if name in case.size}
        config = {name: value for name, value in at.items() if name not in case.size}
        words = ", ".join(f"{name} {value:,}" for name, value in at.items())
        if GPU and not fits(case, {**case.size, **resized}):
            print(f"{words}: does not fit this GPU, left out")
            continue
        measure(step, case, candidates, gpu_only, config, resized, words)


def tune(step, case, candidates, configs):
    """Every configuration; the first two in the interpreter."""
    for config in configs if GPU else configs[:2]:
        words = ", ".join(f"{name} {value}" for name, value in config.items())
        measure(step, case, candidates, config=config, note=words)


def benchmark(step, entries, gpu_only=()):
    for case, candidates in entries:
        print(case.name)
        measure(step, case, candidates, gpu_only)


def run(step, fn, needs_gpu=False):
    """A table that the function makes."""
    if needs_gpu and not GPU:
        print("SIMULATED: this needs a GPU's clock, so nothing is shown.")
        return
    table = fn()
    print("  |  ".join(column.name for column in table.columns))
    for cells in table.rows:
        units = [column.unit for column in table.columns]
        print("  |  ".join(shown(cell, unit) for cell, unit in zip(cells, units, strict=True)))
        names = tuple(str(cell) for cell in cells if isinstance(cell, (str, int)))
        ROWS.append((step, names, fields(table, cells)))


def checked(function, checks):
    """A plain function on arguments of which the answer is known."""
    for arguments, expected, words in checks:
        got = function(*arguments)
        same = got == expected or (isinstance(got, float) and math.isclose(got, expected))
        assert same, f"{words}: expected {expected!r}, got {got!r}"
    print(f"{function.__name__}: right on {len(checks)} cases")


def fields(table, cells):
    named = [re.sub(r"[^a-z]+", "_", c.name.lower()).strip("_") for c in table.columns]
    return {n: cell for n, cell in zip(named, cells, strict=True) if isinstance(cell, (int, float))}


def shown(cell, unit):
    if unit == "s":
        return f"{1e6 * cell:,.4g} µs"
    if unit == "share":
        return f"{100 * cell:.3g} %"
    return f"{cell:,.4g} {unit}".strip() if isinstance(cell, float) else str(cell)


# %% A prediction: your answer, beside what was measured
answers = {}
"""Yours: the name of the question → the number of your choice."""
REFERENCE = re.compile(r"(?P<step>[a-z0-9-]+)\[(?P<keys>[^\]]*)\]\.(?P<field>[a-z_]+)")


def measured(about):
    """What a reference such as `baseline[naive].share` names, or None: not measured here."""
    values = [named(REFERENCE.fullmatch(part)) for part in about.split(" / ")]
    if None in values:
        return None
    return values[0] if len(values) == 1 else values[0] / values[1]


def named(match):
    if not match:
        return None
    keys, field = [key.strip() for key in match["keys"].split(",")], match["field"]
    found = [(names, row) for step, names, row in ROWS if step == match["step"]]
    found = [(names, row) for names, row in found if all(key in names for key in keys)]
    if not found or not GPU:
        return None  # not measured here, or in the interpreter
    if "case" in found[-1][1] and field not in ("time", "each"):
        found = [(names, row) for names, row in found if not overhead_bound(row)]
    if not found:
        return None
    if field == "knee":
        rates = [(int(names[-1]), row["gbps"]) for names, row in found]
        return min(at for at, gbps in rates if gbps >= 0.95 * max(gbps for _, gbps in rates))
    _, row = found[-1]
    if field == "share":
        return row["gbps"] / ceiling_gbps(row["case"].mix)
    if field == "arithmetic_share":
        return row["tflops"] / roof_tflops(row["case"].arithmetic)
    return row[field]


def compare(question, about, choices, recorded, model):
    """Your answer, the model's and the measurement. recorded: (value, number, of which run)."""
    labels, here = list(choices), measured(about)
    mine = answers.get(question)
    print("you:       ", labels[mine - 1] if mine in range(1, len(labels) + 1) else "no answer")
    print("the model: ", model or "–")
    value, right, source = recorded
    print("the record:", f"{value}: {labels[right - 1]}" if right else "nothing", f"({source})")
    if here is None:
        why = "not measured" if GPU else "SIMULATED, no timing"
        print(f"here:       {why}, so the record decides")
    else:
        held = (n for n, (low, high) in enumerate(choices.values(), 1) if low <= here < high)
        right = next(held, None)
        print("here:      ", f"{here:.4g}: {labels[right - 1] if right else 'none of the answers'}")
    SCORE[question] = mine == right if mine and right else None
    print({True: "right", False: "not so", None: "not scored"}[SCORE[question]])


SCORE = {}


def score():
    settled = [right for right in SCORE.values() if right is not None]
    print(f"{sum(settled)} of {len(settled)} predictions right; {len(SCORE)} were asked.")
