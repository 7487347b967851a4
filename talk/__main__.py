"""The command line: `python -m talk demo 5`, and its siblings. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from talk import look
from talk.errors import TalkError

if TYPE_CHECKING:
    from talk.runner import Talk


INTERRUPTED = 130
"""What a shell makes of SIGINT: 128 and its number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, 1 when a step failed, 2 for bad input."""
    options = parser().parse_args(arguments)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # ends with us
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except TalkError as error:
        print(f"talk: {look.harmless(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"talk: cannot write what there is to say: {error.strerror}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(prog="talk", description="A GPU workshop that measures itself.")
    commands = top.add_subparsers(required=True, metavar="command")

    demo = commands.add_parser("demo", help="walk one section on this machine")
    demo.add_argument("section", nargs="?", default="", help="a number, or 'all'")
    demo.add_argument("--auto", action="store_true", help="no key press; plain text")
    demo.add_argument("--new", action="store_true", help="start another talk")
    add_measuring(demo)
    demo.set_defaults(run=run_demo)

    replay = commands.add_parser("replay", help="walk a recorded section; needs no GPU")
    replay.add_argument("section", nargs="?", default="", help="a number, or 'all'")
    replay.add_argument("--auto", action="store_true", help="no key press; plain text")
    replay.add_argument("--record", type=Path, metavar="DIR", help="a talk's folder")
    replay.set_defaults(run=run_replay)

    record = commands.add_parser("record", help="walk sections without a stop, into results/")
    record.add_argument("sections", nargs="*", help="numbers; all when none is given")
    add_measuring(record)
    record.set_defaults(run=run_record)

    rehearse = commands.add_parser("rehearse", help="walk the talk against the clock")
    rehearse.add_argument("section", nargs="?", default="all", help="a number; all by default")
    rehearse.add_argument("--report", action="store_true", help="the last one, and no other walk")
    rehearse.add_argument("--recorded", action="store_true", help="no step runs, GPU or not")
    rehearse.add_argument("--quick", action="store_true", help="fewer samples, marked as such")
    rehearse.set_defaults(run=run_rehearse)

    keep = commands.add_parser("keep", help="promote the newest complete live record")
    keep.add_argument("--record", type=Path, metavar="DIR", help="a talk's folder")
    keep.set_defaults(run=run_keep)

    compare = commands.add_parser("compare", help="two records, row by row")
    compare.add_argument("records", nargs="*", metavar="DIR", help="a talk's folder, or a GPU")
    compare.add_argument("--section", action="append", default=[], metavar="N", help="this alone")
    compare.add_argument("--all", action="store_true", help="every row, not the decisive ones")
    compare.set_defaults(run=run_compare)

    quiz = commands.add_parser("quiz", help="what one believes of a GPU, and what was measured")
    quiz.add_argument("--section", action="append", default=[], metavar="N", help="this alone")
    quiz.add_argument("--all", action="store_true", help="the predictions of the talk as well")
    quiz.add_argument("--auto", action="store_true", help="every question with its answer")
    quiz.set_defaults(run=run_quiz)

    exercise = commands.add_parser("exercise", help="an exercise of your own, graded")
    exercise.add_argument("which", nargs="?", default="", help="a number or a name")
    doing = exercise.add_mutually_exclusive_group()
    doing.add_argument("--watch", action="store_true", help="grade at each save")
    doing.add_argument("--hint", action="store_true", help="the next of three")
    doing.add_argument("--solution", action="store_true", help="after an attempt")
    doing.add_argument("--reset", action="store_true", help="begin anew; yours is kept")
    exercise.set_defaults(run=run_exercise)

    notebook = commands.add_parser("notebook", help="a section or an exercise for Jupyter")
    notebook.add_argument("which", nargs="?", default="", help="a number, a name, or 'all'")
    notebook.set_defaults(run=run_notebook)

    commands.add_parser("list", help="name the sections").set_defaults(run=run_list)

    bench = commands.add_parser("bench", help="measure the stage itself")
    bench.add_argument("-n", type=int, default=5, help="repeats of each figure")
    bench.add_argument("--section", default="5", help="the section to open")
    bench.add_argument("--step", default="", help="a measured step for the GPU figures: 1/block")
    bench.add_argument("--best", default="", metavar="KEYS", help="the row to judge")
    bench.add_argument("--against", default="", metavar="KEYS", help="the row to compare with")
    bench.add_argument("--live", action="store_true", help="the GPU figures alone")
    bench.set_defaults(run=run_bench)
    return top


def add_measuring(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="fewer samples, marked as such")
    command.add_argument(
        "--commit", metavar="SHA[-dirty]", help="the commit, where there is no git"
    )


def run_demo(options: argparse.Namespace) -> int:
    from talk import opening

    wanted = numbers(options.section)
    talk = opening.demo(wanted, quick=options.quick, commit=options.commit, new=options.new)
    return show(talk, auto=options.auto)


def run_replay(options: argparse.Namespace) -> int:
    from talk import opening

    return show(opening.replay(numbers(options.section), options.record), auto=options.auto)


def run_record(options: argparse.Namespace) -> int:
    from talk import opening

    wanted = [number for text in options.sections for number in numbers(text)] or everything()
    talk = opening.demo(wanted, quick=options.quick, commit=options.commit, new=True)
    return show(talk, auto=True)


def run_rehearse(options: argparse.Namespace) -> int:
    from talk import rehearsal
    from talk.terminal import rehearsed

    wanted, code = numbers(options.section), 0
    if not options.report:
        code = rehearse(rehearsal.opened(wanted, recorded=options.recorded, quick=options.quick))
        if code not in (0, INTERRUPTED):
            return code
    rehearsed.write(rehearsal.compared(rehearsal.kept(), wanted))
    return code


def rehearse(talk: Talk) -> int:
    """Walk it, and keep what each step takes. Raises TalkError where no key can be pressed."""
    from talk.rehearsal import Rehearsing

    if not can_ask():
        talk.close()
        raise TalkError(
            "a rehearsal needs a terminal, to be told when to go on.",
            hint="'just rehearse --report' prints the last one anywhere",
        )
    counted = Rehearsing()
    talk.watch(counted)
    code = walked(talk)
    counted.close(left=code == 0)
    if counted.trouble:
        raise TalkError(counted.trouble)
    return code


def walked(talk: Talk) -> int:
    """Key by key: full screen, or line by line where none can be drawn."""
    from talk.terminal.by_line import walk
    from talk.terminal.medium import medium_of

    if can_draw() and medium_of(os.environ, sys.stdout, tty=True).colours is not None:
        return show(talk, auto=False)
    try:
        return walk(talk)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        talk.close()


def run_keep(options: argparse.Namespace) -> int:
    from talk.keep import keep

    print(keep(options.record))
    return 0


def run_compare(options: argparse.Namespace) -> int:
    from talk.compare import compare, named
    from talk.terminal.compared import write

    sections = [number for text in options.section for number in numbers(text)]
    first, *others = named(options.records)
    found = [compare(first, other, sections=sections) for other in others]
    write(found, every=options.all)
    return 0


def run_quiz(options: argparse.Namespace) -> int:
    from talk.terminal import quiz

    sections = [number for text in options.section or ["all"] for number in numbers(text)]
    return quiz.run(sections, every=options.all, auto=options.auto or not can_ask())


def run_exercise(options: argparse.Namespace) -> int:
    from talk.attend.exercise import Desk, chosen, lessons, listed

    known, desk = lessons(), Desk()
    if not options.which:
        for line in listed(known, desk.folder):
            desk.say(line)
        return 0
    lesson = chosen(options.which, known)
    for name in ("watch", "hint", "solution", "reset"):
        if getattr(options, name):
            code: int = getattr(desk, name)(lesson)
            return code
    return desk.run(lesson)


def run_notebook(options: argparse.Namespace) -> int:
    from talk import runner
    from talk.attend.notebook import write
    from talk.reading import Reading
    from talk.source import Standing

    print(write(options.which, Reading(recording=runner.recording(), fresh=Standing())))
    return 0


def run_list(options: argparse.Namespace) -> int:
    from talk.opening import outlines
    from talk.source import order, section_module

    known = {outline.number: outline for outline in outlines()}
    for number in everything():
        outline = known.get(number)
        title = outline.title if outline else section_module(number)
        minutes = f"{outline.minutes:>3} min" if outline else "   – min"
        print(f"{number}  {minutes}  {title}")
    print(f"\n{len(order())} sections. 'just demo N' walks one, 'just replay N' needs no GPU.")
    return 0


def run_bench(options: argparse.Namespace) -> int:
    from talk.bench import bench

    repeats = 0 if options.live else max(1, options.n)
    section = numbers(options.section)[0]
    return bench(repeats, section, options.step, options.best, options.against)


def numbers(text: str) -> list[int]:
    """Section numbers meant by an argument. Raises TalkError."""
    from talk.source import number_of, order, section_module

    known = [number_of(name) for name in order()]
    if text == "all":
        return known
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        problem = f"no section {text!r}." if text else "which section?"
        problem = look.harmless(problem)
        names = ", ".join(str(number) for number in known)
        raise TalkError(
            f"{problem} Sections: {names}, or 'all'.",
            hint="run 'just list' to see them in running order",
        )
    section_module(int(text))
    return [int(text)]


def everything() -> list[int]:
    """The sections, and what comes after the talk."""
    from talk.source import after, number_of, order

    return [number_of(name) for name in order() + after()]


def show(talk: Talk, *, auto: bool) -> int:
    """Full screen on a terminal, plain text elsewhere."""
    try:
        if auto or not can_draw():
            from talk.terminal.plain import walk

            return walk(talk)
        from talk.terminal.driver import present

        return present(talk)
    finally:
        talk.close()


def can_draw() -> bool:
    """Whether there is a terminal to read keys from and to draw on."""
    return sys.platform != "win32" and can_ask()


def can_ask() -> bool:
    """Whether there is somebody to read a question and to type an answer."""
    # Closed at the start they are None, as under some service managers.
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())


if __name__ == "__main__":
    raise SystemExit(main())
