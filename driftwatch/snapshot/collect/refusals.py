"""Which keywords a function refuses although it has a ``**kwargs`` for them.

Recognised is code at the top of a body that raises TypeError whenever it runs into such a keyword: ``if kwargs: raise``
behind what takes names out of it, and ``if "name" in kwargs: raise``. A ``**kwargs`` that goes anywhere else before is
left alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

_TAKEN = frozenset({"pop"})
_LOOKED_AT = frozenset({"pop", "get", "keys", "values", "items"})


@dataclass(frozen=True, slots=True)
class Keywords:
    """`only` are all the names that ``**kwargs`` takes, None where it takes any; `refused` are some that it refuses."""

    only: tuple[str, ...] | None = None
    refused: tuple[str, ...] = ()


def keywords_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Keywords:
    """What a function does with the keywords that no parameter is there for."""
    if node.args.kwarg is None:
        return Keywords()
    rest = node.args.kwarg.arg
    taken: list[str] = []
    refused: list[str] = []
    # What comes after the last that may refuse something decides nothing, and is most of what there is.
    deciding = [i for i, statement in enumerate(node.body) if _may_refuse(statement)]
    for statement in node.body[: deciding[-1] + 1 if deciding else 0]:
        if isinstance(statement, ast.If) and _may_refuse(statement):
            if _is_anything_left(statement.test, rest):
                return Keywords(tuple(dict.fromkeys(taken)), tuple(refused))
            if (name := _asked_for(statement.test, rest)) is not None:
                refused.append(name)
                continue
        found = _taken_out(statement, rest)
        if found is None:
            break
        taken += found
    return Keywords(None, tuple(refused))


def _may_refuse(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and not statement.orelse and _raises_type_error(statement.body)


def _raises_type_error(body: list[ast.stmt]) -> bool:
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "TypeError"


def _is_anything_left(test: ast.expr, rest: str) -> bool:
    """``if kwargs``, ``if len(kwargs)``, ``if len(kwargs) > 0``."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Gt | ast.NotEq):
        compared = test.comparators[0]
        if isinstance(compared, ast.Constant) and compared.value == 0:
            return isinstance(test.left, ast.Call) and _is_anything_left(test.left, rest)
        return False
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("len", "bool"):
        return len(test.args) == 1 and _is_anything_left(test.args[0], rest)
    return isinstance(test, ast.Name) and test.id == rest


def _asked_for(test: ast.expr, rest: str) -> str | None:
    """The name in ``"name" in kwargs``."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
        owner, name = test.comparators[0], test.left
        if isinstance(owner, ast.Name) and owner.id == rest and isinstance(name, ast.Constant):
            return name.value if isinstance(name.value, str) else None
    return None


def _taken_out(statement: ast.stmt, rest: str) -> list[str] | None:
    """The names that a statement takes out of ``**kwargs``; None where it may do anything with it, or leave."""
    taken: list[str] = []
    known: set[ast.AST] = set()
    for inner in ast.walk(statement):
        if isinstance(inner, ast.Return | ast.Yield | ast.YieldFrom):
            return None
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and _is(inner.func.value, rest):
            name = inner.args[0] if inner.args else None
            if inner.func.attr not in _LOOKED_AT:
                return None
            if inner.func.attr in _TAKEN:
                if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                    return None
                taken.append(name.value)
            known.add(inner.func.value)
        elif isinstance(inner, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in inner.ops):
            known.update(part for part in inner.comparators if _is(part, rest))
    if any(_is(inner, rest) and inner not in known for inner in ast.walk(statement)):
        return None
    return taken


def _is(node: ast.AST, rest: str) -> bool:
    return isinstance(node, ast.Name) and node.id == rest
