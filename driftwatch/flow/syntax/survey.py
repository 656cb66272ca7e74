"""A cheap first look at a file: what its top-level pieces bind, mention and import.

Enters: source text. Leaves: one `Piece` per run of lines at top level, so that only the pieces that can matter need a
full parse. It uses `ast`, which is an order of magnitude faster than a concrete parse; where this Python is too old for
the file's syntax, the caller parses everything instead.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from driftwatch.flow.syntax.depth import is_too_deep
from driftwatch.system.deep_stack import MAX_LEVELS
from driftwatch.system.python_text import SourceError

FILLING_METHODS = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "set", "setdefault", "update"})
"""Methods that put something into what they are called on."""

EMPTYING_METHODS = frozenset({"clear", "discard", "pop", "popitem", "popleft", "remove"})

CHANGING_METHODS = FILLING_METHODS | EMPTYING_METHODS | {"reverse", "sort", "move_to_end"}
"""Methods that change what is in what they are called on."""

CONSTRUCTORS = frozenset(
    {"__new__", "__init__", "__post_init__", "setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class"}
)
"""Methods that run before any other."""


MAX_STRING = 200
"""Longer text is no name."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: ``import module as bound`` has no `name`; `level` counts the leading dots."""

    module: str
    name: str | None
    bound: str
    level: int = 0


@dataclass(slots=True)
class Piece:
    """One or more whole top-level statements that share their lines.

    `first` and `last` are line numbers from 1. `defines` is the name of the function or class when the piece is one.
    `writes` are the names that something inside declares global, or puts something into: an item, an attribute, an
    element. `changes` are the containers whose content some function changes other than a constructor: a variable by
    its name, an attribute by its name after a dot.
    """

    first: int
    last: int
    defines: str | None = None
    is_class: bool = False
    binds: set[str] = field(default_factory=set)
    mentions: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)
    writes: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    outside: dict[str, int] = field(default_factory=dict)
    """Attributes that are assigned on something else than ``self``, and how often."""
    outside_constants: dict[str, list[object]] = field(default_factory=dict)
    """The constants among what they are assigned."""
    statements: list[ast.stmt] = field(default_factory=list)
    """As `ast` has parsed them: what is needed of them for more than a first look is made of that."""


@dataclass(frozen=True, slots=True)
class Survey:
    """A file's pieces in order; `exports` is its literal ``__all__`` when it has one."""

    pieces: tuple[Piece, ...]


def survey(text: str) -> Survey | None:
    """The pieces of a file; None where this Python cannot parse it although another might."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        if is_too_deep(text):
            raise SourceError("it is nested too deeply to be parsed") from None
        return None
    except (RecursionError, MemoryError):
        raise SourceError("it is nested too deeply to be parsed") from None
    except ValueError as error:
        raise SourceError(f"it cannot be parsed: {error}") from None
    pieces: list[Piece] = []
    for node in tree.body:
        first = node.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([first, *(d.lineno for d in node.decorator_list)])
        last = node.end_lineno or first
        if pieces and pieces[-1].last >= first:
            piece = pieces[-1]
            piece.last = max(piece.last, last)
            piece.defines, piece.is_class = None, False
        else:
            piece = Piece(first, last)
            pieces.append(piece)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                piece.defines, piece.is_class = node.name, isinstance(node, ast.ClassDef)
        piece.statements.append(node)
        _look(node, piece)
    return Survey(tuple(pieces))


def literal_type(node: ast.stmt) -> tuple[str, str | None]:
    """The name that a statement gives to a type, and the type as it is written; None where it is none of literals."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", getattr(node, "name", None))
    value = getattr(node, "value", None)
    if not isinstance(target, ast.Name) or not isinstance(value, (ast.Subscript, ast.BinOp, ast.Constant)):
        return "", None
    text = ast.unparse(value)
    return target.id, text if "Literal" in text else None


def walk(node: ast.AST, skip: Collection[type[ast.AST]] = ()) -> Iterator[ast.AST]:
    """A node and all below it that says something; `SourceError` where that goes deeper than the full parse may go.

    Nodes of the skipped kinds are left out with all below them.
    """
    level: list[ast.AST] = [node]
    for _ in range(MAX_LEVELS):
        if not level:
            return
        below: list[ast.AST] = []
        if skip:
            level = [each for each in level if type(each) not in skip]
        for above in level:
            names = _CHILDREN[kind := type(above)]
            if kind is ast.If and (following := another_if(above)) is not None:  # type: ignore[arg-type]
                # No deeper, however many there are.
                level.append(following)
                names = ("test", "body")
            if not names:
                continue
            for name in names:
                value = getattr(above, name, None)
                if type(value) is list:
                    if value:
                        below += value if None not in value else [each for each in value if each is not None]
                elif value is not None:
                    below.append(value)
        yield from level
        level = below
    if level:
        raise SourceError("it is nested too deeply to be parsed", getattr(node, "lineno", None))


def another_if(node: ast.If) -> ast.If | None:
    """The ``elif`` after an ``if``."""
    below = node.orelse[0] if len(node.orelse) == 1 else None
    return below if isinstance(below, ast.If) else None


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node that hold nodes which say something; what is no node is plain text or a number."""
    if issubclass(kind, (ast.Constant, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.MatchSingleton)):
        return ()
    plain = {"attr", "ctx", "id", "is_async", "op", "ops", "simple", "tag", "type_comment", "conversion", "kwd_attrs"}
    names = {"arg", "name", "rest", "str"} if kind.__name__ != "TypeAlias" else set()
    return tuple(name for name in kind._fields if name not in plain | names)


_CHILDREN: dict[type, tuple[str, ...]] = {
    kind: _fields_of(kind) for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def _look(node: ast.stmt, piece: Piece) -> None:
    mentions, binds, attributes, strings = piece.mentions, piece.binds, piece.attributes, piece.strings
    for child in walk(node):
        kind = type(child)
        # Most of all nodes are of these few kinds.
        if kind is ast.Name:
            name: str = child.id  # type: ignore[attr-defined]
            mentions.add(name)
            if type(child.ctx) is not ast.Load:  # type: ignore[attr-defined]
                binds.add(name)
        elif kind is ast.Constant:
            value: object = child.value  # type: ignore[attr-defined]
            if type(value) is str and len(value) < MAX_STRING:
                strings.add(value)
        elif kind is ast.Attribute:
            attributes.add(child.attr)  # type: ignore[attr-defined]
            if type(child.ctx) is not ast.Load:  # type: ignore[attr-defined]
                _note_written(child, piece)
        elif kind is ast.Assign:
            _note_constant(child, piece)  # type: ignore[arg-type]
        elif kind is ast.Call:
            function = child.func  # type: ignore[attr-defined]
            if type(function) is ast.Attribute and function.attr in CHANGING_METHODS:
                _note_written(child, piece)
            elif type(function) is ast.Name and function.id == "setattr":
                _note_written(child, piece)
        elif kind in _OTHERS:
            _note_other(child, piece)
    if piece.changes and isinstance(node, ast.ClassDef):
        piece.changes = {
            name
            for statement in node.body
            if getattr(statement, "name", None) not in CONSTRUCTORS
            for child in walk(statement)
            if type(child) in _CHANGING
            for name in changed_by(child)
        }


_CHANGING = frozenset({ast.Call, ast.Subscript})
"""What may change what is in a container."""

_OTHERS = frozenset(
    {
        ast.Subscript, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
        ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Global, ast.Nonlocal,
    }
)  # fmt: skip


def _note_other(child: ast.AST, piece: Piece) -> None:
    binds = piece.binds
    if isinstance(child, ast.Subscript):
        _note_written(child, piece)
    elif isinstance(child, (ast.Import, ast.ImportFrom)):
        for item in imported_by(child):
            binds.add(item.bound)
            piece.imports.append(item)
    elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        binds.add(child.name)
    elif isinstance(child, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        if child.name:
            binds.add(child.name)
    elif isinstance(child, (ast.Global, ast.Nonlocal)):
        piece.mentions.update(child.names)
        binds.update(child.names)
        piece.writes.update(child.names)
        piece.globals.update(child.names)


def imported_by(node: ast.Import | ast.ImportFrom) -> Iterator[Import]:
    """The names that an import statement binds."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield Import(alias.name, None, alias.asname or alias.name.partition(".")[0])
        else:
            yield Import(node.module or "", alias.name, alias.asname or alias.name, node.level)


def changed_by(node: ast.AST) -> tuple[str, ...]:
    """The container whose content a node changes: a variable by its name, an attribute by its name after a dot."""
    owner = filled(node)
    if owner is None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value if node.func.attr in EMPTYING_METHODS else None
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    if isinstance(owner, ast.Attribute):
        return (f".{owner.attr}",)
    return (owner.id,) if isinstance(owner, ast.Name) else ()


def _note_written(node: ast.AST, piece: Piece) -> None:
    """What is written to is the variable at the beginning of the path; its content may change."""
    if not isinstance(node, ast.Attribute):
        piece.changes.update(changed_by(node))
    owner: ast.expr | None = filled(node)
    if owner is None and isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        owner = node.value
        if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
            piece.outside[node.attr] = piece.outside.get(node.attr, 0) + 1
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    if isinstance(owner, ast.Name):
        piece.writes.add(owner.id)


def _note_constant(node: ast.Assign, piece: Piece) -> None:
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Attribute) or not isinstance(node.value, ast.Constant):
        return
    if not (isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")):
        piece.outside_constants.setdefault(target.attr, []).append(node.value.value)


def filled(node: ast.AST) -> ast.expr | None:
    """What ``owner[key] = value``, ``del owner[key]`` or ``owner.append(value)`` writes to."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING_METHODS:
        return node.func.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        return node.args[0]
    return None
