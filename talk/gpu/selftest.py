"""One small kernel really run, and compared with PyTorch, before any demo is trusted to this place.

Import it once it is settled whether Triton interprets or compiles.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import torch

from talk.errors import TalkError
from talk.gpu.kernels import column_sums_kernel
from talk.gpu.trouble import attempt
from talk.outcome import Failure


def problem(device: str) -> str:
    """Why kernels do not run on `device` in this process; empty where they do."""
    found = attempt(lambda: run(device), last=True)
    return explained(found) if isinstance(found, Failure) else ""


def run(device: str) -> None:
    """Raises TalkError for a wrong result, and whatever a launch raises."""
    x = torch.arange(15, dtype=torch.float32, device=device).reshape(3, 5)
    out = torch.full((5,), torch.nan, device=device)
    column_sums_kernel[(1,)](out, x, 3, 5, BLOCK=8)
    if not torch.equal(out, x.sum(dim=0)):
        raise TalkError(f"a kernel of three rows summed to {out.tolist()}")


def explained(failure: Failure) -> str:
    """The failure in words, with the package that is missing where one is."""
    said = f"{failure.reason}\n{failure.detail}"
    if "Failed to find C compiler" in said:
        return "no C compiler, which Triton needs to launch: install gcc"
    if not Path(sysconfig.get_path("include"), "Python.h").exists() and "gcc" in said:
        version = f"{sysconfig.get_python_version()}"
        return f"Python.h is missing, which Triton needs to launch: install python{version}-dev"
    if "libcuda.so" in said:
        return "libcuda.so is missing: install the NVIDIA driver"
    return failure.reason
