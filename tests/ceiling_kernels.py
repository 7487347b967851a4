"""What the kernels of arithmetic and latency compute, held against PyTorch, on any device.

In a process of its own: a Triton that was imported to compile does not interpret.
"""

from __future__ import annotations

import torch

from talk.gpu import kernels
from talk.gpu.ceilings import LINE, random_cycle
from talk.gpu.check import compare


def check_multiply_adds(device: str, repeats: int) -> None:
    """x·k + (1 - k), again and again: 1 + (x - 1)·kⁿ."""
    x = torch.rand(64, device=device)
    out = torch.full_like(x, float("nan"))
    kernels.multiply_adds_kernel[(2,)](out, x, 15 / 16, REPEATS=repeats, BLOCK=32)
    expected = 1 + (x.double() - 1) * (15 / 16) ** repeats
    assert compare(out, expected, 1e-4).ok


def check_dots(device: str, dtype: torch.dtype, repeats: int) -> None:
    """The sums of the columns of `repeats` equal products."""
    a, b = torch.randn(16, 32, dtype=dtype), torch.randn(32, 16, dtype=dtype)
    out = torch.full((2, 16), float("nan"), device=device)
    kernels.dots_kernel[(2,)](out, a.to(device), b.to(device), repeats, M=16, N=16, K=32)
    expected = repeats * (a.double() @ b.double()).sum(0).expand(2, 16)
    assert compare(out, expected.to(device), 1e-3 * repeats).ok


def check_chain(device: str, lines: int, loads: int) -> None:
    """After so many loads it is where a walk in Python is."""
    links = random_cycle(lines, device)
    out = torch.full((1,), -1, dtype=torch.int32, device=device)
    kernels.chain_kernel[(1,)](out, links, loads, num_warps=1)
    assert int(out) == walk(links.tolist(), loads)


def walk(links: list[int], loads: int) -> int:
    at = 0
    for _ in range(loads):
        at = links[at]
        assert at % LINE == 0
    return at


if __name__ == "__main__":
    check_multiply_adds("cpu", repeats=40)
    check_dots("cpu", torch.float16, repeats=5)
    check_chain("cpu", lines=64, loads=50)
