"""reveal.js out of the installed `pyreveal` package, escaped so that one HTML file can hold it."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path

from markupsafe import Markup

from talk.errors import TalkError

# pyreveal 1.0.0 carries the files of reveal.js 6.0.1, byte for byte.
SHA256 = {
    "LICENSE": "b2883e4b610bfa1b4d8fff84c4d4b825cc7d553cbd9fec4777c04068a2859dc0",
    "dist/reset.css": "39413c3490fdcf826427c26ff4c1ee59ea961a0aa8507c18454e0c6dc96c12d8",
    "dist/reveal.css": "64e6203ee2048665c9f49c368f345fb3d7f936c404934162c70369a7682f388f",
    "dist/reveal.js": "3fb84c30d2e610dd598843d75a123ef2c4dbc588847cda86cd8c7a61e18ddb6b",
    "dist/plugin/notes.js": "946159680c70354c665dbf4f3c9023a737d8b14b48c6c9af452553717a046729",
}

INSTALL = "install the tested one: pip install --constraint constraints.txt pyreveal"

# What an HTML parser acts on inside a script, before any JavaScript is read.
UNSAFE = re.compile(r"<(?=!--|/?script|/?style|/body|/html|/head)", re.IGNORECASE)


def script(name: str) -> Markup:
    """A script of reveal.js, safe between script tags."""
    return safe_script(read(name))


def safe_script(text: str) -> Markup:
    """JavaScript with `<!--`, `<script` and their like as `\\x3C…`, the same inside any string."""
    return Markup(UNSAFE.sub(r"\\x3C", text))


def style(name: str) -> Markup:
    """A style sheet of reveal.js, safe between style tags."""
    return safe_style(read(name))


def safe_style(text: str) -> Markup:
    """A style sheet; ValueError where it would end its own element."""
    if "</style" in text.lower():
        raise ValueError("a style sheet holds </style")
    return Markup(text)


def licence() -> Markup:
    """The licence that reveal.js asks to be kept, safe inside an HTML comment."""
    return Markup(read("LICENSE").replace("--", "- -").strip())


def read(name: str, package: str = "pyreveal") -> str:
    """A file of the package. Raises TalkError where it is not there or not the tested one."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise TalkError(f"the package {package} is not installed.", hint=INSTALL)
    try:
        found = Path(folders[0], "revealjs", name).read_bytes()
    except OSError as error:
        raise TalkError(f"{package} holds no {name}: {error.strerror}.", hint=INSTALL) from error
    if hashlib.sha256(found).hexdigest() != SHA256[name]:
        raise TalkError(f"{package} holds another {name} than the one tested.", hint=INSTALL)
    return found.decode()
