"""Concrete syntax on demand: libcst trees of top-level pieces, and where their nodes stand in the file.

libcst reads the grammar of every supported Python whatever Python runs it, but it is slow; so a file is parsed piece by
piece and positions, which cost twice a parse, are computed only for the pieces in which something is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from driftwatch.flow.positions import Positions, Span
from driftwatch.flow.source import SourceError
from driftwatch.flow.uses import Location, Step


@dataclass(eq=False)
class Tree:
    """The concrete syntax of some consecutive lines of a file. `offset` is the number of lines before them."""

    path: str
    offset: int
    module: cst.Module
    text: str = ""
    left_out: dict[cst.FunctionDef, tuple[int, str]] = field(default_factory=dict, repr=False)
    """Methods whose bodies were left out: the number of lines before a class that holds just one, and its text."""
    _bodies: dict[cst.FunctionDef, Tree] = field(default_factory=dict, repr=False)
    _positions: Positions | None = field(default=None, repr=False)

    def body(self, node: cst.FunctionDef) -> tuple[Tree, cst.BaseSuite]:
        """The body of a function, and the tree that it is part of."""
        left_out = self.left_out.get(node)
        if left_out is None:
            return self, node.body
        tree = self._bodies.get(node)
        if tree is None:
            offset, text = left_out
            tree = self._bodies[node] = parse(self.path, text, offset)
        around = cst.ensure_type(tree.module.body[0], cst.ClassDef)
        return tree, cst.ensure_type(around.body.body[0], cst.FunctionDef).body

    def location(self, node: cst.CSTNode) -> Location:
        """Where a node stands in the file."""
        line, column, end_line, end_column = self._span(node)
        return Location(self.path, line + self.offset, column + 1, end_line + self.offset, end_column + 1)

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node starts."""
        return self._span(node)[0] + self.offset

    def step(self, node: cst.CSTNode, note: str) -> Step:
        """A step of a value's way."""
        return Step(self.path, self.line(node), note)

    def _span(self, node: cst.CSTNode) -> Span:
        if self._positions is None:
            self._positions = Positions(self.module, self.text)
        return self._positions.span(node)


def parse(path: str, text: str, offset: int = 0) -> Tree:
    """The tree of some lines; `SourceError` when no supported Python would take them."""
    try:
        return Tree(path, offset, cst.parse_module(text), text)
    except cst.ParserSyntaxError as error:
        raise SourceError("it is not valid Python 3", error.raw_line + offset) from None
    except (RecursionError, MemoryError):
        raise SourceError("it is nested too deeply to be parsed", offset + 1) from None
    except (cst.CSTValidationError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SourceError(f"it cannot be parsed: {type(error).__name__}", offset + 1) from None


# -- reading small shapes ----------------------------------------------------------------------------------------------


def dotted_name(node: cst.BaseExpression | None) -> str | None:
    """``a.b.c`` of a chain of names; None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def statements(body: cst.BaseSuite | Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The statements of a suite in order, small ones that share a line one by one."""
    items: Sequence[Any] = body if not isinstance(body, cst.BaseSuite) else body.body
    for item in items:
        if isinstance(item, cst.SimpleStatementLine):
            yield from item.body
        else:
            yield item


def import_module_name(node: cst.ImportFrom) -> tuple[int, str]:
    """The number of leading dots, and the dotted name after them."""
    return len(node.relative), dotted_name(node.module) or ""
