"""How many values a function gives when it gives a tuple or a list: from its ``return`` statements and its annotation.

Enters: a ``def``. Leaves: the lengths that its result may have; nothing where that is not certain, or where the result
may be something else as well. The annotation decides for what a ``return`` does not spell out, and one that says
something else than the code makes all of it uncertain.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from driftwatch.snapshot.collect.bodies import FunctionNode, inside
from driftwatch.snapshot.model.symbols import Flavour

_TUPLES = frozenset({"tuple", "Tuple"})
_SEQUENCES = _TUPLES | {"list", "List", "Sequence", "Iterable", "Any", "object"}


def lengths(node: FunctionNode) -> tuple[int, ...]:
    """The lengths that what a function gives may have, in order."""
    if isinstance(node, ast.AsyncFunctionDef) or not _ends(node.body):
        return ()
    if _yields(node):
        return ()
    spelled = [_length(each.value) for each in inside(node) if isinstance(each, ast.Return)]
    known = {length for length in spelled if length is not None}
    annotated = _annotated(node.returns) if node.returns is not None else None
    if annotated is not None:
        return (annotated,) if spelled and known <= {annotated} else ()
    if None in spelled or (node.returns is not None and _name(node.returns) not in _SEQUENCES):
        return ()
    return tuple(sorted(known))


def flavour(node: FunctionNode) -> Flavour | None:
    """What calling a function gives, when that is not what it returns."""
    generates = _yields(node)
    if isinstance(node, ast.AsyncFunctionDef):
        return Flavour.ASYNC_GENERATOR if generates else Flavour.COROUTINE
    return Flavour.GENERATOR if generates else None


def _yields(function: FunctionNode) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside(function))


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a block surely ends in ``return`` or ``raise``, so that it gives no None behind its end."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    if isinstance(last, ast.Try):
        handled = all(_ends(handler.body) for handler in last.handlers)
        return _ends(last.finalbody) or (handled and (_ends(last.body) or _ends(last.orelse)))
    return isinstance(last, ast.Return | ast.Raise)


def _length(value: ast.expr | None) -> int | None:
    """The length of a display; None for whatever else may be returned."""
    if not isinstance(value, ast.Tuple | ast.List) or any(isinstance(part, ast.Starred) for part in value.elts):
        return None
    return len(value.elts)


def _annotated(annotation: ast.expr) -> int | None:
    """The number of elements of ``tuple[A, B]``."""
    annotation = _unquoted(annotation)
    if not isinstance(annotation, ast.Subscript) or _name(annotation) not in _TUPLES:
        return None
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if any(isinstance(part, ast.Starred) or (isinstance(part, ast.Constant) and part.value is ...) for part in inner):
        return None
    return len(inner)


def _name(annotation: ast.expr) -> str:
    """The last name of an annotation, without what stands in its brackets."""
    annotation = _unquoted(annotation)
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return ast.unparse(annotation).rpartition(".")[2]


def _unquoted(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            pass
    return annotation
