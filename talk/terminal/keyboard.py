"""Bytes from the terminal → key names as `talk.stage.KEYS` has them."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_processor import KeyPress

NAMES = {
    "c-m": "enter",
    "c-j": "enter",
    "c-h": "backspace",
    "c-i": "tab",
    "c-c": "ctrl-c",
    " ": "space",
}
"""prompt_toolkit's name → the stage's, where they differ."""

PATIENCE_S = 0.1
"""An Esc alone and the first byte of an arrow are the same byte; the rest follows within this."""


class Keyboard:
    """An incremental parser; what it has not understood yet waits for more, or for `flush`."""

    def __init__(self) -> None:
        # Here and not above: 0.1 s, which the first frame need not wait for.
        from prompt_toolkit.input.vt100_parser import Vt100Parser

        self._keys: list[str] = []
        self._parser = Vt100Parser(self._pressed)
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def feed(self, data: bytes) -> list[str]:
        """Keys completed by these bytes."""
        self._parser.feed(self._decoder.decode(data))
        return self._taken()

    def flush(self) -> list[str]:
        """Keys that an unfinished sequence stands for, now that nothing followed it."""
        self._parser.flush()
        # A paste that never ends would swallow every key after it.
        self._parser.reset()
        return self._taken()

    def _pressed(self, press: KeyPress) -> None:
        name = str(getattr(press.key, "value", press.key))
        if not name.startswith("<") or name == "<":
            self._keys.append(NAMES.get(name, name))

    def _taken(self) -> list[str]:
        keys, self._keys = self._keys, []
        return keys
