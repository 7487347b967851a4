"""matplotlib's SVG for a slide: real text, the theme's colours, the same bytes every time.

One unit is one pixel of the 1280×720 slide. A drawing names colours of the theme (`INKS`), and
the page's own style sheet says what they are, so that one drawing serves the light and the dark
ground.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from slides import palette
from talk.record import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
CACHE = HERE / "build" / "charts"

TEXT_PX = 24
"""The smallest text that is read from the back row."""

NAMES = ("text", "soft", "ground", "rule", "accent", *palette.INKS)
INKS = {name: f"#0000{number:02x}" for number, name in enumerate(NAMES, start=1)}
"""A colour of the theme → what stands for it until the drawing is done."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "memory-wall",
    "font.family": "sans-serif",
    "font.size": TEXT_PX,
    "text.color": INKS["text"],
    "axes.edgecolor": INKS["soft"],
    "axes.labelcolor": INKS["soft"],
    "xtick.color": INKS["soft"],
    "ytick.color": INKS["soft"],
    "xtick.labelcolor": INKS["soft"],
    "ytick.labelcolor": INKS["soft"],
    "axes.linewidth": 2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 4,
    "lines.markersize": 12,
    "lines.solid_capstyle": "round",
    "xtick.major.size": 8,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "xtick.major.width": 2,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": INKS["rule"],
    "grid.linewidth": 1,
}


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn, as data, and the function that draws it.

    data: all that the picture depends on, with a stable `repr`; its hash names the cached file.
    words: the picture in words, for who cannot see it. width, height: pixels.
    """

    draw: Callable[[Figure, Any], None]
    data: Any
    words: str
    width: int = 1152
    height: int = 430


def svg(drawing: Drawing, name: str, cache: Path | None = None) -> Markup:
    """The drawing as SVG. name: of this place in the page, put before its ids."""
    cache = cache or CACHE
    path = cache / f"{key(drawing)}.svg"
    text = read(path)
    if text is None:
        text = cleaned(drawn(drawing))
        keep(path, text)
    return Markup(
        named(text, name).replace(
            "<svg ", f'<svg role="img" aria-label="{escape(drawing.words)}" ', 1
        )
    )


def key(drawing: Drawing) -> str:
    """A hash of the data and of the code that draws it."""
    code = drawing.draw.__code__
    sources = (Path(__file__), Path(code.co_filename))
    parts = [path.read_bytes() for path in sources]
    told = (code.co_name, drawing.data, drawing.width, drawing.height)
    return hashlib.sha256(b"\0".join([*parts, repr(told).encode()])).hexdigest()[:24]


def read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def keep(path: Path, text: str) -> None:
    """In the cache, where the disk lets us: without it the next build is slower, not wrong."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError:
        pass


def drawn(drawing: Drawing) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(drawing.width / 72, drawing.height / 72), dpi=72, frameon=False)
        drawing.draw(figure, drawing.data)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


FONT = re.compile(r"font(?P<family>-family)?: (?P<value>[^;\"]*)")


def cleaned(text: str) -> str:
    """Without what would reach beyond the picture, and in the page's colours and typeface."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg [^>]*?)\bwidth="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg [^>]*?)\bheight="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"font(-family)?: ([^;\"]*)", plain_font, text)
    for name, stand_in in INKS.items():
        text = text.replace(stand_in, f"var(--{name})")
    return text


def plain_font(found: re.Match[str]) -> str:
    """Size and weight alone: the typeface is the page's."""
    value = found.group(2)
    size = re.search(r"[\d.]+px", value)
    weight = "font-weight: 700; " if re.search(r"\b(bold|700)\b", value) else ""
    if found.group(1) or not size:
        return "font-style: normal"
    return f"{weight}font-size: {size.group()}"


def named(text: str, name: str) -> str:
    """Ids are of the whole page: two charts must not share one."""
    return re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", text)
