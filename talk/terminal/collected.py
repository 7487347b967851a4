"""Pictures of the whole talk so far: the growing table, the roofline, the calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk import look
from talk.collect import Asked, Point, Roofline, Row, calibration, roofline, rows, score
from talk.number import quotient
from talk.reading import Reading
from talk.record import SectionOutline, StepOutline
from talk.rows import OVERHEAD
from talk.stage import Address, State
from talk.terminal.badge import mark
from talk.terminal.clean import clean, line, styled
from talk.terminal.grid import Grid, Head
from talk.terminal.growing import known
from talk.terminal.palette import style_of
from talk.terminal.plot import MARKS, Axis, Plot, Series, can_plot, logarithmic

NOTHING = "no ceilings of this machine are known yet: they are measured before the first timing"
CAPITAL = "a capital is launch-bound: it stands where its bytes and its time put it, and is no rate"
HEIGHT = 14


def collected(step: StepOutline, state: State, reading: Reading) -> RenderableType:
    """What a `Collect` step shows at this moment of the talk."""
    told = teller(state, reading)
    if step.picture == "roofline":
        found = roofline(step.of, reading, told)
        return drawn(found) if found else styled(NOTHING, "quiet")
    if step.picture == "calibration":
        sections = every_section(state, reading)
        return calibrated(calibration(sections, reading, told, voter(state, sections)))
    return table(step.of, reading, told)


def every_section(state: State, reading: Reading) -> tuple[SectionOutline, ...]:
    """Those of the recording too, behind the talk's own."""
    recorded = reading.recording.outlines if reading.recording else ()
    found = {outline.number: outline for outline in (*recorded, *known(state, reading))}
    return tuple(found[number] for number in sorted(found))


def teller(state: State, reading: Reading) -> Callable[[Address], bool]:
    """What comes later on this stage is not given away, unless it was done already.

    Who jumps over a step is shown its record, under its badge.
    """
    order = {address: at for at, address in enumerate(state.addresses)}
    here = order.get(state.address, len(order))

    def told(address: Address) -> bool:
        return address in state.done or order.get(address, -1) < here

    return told


def voter(
    state: State, sections: Sequence[SectionOutline]
) -> Callable[[Address], dict[str, int] | None]:
    """The votes of this sitting; the record's where there was none."""

    def votes(address: Address) -> dict[str, int] | None:
        choice = state.votes.get(address)
        return {choice: 1} if choice else None

    return votes


# The table


def table(of: Sequence[str], reading: Reading, told: Callable[[Address], bool]) -> RenderableType:
    found = rows(of, reading, told)
    heads = [Head(""), Head("time", True), Head("rate", True), Head("share", True)]
    heads += [Head("of the first", True), Head("")]
    body = [row(each, found.known[0]) for each in found.known]
    parts: list[RenderableType] = [Grid(heads, body)] if body else []
    return Group(*parts, *absent(found.missing))


def row(each: Row, first: Row) -> list[Text]:
    comparable = each["bytes"].value == first["bytes"].value
    speedup = str(quotient(first["time"], each["time"])) if comparable else ""
    name = styled(clean(each.name), style_of(look.ink(each.name, each.phase)))
    return [
        name.append(f"  {clean(each.ref.split('[')[0])}", "quiet"),
        Text(str(each["time"])),
        styled(rate(each), "strong"),
        Text("cached?" if each.cached else share(each)),
        Text(speedup),
        mark(each.badge),
    ]


def rate(each: Row) -> str:
    if each.launch_bound:
        return OVERHEAD
    if each["each"].value is not None:
        return f"{each['each']} each"
    return str(each["gbps"])


def share(each: Row) -> str:
    """Of the bandwidth; none for what is told by the time of each item."""
    number = each["share"]
    return "" if number.value is None or each["each"].value is not None else str(number)


def absent(missing: Sequence[tuple[str, str]]) -> Iterator[Text]:
    for ref, why in missing:
        yield styled("✕ ", "missing").append_text(line(f"{ref}: {why}", "quiet"))


# The roofline


def drawn(found: Roofline) -> RenderableType:
    points = [*found.points, *found.launch_bound]
    plot = [Plot(*plotted(found, points), height=HEIGHT)] if can_plot() else []
    named = [legend(points)] if points else []
    capital = [styled(CAPITAL, "quiet")] if found.launch_bound else []
    return Group(*plot, roofs(found), *named, *capital, *absent(found.unplaced))


def plotted(found: Roofline, points: Sequence[Point]) -> tuple[list[Series], Axis, Axis]:
    left, right = bounds(found, points)
    series = [
        Series(style="ceiling", points=tuple(roof_line(found, roof.arithmetic, left, right)))
        for roof in found.roofs
    ] or [Series(style="ceiling", points=tuple(roof_line(found, "", left, right)))]
    for letter, point in zip(letters(points), points, strict=True):
        style = style_of(look.ink(point.row.name, point.row.phase))
        at = ((point.intensity, point.tflops),)
        series.append(Series(style=style, points=at, joined=False, mark=letter))
    heights = [height for each in series for _, height in each.points]
    return (
        series,
        logarithmic("FLOP per byte", [left, right], look.digits),
        logarithmic("TFLOP/s", [min(heights), max(heights) * 1.5], look.digits),
    )


def bounds(found: Roofline, points: Sequence[Point]) -> tuple[float, float]:
    """Whole powers of ten around the points and the ridges."""
    values = [p.intensity for p in points] + [roof.ridge for roof in found.roofs] + [0.1, 10.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values) * 1.1))
    return 10.0**low, 10.0**high


def roof_line(
    found: Roofline, arithmetic: str, left: float, right: float
) -> Iterator[tuple[float, float]]:
    ridge = next((roof.ridge for roof in found.roofs if roof.arithmetic == arithmetic), right)
    for intensity in (left, min(max(ridge, left), right), right):
        yield intensity, found.attainable(intensity, arithmetic)


def roofs(found: Roofline) -> Text:
    flat = (
        f"{roof.arithmetic} {roof.tflops} (ridge {look.digits(roof.ridge)})" for roof in found.roofs
    )
    return styled(f"roofs measured here: {' · '.join([f'memory {found.slope}', *flat])}", "ceiling")


def legend(points: Sequence[Point]) -> Grid:
    heads = [Head(""), Head("kernel"), Head("FLOP/B", True), Head("TFLOP/s", True)]
    heads += [Head("GB/s", True), Head("of roof", True), Head("roof"), Head("")]
    return Grid(heads, [entry(*pair) for pair in zip(letters(points), points, strict=True)])


def letters(points: Sequence[Point]) -> list[str]:
    """A capital for what is launch-bound: its place is no rate. Beyond the alphabet: none."""
    plain = [MARKS[i] if i < len(MARKS) else "" for i in range(len(points))]
    return [
        letter.upper() if point.row.launch_bound else letter
        for letter, point in zip(plain, points, strict=True)
    ]


def entry(letter: str, point: Point) -> list[Text]:
    bound = point.row.launch_bound
    return [
        styled(letter, "strong"),
        styled(clean(point.row.name), style_of(look.ink(point.row.name, point.row.phase))).append(
            f"  {clean(point.row.ref.split('[')[0])}", "quiet"
        ),
        Text(look.digits(point.intensity)),
        Text("–" if bound else look.digits(point.tflops)),
        Text("–" if bound else look.digits(float(point.row["gbps"]))),
        Text("–" if bound else look.quantity(point.share, "share")),
        styled("launch-bound" if bound else point.wall.removeprefix("arithmetic, "), "quiet"),
        mark(point.row.badge),
    ]


# The calibration


def calibrated(found: Sequence[Asked]) -> RenderableType:
    if not found:
        return styled("no question was asked yet", "quiet")
    heads = [Head("question"), Head("the room"), Head("the model", True), Head("measured", True)]
    body = [answers(each) for each in found]
    return Group(
        Grid([*heads, Head("model ÷ measured", True)], body), styled(totals(found), "strong")
    )


def answers(each: Asked) -> list[Text]:
    asked = each.question
    room = clean(asked.room.label) if asked.room else "–"
    off = each.model_over_measured
    return [
        Text(f"{each.address[0]}/").append_text(line(each.title)),
        Text(room).append_text(verdict(each.room_right)),
        Text(str(asked.model) if asked.model else "–").append_text(verdict(each.model_right)),
        Text(str(asked.measured) if asked.measured else "open"),
        Text(look.quantity(off, "ratio") if off else ""),
    ]


def verdict(right: bool | None) -> Text:
    if right is None:
        return Text()
    return styled(" ✓", "live") if right else styled(" ✗", "missing")


def totals(found: Sequence[Asked]) -> str:
    room, model = score(a.room_right for a in found), score(a.model_right for a in found)
    said = f"the room {room[0]} of {room[1]}" if room[1] else "the room did not vote"
    open_ones = sum(not each.settled for each in found)
    waiting = f"; {open_ones} still open" if open_ones else ""
    return f"right: {said}, the model {model[0]} of {model[1]}{waiting}"


if __name__ == "__main__":
    from dataclasses import replace

    from talk.terminal.made_up import READING, STATE, STEP, look_at

    for picture in ("table", "roofline", "calibration"):
        step = replace(STEP, kind="collect", picture=picture, of=("0/up[naive]", "0/up[gone]"))
        look_at(collected(step, STATE, READING))
