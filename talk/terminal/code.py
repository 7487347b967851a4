"""Code in syntax colours."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from talk.outcome import Code
from talk.terminal.clean import clean, line
from talk.terminal.ruled import Ruled


def code(shown: Sequence[Code]) -> RenderableType:
    """Every definition under its place in the checkout, with a blank line between them."""
    parts = [part for each in shown for part in (Text(), place(each), ruled(each))]
    return Group(*parts[1:])


def ruled(each: Code) -> RenderableType:
    return Ruled(highlighted(each.text))


def place(each: Code) -> Text:
    return line(f"{each.path}:{each.line}", "quiet").append(f"  {clean(each.name)}", "quiet")


@functools.lru_cache(maxsize=128)
def highlighted(text: str) -> Text:
    """Python with its keywords, strings, numbers and comments told apart; cached, never changed."""
    from pygments.lexers.python import PythonLexer

    painted = Text()
    for kind, part in PythonLexer(ensurenl=False, stripnl=False).get_tokens(clean(text)):
        painted.append(part, style_of_token(str(kind)))
    return painted


def style_of_token(kind: str) -> str:
    """Pygments' name of a token → one of our styles."""
    if "Comment" in kind:
        return "code.comment"
    if "Keyword" in kind or "Operator.Word" in kind:
        return "code.keyword"
    if "String" in kind:
        return "code.string"
    if "Number" in kind:
        return "code.number"
    return "code.name" if "Name.Function" in kind or "Name.Decorator" in kind else ""


if __name__ == "__main__":
    from talk.terminal.made_up import CODE, look_at

    look_at(code([CODE]))
