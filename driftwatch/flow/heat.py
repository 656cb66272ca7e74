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

from driftwatch.flow.survey import CONSTRUCTORS, filled, walk

MAX_TEXT = 80
"""Longer text is no annotation and no name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRIES: tuple[type[ast.AST], ...] = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))


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


@dataclass(slots=True)
class _Part:
    """A statement, seen once: what its own expressions mention and assign, and the statements within it."""

    mentions: set[str] = field(default_factory=set)
    all_mentions: set[str] = field(default_factory=set)
    """With those of the statements within it."""
    targets: list[tuple[str, bool]] = field(default_factory=list)
    within: list[_Part] = field(default_factory=list)


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
    body = [_part(statement, names_library) for statement in node.body]
    method = _Method(node.name)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            method.mentions |= _mentions(child, names_library)
    for part in body:
        method.mentions |= part.all_mentions
    _collect(body, set(), method.stores)
    return method


def _part(statement: ast.stmt, names_library: Callable[[str], bool]) -> _Part:
    part = _Part()
    blocks = list(_blocks(statement))
    if not blocks:
        _look(statement, part.mentions, part.targets, names_library)
        part.all_mentions = part.mentions
        return part
    for header in _header(statement):
        _look(header, part.mentions, part.targets, names_library)
    part.within = [_part(each, names_library) for block in blocks for each in block]
    part.all_mentions = part.mentions.union(*(each.all_mentions for each in part.within))
    for other in _other_parts(statement):
        part.all_mentions |= _mentions(other, names_library)
    if isinstance(statement, _TRIES):
        # What fails within it decides what its handlers assign, and whether the rest is reached.
        part.mentions = part.all_mentions
    return part


def _mentions(node: ast.AST, names_library: Callable[[str], bool]) -> set[str]:
    found: set[str] = set()
    _look(node, found, [], names_library)
    return found


def _look(
    node: ast.AST, mentions: set[str], targets: list[tuple[str, bool]], names_library: Callable[[str], bool]
) -> None:
    """Note what a node and all below it mention, and what is assigned: attributes, and local variables (True)."""
    for child in walk(node):
        kind = type(child)
        if kind is ast.Name:
            mentions.add(child.id)  # type: ignore[attr-defined]
            if type(child.ctx) is ast.Store:  # type: ignore[attr-defined]
                targets.append((child.id, True))  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            mentions.add(child.attr)  # type: ignore[attr-defined]
            if type(child.ctx) is ast.Store:  # type: ignore[attr-defined]
                targets.append((child.attr, False))  # type: ignore[attr-defined]
        elif kind is ast.Constant:
            value: object = child.value  # type: ignore[attr-defined]
            if type(value) is str and len(value) < MAX_TEXT:
                # An annotation in quotes mentions names as well.
                mentions.update(value.replace("[", ".").replace("]", ".").replace("|", ".").split("."))
                if names_library(value):
                    mentions.add(_LIBRARY)
        elif kind is ast.ImportFrom or kind is ast.Import:
            _look_at_import(child, mentions, targets, names_library)  # type: ignore[arg-type]
        elif kind is ast.Subscript or kind is ast.Call:
            owner = filled(child)
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if isinstance(owner, ast.Attribute):
                targets.append((owner.attr, False))
            elif isinstance(owner, ast.Name):
                targets.append((owner.id, True))


def _look_at_import(
    node: ast.Import | ast.ImportFrom,
    mentions: set[str],
    targets: list[tuple[str, bool]],
    names_library: Callable[[str], bool],
) -> None:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    if any(map(names_library, modules)):
        mentions.add(_LIBRARY)
    for alias in node.names:
        mentions.add(alias.asname or alias.name)
        targets.append((alias.asname or alias.name.partition(".")[0], True))


def _bound(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id


def _collect(body: list[_Part], decided_by: set[str], stores: list[_Store]) -> None:
    for part in body:
        found = decided_by | part.mentions
        stores.extend(_Store(target, found - {target}, local) for target, local in part.targets)
        if part.within:
            _collect(part.within, found, stores)


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


def _other_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """What stands between the blocks of a compound statement: kinds of exceptions, patterns and their guards."""
    for handler in getattr(statement, "handlers", ()):
        if handler.type is not None:
            yield handler.type
    for case in getattr(statement, "cases", ()):
        yield case.pattern
        if case.guard is not None:
            yield case.guard
