"""matplotlib's SVG for a slide: real text, the theme's colours, the same bytes every time.

One unit is one pixel of the 1280×720 slide. A drawing names colours of the theme (`INKS`), and
the page's own style sheet says what they are, so that one drawing serves both themes. What was
drawn is kept under a hash of all that it depends on, and matplotlib imported only to draw.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from slides import palette
from talk.errors import TalkError
from talk.record import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
CACHE = HERE / "build" / "charts"

UNUSED_S = 7 * 24 * 3600
"""Charts that no build used for a week go: deck, handout and tests share the folder."""

TEXT_PX = 24
"""The smallest text that is read from the back row."""

NAMES = ("text", "soft", "ground", "rule", "accent", *palette.INKS)
INKS = {name: f"#0000{number:02x}" for number, name in enumerate(NAMES, start=1)}
"""A colour of the theme → what stands for it until the drawing is done."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "memory-wall",
    "text.parse_math": False,  # a record's $ is a dollar
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib's own: the same measures on every machine
    "font.size": TEXT_PX,
    "text.color": INKS["text"],
    "axes.edgecolor": INKS["soft"],
    "axes.labelcolor": INKS["soft"],
    "xtick.color": INKS["soft"],
    "ytick.color": INKS["soft"],
    "axes.linewidth": 2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "lines.linewidth": 4,
    "lines.markersize": 14,
    "lines.markeredgewidth": 3,
    "lines.solid_capstyle": "round",
    "xtick.major.size": 8,
    "xtick.minor.size": 0,
    "xtick.major.width": 2,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": INKS["rule"],
    "grid.linewidth": 1,
}


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn, as data, and the function that draws it.

    data: all that the picture depends on, with a stable `repr`. words: the picture in words, for
    who cannot see it. width, height: pixels.
    """

    draw: Callable[[Figure, Any], None]
    data: Any
    words: str
    width: int
    height: int


def svg(drawing: Drawing, name: str) -> Markup:
    """The drawing as SVG, from the cache if it is there. name: of its place in the page.

    Raises TalkError where it must be drawn and there is no matplotlib.
    """
    path = CACHE / f"{key(drawing)}.svg"
    text = read(path)
    if text is None:
        text = cleaned(drawn(drawing), drawing.width, drawing.height)
        keep(path, text)
    said = escape(drawing.words)
    return Markup(named(text, name).replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1))


def key(drawing: Drawing) -> str:
    """A hash of the data, of all code that draws, and of matplotlib's version."""
    told = (drawing.draw.__module__, drawing.draw.__qualname__, drawing.data)
    size = (drawing.width, drawing.height)
    return hashlib.sha256(repr((code(), told, size)).encode("utf-8", "replace")).hexdigest()[:32]


@functools.cache
def code() -> str:
    """Of this file, the kinds of chart, and what they take colours and number formats from."""
    from talk import look

    own = (HERE / "drawing.py", Path(palette.__file__), Path(look.__file__))
    sources = [*own, *sorted((HERE / "plots").glob("*.py"))]
    parts = [path.read_bytes() for path in sources]
    return hashlib.sha256(b"\0".join([version().encode(), *parts])).hexdigest()


def version() -> str:
    try:
        return metadata.version("matplotlib")
    except metadata.PackageNotFoundError:
        return ""


def read(path: Path) -> str | None:
    """A chart of the cache, marked as used."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if not (text.startswith("<svg") and text.endswith("</svg>\n")):
        return None  # torn by a full disk
    with contextlib.suppress(OSError):
        path.touch()
    return text


def keep(path: Path, text: str) -> None:
    """In the cache, where the disk lets us: without it the next build is slower, not wrong."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        prune(path.parent)


def prune(folder: Path) -> None:
    """Remove what no build used for long."""
    oldest = time.time() - UNUSED_S
    for path in folder.glob("*.svg"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def drawn(drawing: Drawing) -> str:
    """matplotlib's own SVG, one unit a pixel. Raises TalkError where it is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TalkError(
            f"the charts are drawn by matplotlib, which cannot be imported: {error}.",
            hint="run 'just slides', which installs it, or 'pip install matplotlib'",
        ) from error
    out = io.StringIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # The page's fonts draw the text; that matplotlib's own lacks a glyph means nothing.
        warnings.filterwarnings("ignore", message=r"Glyph \d+", category=UserWarning)
        figure = Figure(figsize=(drawing.width / 72, drawing.height / 72), dpi=72, frameon=False)
        drawing.draw(figure, drawing.data)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


INK_OF = {stand_in: f"var(--{name})" for name, stand_in in INKS.items()}

NAMELESS = r' id="(?:figure|axes|patch|text|line2d|[xy]tick|matplotlib\.axis|\w*Collection)_\d+"'
"""Ids that matplotlib gives to everything, and that nothing refers to."""

FRAGMENT = "fragment-{}"
"""The gid of what appears with a reveal fragment."""


def cleaned(text: str, width: int, height: int) -> str:
    """Without what would reach beyond the picture, and in the page's colours and typeface."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    text = re.sub(r"<svg [^>]*>", f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', text, count=1)
    text = text.replace(' xlink:href="#', ' href="#')
    text = re.sub(rf'{NAMELESS}| transform="rotate\(-?0 [^"]*\)"', "", text)
    text = re.sub(r' id="fragment-(\d+)"', r' class="fragment" data-fragment-index="\1"', text)
    return re.sub(r' style="([^"]*)"', lambda found: f' style="{themed(found[1])}"', text)


def themed(style: str) -> str:
    """A style without its typeface, and with the theme's colours."""
    style = re.sub(r"font: ([^;]*)", lambda found: sized(found[1]), style)
    style = re.sub(r"font-family: [^;]*(?:; )?", "", style)
    return re.sub(r"#0000[0-9a-f]{2}", lambda found: INK_OF.get(found[0], found[0]), style)


def sized(font: str) -> str:
    """ "700 24px 'DejaVu Sans'", as matplotlib 3.10 writes it → its weight and size alone."""
    size = re.search(r"[\d.]+px", font)
    weight = "font-weight: 700; " if re.match(r"\s*(bold|700)\b", font) else ""
    return f"{weight}font-size: {size.group()}" if size else ""


def named(text: str, name: str) -> str:
    """Ids are of the whole page: two charts must not share one."""
    return re.sub(r'( id="| href="#|"url\(#)', rf"\g<1>{name}-", text)
