"""What went wrong in words, with what to type next. Standard library only."""

from __future__ import annotations


class TalkError(Exception):
    """Bad input or a missing part; the command line prints it and exits with 2."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n  {self.hint}" if self.hint else message


class RecordError(TalkError):
    """A record that cannot be read or written."""


class UnknownReference(TalkError):
    """A reference that names no number of the record."""


class NoValue(UnknownReference):
    """A number that was not measured, or that no claim can be made of."""
