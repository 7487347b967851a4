"""The command line: `python -m slides`. Builds from a record; runs nothing.

python -m slides               the deck
python -m slides pdf           the deck, printed: --steps prints every step
python -m slides handout       all of it as one page to read
python -m slides cheatsheet    one printable page
python -m slides present [N]   the deck of a talk that is being given: see slides/present.py
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from talk import look
from talk.errors import RecordError, TalkError

if TYPE_CHECKING:
    from slides.build import Deck
    from slides.choose import Choice
    from talk.record import Record

FILES = {
    "deck": "deck.html",
    "pdf": "deck.pdf",
    "handout": "handout.html",
    "cheatsheet": "cheatsheet.html",
}
"""What can be built, and its file in slides/build/."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what was asked for. Returns 0, or 2 where it cannot be built."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["present"]:
        return present(given[1:])
    command = parser()
    options = command.parse_args(given)
    if options.steps and options.output != "pdf":
        command.error("--steps is for pdf")
    try:
        make(options)
    except TalkError as error:
        print(f"slides: {look.harmless(str(error))}", file=sys.stderr)
        return 2
    return 0


def present(arguments: Sequence[str]) -> int:
    from slides.present import main

    try:
        return main(arguments)
    except TalkError as error:
        print(f"present: {look.harmless(str(error))}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(prog="slides", description="Build the deck from a record.")
    command.add_argument("output", nargs="?", choices=tuple(FILES), default="deck")
    command.add_argument("--gpu", default="", metavar="NAME", help="take a record of this GPU")
    command.add_argument("--record", type=Path, metavar="DIR", help="take this talk's folder")
    command.add_argument("--beside", metavar="DIR|GPU", help="a second machine's figures too")
    command.add_argument("--out", type=Path, metavar="FILE", help="default: in slides/build/")
    command.add_argument("--steps", action="store_true", help="pdf: a page for every step")
    command.add_argument(
        "--strict", action="store_true", help="build nothing while a number is stale or missing"
    )
    return command


def make(options: argparse.Namespace) -> None:
    """Choose, build, report, write. Raises TalkError; what was there then stays."""
    from slides.build import DECK
    from slides.choose import Shelf, choose, shortened

    out = options.out or DECK.with_name(FILES[options.output])
    if out.is_dir():
        hint = f"name a file: --out {FILES[options.output]}"
        raise TalkError(f"{out} is a folder.", hint=hint)
    choice = choose(Shelf(), gpu=options.gpu, named=options.record)
    report(*(f"note: {note}" for note in choice.notes), f"record: {choice}")
    other = beside(options.beside, choice) if options.beside else None
    made = built(options.output, choice, other)
    report(*told(options.output, choice, made))
    if made.found.troubles() and options.strict:
        raise TalkError(
            f"{len(made.found.troubles())} stale or missing; --strict builds nothing of these.",
            hint="record again on a GPU with 'just record'",
        )
    content = printed(made, options)
    write(out, content)
    size = f"{len(made.found.slides)} slides, {len(content) // 1000:,} kB"
    report(f"{options.output}: {shortened(out)}, {size}")


def beside(wanted: str, first: Choice) -> Record:
    from slides.beside import second
    from slides.choose import Shelf

    found = second(Shelf(), wanted, first.record)
    report(*(f"note: {note}" for note in found.notes), f"beside: {found}")
    return found.record


def built(output: str, choice: Choice, other: Record | None = None) -> Deck:
    from slides import cheatsheet, handout
    from slides.build import SLIDES, build

    mediums = {"handout": handout.MEDIUM, "cheatsheet": cheatsheet.MEDIUM}
    return build(choice.record, medium=mediums.get(output, SLIDES), beside=other)


def told(output: str, choice: Choice, made: Deck) -> list[str]:
    """What is stale, missing, or on no slide; a cheat sheet leaves out most, and rightly."""
    from talk.collect import of_the_talk

    left_out = (
        made.found.left_out(of_the_talk(choice.record.outlines)) if output != "cheatsheet" else []
    )
    return [*made.found.troubles(), *(f"note: {step}" for step in left_out)]


def printed(made: Deck, options: argparse.Namespace) -> bytes:
    """What goes into the file."""
    if options.output != "pdf":
        return made.html.encode()
    from slides import pdf

    return pdf.printed(made.html, steps=options.steps)


def write(out: Path, content: bytes) -> None:
    """All or nothing. Raises TalkError where the disk is full or the folder not to be written."""
    from talk.record import write_atomically

    try:
        write_atomically(out, content)
    except RecordError as error:
        hint = "free some space, allow writing there, or name another place: --out FILE"
        raise TalkError(error.args[0], hint=hint) from error


def report(*lines: str) -> None:
    """Print lines that hold words of a record, without what a terminal would act on."""
    for line in lines:
        print(look.harmless(line))


if __name__ == "__main__":
    raise SystemExit(main())
