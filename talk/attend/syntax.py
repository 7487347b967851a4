"""What a kernel's syntax tree tells, whatever its names and its layout. Standard library only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

REDUCTIONS = ("sum", "max", "min", "reduce", "argmax", "argmin")
HALVES = ("float16", "bfloat16")


@dataclass
class Kernel:
    """A function under `@triton.jit`. made: of each name, the values it was given."""

    node: ast.FunctionDef
    made: dict[str, list[ast.expr]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for target, value in assignments(self.node):
            self.made.setdefault(target, []).append(value)

    def calls(self, *names: str, within: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls of `tl.name`, and of the method of that name."""
        for node in ast.walk(within or self.node):
            if isinstance(node, ast.Call) and self.called(node) in names:
                yield node

    def called(self, node: ast.Call) -> str:
        return node.func.attr if isinstance(node.func, ast.Attribute) else ""

    def at(self, line: int, *names: str) -> ast.Call | None:
        """The call of such a name on that line."""
        held = (c for c in self.calls(*names) if c.lineno <= line <= (c.end_lineno or c.lineno))
        return next(held, None)

    def contains(self, line: int) -> bool:
        return self.node.lineno <= line <= (self.node.end_lineno or 0)

    def depends_on(self, node: ast.AST, *names: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a value was made by such a call, directly or by way of other names."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and self.called(each) in names:
                return True
            if isinstance(each, ast.Name) and each.id not in seen:
                made = self.made.get(each.id, [])
                if any(self.depends_on(v, *names, seen=seen | {each.id}) for v in made):
                    return True
        return False

    def constexprs(self) -> set[str]:
        """Parameters that are compile-time values, such as a block."""
        arguments = [*self.node.args.args, *self.node.args.kwonlyargs]
        return {
            a.arg
            for a in arguments
            if a.annotation is not None and ast.unparse(a.annotation).endswith("constexpr")
        }


def kernels(tree: ast.Module) -> dict[str, Kernel]:
    """Every kernel and helper of a file by name."""
    return {
        node.name: Kernel(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(map(is_jit, node.decorator_list))
    }


def is_jit(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(node).split(".")[-1] == "jit"


def reached(names: tuple[str, ...], known: dict[str, Kernel]) -> list[Kernel]:
    """The kernels of these names, and the helpers that they call."""
    found: dict[str, Kernel] = {}
    waiting = [name for name in names if name in known]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        found[name] = known[name]
        used = (n.id for n in ast.walk(known[name].node) if isinstance(n, ast.Name))
        waiting += [each for each in used if each in known]
    return list(found.values())


def assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, value), tuples taken apart where both sides are."""
    for each in ast.walk(node):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                yield from taken_apart(target, each.value)
        elif isinstance(each, (ast.AugAssign, ast.AnnAssign)) and each.value is not None:
            yield from taken_apart(each.target, each.value)


def taken_apart(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            for each, made in zip(target.elts, value.elts, strict=True):
                yield from taken_apart(each, made)
        else:
            for each in target.elts:
                yield from taken_apart(each, value)


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


# Questions


def has_mask(call: ast.Call, store: bool = False) -> bool:
    return len(call.args) > 1 + store or any(k.arg == "mask" for k in call.keywords)


def unfinished(node: ast.AST) -> int:
    """The line of a `...` that is still to be filled; 0 where there is none."""
    dots = (
        n.lineno
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and n.value is ... and not in_index(node, n)
    )
    return next(dots, 0)


def in_index(tree: ast.AST, dots: ast.Constant) -> bool:
    """`x[..., None]` is no blank."""
    indices = (n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript))
    return any(dots is n for index in indices for n in ast.walk(index))


def loops(kernel: Kernel) -> Iterator[ast.For]:
    return (node for node in ast.walk(kernel.node) if isinstance(node, ast.For))


def idle_loop(kernel: Kernel) -> ast.For | None:
    """A loop that loads, and whose own number is read nowhere in it."""
    for loop in loops(kernel):
        body = ast.Module(body=loop.body, type_ignores=[])
        mine = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        if not mine & names_in(body) and loads(kernel, body):
            return loop
    return None


def loads(kernel: Kernel, body: ast.AST) -> bool:
    """Itself, or in what may be a helper."""
    plain = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) for n in ast.walk(body))
    return plain or any(True for _ in kernel.calls("load", within=body))


def forgotten_sum(kernel: Kernel) -> str:
    """A name that a loop sets anew, though it was begun before the loop; empty if none."""
    for loop in loops(kernel):
        before = {t for t, _ in assignments(kernel.node) if first_line(kernel, t) < loop.lineno}
        body = ast.Module(body=loop.body, type_ignores=[])
        read = names_in(body)
        grown = {
            n.target.id
            for n in ast.walk(body)
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        }
        for target, value in assignments(body):
            set_anew = target in before and target not in read | grown
            if set_anew and kernel.depends_on(value, "dot", *REDUCTIONS):
                return target
    return ""


def first_line(kernel: Kernel, name: str) -> int:
    return min(v.lineno for t, v in assignments(kernel.node) if t == name)


def unscaled_sum(kernel: Kernel) -> str:
    """Of sums that go on in a loop: one that exp() never corrects, while it does another."""
    for loop in loops(kernel):
        body = ast.Module(body=loop.body, type_ignores=[])
        corrections = {t for t, v in assignments(body) if directly(kernel, v, "exp", "exp2")}
        sums = accumulators(kernel, body)
        scaled = {name for name in sums if multiplied(body, name, corrections)}
        if scaled and sums - scaled:
            return sorted(sums - scaled)[0]
    return ""


def directly(kernel: Kernel, value: ast.expr, *names: str) -> bool:
    return isinstance(value, ast.Call) and kernel.called(value) in names


def accumulators(kernel: Kernel, body: ast.AST) -> set[str]:
    """Names to which something is added: `+=`, `x + …`, or the third argument of `tl.dot`."""
    found = set()
    for node in ast.walk(body):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            found |= {node.target.id} if isinstance(node.target, ast.Name) else set()
    for target, value in assignments(body):
        added = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)
        dotted = directly(kernel, value, "dot")
        if (added or dotted) and target in names_in(value):
            found.add(target)
    return found


def multiplied(body: ast.AST, name: str, factors: set[str]) -> bool:
    for node in ast.walk(body):
        pair: tuple[ast.AST, ...] = ()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            pair = (node.left, node.right)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult):
            pair = (node.target, node.value)
        ids = [getattr(each, "id", "") for each in pair]
        if name in ids and any(each in factors for each in ids):
            return True
    return False


def divides_by_block(kernel: Kernel) -> str:
    """The compile-time value by which a reduction is divided; empty where none is."""
    blocks = kernel.constexprs()
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            by = getattr(node.right, "id", "")
            if by in blocks and kernel.depends_on(node.left, "sum"):
                return by
    return ""


def exp_without_max(kernel: Kernel) -> ast.Call | None:
    """An exp() of what no maximum was subtracted from."""
    for call in kernel.calls("exp", "exp2"):
        if call.args and not kernel.depends_on(call.args[0], "max", "maximum"):
            return call
    return None


def names_a_half(kernel: Kernel) -> bool:
    """Whether a 16-bit dtype is named, `x.dtype` among them where x is what was loaded."""
    return any(isinstance(n, ast.Attribute) and n.attr in HALVES for n in ast.walk(kernel.node))


def reduces_at(kernel: Kernel, line: int) -> ast.Call | None:
    return kernel.at(line, *REDUCTIONS)
