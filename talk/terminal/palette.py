"""The colours of `talk.look` as named Rich styles, for a light, a dark or an unknown ground."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.theme import Theme

from talk import look
from talk.look import Badge, Ink

GROUNDS = ("light", "dark", "both")

NAMES: dict[Ink, str] = {
    **{ink: phase for phase, ink in look.PHASE.items()},
    **{ink: badge.value.lower() for badge, ink in look.SHAPE.items()},
    look.CEILING: "ceiling",
    look.TORCH: "torch",
}
"""Ink → the name of its style."""

CODE = {"keyword": "profile", "string": "rewrite", "number": "fuse", "comment": "quiet"}
"""Syntax → the style it borrows. Never naive's: that colour means naive."""


def style_of(ink: Ink) -> str:
    return NAMES[ink]


def style_of_badge(badge: Badge) -> str:
    return NAMES[look.SHAPE[badge]]


def ground_of(environ: Mapping[str, str]) -> str:
    """`light` or `dark` where the terminal says so (COLORFGBG, "15;0"), else `both`."""
    colour = environ.get("COLORFGBG", "").rsplit(";", 1)[-1]
    if not colour.isdigit():
        return "both"
    # Of the sixteen colours these are white, bright yellow, bright cyan and their like.
    return "light" if int(colour) in (7, 10, 11, 14, 15) else "dark"


@functools.cache
def theme(ground: str) -> Theme:
    """Every style that a renderable may name; emphasis is strong, plain or quiet."""
    styles = {name: Style(color=colour(ink, ground)) for ink, name in NAMES.items()}
    quiet = styles["torch"]
    styles |= {"strong": Style(bold=True), "quiet": quiet, "blank": Style(bgcolor="#000000")}
    for phase in look.PHASE:
        styles[f"{phase}.title"] = styles[phase] + Style(bold=True)
        styles[f"{phase}.here"] = styles[phase] + Style(bold=True, reverse=True)
    styles |= {f"code.{part}": styles[name] for part, name in CODE.items()}
    styles["code.name"] = Style(bold=True)
    return Theme(styles)


def colour(ink: Ink, ground: str) -> str:
    if ground == "both":
        return mid(ink)
    return ink.light if ground == "light" else ink.dark


# Where the contrast with black, (L + 0.05) / 0.05, equals that with white, 1.05 / (L + 0.05):
# 4.58:1 either way, above the 4.5:1 of WCAG AA.
MIDDLE = (1.05 * 0.05) ** 0.5 - 0.05


def mid(ink: Ink) -> str:
    """Between the two forms of an ink, where it reads as well on white as on black."""
    light, dark = (ColorTriplet(*bytes.fromhex(c[1:])) for c in (ink.light, ink.dark))
    steps = (blend_rgb(light, dark, step / 64) for step in range(65))
    return min(steps, key=lambda rgb: abs(luminance(rgb) - MIDDLE)).hex


def luminance(rgb: ColorTriplet) -> float:
    """Relative luminance of an sRGB colour, as WCAG 2 defines it."""

    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


if __name__ == "__main__":
    from rich.console import Console
    from rich.text import Text

    for each in GROUNDS:
        words = (Text(f"{ink.glyph} {name} ", name) for ink, name in NAMES.items())
        paper = "white" if each == "light" else "black"
        Console(theme=theme(each), style=f"on {paper}").print(Text(f"{each:6}"), *words)
