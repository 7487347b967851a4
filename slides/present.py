"""`just present`: the deck in browsers and the driver in the terminal, one talk behind both."""

from __future__ import annotations

import argparse
import select
import signal
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import closing

from slides.live import Live
from slides.server import Door, Server, Views, application, listening
from talk import opening, stage
from talk.__main__ import numbers
from talk.runner import Talk

PORT = 8765


def parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(prog="slides present", description="Slides that run demos.")
    command.add_argument("sections", nargs="*", default=["all"], metavar="N", help="or all")
    command.add_argument("--port", type=int, default=PORT, help=f"default: {PORT}; 0 is any free")
    command.add_argument("--no-terminal", action="store_true", help="browsers alone")
    command.add_argument("--open", action="store_true", help="open the deck in a browser")
    command.add_argument("--quick", action="store_true", help="fewer repeats, shown as such")
    command.add_argument("--new", action="store_true", help="start another talk")
    command.add_argument("--commit", metavar="SHA", help="where there is no git")
    return command


def main(arguments: Sequence[str]) -> int:
    """Serve the talk until it is quit. Raises TalkError for a port that is taken."""
    options = parser().parse_args(arguments)
    sections = [number for text in options.sections for number in numbers(text)]
    with closing(listening(options.port)) as socket_:
        door = Door(socket_.getsockname()[1])
        talk = opening.demo(sections, quick=options.quick, commit=options.commit, new=options.new)
        views = Views()
        cut = None if options.new else opening.cut(sections)
        with closing(talk), closing(Live(talk, views, cut.seconds if cut else None)) as live:
            pages = {"/": lambda: live.page, "/presenter": lambda: live.presenter}
            server = Server(socket_, application(door, views, pages, live.wishes), views)
            with closing(server):
                return shown(talk, door, options)


def shown(talk: Talk, door: Door, options: argparse.Namespace) -> int:
    """In the terminal, or without one until it is told to stop."""
    print(f"slides: {door.key}\npresenter: {door.address}presenter (after the slides)", flush=True)
    talk.tell(stage.Said(f"Slides: {door.key}"))
    if options.open:
        webbrowser.open(door.key)
    if options.no_terminal or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return unattended(talk)
    from talk.terminal.driver import present

    return present(talk)


def unattended(talk: Talk) -> int:
    """Keep the talk going until SIGINT or SIGTERM."""
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: ended.append(number))
    while not talk.state.over and not ended:
        due = talk.performer.timeout()
        select.select(talk.fds(), [], [], 0.2 if due is None else max(0.0, min(0.2, due)))
        talk.pump()
    return 0
