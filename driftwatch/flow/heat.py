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

from driftwatch.flow.survey import CONSTRUCTORS, filled

MAX_TEXT = 80
"""Longer text is no annotation and no name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Heat:
    """The methods to analyse, and the attributes that are assigned in none of them but elsewhere in the class."""

    methods: frozenset[str]
    assigned_elsewhere: frozenset[str]


@dataclass(slots=True)
class _Store:
    """An attribute or a local variable that is assigned, and every name and attribute that decides on what."""

    target: str
    decided_by: set[str]
    local: bool = False


@dataclass(slots=True)
class _Method:
    name: str
    mentions: set[str] = field(default_factory=set)
    stores: list[_Store] = field(default_factory=list)
    hot_locals: set[str] = field(default_factory=set)


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
                known = method.hot_locals if store.local else hot_names
                if store.target not in known and (store.decided_by & hot_names or store.decided_by & method.hot_locals):
                    known.add(store.target)
                    changed = True
    if hot:
        # What they set, flags and arguments among it, decides what the other methods do.
        hot.update(m.name for m in methods if m.name in CONSTRUCTORS)
    elsewhere = {s.target for m in methods if m.name not in hot for s in m.stores if not s.local}
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
        blocks = list(_blocks(statement))
        header: list[ast.AST] = list(_header(statement)) if blocks else [statement]
        found = set(decided_by)
        for part in [statement] if isinstance(statement, ast.Try) else header:
            found |= _mentions(part, names_library)
        for part in header:
            stores.extend(_Store(target, found - {target}, local) for target, local in _targets(part))
        for block in blocks:
            _collect(block, found, stores, names_library)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements within a statement; of a definition none, as what it does is for its calls to say."""
    if isinstance(statement, (*Functions, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block:
            yield block
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a compound statement evaluates before the statements within it."""
    for name in ("test", "target", "iter", "subject"):
        part = getattr(statement, name, None)
        if part is not None:
            yield part
    yield from getattr(statement, "items", ())


def _targets(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """What is assigned, or has something put into it: attributes, and local variables (True)."""
    for child in ast.walk(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            for alias in child.names:
                yield alias.asname or alias.name.partition(".")[0], True
            continue
        owner = filled(child)
        if owner is not None:
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            child = owner
        elif not isinstance(getattr(child, "ctx", None), ast.Store):
            continue
        if isinstance(child, ast.Attribute):
            yield child.attr, False
        elif isinstance(child, ast.Name):
            yield child.id, True
