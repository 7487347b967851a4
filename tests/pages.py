"""A real browser for tests of what `slides/` builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium fonts-liberation"
)
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page read from a file, with its requests and errors."""
    context = browser.new_context(offline=True, reduced_motion="reduce", **options)
    noted: list[str] = []
    context.on("request", lambda request: noted.append(f"request {request.url}"))
    page = context.new_page()
    page.on("console", lambda m: m.type in ("error", "warning") and noted.append(m.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.goto(path.as_uri())
    yield page, [each for each in noted if not each.startswith(("request data:", "request file:"))]
    context.close()


def faults(
    page: Page, impacts: tuple[str, ...] = ("serious", "critical"), rules: tuple[str, ...] = ()
) -> list[str]:
    """What axe-core finds, as rule and element. rules: those to try; all where none is named."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    only = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate("(given) => axe.run(given)", {"resultTypes": ["violations"], **only})
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in found["violations"]
        if rule["impact"] in impacts
        for node in rule["nodes"]
    ]
