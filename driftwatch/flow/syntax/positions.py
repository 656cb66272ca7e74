"""Where concrete syntax stands in its file, without generating the code again.

libcst keeps no positions: its provider computes them by generating the whole text, which costs more than parsing did.
So they are taken from the nodes of `ast` that the syntax was made of. The provider is asked only of what libcst has
parsed itself, and of the inside of formatted strings where this Python's `ast` does not tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import libcst as cst

from driftwatch.flow.syntax.children import children, walk
from driftwatch.flow.syntax.concrete_expressions import NameOf, Origin, Within

Span = tuple[int, int, int, int]
"""First line, column from 0 in characters, last line, column after the end."""

_MODULE = re.compile(r"from\s+(?P<name>[\w.]+)")
_BEFORE_NAME = re.compile(r"(?:async(?:\s|\\\n)+)?(?:def|class)(?:\s|\\\n)+")


class Positions:
    """The positions of the nodes of one tree; without `origins`, those of a tree that libcst has parsed.

    `before` is how many lines `ast` counts before the text.
    """

    def __init__(
        self, module: cst.Module, text: str, origins: Mapping[cst.CSTNode, Origin] | None, before: int = 0
    ) -> None:
        self._module = module
        self._before = before
        self._text = text
        self._origins = origins
        self._in_strings: dict[ast.JoinedStr, dict[cst.CSTNode, Span]] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands in the text."""
        if self._origins is None:
            return self._provided[node]
        origin = self._origins[node]
        if isinstance(origin, Within):
            return self._in_string(node, origin)
        if isinstance(origin, NameOf):
            return self._name_of(origin.definition)
        first, last = origin if isinstance(origin, tuple) else (origin, origin)
        return self._of(first, last)

    def module_of(self, node: cst.ImportFrom) -> Span:
        """Where the module of a ``from`` import is named."""
        line, column, _, _ = span = self.span(node)
        found = _MODULE.match(self._lines[line - 1], column)
        if found is None:
            return span
        return line, found.start("name"), line, found.end("name")

    @cached_property
    def _provided(self) -> dict[cst.CSTNode, Span]:
        return _provide(self._module)

    # -- what `ast` says -------------------------------------------------------------------------------------------

    def _of(self, first: Any, last: Any) -> Span:
        if isinstance(first, ast.Module):
            return 1, 0, len(self._lines), 0
        line, end_line = first.lineno - self._before, last.end_lineno - self._before
        column, end_column = first.col_offset, last.end_col_offset
        if self._text.isascii():
            return line, column, end_line, end_column
        return line, self._in_characters(line, column), end_line, self._in_characters(end_line, end_column)

    def _in_characters(self, line: int, column: int) -> int:
        """`ast` counts columns in UTF-8 bytes."""
        return len(self._lines[line - 1].encode()[:column].decode(errors="replace"))

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    def _name_of(self, node: Any) -> Span:
        line, column, _, _ = self._of(node, node)
        rest = "\n".join(self._lines[line - 1 :])
        found = _BEFORE_NAME.match(rest, column)
        start = found.end() if found is not None else column
        line += rest.count("\n", 0, start)
        column = start - (rest.rfind("\n", 0, start) + 1)
        return line, column, line, column + len(node.name)

    # -- in formatted strings --------------------------------------------------------------------------------------

    def _in_string(self, node: cst.CSTNode, within: Within) -> Span:
        """Where a part of a formatted string stands; where the string does, if even libcst does not tell."""
        found = self._in_strings.get(within.string)
        if found is None:
            found = self._in_strings[within.string] = dict(self._paired(within))
        return found.get(node) or self._of(within.string, within.string)

    def _paired(self, within: Within) -> Iterator[tuple[cst.CSTNode, Span]]:
        line, column, end_line, end_column = self._of(within.string, within.string)
        lines = self._lines[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        try:
            # The parentheses keep the lines of the string together.
            module = cst.parse_module("(" + "\n".join(lines) + ")\n")
        except cst.ParserSyntaxError:
            return
        here, there = list(_meant(within.formatted)), list(_meant(module))
        if [name for _, name in here] != [name for _, name in there]:
            return
        spans = _provide(module)
        for (node, _), (twin, _) in zip(here, there, strict=True):
            first, start, last, end = spans[twin]
            start += column - 1 if first == 1 else 0
            end += column - 1 if last == 1 else 0
            yield node, (first + line - 1, start, last + line - 1, end)


def _meant(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, tuple[type, str]]]:
    """What may be looked for in the formatted strings below a node, with what tells one from another."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.FormattedString):
            for part in current.parts:
                yield from ((each, (type(each), _name(each))) for each in walk(part) if isinstance(each, _MEANT))
        else:
            stack.extend(reversed(list(children(current))))


_MEANT = (cst.Call, cst.Attribute, cst.Name, cst.Arg, cst.Subscript, cst.DictElement)


def _name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _provide(module: cst.Module) -> dict[cst.CSTNode, Span]:
    from libcst.metadata import MetadataWrapper, PositionProvider  # noqa: PLC0415 - rarely needed, and large

    resolved = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {n: (r.start.line, r.start.column, r.end.line, r.end.column) for n, r in resolved.items()}
