"""Concrete syntax on demand: libcst trees of top-level pieces, and where their nodes stand in the file.

libcst reads the grammar of every supported Python whatever Python runs it, but it is slow; so a file is parsed piece by
piece and positions, which cost twice a parse, are computed only for the pieces in which something is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from driftwatch.flow.source import SourceError
from driftwatch.flow.uses import Location, Step


@dataclass(eq=False)
class Tree:
    """The concrete syntax of some consecutive lines of a file. `offset` is the number of lines before them."""

    path: str
    offset: int
    module: cst.Module
    _positions: Any = field(default=None, repr=False)

    def location(self, node: cst.CSTNode) -> Location:
        """Where a node stands in the file."""
        found = self._range(node)
        return Location(
            self.path,
            found.start.line + self.offset,
            found.start.column + 1,
            found.end.line + self.offset,
            found.end.column + 1,
        )

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node starts."""
        return self._range(node).start.line + self.offset

    def step(self, node: cst.CSTNode, note: str) -> Step:
        """A step of a value's way."""
        return Step(self.path, self.line(node), note)

    def _range(self, node: cst.CSTNode) -> CodeRange:
        if self._positions is None:
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
        found: CodeRange = self._positions[node]
        return found


def parse(path: str, text: str, offset: int = 0) -> Tree:
    """The tree of some lines; `SourceError` when no supported Python would take them."""
    try:
        return Tree(path, offset, cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        raise SourceError("it is not valid Python 3", error.raw_line + offset) from None
    except (RecursionError, MemoryError):
        raise SourceError("it is nested too deeply to be parsed", offset + 1) from None
    except Exception as error:  # libcst's validators raise several kinds
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


def annotation_text(node: cst.Annotation | None) -> str | None:
    """Source text of an annotation, quotes of a forward reference removed."""
    if node is None:
        return None
    inner = node.annotation
    if isinstance(inner, cst.SimpleString):
        value = inner.evaluated_value
        return value if isinstance(value, str) else None
    return cst.Module([]).code_for_node(inner)


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below one, in source order; white space and punctuation are passed over.

    libcst's own `children` runs a visitor for each node, which costs more than parsing did.
    """
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            if not isinstance(value, _TRIVIA):
                yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, cst.CSTNode) and not isinstance(item, _TRIVIA):
                    yield item


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


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if not f.name.startswith(_PASSED_OVER))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and everything below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))
