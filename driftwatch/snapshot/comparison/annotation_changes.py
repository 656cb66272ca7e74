"""What another annotation means to callers: wider, narrower, or only spelled in another way.

An annotation is taken apart into the alternatives it allows, ``Literal`` values among them; ``Optional[X]``,
``X | None`` and, with None as its default, a bare ``X`` are the same.
"""

from __future__ import annotations

import ast

from driftwatch.snapshot.comparison.changes import Grade

_UNIONS = frozenset({"Union", "Optional"})
_ANYTHING = frozenset({"Any", "object"})
_BUILTIN = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type"}


def grade_of_taken(old: str | None, new: str | None, *, optional: bool = False) -> Grade | None:
    """What the change of a parameter's annotation does; None where it says the same.

    `optional`: its default is None.
    """
    return _grade(old, new, Grade.COMPATIBLE, Grade.RISKY, {"None"} if optional else set())


def grade_of_given(old: str | None, new: str | None) -> Grade | None:
    """What the change of the annotation of a result or an attribute does; None where it says the same."""
    return _grade(old, new, Grade.RISKY, Grade.COMPATIBLE, set())


def _grade(old: str | None, new: str | None, wider: Grade, narrower: Grade, implied: set[str]) -> Grade | None:
    if old == new:
        return None
    before, after = _alternatives(old), _alternatives(new)
    if before is None or after is None:
        return Grade.INFORMATIONAL
    before, after = before | implied, after | implied
    if before == after:
        return None
    if before < after or _ANYTHING & after:
        return wider
    return narrower if after < before or _ANYTHING & before else Grade.RISKY


def _alternatives(text: str | None) -> set[str] | None:
    """What an annotation allows; None where there is none, or where it cannot be read."""
    if text is None:
        return None
    try:
        return _of(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _of(ast.parse(node.value, mode="eval").body)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _of(node.left) | _of(node.right)
    if isinstance(node, ast.Subscript):
        name = _last(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in _UNIONS:
            found = {alternative for part in inner for alternative in _of(part)}
            return found | {"None"} if name == "Optional" else found
        if name == "Literal":
            return {f"Literal[{ast.unparse(part)}]" for part in inner}
        if name == "Annotated":
            return _of(inner[0])
        return {f"{_BUILTIN.get(name, name)}[{', '.join('|'.join(sorted(_of(part))) for part in inner)}]"}
    name = _last(node)
    return {_BUILTIN.get(name, name)}


def _last(node: ast.expr) -> str:
    """A name without the module it is taken from."""
    return ast.unparse(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ast.unparse(node)
