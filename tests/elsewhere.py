"""The command line with its results in a folder of the test: `python -m tests.elsewhere DIR …`."""

from __future__ import annotations

import sys
from pathlib import Path

from talk import runner
from talk.__main__ import main

if __name__ == "__main__":
    runner.RESULTS = Path(sys.argv[1])
    raise SystemExit(main(sys.argv[2:]))
