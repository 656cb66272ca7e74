"""Which combinations of arguments a function refuses at once: ``if mode not in (0, 1): raise ValueError``.

Enters: a ``def``. Leaves: the conditions, over its parameters and constants alone, under which a call surely raises,
each with the exception. What stands behind a ``return``, or behind an assignment to one of the parameters, is left out.
"""

from __future__ import annotations

import ast

from driftwatch.snapshot.collect.bodies import FunctionNode
from driftwatch.snapshot.collect.returned import flavour
from driftwatch.snapshot.model.symbols import Refusal

EXCEPTIONS = frozenset({"ValueError", "RuntimeError", "TypeError", "NotImplementedError"})
LONGEST = 120
"""A condition of more source text than this is a program of its own."""

_PLAIN = (
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv),
    *(ast.Tuple, ast.List, ast.Set, ast.Constant, ast.Name, ast.Load),
)


def refusals(node: FunctionNode) -> tuple[Refusal, ...]:
    """The conditions under which a call of the function raises before it does anything, in order."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    parameters = {argument.arg for argument in arguments} - {"self", "cls"}
    found: dict[Refusal, None] = {}
    # What comes after the last that may refuse something decides nothing, and is most of what there is.
    deciding = [i for i, each in enumerate(node.body) if isinstance(each, ast.If) and _raised(each.body) is not None]
    if not deciding or flavour(node) is not None:
        return ()
    for statement in node.body[: deciding[-1] + 1]:
        if isinstance(statement, ast.If) and (exception := _raised(statement.body)) is not None:
            names = {inner.id for inner in ast.walk(statement.test) if isinstance(inner, ast.Name)}
            text = ast.unparse(statement.test)
            plain = all(isinstance(inner, _PLAIN) for inner in ast.walk(statement.test))
            if plain and names and names <= parameters and len(text) <= LONGEST:
                found[Refusal(text, exception)] = None
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Return):
                return tuple(found)
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                parameters.discard(inner.id)
    return tuple(found)


def _raised(body: list[ast.stmt]) -> str | None:
    """The exception that a block raises, when that is all it does."""
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return None
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return raised.id if isinstance(raised, ast.Name) and raised.id in EXCEPTIONS else None
