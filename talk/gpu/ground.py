"""What steps stand on here: this GPU, Triton's interpreter, or nothing; and why."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talk.gpu.trouble import attempt
from talk.outcome import Failure

INTERPRET = "TRITON_INTERPRET"
FELL_BACK = "TALK_FELL_BACK"
"""Why this process starts again without the GPU, for itself."""


@dataclass(frozen=True)
class Ground:
    """mode: `live`, `simulated` or `replay`. why: one line."""

    mode: str
    why: str


def choose() -> Ground:
    """Import PyTorch and Triton, interpreting where there is no GPU, and run one kernel.

    A GPU that PyTorch sees and Triton cannot launch on starts this process again without it,
    since Triton cannot change its mind once imported.
    """
    torch = imported("torch")
    if isinstance(torch, Failure):
        return Ground("replay", f"PyTorch cannot be imported: {torch.reason}")
    why = os.environ.get(FELL_BACK) or no_gpu(torch)
    if why:
        return interpreted(why)
    trouble = tested("cuda")
    if trouble:
        fall_back(f"no live run: {torch.cuda.get_device_name()} is here, but {trouble}")
    return Ground("live", torch.cuda.get_device_name())


def no_gpu(torch: Any) -> str:
    """Why nothing runs on a GPU, or empty."""
    if os.environ.get(INTERPRET, "").lower() in ("1", "true", "on", "yes", "y"):
        return f"{INTERPRET} is set"
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if torch.cuda.is_available():
            return ""
    seen = "a GPU driver is here, but" if Path("/dev/nvidiactl").exists() else "no GPU here:"
    if torch.version.cuda is None and torch.version.hip is None:
        return f"{seen} this PyTorch is built for the CPU alone"
    said = next((str(warning.message).split("(")[0].strip() for warning in heard), "")
    return f"{seen} {said or 'PyTorch finds none'}"


def interpreted(why: str) -> Ground:
    os.environ[INTERPRET] = "1"
    trouble = tested("cpu")
    if trouble:
        return Ground("replay", f"{why}; and Triton's interpreter does not work: {trouble}")
    quiet()
    return Ground("simulated", why)


def quiet() -> None:
    """The interpreter computes with NumPy, which warns of every infinity; a GPU does not."""
    import numpy

    numpy.seterr(all="ignore")


def tested(device: str) -> str:
    """What is wrong with Triton on this device, or empty."""
    triton = imported("triton")
    if isinstance(triton, Failure):
        return f"Triton cannot be imported: {triton.reason}"
    if device == "cpu":
        importlib.import_module("talk.gpu.loops").mend()
    selftest = imported("talk.gpu.selftest")
    if isinstance(selftest, Failure):
        return selftest.reason
    problem: Callable[[str], str] = selftest.problem
    return problem(device)


def imported(name: str) -> Any:
    return attempt(lambda: importlib.import_module(name))


def fall_back(why: str) -> None:
    """Start this process again, to interpret; nothing was read from the driver yet."""
    os.environ.update({INTERPRET: "1", FELL_BACK: why})
    os.execv(sys.executable, [sys.executable, "-m", "talk.gpu", *sys.argv[1:]])
