"""Where figures come from: the badge, and for a recording its GPU and date."""

from __future__ import annotations

from rich.text import Text

from talk import look
from talk.look import Badge
from talk.number import Number
from talk.record import Machine
from talk.rows import Shown
from talk.terminal.clean import line, styled
from talk.terminal.palette import style_of_badge


def mark(badge: Badge) -> Text:
    """The badge's shape and word."""
    return styled(f"{look.SHAPE[badge].glyph} {badge.value}", style_of_badge(badge))


def provenance(badge: Badge, machine: Machine, at: str) -> Text:
    """The badge with what a reader needs to place the figures: on which GPU, and when."""
    text = mark(badge)
    if badge is Badge.SIMULATED:
        return text.append("  in Triton's interpreter: right or wrong, no timings", "quiet")
    text.append("  ").append_text(line(machine.device.name, "quiet"))
    if badge is not Badge.LIVE:
        text.append(", ", "quiet").append_text(line(at[:10], "quiet"))
    if badge is Badge.STALE:
        text.append("; the code has changed since", "quiet")
    return text


def source(shown: Shown) -> Text:
    """The heading of everything one outcome shows."""
    if shown.outcome.mode == "compiled":
        return mark(shown.badge).append(
            "  compiled for the targets named, which needs no GPU", "quiet"
        )
    text = provenance(shown.badge, shown.machine, shown.at)
    # Why is said above it, by the outcome that it stands in for.
    return text.append("; stands in for what is missing here", "quiet") if shown.reason else text


def missing() -> Text:
    """In the place of figures that no machine has measured yet."""
    words = "  no figures: this step was never recorded on a GPU"
    return mark(Badge.MISSING).append(words, "quiet")


def mark_of(number: Number) -> Text:
    """The badge of one number, with its GPU and date unless it is live."""
    text, passport = mark(number.badge), number.passport
    if number.badge is Badge.LIVE or not passport.gpu:
        return text
    place = ", ".join(part for part in (passport.gpu, passport.date[:10]) if part)
    return text.append(" ").append_text(line(place, "quiet"))


if __name__ == "__main__":
    from talk.terminal.made_up import look_at, shown

    look_at(source(shown()), *(mark(badge) for badge in Badge))
