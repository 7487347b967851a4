"""A sweep of two parameters: a grid of figures, the darker the faster. Plain HTML draws it."""

from __future__ import annotations

from dataclasses import dataclass

from slides.labels import chosen, items, writer
from slides.plots.chart import better, drawable, plain
from talk.errors import TalkError
from talk.number import Number
from talk.rows import CACHED, Shown, rate_field

DARKEST = 40
"""Percent of the accent under the best figure: its text still has a contrast of 4.5."""


@dataclass(frozen=True)
class Cell:
    """number: None where a pair was not measured. shade: percent."""

    number: Number | None
    shade: int
    best: bool


@dataclass(frozen=True)
class Grid:
    """down, across: the parameters' names. head: values across. rows: (value, cells)."""

    title: str
    down: str
    across: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    better: str

    @property
    def numbers(self) -> tuple[Number, ...]:
        return tuple(cell.number for _, cells in self.rows for cell in cells if cell.number)


def grids(shown: Shown, field: str = "") -> tuple[Grid, ...]:
    """One for each candidate. Raises TalkError for a step that sweeps no two parameters."""
    address = f"{shown.outcome.section}/{shown.outcome.step}"
    field = field or (rate_field(shown.outcome.timings) if shown.outcome.timings else "gbps")
    rows = [item for item in chosen(items(shown), field, ()) if len(item.at) == 2]
    if not rows:
        hint = "draw one parameter with curve(…), and rows without any with bars(…)"
        raise TalkError(f"{address} sweeps no two parameters.", hint=hint)
    names = dict.fromkeys(item.candidate for item in rows)
    axes = next(tuple(timing.at) for timing in shown.outcome.timings if len(timing.at) == 2)
    return tuple(
        grid(
            {item.at: item.number(field, address) for item in rows if item.candidate == name},
            axes,
            name if len(names) > 1 else "",
        )
        for name in names
    )


def grid(numbers: dict[tuple[int, ...], Number], axes: tuple[str, ...], title: str) -> Grid:
    down, across = (plain(name.replace("_", " ")) for name in axes)
    lines, columns = (sorted({at[n] for at in numbers}) for n in (0, 1))
    believed = [value for value in map(believable, numbers.values()) if value is not None]
    unit = next(iter(numbers.values())).unit
    most = min(believed, default=1.0) if unit == "s" else max(believed, default=1.0)

    def cell(at: tuple[int, int]) -> Cell:
        number = numbers.get(at)
        value = believable(number)
        part = 0.0 if value is None else most / value if unit == "s" else value / most
        return Cell(number, round(DARKEST * min(part, 1.0)), value is not None and value == most)

    return Grid(
        title=title,
        down=down,
        across=across,
        head=tuple(map(writer(set(columns)), columns)),
        rows=tuple(
            (write_one(set(lines), line), tuple(cell((line, column)) for column in columns))
            for line in lines
        ),
        better=better(unit),
    )


def believable(number: Number | None) -> float | None:
    return None if number and CACHED in number.flags else drawable(number)


def write_one(values: set[int], value: int) -> str:
    return writer(values)(value)
