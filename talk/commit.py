"""Which commit a checkout stands at. Standard library only."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit_of(root: Path) -> str:
    """ "0361fb7", with "-dirty" where tracked files differ; empty where there is no git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"]
    try:
        found = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
