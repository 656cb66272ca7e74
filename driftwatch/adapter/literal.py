"""Plain data as Python source, in the layout that ruff and black would give it.

Enters: None, bools, numbers, strings, and tuples, lists and dicts of them. Leaves: an
expression that evaluates to an equal value and to nothing else. Any other type is
refused, so no text can reach the source but as a string.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 88


def literal(value: Any, indent: int = 0, prefix: int = 0, suffix: int = 0) -> str:
    """The expression, for a place `indent` deep and `prefix` columns to the right.

    `suffix` more columns are to follow.
    """
    flat = _flat(value)
    if isinstance(value, str):
        fits = indent + prefix + len(flat) + suffix <= WIDTH
        return flat if fits else _lines(value, indent)
    if not isinstance(value, (Mapping, Sequence)) or not value:
        return flat
    if indent + prefix + len(flat) + suffix <= WIDTH and not _deep(value):
        return flat
    opening, closing = _brackets(value)
    pad = " " * (indent + 4)
    if isinstance(value, Mapping):
        items = []
        for key, item in value.items():
            name = _flat(key)
            items.append(f"{pad}{name}: {literal(item, indent + 4, len(name) + 2, 1)},")
    else:
        items = [f"{pad}{literal(item, indent + 4, 0, 1)}," for item in value]
    return "\n".join([opening, *items, " " * indent + closing])


def _lines(value: str, indent: int) -> str:
    """A text too long for a line, as several that Python joins, cut between words."""
    pad, parts, rest = " " * (indent + 4), [], value
    while len(pad) + len(text(rest)) > WIDTH:
        ends = [i + 1 for i, character in enumerate(rest) if character == " "]
        fits = [e for e in ends if len(pad) + len(text(rest[:e])) <= WIDTH]
        if not fits or fits[-1] == len(rest):
            break
        parts.append(rest[: fits[-1]])
        rest = rest[fits[-1] :]
    if not parts and len(pad) + len(text(rest)) > WIDTH:
        return text(value)
    return "\n".join(
        ["(", *(pad + text(part) for part in [*parts, rest]), " " * indent + ")"]
    )


def _deep(value: Any) -> bool:
    """Whether a container holds dicts, which read better one to a line even where they
    would fit.
    """
    items = value.values() if isinstance(value, Mapping) else value
    return any(isinstance(item, Mapping) for item in items) or isinstance(
        value, Mapping
    )


def _brackets(value: Any) -> tuple[str, str]:
    if isinstance(value, Mapping):
        return "{", "}"
    return ("(", ")") if isinstance(value, tuple) else ("[", "]")


def _flat(value: Any) -> str:
    if value is None or isinstance(value, (bool, int)):
        if type(value) not in (type(None), bool, int):
            raise TypeError(f"not plain data: {type(value).__name__}")
        return repr(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if type(value) is str:
        return text(value)
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_flat(k)}: {_flat(v)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, (tuple, list)):
        opening, closing = _brackets(value)
        inner = ", ".join(_flat(item) for item in value)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{opening}{inner}{comma}{closing}"
    raise TypeError(f"not plain data: {type(value).__name__}")


def text(value: str) -> str:
    """A string in double quotes where that needs no escapes, as formatters prefer.

    Never with a raw line end.
    """
    shown = ascii(value)
    if shown[0] == "'" and '"' not in value and "\\'" not in shown:
        return '"' + shown[1:-1] + '"'
    return shown
