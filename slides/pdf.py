"""The deck as a PDF, printed by a browser: a page for each slide, or for each of its steps."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from talk.errors import TalkError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserType, Page

SHEET = Path(__file__).resolve().parent / "theme" / "print.css"

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names that a Chromium goes by on the path."""

CHANNELS = ("chrome", "msedge")
"""Browsers that Playwright finds where they install themselves."""

# Without --no-sandbox Chromium refuses to run as root, as in most containers. What it opens is
# our own page, in which a record's words are text.
OPTIONS = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]

INSTALL = (
    "install Chromium or Chrome (Debian: apt-get install chromium), or let Playwright bring its "
    "own: python -m playwright install chromium"
)
ROOM = "the browser reads it from the temporary folder: free some space there, or set TMPDIR"
NO_PLAYWRIGHT = "'just pdf' installs it; or: pip install --constraint constraints.txt playwright"

# reveal.js lays its pages out over some frames and then says that it is done.
LISTEN = "addEventListener('pdf-ready', () => { window.printable = true; }, true);"
# The deck keeps Tab on its slide; on paper no page is out of reach of a screen reader.
READY = """(pages) => {
  document.documentElement.dataset.pages = pages;
  for (const slide of document.querySelectorAll("[inert]")) slide.inert = false;
}"""


def printed(html: str, *, steps: bool = False) -> bytes:
    """The PDF of a deck. steps: a page for each state of a slide.

    Raises TalkError where no browser is found, or where it does not print.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise TalkError("a PDF needs Playwright, which is not here.", hint=NO_PLAYWRIGHT) from None
    try:
        with sync_playwright() as playwright, started(playwright.chromium) as browser:
            return of_page(browser.new_page(reduced_motion="reduce"), html, steps)
    except Error as error:
        reason = str(error.message).strip().splitlines()[0]
        raise TalkError(f"the browser did not print: {reason}", hint=INSTALL) from error
    except OSError as error:
        raise TalkError(f"the deck cannot be printed: {error}.", hint=ROOM) from error


def of_page(page: Page, html: str, steps: bool) -> bytes:
    """Print from a file, as reveal.js reads what to do from the page's own address."""
    page.context.set_offline(True)
    page.add_init_script(LISTEN)
    with tempfile.TemporaryDirectory() as folder:
        deck = Path(folder, "deck.html")
        deck.write_text(html, encoding="utf-8")
        page.goto(f"{deck.as_uri()}?{query(steps)}")
        page.wait_for_function("window.printable === true")
        page.add_style_tag(content=SHEET.read_text("utf-8"))
        page.evaluate(READY, "steps" if steps else "slides")
        return page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)


def query(steps: bool) -> str:
    """What reveal.js is asked: to print, a slide's states apart or not, and no furniture."""
    apart = "true" if steps else "false"
    return f"print-pdf&pdfSeparateFragments={apart}&slideNumber=false&showNotes=false"


@contextmanager
def started(chromium: BrowserType) -> Iterator[Browser]:
    """The first browser that there is. Raises TalkError where there is none."""
    browser = launched(chromium)
    try:
        yield browser
    finally:
        browser.close()


def launched(chromium: BrowserType) -> Browser:
    from playwright.sync_api import Error

    found = program()
    if found:
        return chromium.launch(executable_path=found, args=OPTIONS)
    if Path(chromium.executable_path).exists():
        return chromium.launch(args=OPTIONS)
    for channel in CHANNELS:
        try:
            return chromium.launch(channel=channel, args=OPTIONS)
        except Error:
            continue
    raise TalkError("a PDF needs a Chromium, and there is none here.", hint=INSTALL)


def program() -> str:
    """A Chromium on the path, or nothing."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), "")
