"""Compiler output → the Python line behind each of its lines. Text in, text out.

Every form of a lowered kernel carries locations: MLIR `loc(…)`, LLVM `!dbg`, assembly `.loc`, SASS
the lines of its PTX. Here they become numbers beside the text and leave the text, and with them
every path. Of code that was inlined, the line that counts is the outermost: the one in the kernel.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple


class Row(NamedTuple):
    """One line of a form as shown; `line` counts from the first line of the kernel's own text."""

    text: str
    line: int | None


@dataclass(frozen=True)
class Home:
    """Where the kernel on display stands: a file's name and a range of lines, ends included.

    The name is the one that the artefact gives, which need not be the kernel's own: the compile
    cache knows a kernel by its text and first line, so a copy of it in another file is a hit whose
    locations name the first file.
    """

    file: str
    first: int
    last: int

    def line(self, place: tuple[str, int] | None) -> int | None:
        """A (file, line) as a line of the kernel's own text; None for one outside it."""
        if place is None or place[0] != self.file or not self.first <= place[1] <= self.last:
            return None
        return place[1] - self.first + 1


def home(ttir: str, first: int, last: int) -> Home:
    """The kernel's home, its file as TTIR names it: the location of the module itself."""
    module = re.search(r"^\} loc\((.*)\)$", ttir, re.M)
    place = _mlir_place(module[1], _mlir_names(ttir)) if module else None
    return Home(place[0] if place else "", first, last)


def without_paths(text: str) -> str:
    """Absolute paths cut down to the file's name."""
    return re.sub(r"(?<![\w.:/<])/(?:[\w.+@~-]+/)+(?=[\w.+@~-])", "", text)


# MLIR: TTIR and TTGIR

_MLIR_LOC = re.compile(r" loc\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
_MLIR_ATOM = re.compile(r'#loc\d*|"[^"]*":\d+')


def mlir(text: str, home: Home) -> list[Row]:
    """TTIR or TTGIR."""
    names = _mlir_names(text)
    rows = []
    for line in text.splitlines():
        if line.startswith("#loc"):
            continue
        found = _MLIR_LOC.findall(line)
        place = _mlir_place(found[-1], names) if found else None
        rows.append(Row(_MLIR_LOC.sub("", line), home.line(place)))
    return rows


def _mlir_names(text: str) -> dict[str, str]:
    return dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))


def _mlir_place(location: str, names: dict[str, str]) -> tuple[str, int] | None:
    """The last place that a location names: `callsite(callee at caller)` ends with the caller."""
    for atom in reversed(_MLIR_ATOM.findall(location)):
        if not atom.startswith("#"):
            file, line = atom.rsplit(":", 1)
            return PurePath(file.strip('"')).name, int(line)
        place = _mlir_place(names.get(atom, ""), names)
        if place:
            return place
    return None


# LLVM IR

_LLVM_NODE = re.compile(r"^(!\d+) = (.*)$", re.M)


def llvm(text: str, home: Home) -> list[Row]:
    """LLVM IR."""
    nodes = dict(_LLVM_NODE.findall(text))
    rows = []
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        found = re.search(r",? !dbg (!\d+)", line)
        shown = line.replace(found[0], "") if found else line
        place = _llvm_place(found[1], nodes) if found and line.startswith(" ") else None
        rows.append(Row(shown, home.line(place)))
    return rows


def _llvm_place(node: str, nodes: dict[str, str]) -> tuple[str, int] | None:
    while caller := _field(nodes.get(node, ""), "inlinedAt"):
        node = caller
    location = nodes.get(node, "")
    file = nodes.get(_field(nodes.get(_field(location, "scope"), ""), "file"), "")
    name, line = _field(file, "filename"), _field(location, "line")
    return (PurePath(name).name, int(line)) if name and line else None


def _field(node: str, name: str) -> str:
    found = re.search(rf'\b{name}: (?:"([^"]*)"|([^,)]+))', node)
    return (found[1] or found[2]) if found else ""


# PTX and GCN

MNEMONIC = {
    "ptx": re.compile(r"\s*\{?\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)[^;]*;"),
    "amdgcn": re.compile(r"\s+([a-z]\w*)(?:\s|$)"),
    # NOP fills up the last 128 bytes and is never reached.
    "sass": re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(?!NOP\b)([A-Z][\w.]*)"),
}
"""The instruction of a line, per form; no match: a directive, a label, a comment."""

_LOC = re.compile(r"\s*\.loc\s+(\d+) (\d+) (\d+)(.*)")
_INLINED = re.compile(r"inlined_at (\d+) (\d+) (\d+)")
_HOP = re.compile(r"([^\s/:@\[]+):(\d+)(?::\d+)?")  # merged code has line 0 and no column
_ASM_BEGINS = re.compile(r".*(?:begin inline asm|#ASMSTART)")
_ASM_ENDS = re.compile(r".*(?:end inline asm|#ASMEND)")
_DEBUG_ONLY = re.compile(r"\s*\.(?:loc|file|cfi_\w+)\b|\$L__(?:tmp|func_)\w+:|\.L(?:tmp|func_)\w+:")
_DEBUG_SECTION = re.compile(r"\s*\.section\s+\.debug_")


def assembly(text: str, form: str, home: Home) -> list[Row]:
    """PTX or GCN as shown: without its `.loc` lines and debug sections."""
    return [row for row in assembly_by_number(text, form, home) if not _DEBUG_ONLY.match(row.text)]


def assembly_by_number(text: str, form: str, home: Home) -> list[Row]:
    """PTX or GCN with every line up to the debug sections, so that row n is line n + 1."""
    lines = list(itertools.takewhile(lambda s: not _DEBUG_SECTION.match(s), text.splitlines()))
    return [
        Row(line, home.line(place) if MNEMONIC[form].match(line) else None)
        for line, place in _placed(lines, _file_names(text))
    ]


def _placed(
    lines: Iterable[str], files: dict[str, str]
) -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Each line with the location in force there.

    Within inline assembly only the first `.loc` counts: Triton 3.8 and 3.9 write one before each of
    its lines and add one to the Python line each time, so a masked load of line 8 ends at 11.
    """
    place, callers = None, dict[tuple[str, ...], tuple[str, ...]]()
    in_asm = told = False
    for line in lines:
        if _ASM_BEGINS.match(line):
            in_asm, told = True, False
        elif _ASM_ENDS.match(line):
            in_asm = False
        elif loc := _LOC.match(line):
            if not (in_asm and told):
                place = _outermost(loc, callers, files)
            told = in_asm
        yield line, place


def _outermost(
    loc: re.Match[str], callers: dict[tuple[str, ...], tuple[str, ...]], files: dict[str, str]
) -> tuple[str, int]:
    """The place of a `.loc` in the function that everything was inlined into.

    Up to Triton 3.7, and for AMD, the comment has the chain: `a.py:1:2 @[ b.py:3:4 ]`. Later PTX
    names one caller at a time, which has a `.loc` of its own above.
    """
    here = loc.group(1, 2, 3)
    if "@[" in loc[4]:
        file, line = _HOP.findall(loc[4])[-1]
        return file, int(line)
    if inlined := _INLINED.search(loc[4]):
        callers[here] = inlined.group(1, 2, 3)
    seen = set[tuple[str, ...]]()
    while here in callers and here not in seen:
        seen.add(here)
        here = callers[here]
    return files.get(here[0], ""), int(here[1])


def _file_names(text: str) -> dict[str, str]:
    found = re.findall(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', text, re.M)
    return {number: PurePath(path).name for number, path in found}


# SASS

_PTX_LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt", line (\d+)')
_SECTION = re.compile(r"\s*\.section\s+(\.\S+?),")


def sass(text: str, ptx: list[Row]) -> list[Row]:
    """The code of what `nvdisasm -c -gp -ndf` prints, through the rows of its PTX by number.

    Not through `nvdisasm -g`: ptxas copies the wrong lines of inline assembly.
    """
    rows, number = [], 0
    for line in _text_section(text):
        if marker := _PTX_LINE.match(line):
            number = int(marker[1])
        else:
            behind = ptx[number - 1].line if 0 < number <= len(ptx) else None
            rows.append(Row(line, behind if MNEMONIC["sass"].match(line) else None))
    return rows


def _text_section(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        if section := _SECTION.match(line):
            inside = section[1].startswith(".text.")
        if inside and not line.startswith("//---"):
            yield line
