"""Sections as they stand on disk: what was edited is imported anew, and what ran is known."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import linecache
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, ModuleType

from talk.errors import TalkError
from talk.gpu.outline import outline
from talk.gpu.trouble import attempt, is_demo
from talk.outcome import Failure
from talk.record import SectionOutline
from talk.section import Section
from talk.source import number_of


@dataclass(frozen=True)
class Loaded:
    """A section with its module and its outline."""

    module: ModuleType
    section: Section
    outline: SectionOutline


class Sections:
    """The sections of these modules, by number.

    modules: dotted names under `root`. A section whose file does not import keeps the outline
    it had, and stands as the Failure that says why.
    """

    def __init__(self, modules: Sequence[str], root: Path) -> None:
        self._modules = {number_of(name.split(".")[-1]): name for name in modules}
        self._root = root
        self._finder = DemoFinder(root)
        self._found: dict[int, Loaded | Failure] = {}
        sys.meta_path.insert(0, self._finder)

    def __getitem__(self, number: int) -> Loaded | Failure:
        if number not in self._found:
            return Failure(kind="error", reason=f"section {number} was not opened")
        return self._found[number]

    def current(self) -> bool:
        """Whether every module runs the text that stands on disk."""
        whole = len(self._found) == len(self._modules)
        good = all(isinstance(found, Loaded) for found in self._found.values())
        return whole and good and self._finder.current()

    def refresh(self) -> tuple[SectionOutline, ...]:
        """Import anew what was edited, with all that may hold on to it; outlines that changed."""
        if self.current():
            return ()
        before = self._found
        # Empty until all are there: an interrupt in between leaves them to be imported next time.
        self._found = {}
        self._finder.forget()
        found = {number: self._load(name) for number, name in self._modules.items()}
        self._found = found
        return tuple(
            new.outline
            for number, new in found.items()
            if isinstance(new, Loaded) and outline_of(before.get(number)) != new.outline
        )

    def broken(self) -> tuple[Failure, ...]:
        return tuple(found for found in self._found.values() if isinstance(found, Failure))

    def _load(self, name: str) -> Loaded | Failure:
        found = attempt(lambda: load(name, self._root), root=self._root)
        if isinstance(found, Loaded) or name.split(".")[0] in found.reason:
            return found
        return replace(found, reason=f"{name}: {found.reason}")


def outline_of(found: Loaded | Failure | None) -> SectionOutline | None:
    return found.outline if isinstance(found, Loaded) else None


def load(name: str, root: Path) -> Loaded:
    """Import a section's module. Raises TalkError where it declares none, and what it raises."""
    module = importlib.import_module(name)
    section = getattr(module, "SECTION", None)
    if not isinstance(section, Section):
        raise TalkError(f"{name} has no SECTION.", hint="declare one at the bottom of the module")
    if section.number != number_of(name.split(".")[-1]):
        raise TalkError(f"{name} declares section {section.number}.")
    claim = (module.__doc__ or "").strip().split("\n")[0]
    return Loaded(module, section, outline(section, name, claim, root))


class DemoFinder(importlib.abc.MetaPathFinder):
    """Imports the modules of the checkout from their text, and remembers that text.

    Bytecode is passed by: an edit of the same size within the same second looks like the
    text it was made from.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.texts: dict[Path, bytes] = {}
        self._names: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self._may_be_ours(name.split(".")[0]):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or not is_demo(spec.origin, self._root):
            return None
        if isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = TextLoader(name, spec.origin, self.texts)
            self._names.add(name)
        return spec

    def current(self) -> bool:
        return all(text_of(path) == text for path, text in self.texts.items())

    def forget(self) -> None:
        """The next import reads every file again."""
        for name in self._names:
            sys.modules.pop(name, None)
        self._names.clear()
        self.texts.clear()
        importlib.invalidate_caches()
        # Triton and tracebacks read source through this cache, which trusts size and time.
        linecache.clearcache()

    def _may_be_ours(self, top: str) -> bool:
        return top != "talk" and any((self._root / n).exists() for n in (top, f"{top}.py"))


class TextLoader(importlib.machinery.SourceFileLoader):
    """Compiles the text that stands there now."""

    def __init__(self, name: str, path: str, texts: dict[Path, bytes]) -> None:
        super().__init__(name, path)
        self._texts = texts

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        text = self.get_data(path)
        self._texts[Path(path)] = text
        return self.source_to_code(text, path)


def text_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
