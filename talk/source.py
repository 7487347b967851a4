"""Definitions read from source text with `ast`; nothing is imported. Standard library only.

`behind` follows a step from its declaration through every name it uses, within a
module and across the modules of the checkout: the text of all that the step's numbers
depend on. A number is stale when that text no longer stands there.
"""

from __future__ import annotations

import ast
import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from talk.errors import TalkError
from talk.outcome import Code, Outcome

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""


@dataclass(frozen=True)
class Module:
    """The top-level definitions and imports of one file. path: relative to the root."""

    path: str
    text: str
    tree: ast.Module
    definitions: dict[str, ast.stmt]
    imports: dict[str, tuple[str, str]]

    def code(self, name: str) -> Code:
        """A definition's text, decorators included."""
        node = self.definitions[name]
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        lines = self.text.splitlines()[first - 1 : node.end_lineno]
        return Code(path=self.path, name=name, text="\n".join(lines), line=first, shown=False)


def order(root: Path = ROOT) -> tuple[str, ...]:
    """The section modules in running order, as `demos/__init__.py` lists them."""
    found = _listed("ORDER", root)
    if not found:
        raise TalkError("demos/__init__.py has no ORDER.", hint="list the section modules in it")
    return found


def after(root: Path = ROOT) -> tuple[str, ...]:
    """Modules like a section that are no part of the talk."""
    return _listed("AFTER", root)


def _listed(name: str, root: Path) -> tuple[str, ...]:
    module = parse(root, "demos")
    node = module.definitions.get(name) if module else None
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return ()
    return tuple(ast.literal_eval(node.value))


def section_module(number: int, root: Path = ROOT) -> str:
    """The name of a section's module. Raises TalkError for an unknown number."""
    known = {number_of(name): name for name in order(root) + after(root)}
    if number not in known:
        raise TalkError(
            f"no section {number}. Sections: {', '.join(str(n) for n in sorted(known))}.",
            hint="run 'just list' to see them in running order",
        )
    return f"demos.{known[number]}"


def number_of(module: str) -> int:
    """`s5_memory_wall` → 5."""
    return int("".join(c for c in module.split("_")[0] if c.isdigit()))


def behind(module: str, slug: str, root: Path = ROOT) -> tuple[Code, ...]:
    """Every definition that a step stands on, its own declaration first (as `step:slug`).

    module: dotted name. Empty where the module or the step is gone.
    """
    home = parse(root, module)
    declaration = _declaration(home, slug) if home else None
    if home is None or declaration is None:
        return ()
    first = Code(
        path=home.path,
        name=f"step:{slug}",
        text=_without_words(declaration),
        line=declaration.lineno,
        shown=False,
    )
    found: dict[tuple[str, str], Code] = {}
    _follow(root, home, _names(declaration), found)
    return (first, *found.values())


def mark_shown(behind: tuple[Code, ...], shown: list[tuple[str, str]]) -> tuple[Code, ...]:
    """The same definitions, those named (path, name) marked as shown and in that order, first."""
    by_name = {(code.path, code.name): code for code in behind}
    front = tuple(replace(by_name[key], shown=True) for key in shown if key in by_name)
    return front + tuple(c for c in behind if (c.path, c.name) not in shown)


def _follow(
    root: Path, module: Module, names: list[str], found: dict[tuple[str, str], Code]
) -> None:
    for name in names:
        if (module.path, name) in found:
            continue
        if name in module.definitions:
            found[module.path, name] = module.code(name)
            _follow(root, module, _names(module.definitions[name]), found)
        elif name in module.imports:
            where, original = module.imports[name]
            other = parse(root, where)
            if other and original in other.definitions:
                _follow(root, other, [original], found)


def _names(node: ast.AST) -> list[str]:
    """Names that a definition reads, in order of appearance."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    return list(dict.fromkeys(n.id for n in found))


def _declaration(module: Module, slug: str) -> ast.Call | None:
    """The call `Kind("slug", …)`, wherever in the module it stands."""
    calls = (n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and n.args)
    return next((c for c in calls if getattr(c.args[0], "value", None) == slug), None)


WORDS = {"title", "notes", "says", "text", "misconception", "model_says", "choices", "deadline_s"}
"""What a step says; a better wording makes no number stale."""


def _without_words(call: ast.Call) -> str:
    kept = [arg for arg in call.args[1:] if not isinstance(arg, ast.Constant)]
    keywords = [k for k in call.keywords if k.arg not in WORDS]
    return ast.unparse(ast.Call(func=call.func, args=[call.args[0], *kept], keywords=keywords))


def parse(root: Path, module: str) -> Module | None:
    """A module of the checkout, outside `talk`; None where it is missing or does not parse."""
    if module.split(".")[0] == "talk":
        return None
    base = root.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
                return _parsed(str(path.relative_to(root)).replace("\\", "/"), text, module)
            except (SyntaxError, UnicodeDecodeError, OSError):
                return None
    return None


@functools.lru_cache(maxsize=64)
def _parsed(path: str, text: str, module: str) -> Module:
    tree = ast.parse(text)
    definitions = {name: node for node in tree.body for name in _defined(node)}
    imports = {local: origin for node in tree.body for local, origin in _imported(node)}
    return Module(path, text, tree, definitions, imports)


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _imported(node: ast.stmt) -> Iterator[tuple[str, tuple[str, str]]]:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, (node.module, alias.name)


class Standing:
    """Whether what an outcome stands on still stands there; asked of the disk once a second."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._seen: dict[tuple[int, str, int], tuple[float, bool]] = {}

    def __call__(self, section: int, outcome: Outcome) -> bool:
        key = (section, outcome.step, hash(outcome.behind))
        at, fresh = self._seen.get(key, (-1e9, True))
        if time.monotonic() - at > 1.0:
            fresh = self._stands(section, outcome)
            self._seen[key] = (time.monotonic(), fresh)
        return fresh

    def _stands(self, section: int, outcome: Outcome) -> bool:
        try:
            now = behind(section_module(section, self._root), outcome.step, self._root)
        except TalkError:
            return False
        return not outcome.behind or texts(now) == texts(outcome.behind)


def texts(codes: tuple[Code, ...]) -> set[tuple[str, str, str]]:
    """What staleness compares: where, what and the text."""
    return {(code.path, code.name, code.text) for code in codes}
