"""A class without what its methods do: their bodies are parsed one by one, when somebody wants to follow them.

Enters: the lines of a class, and what `ast` says of it. Leaves: a tree in which the body of each longer method is left
out, every line number as it was; `Tree.body` has them. Most methods of a large class have nothing to do with the
library, and a full parse is slow.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from driftwatch.flow.syntax import Tree, parse

MIN_LINES = 3
"""Shorter bodies stay: to leave them out costs as much as to parse them."""

Method = ast.FunctionDef | ast.AsyncFunctionDef


def parse_class(path: str, lines: Sequence[str], first: int, last: int, node: ast.ClassDef) -> Tree:
    """The tree of a class that stands in these lines of a file, counted from 1."""
    kept = list(lines[first - 1 : last])
    left_out: list[Method] = []
    methods = [child for child in node.body if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for method in methods:
        start, indent = _body_of(method, lines)
        end = method.end_lineno or start
        if indent is not None and end - start + 1 >= MIN_LINES:
            left_out.append(method)
            # Lines that are continued are one token to the parser; empty ones would be a node each.
            kept[start - first : end - first + 1] = [f"{indent}... \\", *["\\"] * (end - start - 1), ""]
    tree = parse(path, "\n".join(kept) + "\n", first - 1)
    if left_out:
        named = dict(zip(methods, _methods_of(tree.module), strict=False))
        if [method.name for method in methods] != [found.name.value for found in named.values()]:
            return parse(path, "\n".join(lines[first - 1 : last]) + "\n", first - 1)
        for method in left_out:
            text = "\n".join(lines[method.lineno - 1 : method.end_lineno])
            # The line above makes the method's indentation right, so its columns stay what they are.
            tree.left_out[named[method]] = (method.lineno - 2, f"class _:\n{text}\n")
    return tree


def _body_of(method: Method, lines: Sequence[str]) -> tuple[int, str | None]:
    """The line on which a body begins, and its indentation; None where it shares that line with the header."""
    statement = method.body[0]
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    start = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    line = lines[start - 1]
    indent = line[: len(line) - len(line.lstrip())]
    alone = statement.col_offset == len(indent) if not decorators else line.lstrip().startswith("@")
    return start, indent if alone else None


def _methods_of(module: cst.Module) -> list[cst.FunctionDef]:
    for statement in module.body:
        if isinstance(statement, cst.ClassDef):
            return [child for child in statement.body.body if isinstance(child, cst.FunctionDef)]
    return []
