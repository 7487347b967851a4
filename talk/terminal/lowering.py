"""A lowered kernel: what it takes of the target, and its last form, line by line."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.outcome import Lowering, Stage
from talk.terminal.clean import clean, styled, words
from talk.terminal.ruled import Ruled

LAST = ("ptx", "amdgcn")
"""The forms shown in full; the others are named with their length."""


def lowering(lowered: Lowering) -> RenderableType:
    head = styled(clean(lowered.kernel), "strong").append(f"  for {clean(lowered.target)}")
    if lowered.failure:
        return Group(head, words(lowered.failure, "missing"))
    parts: list[RenderableType] = [head, Text(takes(lowered))]
    if not lowered.fits:
        parts.append(styled("✗ more shared memory than the target has", "missing"))
    parts += [words(counted(stage), "quiet") for stage in lowered.stages]
    parts += [Ruled(words(stage.text.strip("\n"))) for stage in lowered.stages if full(stage)]
    return Group(*parts)


def full(stage: Stage) -> bool:
    return stage.name.lower() in LAST


def takes(lowered: Lowering) -> str:
    """Registers, shared memory of its limit, spills and warps."""
    registers = look.quantity(lowered.registers, "count")
    shared, limit = (look.quantity(n, "capacity") for n in (lowered.shared, lowered.shared_limit))
    spills = look.quantity(lowered.spills, "B")
    return (
        f"{registers} registers per thread · shared {shared} of {limit}"
        f" · spills {spills} · {lowered.num_warps} warps"
    )


def counted(stage: Stage) -> str:
    """ "PTX, 52 lines: ld.global.v4 2, st.global 1"."""
    lines = len(stage.text.strip("\n").split("\n")) if stage.text else 0
    counts = ", ".join(f"{name} {count:,}" for name, count in stage.counts.items())
    length = f"{lines:,} line" + ("" if lines == 1 else "s")
    return f"{stage.name.upper()}, {length}" + (f": {counts}" if counts else "")


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    made_up = Lowering(
        candidate="up", kernel="up_kernel", target="sm_00", registers=1, spills=0, shared=0,
        shared_limit=1024, num_warps=4, stages=(Stage(name="ptx", text="made.up;"),),
    )  # fmt: skip
    look_at(lowering(made_up))
