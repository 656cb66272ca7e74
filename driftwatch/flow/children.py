"""The nodes below a node, fast and in source order.

libcst's own `children` runs a visitor for each node, which costs more than parsing did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

_TRIVIA = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Comma,
    cst.Colon,
    cst.Dot,
    cst.LeftParen,
    cst.RightParen,
    cst.AssignEqual,
    cst.Semicolon,
)
_PASSED_OVER = ("whitespace", "leading_lines", "lines_after", "header", "footer", "lpar", "rpar", "trailing", "comma")


_IN_SOURCE_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.IfExp: ("body", "test", "orelse"),
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
}
"""Node types whose fields are not declared in the order of the source."""


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    known = _IN_SOURCE_ORDER.get(kind)
    return known or tuple(f.name for f in fields(kind) if not f.name.startswith(_PASSED_OVER))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below one; white space and punctuation are passed over."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            if not isinstance(value, _TRIVIA):
                yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, cst.CSTNode) and not isinstance(item, _TRIVIA):
                    yield item


def walk(node: cst.CSTNode, skip: tuple[type[cst.CSTNode], ...] = ()) -> Iterator[cst.CSTNode]:
    """A node and everything below it; nodes of the skipped types are left out with all they hold."""
    stack = [node]
    while stack:
        current = stack.pop()
        if skip and isinstance(current, skip):
            continue
        yield current
        stack.extend(reversed(list(children(current))))
