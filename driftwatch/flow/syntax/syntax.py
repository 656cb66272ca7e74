"""Concrete syntax on demand: libcst trees of top-level pieces, and where their nodes stand in the file.

What can be parsed by `ast` is, and made into libcst's nodes; libcst's own parser is several times slower. It reads the
grammar of every supported Python whatever Python runs it, and does so where this one's `ast` cannot.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import libcst as cst

from driftwatch.flow.syntax.children import walk
from driftwatch.flow.syntax.concrete import Concrete, is_supported
from driftwatch.flow.syntax.depth import is_too_deep
from driftwatch.flow.syntax.positions import Positions, Span
from driftwatch.flow.uses import Location, Step
from driftwatch.system.python_text import SourceError


@dataclass(eq=False)
class Tree:
    """The syntax of some consecutive lines of a file. `offset` is the number of lines before them."""

    path: str
    offset: int
    module: cst.Module
    text: str = ""
    concrete: Concrete | None = field(default=None, repr=False)
    before: int = 0
    """How many lines `ast` counts before them: they may have been parsed with the whole file."""
    _positions: Positions | None = field(default=None, repr=False)
    _names: dict[cst.CSTNode, frozenset[str]] = field(default_factory=dict, repr=False)
    _stand_at: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict, repr=False)
    """For what stands in a string: the string."""

    @cached_property
    def may_set_any(self) -> bool:
        """Whether something in it may bring attributes to an object that are not written there by their names."""
        return any(word in self.text for word in ("setattr(", "__dict__", "__getattr__", "__getattribute__"))

    def body(self, node: cst.FunctionDef) -> cst.BaseSuite:
        """The body of a function."""
        return node.body if self.concrete is None else self.concrete.body(node)

    def quoted(self, text: str, node: cst.CSTNode) -> cst.BaseExpression | None:
        """The expression that stands in a string, as annotations may; None where it is none."""
        expression = _parse_expression(text)
        if expression is not None:
            self._stand_at.update(dict.fromkeys(walk(expression), node))
        return expression

    def definition(self, text: str, node: cst.CSTNode) -> cst.ClassDef:
        """The definition of a class that is not written but made by a call, which is where it stands."""
        made = cast("cst.ClassDef", Concrete().module(ast.parse(text)).body[0])
        self._stand_at.update(dict.fromkeys(walk(made), node))
        return made

    def names_below(self, node: cst.CSTNode) -> frozenset[str]:
        """Every name that is written below a node, also in the functions that are defined there."""
        known = self._names.get(node)
        if known is None:
            names: set[str] = set()
            waiting = [node]
            for each in waiting:
                for below in walk(each):
                    if type(below) is cst.Name:
                        names.add(below.value)
                    elif type(below) is cst.FunctionDef and (body := self.body(below)) is not below.body:
                        waiting.append(body)
            known = self._names[node] = frozenset(names)
        return known

    def location(self, node: cst.CSTNode) -> Location:
        """Where a node stands in the file."""
        line, column, end_line, end_column = self._span(node)
        return Location(self.path, line + self.offset, column + 1, end_line + self.offset, end_column + 1)

    def module_of(self, node: cst.ImportFrom) -> Location:
        """Where the name of the module stands that names are imported from."""
        self._span(node)
        assert self._positions is not None
        line, column, end_line, end_column = self._positions.module_of(node)
        return Location(self.path, line + self.offset, column + 1, end_line + self.offset, end_column + 1)

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node starts."""
        return self._span(node)[0] + self.offset

    def step(self, node: cst.CSTNode, note: str) -> Step:
        """A step of a value's way."""
        return Step(self.path, self.line(node), note)

    def _span(self, node: cst.CSTNode) -> Span:
        if self._positions is None:
            origins = self.concrete.origins if self.concrete is not None else None
            self._positions = Positions(self.module, self.text, origins, self.before)
        return self._positions.span(self._stand_at.get(node, node))


def parse(path: str, text: str, offset: int = 0) -> Tree:
    """The tree of some lines; `SourceError` when no supported Python would take them."""
    try:
        abstract = ast.parse(text)
        if is_supported(abstract):
            concrete = Concrete()
            return Tree(path, offset, concrete.module(abstract), text, concrete)
        return _parsed_by_libcst(path, text, offset)
    except SyntaxError:
        return _parsed_by_libcst(path, text, offset)
    except (RecursionError, MemoryError):
        raise SourceError("it is nested too deeply to be parsed", offset + 1) from None
    except ValueError as error:
        raise SourceError(f"it cannot be parsed: {error}", offset + 1) from None


def of_parsed(path: str, text: str, offset: int, statements: Sequence[ast.stmt]) -> Tree:
    """The tree of some lines of a file that `ast` has parsed as a whole."""
    abstract = ast.Module(list(statements), [])
    if not is_supported(abstract):
        return _parsed_by_libcst(path, text, offset)
    concrete = Concrete()
    return Tree(path, offset, concrete.module(abstract), text, concrete, before=offset)


def _parsed_by_libcst(path: str, text: str, offset: int) -> Tree:
    """Python that is newer than the one that runs, or none at all."""
    if is_too_deep(text):
        raise SourceError("it is nested too deeply to be parsed", offset + 1)
    try:
        return Tree(path, offset, cst.parse_module(text), text)
    except cst.ParserSyntaxError as error:
        raise SourceError("it is not valid Python 3", error.raw_line + offset) from None
    except (RecursionError, MemoryError):
        raise SourceError("it is nested too deeply to be parsed", offset + 1) from None
    except (cst.CSTValidationError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SourceError(f"it cannot be parsed: {type(error).__name__}", offset + 1) from None


def _parse_expression(text: str) -> cst.BaseExpression | None:
    try:
        body = ast.parse(text.strip(), mode="eval").body
        return cast("cst.BaseExpression", Concrete().expression(body)) if is_supported(body) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# -- reading small shapes ----------------------------------------------------------------------------------------------


def dotted_name(node: cst.BaseExpression | None) -> str | None:
    """``a.b.c`` of a chain of names; None for anything else."""
    parts: list[str] = []
    # To ask a libcst class whether something is of it is slow, where it is not.
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
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


def subscript_parts(node: cst.Subscript) -> list[cst.BaseExpression]:
    """What stands between the brackets of a subscript, one by one; slices are left out."""
    found = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    if len(found) == 1 and isinstance(found[0], cst.Tuple):
        return [element.value for element in found[0].elements]
    return found


def import_module_name(node: cst.ImportFrom) -> tuple[int, str]:
    """The number of leading dots, and the dotted name after them."""
    return len(node.relative), dotted_name(node.module) or ""
