"""The one visual language: palette, glyphs, badge words, number formats. Standard library only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Ink:
    """A colour on a light and on a dark ground, and a glyph that says the same without it."""

    light: str
    dark: str
    glyph: str
    ascii: str


# Okabe and Ito's palette, safe for colour-blind readers; the light column is
# darkened until it has a contrast of at least 4.5:1 on white (WCAG AA).
PHASE = {
    "naive": Ink("#a84300", "#e69f00", "▲", "^"),
    "profile": Ink("#005a8c", "#56b4e9", "●", "o"),
    "rewrite": Ink("#006b4f", "#2fc89f", "■", "#"),
    "fuse": Ink("#9a3f74", "#d98cb3", "◆", "*"),
}
CEILING = Ink("#444444", "#c8c8c8", "┃", "|")
TORCH = Ink("#555555", "#a8a8a8", "○", "+")


class Badge(Enum):
    """Where a number comes from, as a word; `SHAPE` has the shape beside it."""

    LIVE = "LIVE"
    RECORDED = "RECORDED"
    SIMULATED = "SIMULATED"
    STALE = "STALE"
    MISSING = "MISSING"


SHAPE = {
    Badge.LIVE: Ink("#006b4f", "#2fc89f", "●", "*"),
    Badge.RECORDED: Ink("#005a8c", "#56b4e9", "▣", "="),
    Badge.SIMULATED: Ink("#9a3f74", "#d98cb3", "◌", "~"),
    Badge.STALE: Ink("#a84300", "#e69f00", "◪", "!"),
    Badge.MISSING: Ink("#b00020", "#ff8a80", "✕", "x"),
}

BETTER = {"GB/s": "higher is faster", "TFLOP/s": "higher is faster", "s": "lower is faster"}

SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    # Decimal, so that bytes over time are the GB/s beside them; capacities are binary.
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "capacity": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    "/s": ((1e9, "billion/s"), (1e6, "million/s"), (1e3, "thousand/s"), (1.0, "/s")),
}


def harmless(text: str) -> str:
    """Words of a record without what a terminal would act on; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def ink(name: str, phase: str = "") -> Ink:
    """The colour of a candidate: naive and torch keep theirs everywhere, others their phase's."""
    if name == "torch":
        return TORCH
    return PHASE["naive"] if name == "naive" else PHASE.get(phase, PHASE["rewrite"])


def digits(value: float) -> str:
    """Three significant digits, with thousands separated: 0.0123, 4.37, 43.7, 4,370."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    # 9.999 rounds up to 10.00: one place too many.
    if places and abs(rounded) >= 10 ** (3 - places):
        places -= 1
    return f"{rounded:,.{places}f}"


def parts(value: float, unit: str) -> tuple[str, str]:
    """A value in a base unit → (figure, unit to print)."""
    if unit == "share":
        return (f"{digits(value * 100)}", "%")
    if unit == "ratio":
        return (f"×{digits(value)}", "")
    if unit == "GB/s" and abs(value) >= 9_995:  # rounds to five digits
        return (digits(value / 1e3), "TB/s")
    if unit in SCALES:
        # Half a unit in the third digit may carry over: 999.9 µs is 1.00 ms.
        scales = SCALES[unit]
        scale, name = next((s for s in scales if abs(value) >= s[0] * 0.9995), scales[-1])
        return (digits(value / scale), name)
    if unit in ("", "count") and float(value).is_integer():
        return (f"{int(value):,}", "")
    return (digits(value), "" if unit == "count" else unit)


def quantity(value: float | None, unit: str) -> str:
    """ "4,370 GB/s", "218 µs", "0.452 %", "×218"; an en dash for None."""
    if value is None:
        return "–"
    figure, name = parts(value, unit)
    return f"{figure} {name}".rstrip()
