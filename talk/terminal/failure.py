"""Why a step left no result, and what to do about it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from talk.outcome import Failure
from talk.terminal.clean import line, styled
from talk.terminal.frames import telling
from talk.terminal.ruled import Ruled


def failure(what: Failure, again: str, output: str = "") -> RenderableType:
    """The reason, the telling part of the detail, and the keys.

    again: what a new run would do. output: what the step printed, of which a crash's detail
    is only the end.
    """
    if what.kind == "cancelled":
        return styled("– ", "quiet").append_text(line(what.reason)).append(f"; {again}", "quiet")
    verdict = styled("✗ FAILED  ", "missing").append_text(line(what.reason, "strong"))
    parts: list[RenderableType] = [verdict]
    whole = output if prints(what, output) else what.detail
    if whole.strip():
        parts.append(Ruled(Text("\n".join(telling(whole))), "missing"))
    return Group(*parts, styled(again, "quiet"))


def prints(what: Failure, output: str) -> bool:
    """Whether the detail is a part of what was printed, as a crash's is."""
    return bool(what.detail.strip()) and what.detail.strip() in "\n".join(output.splitlines())


if __name__ == "__main__":
    from talk.terminal.made_up import look_at

    look_at(failure(Failure(kind="crash", reason="made up", detail="up()"), "r runs it again"))
