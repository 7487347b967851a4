"""From a Python line down to machine code: the kernel, one line chosen, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from talk import look, traced
from talk.outcome import Code, Lowering, Stage
from talk.terminal.clean import clean, styled
from talk.terminal.targets import at_words, lowerings

LEAST_FORMS = 4
"""Lines of a form that stay on the smallest screen, under the others' names."""
MOST_FIRST = 8
"""Lines that the chosen form gets before the others get any."""
ON_A_PAGE = 2
"""Lines of each form in plain text."""
TWO_COLUMNS = 76
"""Cells from which both makers stand side by side; a mnemonic and its operands fit in half."""
GAP = 2


@dataclass(frozen=True, kw_only=True)
class Look:
    """Where one looks: counted on and on, so each is taken within what there is.

    whole: a form from its first line to its last. rows: lines of the screen for all of it.
    """

    traced: int = 0
    form: int = 0
    variant: int = 0
    target: int = 0
    whole: bool = False
    rows: int = 30


def trace(
    lowered: Sequence[Lowering], code: Sequence[Code], look: Look | None = None
) -> RenderableType:
    """look: None for a page, where no key moves: every kernel, for its first load."""
    table, kept = lowerings(lowered), traced.kept(lowered)
    if not kept:
        return table
    if look is None:
        return Group(table, *(page(each, kept, code) for each in kept))
    chosen = traced.chosen(kept, look.variant, look.target)
    line = traced.line_at(chosen, kept, look.traced)
    stage = traced.form_at(chosen, look.form)
    if look.whole:
        return whole(Column(chosen, stage, line), kept, code)
    return Group(Descent(kept, code, look), Text(), table)


@dataclass(frozen=True)
class Column:
    """One lowering beside a Python line, with the form that is shown first."""

    lowering: Lowering
    stage: Stage
    line: int

    @cached_property
    def found(self) -> dict[str, list[tuple[int, str]]]:
        """Form → its lines that came from the Python line."""
        texts = {stage.name: clean(stage.text).split("\n") for stage in self.lowering.stages}
        stages = self.lowering.stages
        return {s.name: traced.lines_of(s, texts[s.name], self.line) for s in stages}

    @property
    def wanted(self) -> int:
        """Lines for the chosen form, so that nothing of it is cut short."""
        return min(len(self.found[self.stage.name]), MOST_FIRST)

    @property
    def roomy(self) -> int:
        """Lines for every form one below the other."""
        return len(self.lowering.stages) + self.wanted


@dataclass(frozen=True)
class Descent:
    """The kernel, and below it a column for each maker; as high as the look has rows."""

    kept: Sequence[Lowering]
    code: Sequence[Code]
    look: Look

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self.columns(options.max_width)
        chosen, line = columns[0].lowering, columns[0].line
        source = source_of(chosen, self.code)
        room = self.look.rows - 3  # the heading, and what each column is headed by
        shown = min(len(source), rows_of_python(room, columns))
        room = max(LEAST_FORMS, room - shown)
        roomy = all(column.roomy < room for column in columns)
        drawn = [heading(chosen, self.kept)]
        drawn += python(source, line, traced.python_lines(chosen, self.kept), shown)
        drawn += beside_each_other([forms(c, room, roomy) for c in columns], options.max_width)
        yield from (cut(text, options.max_width) for text in drawn)

    def columns(self, width: int) -> list[Column]:
        """What is looked at, and the other maker's beside it where there is room."""
        chosen = traced.chosen(self.kept, self.look.variant, self.look.target)
        line = traced.line_at(chosen, self.kept, self.look.traced)
        first = Column(chosen, traced.form_at(chosen, self.look.form), line)
        beside = traced.counterpart(chosen, self.kept) if width >= TWO_COLUMNS else None
        if beside is None:
            return [first]
        return [first, Column(beside, traced.form_like(first.stage, beside), line)]


def rows_of_python(room: int, columns: Sequence[Column]) -> int:
    """What the chosen forms leave, and a few lines at least."""
    least = max(2, min(4, room // 3))
    return max(least, room - 1 - max(column.wanted for column in columns))


def heading(lowering: Lowering, kept: Sequence[Lowering]) -> Text:
    """The kernel, its size, and what the compiler was told of the arguments."""
    text = styled(clean(lowering.kernel), "strong")
    parts = (at_words(lowering), f"{lowering.num_warps} warps")
    text.append("".join(f" · {part}" for part in parts if part), "profile")
    told = traced.told(lowering, kept)
    alike = {kind: [name for name in told if told[name] == kind] for kind in told.values()}
    words = (f"{clean(', '.join(names))}: {clean(kind)}" for kind, names in alike.items())
    return text.append("  " + " · ".join(words), "quiet")


def source_of(lowering: Lowering, code: Sequence[Code]) -> list[str]:
    """The kernel's own text, whose lines the forms count."""
    return clean(next((c.text for c in code if c.name == lowering.kernel), "")).split("\n")


def python(source: Sequence[str], line: int, lines: Sequence[int], room: int) -> Iterator[Text]:
    """Lines around the chosen one, which stands out; those of which nothing is left are quiet."""
    first = max(0, min(line - 1 - room // 2, len(source) - room))
    for number, text in enumerate(source[first : first + room], first + 1):
        if number == line:
            yield styled(f"▸ {text}", "profile.here")
        else:
            yield styled(f"  {text}", "" if number in lines else "quiet")


def forms(column: Column, room: int, roomy: bool) -> list[Text]:
    """Two lines of figures, then every form, or the chosen one with the others on one line."""
    lowering, found = column.lowering, column.found
    head = [made_for(lowering), counted(lowering, column.stage)]
    if not roomy:
        lines = [tabs(column), *some(found[column.stage.name], room - 1)]
        return [*head, *lines]
    for stage, given in zip(lowering.stages, given_out(column, room), strict=True):
        head += [form_head(column, stage), *some(found[stage.name], given)]
    return head


def given_out(column: Column, room: int) -> list[int]:
    """Lines for each form: the chosen one first, then the others in turn."""
    wanted = [len(column.found[stage.name]) for stage in column.lowering.stages]
    given = [column.wanted * (s.name == column.stage.name) for s in column.lowering.stages]
    left = room - len(given) - sum(given)
    while left > 0 and given != wanted:
        for i, most in enumerate(wanted):
            if given[i] < most and left > 0:
                given[i], left = given[i] + 1, left - 1
    return given


def made_for(lowering: Lowering) -> Text:
    return styled(clean(lowering.target), "profile.title").append(f" {takes(lowering)}", "")


def takes(lowering: Lowering) -> str:
    """Short, for half of 80 cells; the table below has the units of a zero."""
    shared = look.quantity(lowering.shared, "capacity") if lowering.shared else "0"
    if not lowering.fits:
        shared = f"✗ {shared} of {look.quantity(lowering.shared_limit, 'capacity')}"
    spills = look.quantity(lowering.spills, "B") if lowering.spills else "0"
    registers = look.quantity(lowering.registers, "count")
    return f"{registers} registers, spills {spills}, shared {shared}"


def counted(lowering: Lowering, stage: Stage) -> Text:
    """Instructions of a form, or of the assembly where it has none, by family."""
    name = stage.name if stage.name in lowering.counts else traced.form_at(lowering, 0).name
    counts = lowering.counts.get(name, {})
    told = ", ".join(f"{clean(family)} × {n:,}" for family, n in traced.families(counts))
    return styled(f"{title(name)} {sum(counts.values()):,}: {told}", "quiet")


def title(name: str) -> str:
    return traced.FORMS.get(name, clean(name))


def tabs(column: Column) -> Text:
    """Every form with its number of lines, the chosen one marked."""
    text = Text()
    for stage in column.lowering.stages:
        here = stage.name == column.stage.name
        words = f"{title(stage.name)} {len(column.found[stage.name])}"
        text.append(" " if text else "")
        text.append(f"▸{words}" if here else words, "rewrite.title" if here else "quiet")
    return text


def form_head(column: Column, stage: Stage) -> Text:
    here = stage.name == column.stage.name
    count = len(column.found[stage.name])
    words = f"{count} line{'s' * (count != 1)}" if count else "nothing is left of it here"
    style = "rewrite.title" if here else "strong"
    return styled(f"{'▸' if here else ' '}{title(stage.name)}", style).append(f"  {words}", "quiet")


def some(found: Sequence[tuple[int, str]], room: int) -> list[Text]:
    """The most telling lines there is room for; those that move data stand out."""
    return [
        styled(f"{at:>5} ", "quiet").append(text, "strong" if traced.rank(text) == 0 else "")
        for at, text in traced.most_telling(found, room)
    ]


def beside_each_other(columns: Sequence[list[Text]], width: int) -> Iterator[Text]:
    """Lines of one or two columns; each is cut at its own edge."""
    if len(columns) == 1:
        yield from columns[0]
        return
    left = (width - GAP) // 2
    for row in range(max(len(column) for column in columns)):
        one, other = (column[row] if row < len(column) else Text() for column in columns)
        one.truncate(left, overflow="ellipsis", pad=True)
        yield one.append(" " * GAP).append_text(other)


def cut(text: Text, width: int) -> Text:
    """One line, cut at the edge with an ellipsis and never wrapped."""
    text.truncate(width, overflow="ellipsis")
    text.no_wrap = True
    return text


@dataclass(frozen=True)
class Cut:
    lines: Sequence[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from (cut(line, options.max_width) for line in self.lines)


def whole(column: Column, kept: Sequence[Lowering], code: Sequence[Code]) -> RenderableType:
    """A form from its first line to its last, those of the chosen Python line marked."""
    lowering, stage, line = column.lowering, column.stage, column.line
    mine = {at for at, to in stage.lines if to == line}
    source = source_of(lowering, code)
    chosen = source[line - 1].strip() if 0 < line <= len(source) else ""
    head = heading(lowering, kept)
    head.append(f"  {clean(lowering.target)}, {title(stage.name)} whole", "strong")
    lines = [
        styled(f"▸{at:>5}  {text}", "profile.here")
        if at in mine
        else styled(f" {at:>5}  ", "quiet").append(text)
        for at, text in enumerate(clean(stage.text).split("\n"), 1)
    ]
    count = f"{len(mine)} of {len(lines)} lines"
    return Cut([head, styled(f"{count} from  {chosen}", "profile"), *lines])


def page(lowering: Lowering, kept: Sequence[Lowering], code: Sequence[Code]) -> RenderableType:
    """In plain text: what it takes, and what came of the first load in each form."""
    line = traced.line_at(lowering, kept, 0)
    source = source_of(lowering, code)
    column = Column(lowering, traced.form_at(lowering, 0), line)
    lines = [heading(lowering, kept), made_for(lowering)]
    lines += [counted(lowering, s) for s in lowering.stages if s.name in lowering.counts]
    if 0 < line <= len(source):
        lines.append(styled(f"▸ {source[line - 1].strip()}", "profile"))
    for stage in lowering.stages:
        lines += [form_head(column, stage), *some(column.found[stage.name], ON_A_PAGE)]
    return Group(Text(), Cut(lines))


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
    look_at(trace([made_up], [CODE], Look()))
