"""Which methods of a class can matter: those that mention the library, or an attribute or method that leads to it.

Enters: a class as `ast` sees it, and the names that lead to the library in its module. Leaves: the names of the methods
worth analysing. What the other methods assign to attributes is listed, so that it counts as unknown, not as never set.

An attribute leads to the library when what is assigned to it does, or when a test or a ``try`` round the assignment
does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MAX_TEXT = 80
"""Longer text is no annotation and no name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Heat:
    """The methods to analyse, and the attributes that are assigned in none of them but elsewhere in the class."""

    methods: frozenset[str]
    assigned_elsewhere: frozenset[str]


@dataclass(slots=True)
class _Store:
    """An attribute that is assigned, and every name and attribute that decides on what."""

    attribute: str
    decided_by: set[str]


@dataclass(slots=True)
class _Method:
    name: str
    mentions: set[str] = field(default_factory=set)
    stores: list[_Store] = field(default_factory=list)


def heat_of(node: ast.ClassDef, leads: set[str], names_library: Callable[[str], bool]) -> Heat:
    """The methods of a class that can matter."""
    methods = [_method(child, names_library) for child in node.body if isinstance(child, Function)]
    hot_names = set(leads) | {_LIBRARY}
    for child in node.body:
        if not isinstance(child, Function):
            mentioned = _mentions(child, names_library)
            if mentioned & hot_names:
                hot_names.update(_bound(child))
    hot: set[str] = set()
    changed = True
    while changed:
        changed = False
        for method in methods:
            if method.name not in hot and method.mentions & hot_names:
                hot.add(method.name)
                changed = True
                if not _is_special(method.name):
                    hot_names.add(method.name)
            for store in method.stores:
                if store.attribute not in hot_names and store.decided_by & hot_names:
                    hot_names.add(store.attribute)
                    changed = True
    elsewhere = {s.attribute for m in methods if m.name not in hot for s in m.stores}
    return Heat(frozenset(hot), frozenset(elsewhere))


_LIBRARY = "\0library"
"""Stands among the mentions for text that names the library."""


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _method(node: Function, names_library: Callable[[str], bool]) -> _Method:
    method = _Method(node.name, _mentions(node, names_library))
    _collect(node.body, set(), method.stores, names_library)
    return method


def _mentions(node: ast.AST, names_library: Callable[[str], bool]) -> set[str]:
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
        elif isinstance(child, ast.Constant):
            if isinstance(child.value, str) and len(child.value) < MAX_TEXT:
                # An annotation in quotes mentions names as well.
                found.update(child.value.replace("[", ".").replace("]", ".").replace("|", ".").split("."))
                if names_library(child.value):
                    found.add(_LIBRARY)
        elif isinstance(child, ast.ImportFrom):
            if names_library(child.module or ""):
                found.add(_LIBRARY)
            found.update(alias.asname or alias.name for alias in child.names)
        elif isinstance(child, ast.Import):
            if any(names_library(alias.name) for alias in child.names):
                found.add(_LIBRARY)
            found.update(alias.asname or alias.name for alias in child.names)
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id


def _collect(
    body: list[ast.stmt], decided_by: set[str], stores: list[_Store], names_library: Callable[[str], bool]
) -> None:
    for statement in body:
        if isinstance(statement, (ast.If, ast.While)):
            inner = decided_by | _mentions(statement.test, names_library)
            _collect(statement.body, inner, stores, names_library)
            _collect(statement.orelse, inner, stores, names_library)
        elif isinstance(statement, ast.Try):
            inner = decided_by | _mentions(statement, names_library)
            for part in (statement.body, statement.orelse, statement.finalbody):
                _collect(part, inner, stores, names_library)
            for handler in statement.handlers:
                _collect(handler.body, inner, stores, names_library)
        elif isinstance(statement, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            header: list[ast.AST] = (
                [statement.iter] if isinstance(statement, (ast.For, ast.AsyncFor)) else list(statement.items)
            )
            inner = set(decided_by)
            for part_of_header in header:
                inner |= _mentions(part_of_header, names_library)
            _collect(statement.body, inner, stores, names_library)
            _collect(getattr(statement, "orelse", []), inner, stores, names_library)
        elif isinstance(statement, ast.Match):
            inner = decided_by | _mentions(statement.subject, names_library)
            for case in statement.cases:
                _collect(case.body, inner, stores, names_library)
        else:
            attributes = [
                child.attr
                for child in ast.walk(statement)
                if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store)
            ]
            if attributes:
                found = decided_by | _mentions(statement, names_library)
                stores.extend(_Store(attribute, found - {attribute}) for attribute in attributes)
