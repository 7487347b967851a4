"""The command line: `python -m slides`. Builds the deck from a record; runs nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from talk import look
from talk.errors import TalkError


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the deck. Returns 0, or 2 where it cannot be built."""
    options = parser().parse_args(arguments)
    try:
        make(options)
    except TalkError as error:
        print(f"slides: {look.harmless(str(error))}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(prog="slides", description="Build the deck from a record.")
    command.add_argument("--gpu", default="", metavar="NAME", help="take a record of this GPU")
    command.add_argument("--record", type=Path, metavar="DIR", help="take this talk's folder")
    command.add_argument("--out", type=Path, metavar="FILE", help="default: slides/build/deck.html")
    command.add_argument(
        "--strict", action="store_true", help="no deck while a number is stale or missing"
    )
    return command


def make(options: argparse.Namespace) -> None:
    """Choose, build, report, write. Raises TalkError; the deck that was there then stays."""
    from slides.build import DECK, build
    from slides.choose import Shelf, choose, shortened
    from talk.record import write_atomically

    choice = choose(Shelf(), gpu=options.gpu, named=options.record)
    report(*(f"note: {note}" for note in choice.notes), f"record: {choice}")
    deck = build(choice.record)
    troubles = deck.found.troubles()
    report(*troubles, *(f"note: {step}" for step in deck.found.left_out(choice.record.outlines)))
    if troubles and options.strict:
        raise TalkError(
            f"{len(troubles)} stale or missing; --strict builds no deck of these.",
            hint="record again on a GPU with 'just record'",
        )
    out = options.out or DECK
    if out.is_dir():
        raise TalkError(f"{out} is a folder.", hint="name a file: --out deck.html")
    write_atomically(out, deck.html)
    size = len(deck.html.encode()) // 1000
    report(f"deck: {shortened(out)}, {len(deck.found.slides)} slides, {size:,} kB")


def report(*lines: str) -> None:
    """Print lines that hold words of a record, without what a terminal would act on."""
    for line in lines:
        print(look.harmless(line))


if __name__ == "__main__":
    raise SystemExit(main())
