"""Which names a module has, and where: what a repair may write at a place so that it means what it means elsewhere.

Only names that are bound for sure count; whatever is bound under a condition, deleted, or set by a function, is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.repair.text import Source

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def chain(node: ast.expr | None) -> list[str] | None:
    """The parts of a plain dotted name, ``self.lib.f``; None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return [node.id, *reversed(parts)]


def all_names(source: Source) -> set[str]:
    """Every name that occurs in a file, in any role."""
    found: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
    return found


def fresh(source: Source, wanted: str) -> str:
    """A name like the wanted one that the file does not have."""
    taken = all_names(source)
    number, name = 2, wanted
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def within(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those of their blocks, but for what functions and classes have of their own."""
    for statement in body:
        yield statement
        if isinstance(statement, _SCOPES):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from within(getattr(statement, name, []) or [])
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from within(part.body)


def binds(statement: ast.stmt) -> set[str]:
    """The names that a statement itself binds, without what is in its blocks."""
    found: set[str] = set()
    if isinstance(statement, ast.Import | ast.ImportFrom):
        found.update((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.add(statement.name)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        if not (isinstance(statement, ast.AnnAssign) and statement.value is None):
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                found.update(_stored(target))
    else:
        heads = [getattr(statement, name, None) for name in ("target", "subject", "test")]
        heads += [item.optional_vars for item in getattr(statement, "items", ())]
        for head in heads:
            if head is not None:
                found.update(_stored(head))
    return found


def _stored(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def surely_bound(name: str, body: list[ast.stmt]) -> bool:
    """Whether a name is bound once a block has been gone through."""
    return any(_surely_by(name, statement) for statement in body)


def _surely_by(name: str, statement: ast.stmt) -> bool:
    if name in binds(statement) and not isinstance(statement, ast.For | ast.AsyncFor | ast.Match):
        return True
    if isinstance(statement, ast.If):
        return surely_bound(name, statement.body) and surely_bound(name, statement.orelse)
    if isinstance(statement, ast.Try):
        if surely_bound(name, statement.finalbody):
            return True
        whole = [*statement.body, *statement.orelse]
        handled = all(surely_bound(name, each.body) or _leaves(each.body) for each in statement.handlers)
        return surely_bound(name, whole) and handled
    return isinstance(statement, ast.With) and surely_bound(name, statement.body)


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise | ast.Return | ast.Continue | ast.Break)


def module_binding(source: Source, name: str) -> ast.stmt | None:
    """The top-level statement that binds a name which a module has, as one thing alone; None where there is no such."""
    body = source.tree.body
    if any(isinstance(node, ast.Global) and name in node.names for node in ast.walk(source.tree)):
        return None
    if any(isinstance(node, ast.Delete) and name in source.of(node) for node in within(body)):
        return None
    binding = [each for each in within(body) if name in binds(each)]
    return binding[0] if len(binding) == 1 and binding[0] in body else None


def imported_as(source: Source, dotted: str) -> ast.expr | None:
    """What the module may call a function by, by way of its own imports; None where it has none of it."""
    for statement in source.tree.body:
        for alias in statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ():
            above = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
            name = alias.asname or alias.name
            known = f"{above}{alias.name}" if alias.asname or above else name
            if getattr(statement, "level", 0) or not f"{dotted}.".startswith(f"{known}."):
                continue
            if module_binding(source, name.partition(".")[0]) is statement:
                return ast.parse(name + dotted[len(known) :], mode="eval").body
    return None


def visible(source: Source, name: str, place: ast.AST) -> bool:
    """Whether a name is bound for sure when a place is come to."""
    function = source.function(place)
    statement = source.statement(place)
    if function is None:
        return comes_before(source, name, statement)
    if isinstance(function, ast.Lambda):
        return False
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    of_its_own = {each.arg for each in (*given, arguments.vararg, arguments.kwarg) if each is not None}
    stores = any(name in binds(each) for each in within(function.body))
    if name in of_its_own:
        return not stores
    if stores:
        return comes_before(source, name, statement)
    if source.function(function) is not None and visible(source, name, function):
        return True
    return surely_bound(name, source.tree.body)


def comes_before(source: Source, name: str, statement: ast.stmt) -> bool:
    """Whether a statement in the same block, or in one round it, binds a name before."""
    here: ast.stmt = statement
    while True:
        block = source.body_of(here)
        if surely_bound(name, block[: block.index(here)]):
            return True
        above = source.parents[here]
        if isinstance(above, ast.Try) and here in above.orelse and surely_bound(name, above.body):
            return True
        if isinstance(above, ast.ExceptHandler | ast.match_case):
            above = source.parents[above]
        if isinstance(above, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith) and name in binds(above):
            return True
        if isinstance(above, (ast.mod, *_SCOPES)):
            return False
        assert isinstance(above, ast.stmt)
        here = above
