"""What a template may say to have a chart drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markupsafe import Markup

from slides import drawing
from slides.context import Context
from slides.plots import benchmark, calibration, curve, heat, ladder, occupancy, roofline
from slides.plots.chart import FULL, NARROW, Chart, Size
from talk.look import Badge
from talk.number import weakest
from talk.record import Machine
from talk.rows import Shown

WORDS = ("curve", "heat", "occupancy", "ladder", "roofline", "benchmark", "calibration")
"""The methods of `Plots` that templates may call.

beside: at a question's side, where there is less room. height: pixels, where the usual ones do
not fit.
"""


Make = Callable[[Shown], Chart | None]


class Plots:
    """The words about curves, grids, scatters and what the whole talk gathers."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._drawn = 0

    def curve(
        self,
        address: str,
        field: str = "",
        only: Iterable[str] = (),
        beside: bool = False,
        height: int = 0,
    ) -> Markup:
        """A sweep of one parameter. field: the rate that fits, where none is named."""
        names, phase = tuple(map(str, only)), self._context.step(address).phase
        reading, size = self._context.reading, sized(beside, height)
        return self._of(address, lambda s: curve.chart(s, reading, field, phase, names, size))

    def occupancy(self, address: str, beside: bool = False, height: int = 0) -> Markup:
        """Occupancy against rate, a point a configuration."""
        reading, phase = self._context.reading, self._context.step(address).phase
        size = sized(beside, height)
        why = "no kernel's occupancy is known"
        return self._of(address, lambda s: occupancy.chart(s, reading, phase, size), why)

    def benchmark(self, address: str, height: int = 0) -> Markup:
        """For every case, how near each candidate comes to its wall."""
        phase, size = self._context.step(address).phase, sized(False, height)
        return self._of(address, lambda s: benchmark.chart(s, phase, size))

    def heat(self, address: str, field: str = "") -> Markup:
        """A sweep of two parameters, as a grid of figures."""
        shown = self._context.figures(address)
        if shown is None:
            return self._context.absent(address)
        drawn = Markup()
        for grid in heat.grids(shown, field):
            keys = {number.ref: self._context.key(number) for number in grid.numbers}
            drawn += self._context.draw("heat", grid, keys, shown)
        return drawn

    def ladder(self, address: str, height: int = 0) -> Markup:
        """How far each level of memory is, and how wide."""
        step, size = self._context.step(address), sized(False, height)
        return self._gathered(address, ladder.chart(step, self._context.reading, size))

    def roofline(self, address: str, at: int = 0, height: int = 0) -> Markup:
        """The roofline of a step; its points appear one by one, from fragment `at` on."""
        step, size = self._context.step(address), sized(False, height)
        return self._gathered(address, roofline.chart(step, self._context.reading, size, at))

    def calibration(self, address: str, height: int = 0) -> Markup:
        """Every prediction of the talk beside its measurement."""
        self._context.step(address)
        return self._gathered(
            address, calibration.chart(self._context.reading, sized(False, height))
        )

    def _of(self, address: str, make: Make, why: str = "") -> Markup:
        """A chart of one step's outcome. why: there may be none, though it was measured."""
        shown = self._context.figures(address)
        chart = make(shown) if shown else None
        if shown is None or chart is None:
            return self._context.absent(address, why if shown else "")
        return self._draw(chart, shown.machine, shown.badge, shown.reason)

    def _gathered(self, address: str, chart: Chart | None) -> Markup:
        """A chart of what several steps measured."""
        machine = self._context.reading.machine()
        for ref in chart.missing if chart else ():
            self._context.note(Badge.MISSING, ref)
        if chart is None or machine is None:
            return self._context.absent(address)
        known = [number.badge for number in chart.figures.numbers if number.badge != Badge.MISSING]
        return self._draw(chart, machine, weakest(known or [Badge.MISSING]), "")

    def _draw(self, chart: Chart, machine: Machine, badge: Badge, reason: str) -> Markup:
        self._drawn += 1
        picture = drawing.svg(chart.drawing, f"{self._context.current}-{self._drawn}")
        keys = {number.ref: self._context.key(number) for number in chart.figures.numbers}
        return self._context.draw("plot", chart, picture, keys, machine, badge, reason)


def sized(beside: bool, height: int) -> Size:
    usual = NARROW if beside else FULL
    return Size(usual.width, height or usual.height)
