"""The likely cause of a wrong answer: from what was seen when it ran, and its syntax tree.

Names and layout play no part: the same code under other names has the same cause. Rules are asked
in order, and the first that has something to say is taken; each says what it goes by.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from talk.attend import syntax
from talk.attend.syntax import Kernel
from talk.attend.verdict import Evidence, Outside


@dataclass(frozen=True)
class Cause:
    """name: as a wrong answer's file states it. because: what it is told by."""

    name: str
    because: str


@dataclass(frozen=True)
class Seen:
    """A file and what happened. kernels: those that were launched, with their helpers."""

    tree: ast.Module
    evidence: Evidence
    entry: str

    @property
    def kernels(self) -> list[Kernel]:
        known = syntax.kernels(self.tree)
        return syntax.reached(self.evidence.kernels, known)

    def call_at(self, line: int, *names: str) -> ast.Call | None:
        found = (kernel.at(line, *names) for kernel in syntax.kernels(self.tree).values())
        return next((call for call in found if call), None)


Rule = Callable[[Seen], "Cause | None"]


def cause_of(text: str, evidence: Evidence, entry: str) -> Cause | None:
    """The likely cause; None where no rule knows one."""
    seen = Seen(ast.parse(text), evidence, entry)
    return next((cause for rule in RULES if (cause := rule(seen))), None)


# How it came about


def unfinished(seen: Seen) -> Cause | None:
    """Only what the entry reaches counts: lower rungs may stay as they are."""
    for node in reachable(seen):
        line = syntax.unfinished(node)
        if line:
            return Cause("still to be written", f"line {line} is still `...`")
    return None


def reachable(seen: Seen) -> Iterator[ast.FunctionDef]:
    functions = {n.name: n for n in seen.tree.body if isinstance(n, ast.FunctionDef)}
    waiting, done = [seen.entry], set()
    while waiting:
        name = waiting.pop(0)
        if name in functions and name not in done:
            done.add(name)
            yield functions[name]
            waiting += sorted(syntax.names_in(functions[name]))


def plain_global(seen: Seen) -> Cause | None:
    names = seen.evidence.globals
    if not names:
        return None
    return Cause(
        "plain global",
        f"a kernel reads {names[0]} from the module: the compiler refuses that. Pass it as an "
        "argument, or make it a tl.constexpr",
    )


def not_launched(seen: Seen) -> Cause | None:
    e = seen.evidence
    if e.kernels or e.error or e.cached or e.globals or e.uncompiled or not e.not_stored:
        return None
    return Cause("the kernel is not launched", "no kernel of this file ran in the call")


def cached(seen: Seen) -> Cause | None:
    if not seen.evidence.cached:
        return None
    said = "called again with other numbers, it gave the memory of the first call"
    return Cause("a cached output", said)


def changed(seen: Seen) -> Cause | None:
    if not seen.evidence.changed:
        return None
    return Cause(
        "an input was changed",
        f"argument {seen.evidence.changed} is not what it was before the call",
    )


def nothing_stored(seen: Seen) -> Cause | None:
    e = seen.evidence
    if e.stored or e.error or not e.kernels:
        return None
    return Cause("nothing was stored", f"{e.kernels[0]} ran, and no tl.store in it")


# Accesses outside


def mask_forgotten_at_store(seen: Seen) -> Cause | None:
    for each in outside(seen, "store"):
        call = seen.call_at(each.line, "store")
        if call and not syntax.has_mask(call, store=True) and loads_are_masked(seen):
            return Cause("mask on the load but not the store", described(each))
    return None


def loads_are_masked(seen: Seen) -> bool:
    return all(syntax.has_mask(c) for c in wide_loads(seen))


def wide_loads(seen: Seen) -> list[ast.Call]:
    """Loads of several lanes: their address depends on a tl.arange."""
    return [
        call
        for kernel in seen.kernels
        for call in kernel.calls("load")
        if call.args and kernel.depends_on(call.args[0], "arange")
    ]


def mask_missing(seen: Seen) -> Cause | None:
    """Without one, or with one that is too short: with 0 there, it would be right."""
    for each in seen.evidence.outside:
        call = seen.call_at(each.line, each.what)
        if call and not syntax.has_mask(call, store=each.what == "store"):
            return Cause("no mask", described(each))
    return None


def one_too_many(seen: Seen) -> Cause | None:
    found = seen.evidence.outside
    if not found or any(o.index != o.size or o.lanes != 1 for o in found if o.what == "load"):
        return None
    if all(o.index == o.size for o in found):
        return Cause("mask lets one too many through", described(found[0]))
    return None


def mask_too_short(seen: Seen) -> Cause | None:
    found = seen.evidence.outside
    if found and "outside" in seen.evidence.right_if:
        said = f"{described(found[0])}; were 0 there, the result would be right"
        return Cause("no mask", said)
    return None


def address_outside(seen: Seen) -> Cause | None:
    found = seen.evidence.outside
    if not found:
        return None
    return Cause("wrong stride", f"{described(found[0])}, with a mask: its address is off")


def outside(seen: Seen, what: str) -> Iterator[Outside]:
    return (each for each in seen.evidence.outside if each.what == what)


def described(each: Outside) -> str:
    """ "program 3 loads x_ptr[1000], which has 1,000 elements (line 60; 24 lanes outside)"."""
    where = f"line {each.line}; " if each.line else ""
    verb = {"load": "loads", "store": "stores"}.get(each.what, "adds to")
    lanes = f"{each.lanes:,} lane{'s' if each.lanes != 1 else ''} outside"
    gap = 0 <= each.index < each.size
    has = "between its rows" if gap else f"which has {each.size:,} elements"
    what = f"{verb} {each.argument}[{each.index:,}]"
    return f"program {program(each.program)} {what}, {has} ({where}{lanes})"


def program(place: tuple[int, ...]) -> str:
    return str(place[0]) if len(place) == 1 else f"({', '.join(map(str, place))})"


# What is not there


def wrong_axis_shapes(seen: Seen) -> Cause | None:
    """An error about shapes, at a reduction."""
    e = seen.evidence
    if not (e.error and e.kernel_error and "shape" in e.error.lower() + said_of_shapes(e.error)):
        return None
    for kernel in syntax.kernels(seen.tree).values():
        if kernel.contains(e.line) and syntax.reduces_at(kernel, e.line):
            return Cause(
                "wrong axis", f"line {e.line} reduces to another shape than it is added to"
            )
    return None


def said_of_shapes(error: str) -> str:
    low = error.lower()
    words = ("broadcast", "incompatible", "dimension", "size mismatch")
    return "shape" if any(word in low for word in words) else ""


def too_few_programs(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not e.unwritten or e.overlapped or "programs" not in e.right_if:
        return None
    said = f"{e.unwritten:,} of {e.total:,} elements were never stored; more programs would do it"
    return Cause("too few programs", said)


def gaps(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not e.unwritten or not e.stored or e.not_stored:
        return None
    said = f"{e.unwritten:,} of {e.total:,} elements were never stored"
    if e.overlapped:
        return Cause("wrong stride", f"{said}, and {e.overlapped:,} by several programs")
    if e.alone:
        return Cause("wrong stride", f"{said}: those that were have gaps between them")
    return Cause("block too small", f"{said}: each program leaves some of its own")


def race(seen: Seen) -> Cause | None:
    found = seen.evidence.races
    if not found:
        return None
    each = found[0]
    first, second = program(each.first), program(each.second)
    where = f" (line {each.line})" if each.line else ""
    how = "stores another value there" if each.what == "written" else "reads it in the same launch"
    said = f"program {first} stores {each.argument}[{each.index:,}], program {second} {how}{where}"
    return Cause("a race", said)


def not_stored(seen: Seen) -> Cause | None:
    if not seen.evidence.not_stored:
        return None
    said = "what is returned was written by something else than a tl.store of this file"
    return Cause("the result was not stored by the kernel", said)


# What the values tell


def known_slip(seen: Seen) -> Cause | None:
    slip = seen.evidence.slip
    return Cause(slip, "every element is what this mistake gives") if slip else None


def fp16(seen: Seen) -> Cause | None:
    """Lost digits, or an overflow, where 16-bit numbers take part."""
    e = seen.evidence
    if e.halves and "float32" in e.right_if:
        return Cause("fp16 accumulation", "with float32 inputs it is right")
    if e.wrong and e.near and any(map(syntax.names_a_half, seen.kernels)):
        said = "it is right to within a percent or two, and a kernel names a 16-bit dtype"
        return Cause("fp16 accumulation", said)
    return None


def nothing_over_nothing(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not (e.nonfinite and e.empty):
        return None
    return Cause("0 / 0", "with nothing to sum, it divides 0 by 0")


def no_max(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not e.nonfinite:
        return None
    for kernel in seen.kernels:
        call = syntax.exp_without_max(kernel)
        if call:
            said = f"line {call.lineno} takes exp() of what no maximum was subtracted from"
            return Cause("no max subtraction", said)
    return None


def other_missing(seen: Seen) -> Cause | None:
    if "fill" not in seen.evidence.right_if:
        return None
    said = "lanes that a mask puts out hold anything: a number for them makes it right"
    return Cause("other= missing", said)


def other_no_identity(seen: Seen) -> Cause | None:
    if "other" not in seen.evidence.right_if:
        return None
    said = "with another number in the lanes that the mask puts out, it is right"
    return Cause("other= is no identity", said)


def stride_unread(seen: Seen) -> Cause | None:
    if "contiguous" not in seen.evidence.right_if:
        return None
    return Cause("wrong stride", "with rows that follow one another it is right")


def loop_stands_still(seen: Seen) -> Cause | None:
    for kernel in seen.kernels:
        loop = syntax.idle_loop(kernel)
        if loop:
            said = f"the loop of line {loop.lineno} loads the same each time"
            return Cause("wrong stride", said)
    return None


def sum_forgotten(seen: Seen) -> Cause | None:
    for kernel in seen.kernels:
        name = syntax.forgotten_sum(kernel)
        if name:
            said = f"each round sets {name} anew: only the last is left"
            return Cause("the sum does not go on", said)
    return None


def sum_unscaled(seen: Seen) -> Cause | None:
    for kernel in seen.kernels:
        name = syntax.unscaled_sum(kernel)
        if name:
            said = f"{name} goes on over a new maximum without the correction that others get"
            return Cause("sums are not rescaled", said)
    return None


def divided_by_block(seen: Seen) -> Cause | None:
    for kernel in seen.kernels:
        block = syntax.divides_by_block(kernel)
        if block:
            said = f"a sum is divided by {block}, lanes that are no elements included"
            return Cause("divided by the block", said)
    return None


def padding(seen: Seen) -> Cause | None:
    if "powers of two" not in seen.evidence.right_if:
        return None
    said = "where no lane is too many it is right: those beyond the edge take part in a reduction"
    return Cause("padding in the reduction", said)


def constant_factor(seen: Seen) -> Cause | None:
    ratio = seen.evidence.ratio
    return (
        Cause("wrong scale", f"every element is {ratio:.4g} times what it should be")
        if ratio
        else None
    )


def part_unread(seen: Seen) -> Cause | None:
    unread = seen.evidence.unread
    if not (unread and seen.evidence.wrong):
        return None
    return Cause("wrong stride", f"a part of {unread[0]} was read by no program")


# Right, and yet


def starved(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not e.starved:
        return None
    said = (
        f"the values are right. A program has {e.in_flight:,} bytes under way before it waits; "
        f"its part of bandwidth × latency is {e.needed:,}"
    )
    return Cause("too few bytes in flight", said)


def scattered(seen: Seen) -> Cause | None:
    e = seen.evidence
    if not e.scattered:
        return None
    said = (
        f"the values are right. Warps touch {e.sectors:,} sectors of 32 bytes; "
        f"side by side, their lanes would need {e.least:,}"
    )
    return Cause("not coalesced", said)


def small_tile(seen: Seen) -> Cause | None:
    e = seen.evidence
    dots = any(any(True for _ in kernel.calls("dot")) for kernel in seen.kernels)
    if e.uncompiled and dots and ">=" in e.uncompiled:
        return Cause("tile too small for tl.dot", e.uncompiled.rstrip("."))
    return None


def instruction(seen: Seen) -> Cause | None:
    wanted = seen.evidence.instruction
    return (
        Cause(f"no {wanted} in the PTX", "it is right, in more than one step") if wanted else None
    )


RULES: tuple[Rule, ...] = (
    unfinished,
    plain_global,
    cached,
    not_launched,
    changed,
    nothing_stored,
    wrong_axis_shapes,
    mask_forgotten_at_store,
    mask_missing,
    one_too_many,
    mask_too_short,
    address_outside,
    not_stored,
    too_few_programs,
    gaps,
    race,
    nothing_over_nothing,
    no_max,
    fp16,
    known_slip,
    other_missing,
    other_no_identity,
    stride_unread,
    loop_stands_still,
    sum_forgotten,
    sum_unscaled,
    divided_by_block,
    padding,
    constant_factor,
    part_unread,
    starved,
    scattered,
    small_tile,
    instruction,
)
"""In the order in which they are asked."""
