"""Frozen dataclasses ⇄ plain JSON, driven by their annotations. Standard library only.

Used for records and for the pipe to the worker. Fields at their default are left
out on writing; unknown fields are refused on reading, since a record from elsewhere
is not trusted.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 2**63
"""Whole numbers beyond it are no measurement, and overflow a float."""

MOST_CHARACTERS, MOST_ITEMS = 4_000_000, 50_000
"""Of one text, and of one list or object. The recordings hold 5,000 and 208 at most."""

INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def dumps(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(to_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_plain(value: Any) -> Any:
    """Dataclasses, tuples, mappings → lists and dicts. Infinite floats become words, nan null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((f, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {f.name: to_plain(v) for f, v in pairs if v != _default(f)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def from_plain(kind: type[T], value: Any, where: str = "") -> T:
    """Plain JSON → `kind`; ValueError says where the first mismatch lies."""
    return typing.cast(T, _decode(kind, value, where or getattr(kind, "__name__", str(kind))))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return dataclasses.MISSING


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode(kind: Any, value: Any, where: str) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _union(args, value, where)
    if dataclasses.is_dataclass(kind):
        return _object(typing.cast(type, kind), value, where)
    if origin is tuple:
        return _tuple(args, value, where)
    if origin in (dict, Mapping):
        return {
            key: _decode(args[1], item, f"{where}.{key}")
            for key, item in _expect(dict, value, where).items()
        }
    if kind is float:
        value = INFINITIES.get(value, value) if isinstance(value, str) else value
        return _float(_expect((int, float), value, where), where)
    return _expect(kind, value, where)


def _float(value: float, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where}: a number of {len(str(value))} digits") from None


def room_for(value: object) -> int:
    return MOST_CHARACTERS if isinstance(value, str) else MOST_ITEMS


def _expect(kind: Any, value: Any, where: str) -> Any:
    wanted = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        names = " or ".join(k.__name__ for k in wanted)
        raise ValueError(f"{where}: expected {names}, got {str(value)[:40]!r}")
    if isinstance(value, (str, list, tuple, dict)) and len(value) > room_for(value):
        raise ValueError(f"{where}: {len(value):,} characters or items are too many")
    if isinstance(value, int) and abs(value) > MOST:
        raise ValueError(f"{where}: a number of {len(str(value))} digits")
    return value


def _union(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in args:
        return None
    for arg in args:
        if arg is type(None):
            continue
        try:
            return _decode(arg, value, where)
        except ValueError as error:
            problem = error
    raise problem


def _object(kind: type, value: Any, where: str) -> Any:
    fields, hints = _expect(dict, value, where), _hints(kind)
    unknown = sorted(fields.keys() - hints.keys())
    if unknown:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}")
    decoded = {k: _decode(hints[k], v, f"{where}.{k}") for k, v in fields.items()}
    try:
        return kind(**decoded)
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from None


def _tuple(args: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    items = _expect((list, tuple), value, where)
    if args[-1] is Ellipsis:
        return tuple(_decode(args[0], item, f"{where}[{i}]") for i, item in enumerate(items))
    if len(args) != len(items):
        raise ValueError(f"{where}: expected {len(args)} items, got {len(items)}")
    return tuple(
        _decode(a, v, f"{where}[{i}]") for i, (a, v) in enumerate(zip(args, items, strict=True))
    )
