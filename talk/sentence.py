"""Sentences that depend on numbers: templates over references, evaluated on reading.

`{{ n('blocks[256].gbps') }}` prints a number, `{% if n('a.time') < n('b.time') %}` chooses
words by it, `{{ n('a.time') / n('b.time') }}` prints a ratio, `*` a product, `tie(a, b)` says that
two cannot be told apart. Templates travel in records, and records from elsewhere are not
trusted: only the few constructs listed in `ALLOWED` are evaluated, so none can loop,
call or reach out.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, StrictUndefined, nodes

from talk.errors import NoValue, TalkError
from talk.look import Badge
from talk.number import Number, tie, weakest
from talk.reading import Reading

ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Div,
    nodes.Mul,
    nodes.Const,
    nodes.Name,
    nodes.Call,
)
FUNCTIONS = ("n", "tie")
MOST_CHARACTERS = 4_000
"""Of a template; the longest of ours has 800."""


@dataclass(frozen=True)
class Sentence:
    """Words computed from numbers, and the weakest badge among those."""

    text: str
    badge: Badge
    numbers: tuple[Number, ...] = ()


def say(template: str, reading: Reading, section: int) -> Sentence | None:
    """The sentence, or None while a number it needs is missing.

    Raises TalkError for a template that does more than compare and print numbers.
    """
    used: list[Number] = []

    def n(ref: str) -> Number:
        number = reading.number(ref, section)
        float(number)  # raises NoValue: no sentence without its numbers
        used.append(number)
        return number

    try:
        text = _compiled(template).render(n=n, tie=tie)
    except NoValue:
        return None
    except TalkError:
        raise
    except Exception as error:  # a record from elsewhere may hold anything
        raise TalkError(f"a sentence cannot be computed: {error}: {template[:80]!r}.") from None
    badge = weakest(number.badge for number in used)
    return Sentence(" ".join(text.split()), badge, tuple(used))


@functools.cache
def _compiled(template: str) -> Any:
    if len(template) > MOST_CHARACTERS:
        raise TalkError(f"a sentence of {len(template):,} characters is none.")
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    try:
        _refuse(environment.parse(template))
        return environment.from_string(template)
    except TalkError:
        raise
    except Exception as error:  # a thousand brackets, a number of a thousand digits
        raise TalkError(f"a sentence does not parse: {error}: {template[:80]!r}.") from None


def _refuse(tree: nodes.Node) -> None:
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    for node in (tree, *tree.find_all(nodes.Node)):
        plain_call = not isinstance(node, nodes.Call) or (
            isinstance(node.node, nodes.Name) and node.node.name in FUNCTIONS and not node.kwargs
        )
        # Numbers alone: a word times a large constant would fill the memory.
        plain_product = not isinstance(node, nodes.Mul) or (
            isinstance(node.left, nodes.Call) and isinstance(node.right, nodes.Call)
        )
        # A function that is not called would print where in memory it stands.
        plain_name = not isinstance(node, nodes.Name) or id(node) in called
        if not (isinstance(node, ALLOWED) and plain_call and plain_product and plain_name):
            raise TalkError(
                f"a sentence may only compare and print numbers, not {type(node).__name__.lower()}."
            )
