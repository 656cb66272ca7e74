"""Which names the code of a module or class body binds, under which condition, and which binding counts.

Enters: statements of Python's own `ast`. Leaves: for each name the site that is in force in an ordinary installation
(everything optional is there), the sites that may replace it, and the imports without which it is absent. Code under
``TYPE_CHECKING`` or ``if __name__ == "__main__"`` binds nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from driftwatch.snapshot.collect.bodies import statements

IMPORT_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})

Guard = ast.Try | ast.With


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be so for a statement to run: imports that succeed (`guards`), branches taken, a handler entered."""

    guards: tuple[Guard, ...] = ()
    branches: tuple[tuple[int, bool], ...] = ()
    fallback: bool = False

    @property
    def always(self) -> bool:
        return self.ordinary and not self.guards

    @property
    def ordinary(self) -> bool:
        """Whether it is met where everything optional is there."""
        return not (self.branches or self.fallback)


@dataclass(frozen=True, slots=True)
class Site:
    """One place that binds a name. `statement` is what binds it; `value` and `annotation` where it has them."""

    name: str
    statement: ast.AST
    condition: Condition
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    alias: ast.alias | None = None
    opaque: bool = False
    """The value is the result of something else than this one expression (a loop, an unpacking, ``+=``)."""
    overload: bool = False
    """One of several ways to call what is defined elsewhere, or, in a stub, nowhere."""

    @property
    def substantial(self) -> bool:
        """A definition or an import, rather than a value that may be a mere placeholder."""
        return isinstance(
            self.statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
        )


@dataclass(frozen=True, slots=True)
class Winner:
    """The binding of a name that counts, those it competes with, and the guards without which it is absent."""

    site: Site
    rivals: tuple[Site, ...]
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """A ``del`` of a name."""

    name: str


def bindings(body: Sequence[ast.stmt]) -> dict[str, Winner]:
    """The names a body binds, in the order in which they first appear."""
    sites: dict[str, list[Site]] = {}
    for event in _walk(body, Condition()):
        if isinstance(event, Removal):
            sites.pop(event.name, None)
        else:
            sites.setdefault(event.name, []).append(event)
    return {name: winner for name, found in sites.items() if (winner := _defined(found)) is not None}


def _defined(sites: list[Site]) -> Winner | None:
    """What a name is bound to; where a stub has overloads alone, any of these."""
    real = [site for site in sites if not site.overload]
    if not real:
        return Winner(sites[0], tuple(sites[1:]), ())
    return _winner(real)


def competes(rival: Site, winner: Site) -> bool:
    """Whether a name may well be this in place of the one that counts.

    A constant beside a definition holds its place (``feature = None``), and so does whatever a handler puts there that
    is no definition itself; a definition that is wrapped in place is still the same.
    """
    if rival.substantial or not winner.substantial:
        return True
    if rival.condition.fallback or rival.value is None or isinstance(rival.value, ast.Constant):
        return False
    if isinstance(rival.value, ast.Call):
        return not any(isinstance(node, ast.Name) and node.id == rival.name for node in ast.walk(rival.value))
    return True


def running(body: Sequence[ast.stmt], condition: Condition | None = None) -> Iterator[tuple[ast.stmt, Condition]]:
    """Every statement of a body that runs when it is executed, nested blocks included, with its condition."""
    # Without a call for each block: an `elif` is one block in another.
    waiting = [(statement, condition or Condition()) for statement in reversed(body)]
    while waiting:
        statement, where = waiting.pop()
        yield statement, where
        blocks = list(_blocks(statement, where))
        waiting += [(each, inner) for block, inner in reversed(blocks) for each in reversed(block)]


def imports_for_type_checkers(body: Sequence[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """The ``from`` imports that only type checkers see."""
    for statement in body:
        if isinstance(statement, ast.If) and decided(statement.test) is False:
            yield from (inner for inner in statement.body if isinstance(inner, ast.ImportFrom))


def imports_on_demand(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run later, or perhaps: in functions, on a branch, in a handler."""
    for statement, condition in running(body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if not condition.ordinary:
                yield statement
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from (inner for inner in statements([statement]) if isinstance(inner, ast.Import | ast.ImportFrom))


def imports_in(guard: Guard) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports a guard protects."""
    for statement, condition in running(guard.body):
        if isinstance(statement, ast.Import | ast.ImportFrom) and not condition.fallback:
            yield statement


def _winner(sites: list[Site]) -> Winner:
    live: list[Site] = []
    for site in sites:
        if site.condition.always and not site.opaque and (site.substantial or not any(s.substantial for s in live)):
            live = [site]
        else:
            live.append(site)
    ranked = sorted(live, key=lambda s: (s.condition.fallback, not s.substantial))
    best = ranked[0]
    return Winner(best, tuple(ranked[1:]), () if _always_bound(live) else best.condition.guards)


def _always_bound(live: Sequence[Site]) -> bool:
    if any(s.condition.fallback or not s.condition.guards for s in live):
        return True
    taken = {branch for s in live for branch in s.condition.branches}
    return any((key, not side) in taken for key, side in taken)


def _walk(body: Sequence[ast.stmt], condition: Condition) -> Iterator[Site | Removal]:
    for statement, where in running(body, condition):
        yield from _bound_by(statement, where)


def _blocks(statement: ast.stmt, condition: Condition) -> Iterator[tuple[Sequence[ast.stmt], Condition]]:
    if isinstance(statement, ast.If):
        taken = decided(statement.test)
        if taken is not False:
            yield statement.body, condition if taken else _branch(condition, statement, True)
        if taken is not True:
            yield statement.orelse, condition if taken is False else _branch(condition, statement, False)
    elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
        yield from _try_blocks(statement, condition)  # type: ignore[arg-type]
    elif isinstance(statement, ast.With):
        guarded = any(_suppresses(item.context_expr) for item in statement.items)
        yield statement.body, replace(condition, guards=(*condition.guards, statement)) if guarded else condition
    elif isinstance(statement, ast.For | ast.While):
        yield statement.body, condition
        yield statement.orelse, condition
    elif isinstance(statement, ast.Match):
        for number, case in enumerate(statement.cases):
            yield case.body, replace(condition, branches=(*condition.branches, (id(statement) + number, True)))


def _try_blocks(statement: ast.Try, condition: Condition) -> Iterator[tuple[Sequence[ast.stmt], Condition]]:
    survives = any(_names(h.type) & IMPORT_FAILURES and not _gives_up(h.body) for h in statement.handlers)
    inner = replace(condition, guards=(*condition.guards, statement)) if survives else condition
    yield statement.body, inner
    yield statement.orelse, inner
    for handler in statement.handlers:
        if not _gives_up(handler.body):
            yield handler.body, replace(condition, fallback=True)
        else:
            # A handler that raises in the end may still hold the import that works elsewhere.
            yield [s for s in handler.body if isinstance(s, ast.Try)], replace(condition, fallback=True)
    yield statement.finalbody, condition


def _branch(condition: Condition, statement: ast.If, side: bool) -> Condition:
    return replace(condition, branches=(*condition.branches, (id(statement), side)))


def decided(test: ast.expr) -> bool | None:
    """The value of a condition that is the same in every program that imports the module; None for all others."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [decided(value) for value in test.values]
        absorbing = isinstance(test.op, ast.Or)
        if absorbing in parts:
            return absorbing
        return None if None in parts else not absorbing
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name | ast.Attribute):
        return False if ast.unparse(test).rpartition(".")[2] == "TYPE_CHECKING" else None
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__":
        return False
    return None


def _names(caught: ast.expr | None) -> set[str]:
    if caught is None:
        return {"BaseException"}
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return {ast.unparse(part).rpartition(".")[2] for part in parts}


def _suppresses(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or ast.unparse(context.func).rpartition(".")[2] != "suppress":
        return False
    return any(_names(argument) & IMPORT_FAILURES for argument in context.args)


def _gives_up(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _bound_by(statement: ast.stmt, condition: Condition) -> Iterator[Site | Removal]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        overload = _is_overload(statement)
        if overload or not _adds_to_another(statement):
            yield Site(statement.name, statement, condition, overload=overload)
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            if alias.name != "*":
                bound = alias.name.partition(".")[0] if isinstance(statement, ast.Import) else alias.name
                yield Site(alias.asname or bound, statement, condition, alias=alias)
    elif isinstance(statement, ast.AnnAssign):
        if isinstance(statement.target, ast.Name):
            yield Site(statement.target.id, statement, condition, statement.value, statement.annotation)
    elif isinstance(statement, ast.Delete):
        yield from (Removal(target.id) for target in statement.targets if isinstance(target, ast.Name))
    elif type(statement).__name__ == "TypeAlias":
        yield Site(statement.name.id, statement, condition, statement.value)  # type: ignore[attr-defined]
    else:
        for target, value in _assigned(statement):
            yield from _targets(target, value, statement, condition)
    yield from _walrus(statement, condition)


def _assigned(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets a statement assigns to, each with what it is given where that is one expression."""
    if isinstance(statement, ast.Assign):
        yield from ((target, statement.value) for target in statement.targets)
    elif isinstance(statement, ast.AugAssign | ast.For):
        yield statement.target, None
    elif isinstance(statement, ast.With):
        yield from ((item.optional_vars, None) for item in statement.items if item.optional_vars is not None)


def _walrus(statement: ast.stmt, condition: Condition) -> Iterator[Site]:
    tested = (
        statement.test
        if isinstance(statement, ast.If | ast.While)
        else statement.value
        if isinstance(statement, ast.Expr | ast.Assign)
        else None
    )
    if tested is None:
        return
    for node in ast.walk(tested):
        if isinstance(node, ast.NamedExpr):
            yield Site(node.target.id, statement, condition, node.value)


def _targets(target: ast.expr, value: ast.expr | None, statement: ast.stmt, condition: Condition) -> Iterator[Site]:
    if isinstance(target, ast.Name):
        yield Site(target.id, statement, condition, value, opaque=value is None)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value, None, statement, condition)
    elif isinstance(target, ast.Tuple | ast.List):
        values: Sequence[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = value.elts
        for part, piece in zip(target.elts, values, strict=True):
            yield from _targets(part, piece, statement, condition)


def _adds_to_another(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a definition only completes one of the same name: a property's setter, a registered one."""
    for decorator in statement.decorator_list:
        if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter", "register"):
            return isinstance(decorator.value, ast.Name) and (
                decorator.attr != "register" or decorator.value.id == statement.name
            )
    return False


def _is_overload(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(
        isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each).rpartition(".")[2] == "overload"
        for each in statement.decorator_list
    )
