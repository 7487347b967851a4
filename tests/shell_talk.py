"""Lends its terminal to the shell of a worker, for tests: `python -m tests.shell_talk`."""

from __future__ import annotations

import select
import sys

from talk import stage
from talk.performer import Hello
from talk.worker import Worker
from tests.conftest import SMALL


def wait(worker: Worker, kind: type) -> stage.Event:
    while True:
        select.select(worker.fds(), (), (), worker.timeout())
        for event in worker.events():
            if isinstance(event, kind):
                return event


def main() -> None:
    worker = Worker(Hello(modules=("demos.s1_small",), commit=""), root=SMALL)
    wait(worker, stage.Opened)
    worker.shell(1, "add", sys.stdin.fileno())
    print("BACK IN THE TALK", flush=True)
    worker.perform(1, "doubled")
    arrived = wait(worker, stage.Arrived)
    assert isinstance(arrived, stage.Arrived)
    print("THEN", arrived.outcome.table, flush=True)
    worker.close()


if __name__ == "__main__":
    main()
