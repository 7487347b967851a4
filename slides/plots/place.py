"""Where a label goes: near its point, and on nothing else. Pixels, y upwards."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LINE = 29.0
"""Height of a line of 24 px text, as a browser counts it."""

NEAR = 16.0
"""From a point to its label: the marker's radius and a little air."""

Sides = tuple[tuple[int, int], ...]
SIDES: Sides = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Right of it first, then above, below, left, and the corners."""

STEP = 13.0
FARTHEST = 16
"""Steps away from a point, across and up, at which a label is still seen to be its own."""


@dataclass(frozen=True)
class Box:
    """left, bottom, right, top."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def within(self, other: Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.bottom <= self.bottom
            and self.top <= other.top
        )


@dataclass(frozen=True)
class Wanted:
    """Words that want a place beside a point."""

    x: float
    y: float
    width: float
    height: float = LINE
    sides: Sides = SIDES


CROSSES = 20.0
"""A line across other words is worse than so many steps away."""
LOST = 200.0


def around(x: float, y: float, radius: float = 12.0) -> Box:
    """The room that a marker takes."""
    return Box(x - radius, y - radius, x + radius, y + radius)


FAR = 40.0
"""From here on a thin line joins a label to its point."""

Spot = tuple[float, float]


def leader(x: float, y: float, box: Box) -> tuple[Spot, Spot] | None:
    """The line from a point to a label that lies far from it."""
    to_x = min(max(x, box.left), box.right)
    to_y = min(max(y, box.bottom), box.top)
    return ((x, y), (to_x, to_y)) if math.hypot(to_x - x, to_y - y) > FAR else None


def along(start: Spot, end: Spot, radius: float) -> Iterator[Box]:
    """A line as a row of small boxes."""
    (x, y), (to_x, to_y) = start, end
    steps = max(1, int(max(abs(to_x - x), abs(to_y - y)) // 6))
    for step in range(steps + 1):
        part = step / steps
        yield around(x + part * (to_x - x), y + part * (to_y - y), radius)


@dataclass
class Room:
    """A picture's area, what is taken of it, and the words that no line may cross."""

    area: Box
    taken: list[Box] = field(default_factory=list)
    words: list[Box] = field(default_factory=list)

    def take(self, *boxes: Box) -> None:
        self.taken.extend(boxes)

    def line(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Take the room of a line."""
        self.taken.extend(along((x, y), (to_x, to_y), 4))

    def say(self, box: Box) -> None:
        """Take the room of words."""
        self.take(box)
        self.words.append(box)

    def free(self, box: Box) -> bool:
        return box.within(self.area) and not any(box.overlaps(other) for other in self.taken)

    def place(self, wanted: Wanted) -> tuple[float, Box] | None:
        """(how far off, the best free place for words beside a point); None where all is full."""
        found: tuple[float, Box] | None = None
        for steps, box in candidates(wanted):
            if not self.free(box):
                continue
            if self.reached(wanted, box):
                return float(steps), box
            found = found or (steps + CROSSES, box)
        return found

    def reached(self, wanted: Wanted, box: Box) -> bool:
        """Whether the line to a label, if it needs one, crosses no words."""
        line = leader(wanted.x, wanted.y, box)
        parts = along(*line, 1) if line else ()
        return not any(part.overlaps(words) for part in parts for words in self.words)

    def settle(self, wanted: Wanted) -> tuple[float, Box | None]:
        """Place words and take their room, with that of the line to them."""
        placed = self.place(wanted)
        if placed is None:
            return LOST, None
        steps, box = placed
        self.say(box)
        if line := leader(wanted.x, wanted.y, box):
            self.line(*line[0], *line[1])
        return steps, box


def arranged(room: Room, wanted: Sequence[Wanted]) -> list[Box | None]:
    """Places for several labels, in the order of turns that keeps them nearest to their points.

    None for a label that finds no room: its value is in the table behind the chart.
    """
    best: tuple[float, list[Box | None]] | None = None
    for order in turns(wanted):
        trial = Room(room.area, list(room.taken), list(room.words))
        settled = {n: trial.settle(wanted[n]) for n in order}
        cost = sum(steps for steps, _ in settled.values())
        if best is None or cost < best[0]:
            best = cost, [settled[n][1] for n in range(len(wanted))]
    return best[1] if best else []


def turns(wanted: Sequence[Wanted]) -> Iterator[list[int]]:
    """As given, from either side, from above and from below."""
    every = list(range(len(wanted)))
    yield every
    for key in (lambda n: wanted[n].x, lambda n: wanted[n].y):
        yield sorted(every, key=key)
        yield sorted(every, key=key, reverse=True)


def candidates(wanted: Wanted) -> Iterator[tuple[int, Box]]:
    """(steps away, place) beside a point, the nearest first, then in the order of the sides."""
    for steps, across, up, further, higher in offsets(wanted.sides):
        x = wanted.x + across * NEAR + further * STEP
        y = wanted.y + up * NEAR + higher * STEP
        yield steps, beside(x, y, wanted.width, wanted.height, across, up)


@functools.cache
def offsets(sides: Sides) -> tuple[tuple[int, int, int, int, int], ...]:
    """(steps away, side across, side up, steps further out, steps further up)."""
    every = [
        (abs(further) + abs(higher), order, (across, up, further, higher))
        for order, (across, up) in enumerate(sides)
        for further in (range(0, across * FARTHEST, across) if across else (0, -1, 1, -2, 2))
        for higher in (range(0, up * FARTHEST, up) if up else range(-FARTHEST, FARTHEST + 1))
    ]
    return tuple((steps, *offset) for steps, _, offset in sorted(every))


def beside(x: float, y: float, width: float, height: float, across: int, up: int) -> Box:
    """Words that begin, is centred or ends at x; above, about or below y."""
    left = x - width * (0.5 - 0.5 * across)
    bottom = y - height * (0.5 - 0.5 * up)
    return Box(left, bottom, left + width, bottom + height)
