"""Names that code gives to namespaces by other means than binding them: ``globals()``, ``setattr``, ``module.x = y``.

Enters: the body of a module. Leaves: whether it gives itself names that are not written in it, and which attributes it
sets on other modules and on classes when it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from driftwatch.snapshot.collect.instance_attributes import attributes_given_to_others
from driftwatch.snapshot.collect.scope import running

Given = tuple[str, str | None]
"""A dotted name as it is written, and the attribute that is set on it; None where nobody can tell which."""

_NAMESPACES = frozenset({"globals", "locals", "vars"})


def binds_freely(body: Sequence[ast.stmt], *, inside: bool) -> bool:
    """Whether code puts names into its module that are not written in it; `inside`: be it in a definition of its own.

    Or puts something else into the module's place.
    """
    if any(_fills_own(statement) for statement, _ in running(body)):
        return True
    return inside and any(
        (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_call_of_globals(node.value))
        or (isinstance(node, ast.Assign) and _takes_its_place(node))
        for statement, _ in running(body)
        # A ``__getattr__`` keeps there what it has been asked for.
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and statement.name != "__getattr__"
        for node in ast.walk(statement)
    )


def _takes_its_place(statement: ast.Assign) -> bool:
    """``sys.modules[name] = self`` and ``sys.modules[__name__] = ...``: what others are put there for is no matter."""
    places = [t for t in statement.targets if isinstance(t, ast.Subscript) and _is_entry_of_modules(t)]
    itself = isinstance(statement.value, ast.Name) and statement.value.id == "self"
    return any(itself or (isinstance(p.slice, ast.Name) and p.slice.id == "__name__") for p in places)


def _is_call_of_globals(place: ast.expr) -> bool:
    return isinstance(place, ast.Call) and isinstance(place.func, ast.Name) and place.func.id == "globals"


def _fills_own(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return any(_is_own(t.value) for t in statement.targets if isinstance(t, ast.Subscript))
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    call = statement.value
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Name):
        if call.func.id == "setattr":
            return any(_is_entry_of_modules(argument) for argument in given[:1])
        # What a helper does with the dict of all names, and what text is executed, is not followed.
        return call.func.id == "exec" or any(_is_namespace(argument) for argument in given)
    return (isinstance(call.func, ast.Attribute) and call.func.attr == "update" and _is_own(call.func.value)) or any(
        _is_namespace(argument) for argument in given
    )


def _is_own(place: ast.expr) -> bool:
    return _is_namespace(place) or (isinstance(place, ast.Attribute) and place.attr == "modules")


def _is_namespace(place: ast.expr) -> bool:
    return (
        isinstance(place, ast.Call)
        and isinstance(place.func, ast.Name)
        and place.func.id in _NAMESPACES
        and not place.args
    )


def _is_entry_of_modules(place: ast.expr) -> bool:
    """``sys.modules[...]``."""
    return isinstance(place, ast.Subscript) and _is_own(place.value)


def given_to_others(tree: ast.Module) -> Iterator[Given]:
    """What a module gives to others when it is imported, and to instances of their classes when its code is called."""
    yield from given_elsewhere(tree.body)
    yield from attributes_given_to_others(tree)


def given_elsewhere(body: Sequence[ast.stmt]) -> Iterator[Given]:
    """The attributes that code sets on modules and classes when it is executed."""
    for statement, _ in running(body):
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and (owner := _dotted(target.value)) is not None:
                    yield owner, target.attr
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) > 1:
                owner, name = _dotted(call.args[0]), call.args[1]
                known = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
                if owner is not None:
                    yield owner, known


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return f"{inner}.{node.attr}" if inner is not None and isinstance(node, ast.Attribute) else None


def exports_are_written(body: Sequence[ast.stmt]) -> bool:
    """Whether ``__all__`` is made of literals, and of what other modules export, alone."""
    for statement, _ in running(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if _changes_exports(statement):
                return False
            continue
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
                if statement.value is not None and not _lists_names(statement.value):
                    return False
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "__all__":
                if func.attr not in ("append", "extend") or not all(map(_is_literal, statement.value.args)):
                    return False
    return True


def _changes_exports(node: ast.AST) -> bool:
    """Whether some code, whenever it runs, gives ``__all__`` other names than are written."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            changes, place = True, inner.value
        elif isinstance(inner, ast.Subscript):
            changes, place = not isinstance(inner.ctx, ast.Load), inner.value
        elif isinstance(inner, ast.Name):
            changes, place = not isinstance(inner.ctx, ast.Load), inner
        else:
            continue
        if changes and isinstance(place, ast.Name) and place.id == "__all__":
            return True
    return False


def further_exports(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that ``append`` and ``extend`` put into ``__all__``, where all of it is written."""
    for statement, _ in running(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "__all__":
                for argument in statement.value.args:
                    found = ast.literal_eval(argument)
                    yield from [found] if isinstance(found, str) else found


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_literal, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _lists_names(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(_lists_names(e.value if isinstance(e, ast.Starred) else e) for e in node.elts)
    if isinstance(node, ast.BinOp):
        return _lists_names(node.left) and _lists_names(node.right)
    if isinstance(node, ast.Attribute):
        return node.attr == "__all__"
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
