"""From a Python line down to machine code: the kernel, one line chosen, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from talk.outcome import Code, Lowering, Stage
from talk.rows import GLOBAL_LOAD, widest_load
from talk.terminal.clean import clean, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.lowering import counted, takes

MOST_LINES = 10
"""Lines of one form that are shown beside a Python line; the form is whole behind a key."""
LONG = {
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMD code",
}
LAST_OF = {"ptx", "amdgcn"}


@dataclass(frozen=True, kw_only=True)
class Look:
    """Where one looks: counted on and on, so each is taken within what there is."""

    traced: int = 0
    form: int = 0
    variant: int = 0
    whole: bool = False


def trace(
    lowerings: Sequence[Lowering], code: Sequence[Code], look: Look, *, walked: bool
) -> RenderableType:
    """walked: by keys; else, in plain text, the last form of each kernel for its first load."""
    table = summary(lowerings)
    kept = [lowering for lowering in lowerings if lowering.stages]
    if not kept:
        return table
    if not walked:
        return Group(table, *(plain(lowering, code) for lowering in kept))
    chosen = kept[look.variant % len(kept)]
    stage = at_form(chosen, look.form)
    source = source_of(chosen, code)
    line = chosen_line(chosen, look.traced)
    if look.whole:
        return Group(heading(chosen, stage), marked(stage, line))
    beside = counterpart(chosen, kept)
    parts: list[RenderableType] = [
        table,
        heading(chosen, None),
        python(source, line, traced_lines(chosen)),
        Forms(chosen, line, stage),
    ]
    if beside is not None:
        parts += [heading(beside, None), Forms(beside, line, None)]
    return Group(*parts)


def summary(lowerings: Sequence[Lowering]) -> RenderableType:
    """A line for each kernel and target: what it takes, and how wide it loads."""
    heads = [Head("kernel"), Head("for"), Head("with"), Head("registers", True)]
    heads += [Head("spills", True), Head("shared", True), Head("widest load", True)]
    return Grid([*heads, Head("")], [row(lowering) for lowering in lowerings])


def row(lowering: Lowering) -> list[Text]:
    widest = widest_load(lowering.machine_code)
    figures = (lowering.registers, lowering.spills, lowering.shared)
    failed = styled(clean(lowering.failure), "missing")
    fits = failed if lowering.failure or lowering.fits else styled("✗ too much shared", "missing")
    return [
        styled(clean(lowering.kernel or lowering.candidate), "strong"),
        Text(clean(lowering.target)),
        Text(at_words(lowering)),
        *(Text("–" if figure is None else f"{figure:,}") for figure in figures),
        Text("–" if widest is None else f"{widest} B"),
        fits,
    ]


def at_words(lowering: Lowering) -> str:
    return ", ".join(f"{clean(name)} {value:,}" for name, value in lowering.at.items())


def heading(lowering: Lowering, stage: Stage | None) -> Text:
    words = " · ".join(part for part in (clean(lowering.target), at_words(lowering)) if part)
    text = styled(clean(lowering.kernel), "strong").append(f"  {words}", "profile")
    return text.append(f"  {name_of(stage)}, whole", "strong") if stage else text


def name_of(stage: Stage) -> str:
    return LONG.get(stage.name, clean(stage.name))


def source_of(lowering: Lowering, code: Sequence[Code]) -> list[str]:
    """The kernel's own text, whose lines the stages count."""
    found = next((each.text for each in code if each.name == lowering.kernel), "")
    return clean(found).split("\n")


def traced_lines(lowering: Lowering) -> list[int]:
    """Python lines that left something behind, in order."""
    return sorted({line for stage in lowering.stages for _, line in stage.lines})


def chosen_line(lowering: Lowering, traced: int) -> int:
    """The line that is looked at; at first, the first that loads something."""
    lines = traced_lines(lowering)
    if not lines:
        return 0
    return lines[(lines.index(first_load(lowering)) + traced) % len(lines)]


def first_load(lowering: Lowering) -> int:
    last = next((stage for stage in lowering.stages if stage.name in LAST_OF), lowering.stages[-1])
    text = last.text.split("\n")
    loads = (to for at, to in last.lines if at <= len(text) and GLOBAL_LOAD.search(text[at - 1]))
    return next(loads, traced_lines(lowering)[0])


def at_form(lowering: Lowering, form: int) -> Stage:
    """The form that is looked at, PTX (or AMD's) at first."""
    names = [stage.name for stage in lowering.stages]
    first = next((i for i, name in enumerate(names) if name in LAST_OF), 0)
    return lowering.stages[(first + form) % len(names)]


def counterpart(chosen: Lowering, kept: Sequence[Lowering]) -> Lowering | None:
    """The same kernel and size for the other maker, to stand beside."""
    others = (
        each
        for each in kept
        if each.target != chosen.target
        and (each.kernel, each.at) == (chosen.kernel, chosen.at)
        and each.target.startswith("sm_") != chosen.target.startswith("sm_")
    )
    return next(others, None)


def python(source: Sequence[str], line: int, lines: Sequence[int]) -> RenderableType:
    """The kernel; the chosen line stands out, lines of which nothing is left are quiet."""
    shown = []
    for number, text in enumerate(source, 1):
        if number == line:
            shown.append(styled(f"▸ {text}", "profile.here"))
        else:
            shown.append(styled(f"  {text}", "" if number in lines else "quiet"))
    return Cut(shown)


@dataclass(frozen=True)
class Cut:
    """Lines that are cut at the edge with an ellipsis, never wrapped."""

    lines: Sequence[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            line = line.copy()
            line.truncate(options.max_width, overflow="ellipsis")
            line.no_wrap = True
            yield line


@dataclass(frozen=True)
class Forms:
    """What came of a Python line in every form; those of one form, or of the last, in full."""

    lowering: Lowering
    line: int
    stage: Stage | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        full = self.stage or at_form(self.lowering, 0)
        for stage in self.lowering.stages:
            found = lines_of_stage(stage, self.line)
            here = stage.name == full.name
            count = f"{len(found)} line{'s' * (len(found) != 1)}"
            style = "rewrite.title" if here else "quiet"
            yield styled(f"{'▸' if here else ' '} {name_of(stage)}  {count}", style)
            if here:
                yield Cut([*clipped(found)])


def lines_of_stage(stage: Stage, line: int) -> list[tuple[int, str]]:
    text = clean(stage.text).split("\n")
    return [(at, text[at - 1].strip()) for at, to in stage.lines if to == line and at <= len(text)]


def clipped(found: Sequence[tuple[int, str]]) -> Iterator[Text]:
    for at, text in found[:MOST_LINES]:
        yield styled(f"    {at:>5}  ", "quiet").append(text)
    if len(found) > MOST_LINES:
        yield styled(f"           … {len(found) - MOST_LINES} more, w shows all", "quiet")
    if not found:
        yield styled("           nothing is left of this line here", "quiet")


def marked(stage: Stage, line: int) -> RenderableType:
    """A form from its first line to its last."""
    mine = {at for at, to in stage.lines if to == line}
    return Cut(
        [
            styled(f"▸{at:>5}  {text}", "profile.here")
            if at in mine
            else styled(f" {at:>5}  ", "quiet").append(text)
            for at, text in enumerate(clean(stage.text).split("\n"), 1)
        ]
    )


def plain(lowering: Lowering, code: Sequence[Code]) -> RenderableType:
    """For a page: the first load in the form nearest to the machine, and all instructions."""
    line = chosen_line(lowering, 0)
    source = source_of(lowering, code)
    text = source[line - 1].strip() if 0 < line <= len(source) else ""
    words = [counted(name, counts) for name, counts in lowering.counts.items()]
    return Group(
        heading(lowering, None),
        Text(takes(lowering)),
        *(styled(each, "quiet") for each in words),
        styled(f"▸ {text}", "profile"),
        Forms(lowering, line, None),
    )


if __name__ == "__main__":
    from talk.terminal.made_up import CODE, look_at

    stages = (
        Stage(name="ttir", text="load x\nadd 1", lines=((1, 1), (2, 2))),
        Stage(name="ptx", text="ld.global.b32 x;\nadd.f32;", lines=((1, 1), (2, 2))),
    )
    made_up = Lowering(
        candidate="up", kernel="up", target="sm_00", registers=1, spills=0, shared=0,
        shared_limit=1024, num_warps=4, stages=stages, counts={"ptx": {"ld.global.b32": 1}},
    )  # fmt: skip
    look_at(trace([made_up], [CODE], Look(), walked=True))
