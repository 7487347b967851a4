"""What a kernel reads and writes, from its text: which parameters reach a load or a store.

Read, not run: a load behind a condition counts, one in inline assembly is not seen.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Names = frozenset[str]


@cache
def used(fn: Any) -> tuple[Names, Names]:
    """Parameters of a kernel that it loads from, and that it stores to, itself or in a helper.

    Sizes that an address is computed with are among them: who asks knows which are tensors.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    found = Uses(fn, {name: {name} for name in inspect.signature(fn).parameters})
    # Twice: a loop uses what its last lines made for the next round.
    found.visit(tree)
    found.visit(tree)
    return frozenset(found.loaded), frozenset(found.stored)


@dataclass
class Uses(ast.NodeVisitor):
    """Parameters that reach the pointer of a load or a store, through the names made of them."""

    fn: Any
    origins: dict[str, set[str]]
    loaded: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._made(target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        self._made(node.target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if node.value:
            self._made(node.target, node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "load" or name.startswith("atomic_"):
            self.loaded |= self.addressed(node)
        if name == "store" or name.startswith("atomic_"):
            self.stored |= self.addressed(node)
        if isinstance(node.func, ast.Name):
            self._helped(node, node.func.id)

    def addressed(self, node: ast.Call) -> set[str]:
        """Of the pointer of a load or a store, or of the descriptor whose method it is."""
        places = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "pointer")]
        return self.pointers(node.func).union(*map(self.pointers, places))

    def _helped(self, node: ast.Call, name: str) -> None:
        """What a kernel's helper does with what it is given."""
        helper = getattr(self.fn, "__globals__", {}).get(name)
        helper = getattr(helper, "fn", None)
        if helper is None or helper is self.fn:
            return
        loaded, stored = used(helper)
        for parameter, value in given(node, helper):
            if parameter in loaded:
                self.loaded |= self.pointers(value)
            if parameter in stored:
                self.stored |= self.pointers(value)

    def _made(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.origins[target.id] = self.origins.get(target.id, set()) | self.pointers(value)
        elif isinstance(target, ast.Tuple):
            pair = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            values = value.elts if pair else [value] * len(target.elts)  # type: ignore[attr-defined]
            for each, made in zip(target.elts, values, strict=True):
                self._made(each, made)

    def pointers(self, node: ast.AST) -> set[str]:
        """Of all names in an expression, those aside that only say where a value was loaded."""
        if isinstance(node, ast.Name):
            return self.origins.get(node.id, set())
        if fetches(node):
            return set()
        return set().union(*map(self.pointers, ast.iter_child_nodes(node)))


def fetches(node: ast.AST) -> bool:
    """Whether this gives a value out of memory: it is no pointer any more."""
    attribute = node.func if isinstance(node, ast.Call) else None
    name = attribute.attr if isinstance(attribute, ast.Attribute) else ""
    return name == "load" or name.startswith("atomic_")


def given(node: ast.Call, helper: Any) -> Iterator[tuple[str, ast.expr]]:
    """(parameter of the helper, what the call gives it)."""
    yield from zip(inspect.signature(helper).parameters, node.args, strict=False)
    yield from ((k.arg, k.value) for k in node.keywords if k.arg)
