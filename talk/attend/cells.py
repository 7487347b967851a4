"""The cells of a notebook: those that every one begins with, and the file they become."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from talk.attend.carried import Carrier, Piece, defined_by
from talk.errors import TalkError
from talk.source import parse

HELPERS = "demos.notebook"
"""Copied into every notebook, part by part."""


INSTALL = """\
# PyTorch and Triton, where they are missing. Colab has them.
import importlib.util
import sys

missing = [name for name in ("numpy", "torch", "triton") if importlib.util.find_spec(name) is None]
if missing and not sys.platform.startswith("linux"):
    raise RuntimeError(f"no Triton for {sys.platform}: open this notebook in Colab, or under WSL")
if missing:
    %pip install --quiet {" ".join(missing)}
"""

CHECK = """\
# Is this machine ready? Versions alone prove nothing: a kernel is launched.
import os

import torch

asked_for = os.environ.get("TRITON_INTERPRET") == "1"
GPU = torch.cuda.is_available() and not asked_for
if not GPU:
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
import triton
import triton.language as tl

torch.set_default_device("cuda" if GPU else "cpu")


@triton.jit
def ready_kernel(out_ptr):
    tl.store(out_ptr, 42)


ready = torch.zeros(1, dtype=torch.int32)
ready_kernel[(1,)](ready)
if ready.item() != 42:
    raise RuntimeError("a kernel ran here, and what it wrote did not arrive")
print(f"PyTorch {torch.__version__}, Triton {triton.__version__}")
if GPU:
    print(f"LIVE on {torch.cuda.get_device_name()}: kernels are compiled, checked and timed.")
else:
    why = "no GPU here" if not torch.cuda.is_available() else "TRITON_INTERPRET=1 is set"
    print(f"SIMULATED, {why}: kernels run in Triton's interpreter, on small inputs.")
    print("They are checked, and nothing is timed. In Colab: Runtime, Change runtime type, GPU.")
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """name: unique in its notebook. hidden: folded away at first, being no part of the story."""

    name: str
    text: str
    code: bool = False
    hidden: bool = False


@dataclass
class Pages:
    """The cells so far. A name that is taken gets a number."""

    cells: list[Cell] = field(default_factory=list)

    def words(self, name: str, *paragraphs: str) -> None:
        text = "\n\n".join(part for part in paragraphs if part)
        if text:
            self.cells.append(Cell(name=self._free(name), text=text))

    def code(self, name: str, text: str, *, hidden: bool = False) -> None:
        self.cells.append(Cell(name=self._free(name), text=text.strip(), code=True, hidden=hidden))

    def _free(self, name: str) -> str:
        name = re.sub(r"[^a-zA-Z0-9-]+", "-", name)[:56].strip("-")
        count = sum(cell.name.rsplit("--", 1)[0] == name for cell in self.cells)
        return f"{name}--{count + 1}" if count else name


def written(cells: Iterable[Cell]) -> str:
    """The notebook's file; the same cells are the same bytes. Raises TalkError without nbformat."""
    try:
        import nbformat
    except ImportError:
        raise TalkError(
            "nbformat is not installed, which writes notebooks.",
            hint="'just notebook' installs it, and so does: pip install nbformat",
        ) from None
    whole: Any = nbformat  # it is annotated in part
    v4 = whole.v4
    made = []
    for cell in cells:
        new = v4.new_code_cell if cell.code else v4.new_markdown_cell
        folded = {"jupyter": {"source_hidden": True}} if cell.hidden else {}
        made.append(new(source=cell.text, id=cell.name, metadata=folded))
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "accelerator": "GPU",  # what Colab gives, where it has one
    }
    notebook = v4.new_notebook(cells=made, metadata=metadata)
    whole.validate(notebook)
    return str(whole.writes(notebook)) + "\n"


def head(pages: Pages, root: Path, carrier: Carrier) -> None:
    """The first cells: install, check, and what every cell below stands on."""
    pages.code("install", INSTALL)
    pages.code("check", CHECK)
    if carrier.imports:
        pages.code("imports", "\n".join(sorted(carrier.imports)))
    for title, text in helpers(root):
        pages.words(f"helper-{title}", f"**{title}.**")
        pages.code(f"helper-{title}-code", text, hidden=True)
    for path in sorted({OF_TALK[name] for name in carrier.given if name in OF_TALK}):
        pages.code(path, f"# {path}\n\n{without_imports(root / path)}", hidden=True)


OF_TALK = {
    "BY_CAPABILITY": "talk/hardware.py",
    "BY_TARGET": "talk/hardware.py",
    "GPUS": "talk/hardware.py",
    "occupancy": "talk/occupancy.py",
}
"""What a demo may take from the stage and a notebook carries as a whole file."""


def without_imports(path: Path) -> str:
    """A module's text from its first definition on."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    kept = [node for node in body[1:] if not is_import(node)]
    needed = [ast.unparse(node) for node in body if is_import(node) and not of_ours(node)]
    first = "\n".join(line for line in needed if "__future__" not in line)
    return f"{first}\n\n\n" + "\n".join(text.splitlines()[start_of(kept[0]) - 1 :])


def start_of(node: ast.stmt) -> int:
    lines: list[int] = [d.lineno for d in getattr(node, "decorator_list", ())]
    return min([node.lineno, *lines])


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def of_ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "talk"


PART = re.compile(r"^# %% (.+)\n", re.M)


def helpers(root: Path) -> Iterator[tuple[str, str]]:
    """(title, code) of each part of `HELPERS`."""
    text = (root / (HELPERS.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    _, *parts = PART.split(text)
    yield from zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True)


def helper_names(root: Path) -> set[str]:
    module = parse(root, HELPERS)
    return {name for node in (module.tree.body if module else ()) for name in defined_by(node)}


def grouped(
    pieces: Sequence[Piece], shown: Collection[tuple[str, str]] = ()
) -> Iterator[tuple[bool, str]]:
    """(whether any is on show, text) of cells that hold neighbours from one file together.

    shown: (path, name) of what is; a kernel always is.
    """
    for path, neighbours in itertools.groupby(pieces, key=lambda piece: piece.code.path):
        held = list(neighbours)
        on_show = any(piece.jit or (path, piece.code.name) in shown for piece in held)
        yield on_show, "\n\n\n".join((source_of(path, held), *(piece.text for piece in held)))


def source_of(path: str, pieces: Sequence[Piece]) -> str:
    """Where a cell's text comes from, and what is not as it stands there."""
    new = dict(pair for piece in pieces for pair in piece.renamed)
    names = ", ".join(f"{old} is {name}" for old, name in new.items())
    return f"# {path}" + (f"\n# Another file has the same name, so here {names}." if names else "")
