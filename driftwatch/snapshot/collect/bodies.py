"""What stands in the body of a function or class: its statements, and the nodes that run in a function itself.

Many facts are read from each function of a library; what they look through is gathered once for all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
"""What has variables of its own."""


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a body, those of nested blocks and functions included."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            if inner := getattr(statement, name, None):
                yield from statements(inner)
        for block in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from statements(block.body)


@lru_cache(maxsize=8)
def inside(function: FunctionNode) -> tuple[ast.AST, ...]:
    """What runs in a function itself, definitions included, but not what is in these; in no particular order."""
    waiting: list[ast.AST] = list(function.body)
    found: list[ast.AST] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, SCOPES):
            for name in node._fields:
                if name in _SAYS_NOTHING:
                    continue
                below = getattr(node, name, None)
                if type(below) is list:
                    waiting += [each for each in below if isinstance(each, ast.AST)]
                elif isinstance(below, ast.AST):
                    waiting.append(below)
    return tuple(found)


_SAYS_NOTHING = frozenset({"ctx", "op", "ops", "type_comment"})
"""Fields with an operator, or with how a name is used, which its own node says as well."""
