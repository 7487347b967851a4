"""A section of the workshop as data: phases, steps, cases. Standard library only.

Callables are kept, never called here: the worker calls them, the driver and the
slides see the outline of a section (`talk.record.SectionOutline`) instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

PHASES = ("naive", "profile", "rewrite", "fuse")
"""The arc every section walks."""

MIXES = ("read", "write", "1:1", "2:1", "3:1")
"""Traffic mixes with a ceiling of their own: bytes read to bytes written."""

ARITHMETIC = ("fp32", "fp16", "bf16")
"""Arithmetic with a roof of its own: float32 outside the tensor cores, the others on them."""

CLOCKS = ("device", "hot")
"""Events around the kernel: with a cold cache, or with what the call before left in it."""

PICTURES = ("table", "roofline", "calibration")
"""What a `Collect` draws of the whole talk."""

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is computed and what it must cost.

    inputs: called with the size as keywords; returns a tuple of tensors on the
        default device (the worker sets device and seed).
    reference: the same tensors → the right result, in plain PyTorch.
    size, small: keywords of `inputs` on a GPU, and in the interpreter (where one
        program costs about 0.7 ms, so keep programs × iterations ≤ 250).
    bytes_moved: compulsory bytes of one call: each input once, each output once.
    flops: floating-point operations of one call.
    mix: the traffic mix whose ceiling a share is taken of, one of `MIXES`.
    arithmetic: whose roof the flops are held against, one of `ARITHMETIC`.
    items: what one call does many of, such as dependent loads; 0 where there is no such thing.
    clock: one of `CLOCKS`.
    hard: yields (name, inputs) that must also be right before anything is timed.
    relative: the tolerance, where the dtype's own does not hold, such as for TF32.
    wide: the dtype that the reference computes in. float32 for a large matmul: its float64
        takes minutes on most cards, and its error is far under a float16's tolerance.
    """

    name: str
    inputs: Callable[..., tuple[Any, ...]]
    reference: Callable[..., Any]
    size: Mapping[str, int]
    small: Mapping[str, int]
    bytes_moved: Callable[..., int]
    flops: Callable[..., int] = lambda *inputs: 0
    mix: str = "1:1"
    arithmetic: str = "fp32"
    items: Callable[..., int] = lambda *inputs: 0
    clock: str = "device"
    hard: Callable[[], Iterable[tuple[str, tuple[Any, ...]]]] = lambda: ()
    relative: float | None = None
    wide: str = "float64"

    def __post_init__(self) -> None:
        for name, known in (("mix", MIXES), ("arithmetic", ARITHMETIC), ("clock", CLOCKS)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"{name} {value!r} of case {self.name!r} is none of {', '.join(known)}"
                )


@dataclass(frozen=True)
class Step:
    """One stop of the presenter.

    slug: the address of the step within its section; it never changes.
    says: the take-away, a sentence over references (`talk.sentence`).
    show: functions and kernels whose text is on screen; the default is the candidates.
    deadline_s: seconds after which the step counts as hung, on a GPU.
    """

    kind: ClassVar[str] = ""
    slug: str
    title: str
    _: KW_ONLY
    show: tuple[Callable[..., Any], ...] = ()
    notes: str = ""
    says: str = ""
    deadline_s: float = 60.0

    def __post_init__(self) -> None:
        if not SLUG.fullmatch(self.slug):
            raise ValueError(f"slug {self.slug!r}: lower-case words joined by '-'")


@dataclass(frozen=True)
class Show(Step):
    """Words and code, nothing performed."""

    kind: ClassVar[str] = "show"
    text: str = ""


@dataclass(frozen=True)
class Predict(Step):
    """A multiple-choice question, answered before the measurement it is about.

    about: the reference that settles it, such as `baseline[naive].share`.
    choices: label → half-open range [low, high) of the referenced value.
    model: the ceilings of this machine (`talk.record.Ceilings`) → the value a model
        expects, in the unit of `about`.
    misconception: what the usual wrong answer believes.
    """

    kind: ClassVar[str] = "predict"
    _: KW_ONLY
    about: str
    choices: Mapping[str, tuple[float, float]]
    model: Callable[[Any], float]
    model_says: str = ""
    misconception: str = ""


@dataclass(frozen=True)
class Measure(Step):
    """Check every candidate against the reference, then time them in turn.

    gpu_only: candidates left out in the interpreter, such as those of `torch.compile`.
    """

    kind: ClassVar[str] = "measure"
    case: Case
    candidates: Mapping[str, Callable[..., Any]]
    _: KW_ONLY
    gpu_only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sweep(Measure):
    """A `Measure` at every point of one or two parameters.

    over: parameter → values. A parameter that the case's size names resizes the
        inputs; any other is passed to the candidates as a keyword.
    small: the values taken in the interpreter; the default is the first two.
    """

    kind: ClassVar[str] = "sweep"
    _: KW_ONLY
    over: Mapping[str, tuple[int, ...]]
    small: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Tune(Measure):
    """A `Measure` of every configuration, all in turn on the same inputs.

    configs: keywords of the candidates. In the interpreter the first two are checked.
    """

    kind: ClassVar[str] = "tune"
    _: KW_ONLY
    configs: tuple[Mapping[str, int], ...]


@dataclass(frozen=True)
class Traffic(Measure):
    """The bytes that each candidate moves, operation by operation, beside those it must."""

    kind: ClassVar[str] = "traffic"


@dataclass(frozen=True)
class Benchmark(Step):
    """Several cases, each with its candidates in turn, as one table.

    entries: (case, candidate → callable). Names of cases differ.
    """

    kind: ClassVar[str] = "benchmark"
    entries: tuple[tuple[Case, Mapping[str, Callable[..., Any]]], ...]
    _: KW_ONLY
    gpu_only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collect(Step):
    """A picture of what the talk has measured so far. Nothing is performed: it is read.

    of: rows by reference, such as `1/baseline[naive]`. Empty: every question, for a calibration.
    """

    kind: ClassVar[str] = "collect"
    picture: str
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.picture not in PICTURES:
            raise ValueError(f"picture {self.picture!r} is none of {', '.join(PICTURES)}")


@dataclass(frozen=True)
class Profile(Measure):
    """What a profiler sees: the kernels of each candidate, and hardware counters."""

    kind: ClassVar[str] = "profile"


@dataclass(frozen=True)
class Trace(Measure):
    """Python → machine code: the lowering of each candidate's kernels, at every size and target.

    targets: `talk.hardware.BY_TARGET` names them; the GPU that is here comes first, if one is.
    sizes: replace the case's own. whole: targets whose text is kept, and not its figures alone.
    """

    kind: ClassVar[str] = "trace"
    _: KW_ONLY
    targets: tuple[str, ...] = ("sm_90",)
    sizes: tuple[Mapping[str, int], ...] = ()
    whole: tuple[str, ...] = ("sm_90",)


@dataclass(frozen=True)
class Run(Step):
    """The valve for what no other step kind says.

    fn: no arguments → a `talk.record.Table`, or text.
    needs_gpu: in the interpreter the recorded outcome is shown instead.
    """

    kind: ClassVar[str] = "run"
    fn: Callable[[], Any]
    _: KW_ONLY
    needs_gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """What the "Now you" screen asks for; its minutes count in the section's."""

    slug: str
    title: str
    task: str
    minutes: int


@dataclass(frozen=True, kw_only=True)
class Section:
    """One of the eight parts of the workshop: four tuples that can be read aloud."""

    number: int
    title: str
    minutes: int
    naive: tuple[Step, ...]
    profile: tuple[Step, ...]
    rewrite: tuple[Step, ...]
    fuse: tuple[Step, ...]
    exercise: Exercise

    def __post_init__(self) -> None:
        slugs = [step.slug for _, step in self.steps()]
        twice = {slug for slug in slugs if slugs.count(slug) > 1}
        if twice:
            raise ValueError(
                f"section {self.number} has two steps named {', '.join(sorted(twice))}"
            )
        for phase in PHASES:
            if not getattr(self, phase):
                raise ValueError(f"section {self.number} has no step in its phase {phase!r}")

    def steps(self) -> tuple[tuple[str, Step], ...]:
        """(phase, step) in running order."""
        return tuple((phase, step) for phase in PHASES for step in getattr(self, phase))

    def step(self, slug: str) -> Step:
        """The step of that slug; KeyError where there is none."""
        return {step.slug: step for _, step in self.steps()}[slug]
