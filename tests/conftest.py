"""What tests share: a small checkout of demos that they may edit, and the rule for `gpu`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.interpreted import interpreting

# Triton decorates its own library when it is first imported. Whichever test comes first, it must be
# such as kernels can be interpreted with. Whatever compiles does so in another process.
with interpreting():
    import triton  # noqa: F401

SMALL = Path(__file__).parent / "checkout"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a package of demos."""
    return Path(shutil.copytree(SMALL, tmp_path / "checkout"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and not gpu_here():
        pytest.skip("no GPU here")


def gpu_here() -> bool:
    """Whether PyTorch can use one; not asked, which takes seconds, where no driver is."""
    if not any(Path(node).exists() for node in ("/dev/nvidiactl", "/dev/kfd")):
        return False
    import torch

    return torch.cuda.is_available()
