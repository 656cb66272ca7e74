"""Where concrete syntax stands in its file, without generating the code again.

libcst keeps no positions: its provider computes them by generating the whole text, which costs more than parsing did.
Here the same text is parsed by `ast`, which is fast and knows positions, and nodes of the kinds that are asked for are
paired in source order. Each pair is checked by name; where anything disagrees, or this Python cannot parse the text,
the provider is asked instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from driftwatch.flow import survey
from driftwatch.flow.children import walk
from driftwatch.flow.source import SourceError

Span = tuple[int, int, int, int]
"""First line, column from 0 in characters, last line, column after the end."""


class Positions:
    """The positions of the nodes of one tree, computed when first asked for."""

    def __init__(self, module: cst.Module, text: str) -> None:
        self._module = module
        self._text = text
        self._paired: dict[cst.CSTNode, Span] | None = None
        self._provided: dict[cst.CSTNode, Span] = {}

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands in the text."""
        if self._paired is None:
            self._paired = _pair(self._module, self._text)
        found = self._paired.get(node)
        if found is None:
            found = self._provide(node)
        return found

    def _provide(self, node: cst.CSTNode) -> Span:
        if not self._provided:
            from libcst.metadata import MetadataWrapper, PositionProvider  # noqa: PLC0415 - rarely needed, and large

            resolved = MetadataWrapper(self._module, unsafe_skip_copy=True).resolve(PositionProvider)
            self._provided = {n: (r.start.line, r.start.column, r.end.line, r.end.column) for n, r in resolved.items()}
        return self._provided[node]


def _pair(module: cst.Module, text: str) -> dict[cst.CSTNode, Span]:
    try:
        abstract = _abstract_nodes(ast.parse(text))
    except (SyntaxError, SourceError, ValueError, RecursionError, MemoryError):
        return {}
    concrete: dict[str, list[tuple[cst.CSTNode, str]]] = {kind: [] for kind in _NAMERS}
    dotted: set[cst.CSTNode] = set()
    for node in walk(module, skip=(cst.FormattedString, cst.TemplatedString)):
        kind = PAIRED.get(type(node))
        if kind is not None and node not in dotted:
            concrete[kind].extend(_CONCRETE[kind](node))
        if isinstance(node, (cst.ImportFrom, cst.ImportAlias)):
            # The dotted name of an import is no expression to `ast`.
            module_name = node.module if isinstance(node, cst.ImportFrom) else node.name
            dotted.update(walk(module_name) if module_name is not None else ())
    columns = _Columns(text)
    paired: dict[cst.CSTNode, Span] = {}
    for kind, nodes in concrete.items():
        spans = sorted(abstract[kind], key=lambda item: (item[0][0], item[0][1], -item[0][2], -item[0][3]))
        if [name for _, name in nodes] != [name for _, name in spans]:
            continue
        for (node, _), (span, _) in zip(nodes, spans, strict=True):
            paired[node] = columns.in_characters(span)
    return paired


def _abstract_nodes(tree: ast.AST) -> dict[str, list[tuple[Span, str]]]:
    found: dict[str, list[tuple[Span, str]]] = {kind: [] for kind in _NAMERS}
    for node in survey.walk(tree, skip=_FORMATTED):
        if type(node) in _OF_INTEREST:
            for kind, span, name in _abstract(node):
                found[kind].append((span, name))
    return found


_FORMATTED: tuple[type[ast.AST], ...] = (ast.JoinedStr,) + ((ast.TemplateStr,) if hasattr(ast, "TemplateStr") else ())


class _Columns:
    """`ast` counts columns in UTF-8 bytes."""

    def __init__(self, text: str) -> None:
        self._lines = None if text.isascii() else text.split("\n")

    def in_characters(self, span: Span) -> Span:
        if self._lines is None:
            return span
        first, start, last, end = span
        return first, self._column(first, start), last, self._column(last, end)

    def _column(self, line: int, offset: int) -> int:
        assert self._lines is not None
        return len(self._lines[line - 1].encode()[:offset].decode(errors="replace"))


# -- what is paired ----------------------------------------------------------------------------------------------------

Named = Iterable[tuple[cst.CSTNode, str]]


def _last_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _call(node: cst.CSTNode) -> Named:
    assert isinstance(node, cst.Call)
    yield node, _last_name(node.func)


def _attribute(node: cst.CSTNode) -> Named:
    assert isinstance(node, cst.Attribute)
    yield node, node.attr.value


def _alias(node: cst.CSTNode) -> Named:
    assert isinstance(node, cst.ImportAlias)
    yield node, node.evaluated_name


def _keyword(node: cst.CSTNode) -> Named:
    assert isinstance(node, cst.Arg)
    if node.keyword is not None:
        yield node, node.keyword.value
    elif node.star == "**":
        yield node, ""


def _handler(node: cst.CSTNode) -> Named:
    yield node, ""


def _definition(node: cst.CSTNode) -> Named:
    assert isinstance(node, (cst.FunctionDef, cst.ClassDef))
    yield node, node.name.value


def _element(node: cst.CSTNode) -> Named:
    yield node, ""


def _subscript(node: cst.CSTNode) -> Named:
    yield node, ""


_CONCRETE: dict[str, Callable[[cst.CSTNode], Named]] = {
    "call": _call,
    "attribute": _attribute,
    "alias": _alias,
    "keyword": _keyword,
    "handler": _handler,
    "definition": _definition,
    "element": _element,
    "subscript": _subscript,
}
_NAMERS = tuple(_CONCRETE)
PAIRED: dict[type[cst.CSTNode], str] = {
    cst.Call: "call",
    cst.Attribute: "attribute",
    cst.ImportAlias: "alias",
    cst.Arg: "keyword",
    cst.ExceptHandler: "handler",
    cst.ExceptStarHandler: "handler",
    cst.FunctionDef: "definition",
    cst.ClassDef: "definition",
    cst.DictElement: "element",
    cst.Subscript: "subscript",
}


def _abstract(node: ast.AST) -> Iterator[tuple[str, Span, str]]:
    if isinstance(node, ast.Call):
        yield "call", _span(node), _ast_name(node.func)
    elif isinstance(node, ast.Attribute):
        yield "attribute", _span(node), node.attr
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if alias.name != "*":
                yield "alias", _span(alias), alias.name
    elif isinstance(node, ast.keyword):
        yield "keyword", _span(node), node.arg or ""
    elif isinstance(node, ast.ExceptHandler):
        yield "handler", _span(node), ""
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield "definition", _span(node), node.name
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                start, end = _span(key), _span(value)
                yield "element", (start[0], start[1], end[2], end[3]), ""
    elif isinstance(node, ast.Subscript):
        yield "subscript", _span(node), ""


_OF_INTEREST = frozenset(
    {
        ast.Call, ast.Attribute, ast.Import, ast.ImportFrom, ast.keyword, ast.ExceptHandler, ast.FunctionDef,
        ast.AsyncFunctionDef, ast.ClassDef, ast.Dict, ast.Subscript,
    }
)  # fmt: skip


def _ast_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _span(node: ast.alias | ast.expr | ast.keyword | ast.stmt | ast.ExceptHandler) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
