"""Outside text made safe to draw: a record is hostile until cleaned."""

from __future__ import annotations

import re
import unicodedata

from rich.text import Text

# Whole sequences first (ECMA-48: OSC and other strings, CSI, two-byte escapes), so that
# their payload does not stay behind as words.
SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories that a terminal may obey, reorder by, or draw at a width of its own."""


MOST = 100_000
"""Characters of one text; drawing 10 million took 20 s, and no key is heard meanwhile."""


def clean(text: str) -> str:
    """The same text without escape sequences, control and format characters.

    Line breaks stay; a carriage return leaves only what it had not overwritten.
    """
    if len(text) > MOST:
        text = f"{text[:MOST]}\n… {len(text) - MOST:,} more characters"
    text = SEQUENCES.sub("", text.replace("\r\n", "\n")).expandtabs(4)
    lines = (line.rsplit("\r", 1)[-1] for line in text.split("\n"))
    return "\n".join(visible(line) for line in lines)


def visible(line: str) -> str:
    """Only the characters that take room on a line."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(c for c in line if unicodedata.category(c) not in HIDDEN)


def styled(text: str, style: str = "") -> Text:
    """Our own text in one of our own styles, which does not spread to what is appended."""
    return Text.assemble((text, style))


def words(text: str, style: str = "") -> Text:
    """Outside text to draw; nothing in it is markup."""
    return styled(clean(text), style)


def line(text: str, style: str = "") -> Text:
    """The same on one line."""
    return words(" ".join(clean(text).split()), style)
