"""What kind of value an annotation asks for, as far as it can be told without knowing any class.

Numbers, text and bytes are kinds of their own; every other class is an object, and one object may stand for another.
"""

from __future__ import annotations

import ast
from functools import cache

_KINDS = {
    **dict.fromkeys(("bool", "int", "float", "complex"), "number"),
    "str": "text",
    "bytes": "bytes",
}
_ANYTHING = frozenset({"Any", "object", "TypeVar"})
_CHOICES = frozenset({"Optional", "Union"})


def other_kind(one: str | None, other: str | None) -> bool:
    """Whether no value suits both of two annotations, by its kind alone. What is not annotated may be anything."""
    first, second = kinds(one), kinds(other)
    return first is not None and second is not None and first.isdisjoint(second)


@cache
def kinds(annotation: str | None) -> frozenset[str] | None:
    """The kinds of value, but for None, that an annotation takes; None where it may be any."""
    if annotation is None:
        return None
    try:
        found = _kinds(ast.parse(annotation, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if found is None or not found else frozenset(found)


def _kinds(node: ast.expr) -> set[str] | None:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return _kinds(ast.parse(node.value, mode="eval").body)
        return set() if node.value is None else None
    if isinstance(node, ast.BinOp):
        return _of_all([node.left, node.right])
    if isinstance(node, ast.Subscript):
        name = _name(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in _CHOICES:
            return _of_all(inner)
        if name in ("Annotated", "Final"):
            return _kinds(inner[0])
        return None if name == "Literal" else {"object"}
    name = _name(node)
    if name is None or name in _ANYTHING or len(name) == 1:
        return None
    return {_KINDS.get(name, "object")}


def _of_all(nodes: list[ast.expr]) -> set[str] | None:
    found: set[str] = set()
    for node in nodes:
        more = _kinds(node)
        if more is None:
            return None
        found |= more
    return found


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
