"""One launch compiled for one target: every form from TTIR to machine code, and what it costs."""

from __future__ import annotations

import inspect
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from talk.gpu.launches import Launch, Specialised
from talk.gpu.linemap import (
    MNEMONIC,
    Home,
    Row,
    assembly,
    assembly_by_number,
    home,
    llvm,
    mlir,
    sass,
    without_paths,
)
from talk.gpu.targets import THREADS_LIMIT, Target
from talk.outcome import Lowering, Stage


def lower(launch: Launch, target: Target, candidate: str = "") -> Lowering:
    """Compile `launch` for `target`; no GPU is needed, and none is asked.

    Lines in the stages are those of the kernel's own text, its decorators included, from 1.
    registers: per thread. spills: bytes of stack per thread. shared: bytes per program.
    Raises whatever Triton raises for a kernel that does not compile (`talk.gpu.reasons`).
    """
    told = launch.specialised(target)
    compiled = _compiled(launch, told, target)
    registers, spills = _resources(compiled.asm)
    num_warps = compiled.metadata.num_warps
    forms = _rows(compiled.asm, launch.kernel)
    return Lowering(
        candidate=candidate,
        kernel=launch.name,
        target=target.name,
        registers=registers,
        spills=spills,
        shared=compiled.metadata.shared,
        shared_limit=target.shared_limit,
        num_warps=num_warps,
        stages=tuple(_stage(name, rows) for name, rows in forms.items()),
        signature=_signature(told),
        counts={name: counts for name, rows in forms.items() if (counts := _counts(name, rows))},
        failure=_too_many_threads(num_warps * target.warp_size, target),
    )


def _compiled(launch: Launch, told: Specialised, target: Target) -> Any:
    from triton import compile
    from triton.compiler import ASTSource

    source = ASTSource(launch.kernel, told.signature, told.constexprs, told.attributes)
    return compile(source, target=target.for_triton(), options=told.options.__dict__)


def _too_many_threads(threads: int, target: Target) -> str:
    if threads <= THREADS_LIMIT:
        return ""
    return f"{threads:,} threads a program; {target.name} starts at most {THREADS_LIMIT:,}."


# What it costs


def _resources(asm: dict[str, Any]) -> tuple[int, int]:
    """Registers and bytes of stack, per thread."""
    if "cubin" in asm:
        usage = _tool("cuobjdump", asm["cubin"], "-res-usage")
        return _number(r"\bREG:(\d+)", usage), _number(r"\bSTACK:(\d+)", usage)
    code = asm["amdgcn"]
    stack = _number(r"\.private_segment_fixed_size: +(\d+)", code)
    return _number(r"\.vgpr_count: +(\d+)", code), stack


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError(f"the compiler's tools no longer print {pattern!r}")
    return int(found[1])


def _tool(name: str, cubin: bytes, *options: str) -> str:
    """What one of the tools in Triton's wheel prints about a cubin."""
    from triton import knobs

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        command = [getattr(knobs.nvidia, name).path, *options, str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# What it looks like


def _rows(asm: dict[str, Any], kernel: Any) -> dict[str, list[Row]]:
    lines, first = inspect.getsourcelines(kernel.fn)
    return _forms(asm, home(asm["ttir"], first, first + len(lines) - 1))


def _signature(told: Specialised) -> dict[str, str]:
    """Argument → "*fp32, divisible by 16", "i32" or, of a constexpr, its value."""
    words = {}
    for position, (name, kind) in enumerate(told.signature.items()):
        facts = dict(told.attributes.get((position,), ()))
        divisible = facts.get("tt.divisibility")
        value = told.constexprs.get((position,))
        plain = str(value) if kind == "constexpr" else str(kind)
        words[name] = f"{plain}, divisible by {divisible}" if divisible else plain
    return words


def _forms(asm: dict[str, Any], at: Home) -> dict[str, list[Row]]:
    forms = {
        "ttir": mlir(asm["ttir"], at),
        "ttgir": mlir(asm["ttgir"], at),
        "llir": llvm(asm["llir"], at),
    }
    if "amdgcn" in asm:
        return {**forms, "amdgcn": assembly(asm["amdgcn"], "amdgcn", at)}
    # -gp: lines of the PTX. -ndf: no data-flow analysis, which may fail and adds only labels.
    disassembled = _tool("nvdisasm", asm["cubin"], "-c", "-gp", "-ndf")
    return {
        **forms,
        "ptx": assembly(asm["ptx"], "ptx", at),
        "sass": sass(disassembled, assembly_by_number(asm["ptx"], "ptx", at)),
    }


def _stage(name: str, rows: list[Row]) -> Stage:
    return Stage(
        name=name,
        text=without_paths("\n".join(row.text for row in rows)).rstrip(),
        lines=tuple((n, row.line) for n, row in enumerate(rows, 1) if row.line is not None),
    )


def _counts(name: str, rows: list[Row]) -> dict[str, int]:
    """Instructions by mnemonic, width included (`ld.global.v4.b32`, `LDG.E.128`), most first."""
    if name not in MNEMONIC:
        return {}
    found = (MNEMONIC[name].match(row.text) for row in rows)
    return dict(Counter(match[1] for match in found if match).most_common())
