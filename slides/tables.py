"""What a step left behind as a typed table, where a picture of bars would say less."""

from __future__ import annotations

from collections.abc import Sequence

from talk.collect import Asked, Row, calibration, roofline, rows
from talk.errors import UnknownReference
from talk.number import Number, tie
from talk.outcome import Cell, Column, Lowering, Table, Timing
from talk.reading import Reading, nearest
from talk.record import StepOutline
from talk.rows import Row as Measured
from talk.rows import Shown, rate_field, row_of, widest_load


def of_outcome(shown: Shown, kind: str) -> Table | None:
    """Configurations by their speed, cases by their best, kernels by target, or its own table."""
    if kind == "tune" and shown.outcome.timings:
        return configurations(shown)
    if kind == "benchmark":
        return cases(shown)
    if kind == "trace":
        return lowerings(shown.outcome.lowerings)
    return shown.outcome.table


def narrowed(table: Table | None, names: tuple[str, ...]) -> Table | None:
    """The table with the columns named alone. Raises UnknownReference."""
    if table is None or not names:
        return table
    held = [column.name for column in table.columns]
    for name in names:
        if name not in held:
            raise UnknownReference(f"no column {name!r}.", hint=nearest(name, tuple(held)))
    at = [held.index(name) for name in names]
    return Table(
        columns=tuple(table.columns[i] for i in at),
        rows=tuple(tuple(row[i] for i in at) for row in table.rows),
    )


def configurations(shown: Shown) -> Table:
    """The fastest first, and what cannot be told from it."""
    field = rate_field(shown.outcome.timings)
    ordered = sorted(shown.outcome.timings, key=lambda timing: timing.median_ms)
    best = row_of(ordered[0], shown)
    varied = [name for name in ordered[0].at if len({t.at[name] for t in ordered}) > 1]
    columns = (
        *(Column(name=name.removeprefix("block_").removeprefix("num_")) for name in varied),
        Column(name="time", unit="s"),
        Column(name="rate", unit=best.fields[field].unit),
        Column(name="of the best", unit="ratio"),
        Column(name=""),
    )
    body = tuple((*(str(t.at[n]) for n in varied), *told(t, best, field, shown)) for t in ordered)
    return Table(columns=columns, rows=body)


def told(timing: Timing, best: Measured, field: str, shown: Shown) -> tuple[Cell, ...]:
    mine = row_of(timing, shown)
    time, fastest = mine.fields["time"], best.fields["time"]
    same = mine.names == best.names
    words = "best" if same else "a tie" if tie(time, fastest) else ""
    return (time.value, mine.fields[field].value, ratio(time, fastest), words)


def ratio(a: Number, b: Number) -> float | None:
    return float(a) / float(b) if a.value is not None and b.value else None


def cases(shown: Shown) -> Table:
    """A row a case: its first candidate, its last, and how much faster that is."""
    columns = (
        Column(name="case"),
        Column(name="before"),
        Column(name="time", unit="s"),
        Column(name="after", unit="s"),
        Column(name="speed-up", unit="ratio"),
        Column(name="of its wall", unit="share"),
    )
    names = dict.fromkeys(timing.case for timing in shown.outcome.timings)
    body = tuple(case(name, shown) for name in names)
    return Table(columns=columns, rows=body)


def case(name: str, shown: Shown) -> tuple[Cell, ...]:
    timings = [timing for timing in shown.outcome.timings if timing.case == name]
    first, last = row_of(timings[0], shown), row_of(timings[-1], shown)
    shares = [last.fields[f].value for f in ("share", "arithmetic_share")]
    wall = max((share for share in shares if share is not None), default=None)
    before, after = first.fields["time"], last.fields["time"]
    return (name, timings[0].candidate, before.value, after.value, ratio(before, after), wall)


def lowerings(found: Sequence[Lowering]) -> Table:
    columns = (
        Column(name="kernel"),
        Column(name="for"),
        Column(name="with"),
        Column(name="registers", unit="count"),
        Column(name="shared", unit="capacity"),
        Column(name="widest load", unit="B"),
    )
    body = tuple(
        (
            each.kernel,
            each.target,
            ", ".join(f"{name} {value:,}" for name, value in each.at.items()),
            float(each.registers) if each.registers is not None else None,
            float(each.shared),
            widest_load(each.machine_code),
        )
        for each in found
    )
    return Table(columns=columns, rows=body)


def of_picture(step: StepOutline, reading: Reading) -> tuple[Table, tuple[Number, ...]]:
    """What a `Collect` step shows, and the numbers it stands on."""
    if step.picture == "calibration":
        every = calibration(reading.outlines, reading)
        # What surprised comes first: there is room for a few.
        asked = sorted(every, key=lambda each: each.model_right is not False)
        return questions(asked), tuple(a.question.measured for a in asked if a.question.measured)
    if step.picture == "roofline":
        return points(step, reading)
    known = rows(step.of, reading).known
    return gathered(known), tuple(row["time"] for row in known)


def gathered(known: Sequence[Row]) -> Table:
    columns = (
        Column(name=""),
        Column(name="measured in"),
        Column(name="time", unit="s"),
        Column(name="rate"),
        Column(name="of the ceiling", unit="share"),
    )
    body = tuple((r.name, r.ref.split("[")[0], r["time"].value, *rates(r)) for r in known)
    return Table(columns=columns, rows=body)


def rates(row: Row) -> tuple[str, float | None]:
    """The rate in words, as one column holds times of a load too, and the share of bandwidth."""
    if row["each"].value is not None:
        return f"{row['each']} each", None
    return str(row["gbps"]), row["share"].value


def points(step: StepOutline, reading: Reading) -> tuple[Table, tuple[Number, ...]]:
    found = roofline(step.of, reading)
    every = (*found.points, *found.launch_bound) if found else ()
    columns = (
        Column(name="kernel"),
        Column(name="measured in"),
        Column(name="intensity", unit="FLOP/B"),
        Column(name="rate", unit="TFLOP/s"),
        Column(name="of its roof", unit="share"),
        Column(name="wall"),
    )
    body = tuple(
        (
            point.row.name,
            point.row.ref.split("[")[0],
            point.intensity,
            None if point.row.launch_bound else point.tflops,
            None if point.row.launch_bound else point.share,
            point.wall,
        )
        for point in every
    )
    return Table(columns=columns, rows=body), tuple(point.row["time"] for point in every)


def questions(asked: Sequence[Asked]) -> Table:
    columns = (
        Column(name="question"),
        Column(name="the model"),
        Column(name="measured"),
        Column(name=""),
    )
    verdicts = {True: "✓", False: "✗", None: ""}
    body = tuple(
        (
            each.title,
            str(each.question.model) if each.question.model else "–",
            str(each.question.measured) if each.question.measured else "open",
            verdicts[each.model_right],
        )
        for each in asked
    )
    return Table(columns=columns, rows=body)
