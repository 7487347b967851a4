"""Definitions for one flat namespace, as a notebook has: in order of need, each name once.

`talk.source` follows a step through every module; here what it finds is brought into one place.
A name that two modules give to different things is lengthened by its module's.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from talk.outcome import Code
from talk.source import ROOT, Module, parse

Key = tuple[str, int]
"""A definition: the path of its file, and its first line."""

OURS = "talk"


@dataclass(frozen=True)
class Piece:
    """One definition to carry. text: as it stands in its file, but for names that clashed.

    renamed: old name → new one. jit: whether it is a kernel.
    """

    code: Code
    text: str
    renamed: tuple[tuple[str, str], ...]
    jit: bool


@dataclass
class Carrier:
    """Collects the definitions behind several steps, each once.

    taken: names that something else has there. given: names of `talk`, which it gets otherwise.
    """

    root: Path = ROOT
    taken: frozenset[str] = frozenset()
    found: dict[Key, tuple[Module, str]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)

    def follow(self, module: str, names: Iterable[str]) -> tuple[Key, ...]:
        """Those definitions and all that they need, what is needed first; new ones alone."""
        before = set(self.found)
        home = parse(self.root, module)
        for name in names if home else ():
            self._visit(home, name)
        return tuple(key for key in self.found if key not in before)

    def _visit(self, module: Module | None, name: str, path: tuple[Key, ...] = ()) -> None:
        if module is None:
            return
        if name not in module.definitions:
            self._imported(module, name, path)
            return
        key = (module.path, module.code(name).line)
        if key in self.found or key in path:
            return
        for other in read_by(module.definitions[name]):
            self._visit(module, other, (*path, key))
        self.found[key] = (module, name)

    def _imported(self, module: Module, name: str, path: tuple[Key, ...]) -> None:
        where, original = module.imports.get(name, ("", ""))
        if where == OURS:
            self.given.add(original)
        elif where and (other := parse(self.root, where)):
            self._visit(other, original, path)
        else:
            self.imports |= set(outside(module, name))

    def pieces(self, keys: Iterable[Key]) -> tuple[Piece, ...]:
        """Their text, once all that will be carried is known."""
        names = self.names()
        return tuple(self._piece(key, names) for key in keys)

    def _piece(self, key: Key, names: dict[tuple[str, str], str]) -> Piece:
        module, name = self.found[key]
        code = module.code(name)
        new = {}
        for old in (*defined_by(module.definitions[name]), *read_by(module.definitions[name])):
            origin = self._origin(module, old)
            if origin in names and names[origin] != old:
                new[old] = names[origin]
        return Piece(code, renamed(code.text, new), tuple(new.items()), "@triton.jit" in code.text)

    def _origin(self, module: Module, name: str) -> tuple[str, str]:
        """Where a name of that module is defined."""
        if name in module.definitions:
            return module.path, name
        where, original = module.imports.get(name, ("", ""))
        other = parse(self.root, where) if where and where != OURS else None
        return self._origin(other, original) if other else ("", name)

    def new_name(self, module: str, name: str) -> str:
        """What a name of that module is called in the one namespace."""
        home = parse(self.root, module)
        return self.names().get(self._origin(home, name), name) if home else name

    def names(self) -> dict[tuple[str, str], str]:
        """(path, name) → its name in the one namespace: the first of that name keeps it."""
        chosen: dict[tuple[str, str], str] = {}
        for module, name in self.found.values():
            for each in defined_by(module.definitions[name]):
                clash = each in self.taken or each in chosen.values()
                chosen[module.path, each] = f"{stem(module.path)}_{each}" if clash else each
        return chosen


def stem(path: str) -> str:
    """ "demos/cases/rows.py" → "rows"."""
    return PurePosixPath(path).stem


def read_by(node: ast.AST) -> list[str]:
    """Names that a definition reads, in order of appearance."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    return list(dict.fromkeys(n.id for n in found if isinstance(n.ctx, ast.Load)))


def defined_by(node: ast.stmt) -> list[str]:
    """Names that a top-level statement gives something to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def outside(module: Module, name: str) -> Iterator[str]:
    """The import of that name from somewhere else than the checkout."""
    for node in module.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if (alias.asname or alias.name.split(".")[0]) == name:
                    yield ast.unparse(alone(node, alias))


def alone(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    """The same import of one name."""
    if isinstance(node, ast.Import):
        return ast.Import(names=[alias])
    return ast.ImportFrom(module=node.module, names=[alias], level=0)


def renamed(text: str, new: dict[str, str]) -> str:
    """The text with some names changed, and nothing else."""
    if not new:
        return text
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    names = [t for t in tokens if t.type == tokenize.NAME and t.string in new]
    for token in reversed(names):
        row, first, last = token.start[0] - 1, token.start[1], token.end[1]
        if is_own(tokens, token):
            lines[row] = lines[row][:first] + new[token.string] + lines[row][last:]
    return "".join(lines)


def is_own(tokens: list[tokenize.TokenInfo], token: tokenize.TokenInfo) -> bool:
    """Whether it stands for the name itself: no attribute, no keyword of a call."""
    words = [t for t in tokens if t.type not in (tokenize.NL, tokenize.COMMENT)]
    at = words.index(token)
    before, after = words[at - 1].string if at else "", words[at + 1].string
    return before != "." and not (after == "=" and before in ("(", ","))
