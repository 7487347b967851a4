"""A lowered kernel: what it takes of the target, and its last form, line by line."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.outcome import Lowering, Stage
from talk.terminal.clean import clean, styled, words
from talk.terminal.ruled import Ruled

MOST = 8
"""Families of instructions that are named."""

LAST = ("ptx", "amdgcn")
"""The forms shown in full; the others are named with their length."""


def lowering(lowered: Lowering) -> RenderableType:
    head = styled(clean(lowered.kernel), "strong").append(f"  for {clean(lowered.target)}")
    if lowered.failure:
        return Group(head, words(lowered.failure, "missing"))
    parts: list[RenderableType] = [head, Text(takes(lowered))]
    if not lowered.fits:
        parts.append(styled("✗ more shared memory than the target has", "missing"))
    parts += [words(counted(*each), "quiet") for each in lowered.counts.items()]
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


def counted(name: str, counts: Mapping[str, int]) -> str:
    """ "PTX: ld.global.v4.b32 2, st.global.b32 1, …", the most frequent first."""
    told = ", ".join(f"{family} {count:,}" for family, count in list(counts.items())[:MOST])
    more = f", … {len(counts) - MOST} more" if len(counts) > MOST else ""
    return f"{name.upper()}, {sum(counts.values()):,} instructions: {told}{more}"


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    made_up = Lowering(
        candidate="up", kernel="up_kernel", target="sm_00", registers=1, spills=0, shared=0,
        shared_limit=1024, num_warps=4, stages=(Stage(name="ptx", text="made.up;"),),
    )  # fmt: skip
    look_at(lowering(made_up))
