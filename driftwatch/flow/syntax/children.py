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
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.AssignEqual,
    cst.Semicolon,
)
_PASSED_OVER = ("whitespace", "leading_lines", "lines_after", "header", "footer", "lpar", "rpar", "trailing", "comma")


_IN_SOURCE_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Arg: ("keyword", "value"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.With: ("items", "body"),
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


_SHOWN: dict[type, bool] = {}
"""Asked once for each type: libcst's nodes are abstract classes, for which `isinstance` is slow."""


def _is_shown(kind: type) -> bool:
    known = _SHOWN.get(kind)
    if known is None:
        known = _SHOWN[kind] = issubclass(kind, cst.CSTNode) and not issubclass(kind, _TRIVIA)
    return known


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below one; white space and punctuation are passed over."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind = type(value)
        if kind is tuple or kind is list:
            for item in value:
                if _is_shown(type(item)):
                    yield item
        elif _is_shown(kind):
            yield value


def walk(node: cst.CSTNode, skip: tuple[type[cst.CSTNode], ...] = ()) -> Iterator[cst.CSTNode]:
    """A node and everything below it; nodes of the skipped types are left out with all they hold."""
    stack = [node]
    while stack:
        current = stack.pop()
        if skip and isinstance(current, skip):
            continue
        yield current
        stack.extend(reversed(list(children(current))))
