"""Which names a module's ``__getattr__`` (PEP 562) answers, and where it takes them from.

Enters: the statements of a module. Leaves: every name it is written to answer, with the places to look for each, best
first (none when only its existence is known), and whether it may answer further names that nobody can list.

Recognised is how such functions are written: comparing the name to a literal, testing membership in a literal or in a
constant of the module, looking it up in a dictionary of the module; then an import, `import_module`, `getattr` or an
entry of that dictionary. Whatever returns under no such condition makes the module open.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from driftwatch.snapshot.collect.source_facts import LazyTarget

_WRAPPERS = frozenset({"set", "frozenset", "tuple", "list", "sorted", "dict", "MappingProxyType", "OrderedDict"})
"""Calls that give a container with what they are given in it."""

Names = frozenset[str] | None
"""The names a piece of code is reached for; None when it is any."""


@dataclass(frozen=True, slots=True)
class LazyNames:
    """What a module-level ``__getattr__`` answers; `there` says whether there is one."""

    there: bool = False
    targets: Mapping[str, tuple[LazyTarget, ...]] = field(default_factory=dict)
    open: bool = False


def lazy_names(tree: ast.Module, module: str, is_package: bool) -> LazyNames:
    """The names that the module's ``__getattr__`` answers; nothing when it has none."""
    function = next(
        (s for s in reversed(tree.body) if isinstance(s, ast.FunctionDef) and s.name == "__getattr__"), None
    )
    if function is None:
        return LazyNames()
    arguments = [*function.args.posonlyargs, *function.args.args]
    if len(arguments) != 1:
        return LazyNames(there=True, open=True)
    reading = _Reading(arguments[0].arg, module, is_package, _constants(tree))
    reading.block(function.body, None, {})
    return LazyNames(True, {name: tuple(found) for name, found in reading.targets.items()}, reading.open)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Constants of the module that may list names: displays, and calls that wrap one (`frozenset`, `dict`)."""
    constants: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    constants[target.id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            constants[statement.target.id] = statement.value
    return constants


class _Reading:
    """One pass over the function; `targets` and `open` are the result."""

    def __init__(self, parameter: str, module: str, is_package: bool, constants: Mapping[str, ast.expr]) -> None:
        self._parameter = parameter
        self._module = module
        self._package = module if is_package else module.rpartition(".")[0]
        self._constants = constants
        self.targets: dict[str, list[LazyTarget]] = {}
        self.open = False

    # -- control flow --------------------------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        """Walk statements reached for these names; what is left of them behind the block, and whether it ends here."""
        for statement in body:
            names, ended = self._statement(statement, names, local)
            if ended:
                return names, True
        return names, False

    def _statement(self, statement: ast.stmt, names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        if isinstance(statement, ast.Return):
            self._answer(statement.value, self._narrowed_by(statement, names, local), local)
            return names, True
        if isinstance(statement, ast.Raise):
            return names, True
        if isinstance(statement, ast.If):
            return self._if(statement, names, local)
        if isinstance(statement, ast.Match) and self._is_name(statement.subject):
            return self._match(statement, names, local)
        if isinstance(statement, ast.Try):
            return self._try(statement, names, local)
        if isinstance(statement, ast.For):
            return self._for(statement, names, local)
        if isinstance(statement, ast.With):
            return self.block(statement.body, names, local)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                local[alias.asname or alias.name.partition(".")[0]] = _Imported(statement, alias)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._assign(target, statement.value, local)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value, local)
        return self._narrowed_by(statement, names, local), False

    def _if(self, statement: ast.If, names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        for node in ast.walk(statement.test):
            if isinstance(node, ast.NamedExpr):
                local[node.target.id] = node.value
        positive, negative = self._test(statement.test, local)
        inside, outside = _meet(names, positive), _meet(names, negative)
        after_body, body_ends = self.block(statement.body, inside, dict(local))
        after_else, else_ends = self.block(statement.orelse, outside, dict(local))
        if body_ends and else_ends:
            return names, True
        if body_ends:
            return after_else, False
        if else_ends:
            return after_body, False
        return names, False

    def _match(self, statement: ast.Match, names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        for case in statement.cases:
            values = _pattern_values(case.pattern)
            self.block(case.body, _meet(names, values), dict(local))
        return names, False

    def _try(self, statement: ast.Try, names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        after, ended = self.block(statement.body, names, local)
        if not ended:
            after, ended = self.block(statement.orelse, after, local)
        for handler in statement.handlers:
            _, gives_up = self.block(handler.body, names, dict(local))
            if not gives_up:
                after = names
                ended = False
        return after, ended

    def _for(self, statement: ast.For, names: Names, local: dict[str, ast.AST]) -> tuple[Names, bool]:
        """A search through modules: whatever it returns can be any name."""
        self.block(statement.body, names, dict(local))
        return names, False

    def _narrowed_by(self, statement: ast.stmt, names: Names, local: Mapping[str, ast.AST]) -> Names:
        """``TABLE[name]`` goes on for the keys of the table alone."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript) and self._is_name(node.slice) and isinstance(node.value, ast.Name):
                names = _meet(names, self._listed(node.value))
        return names

    # -- conditions ----------------------------------------------------------------------------------------------

    def _test(self, test: ast.expr, local: Mapping[str, ast.AST]) -> tuple[Names, Names]:
        """The names for which a condition may hold, and those for which it may not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            positive, negative = self._test(test.operand, local)
            return negative, positive
        if isinstance(test, ast.BoolOp):
            parts = [self._test(value, local) for value in test.values]
            if isinstance(test.op, ast.And):
                return _all_of([p for p, _ in parts]), None
            return _any_of([p for p, _ in parts]), _all_of([n for _, n in parts])
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(test.left, test.ops[0], test.comparators[0], local)
        found = self._looked_up(test, local)
        return (found, None) if found is not None else (None, None)

    def _compare(
        self, left: ast.expr, operator: ast.cmpop, right: ast.expr, local: Mapping[str, ast.AST]
    ) -> tuple[Names, Names]:
        listed: Names = None
        if isinstance(operator, ast.Eq | ast.NotEq):
            literal = right if self._is_name(left) else left if self._is_name(right) else None
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                listed = frozenset({literal.value})
        elif isinstance(operator, ast.In | ast.NotIn) and self._is_name(left):
            listed = self._listed(right)
        elif isinstance(operator, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            found = self._looked_up(left, local)
            return (None, found) if isinstance(operator, ast.Is) else (found, None)
        return (None, listed) if isinstance(operator, ast.NotEq | ast.NotIn) else (listed, None)

    def _looked_up(self, expression: ast.expr, local: Mapping[str, ast.AST]) -> Names:
        """The keys of the table, for an expression that is ``TABLE.get(name)`` or a local that holds it."""
        table = self._table(expression, local)
        return self._listed(table) if table is not None else None

    def _table(self, expression: ast.AST, local: Mapping[str, ast.AST]) -> ast.expr | None:
        if isinstance(expression, ast.NamedExpr):
            expression = expression.value
        if isinstance(expression, ast.Name) and expression.id in local:
            expression = local[expression.id]
        if (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Attribute)
            and expression.func.attr == "get"
            and expression.args
            and self._is_name(expression.args[0])
        ):
            return expression.func.value
        if isinstance(expression, ast.Subscript) and self._is_name(expression.slice):
            return expression.value
        return None

    def _listed(self, expression: ast.expr) -> Names:
        """The strings of a display, of a constant of the module, or of a call or ``|`` that puts such together."""
        if isinstance(expression, ast.Name) and expression.id in self._constants:
            constant = self._constants[expression.id]
            return None if constant is expression else self._listed(constant)
        if isinstance(expression, ast.Set | ast.Tuple | ast.List):
            parts = [self._listed(e.value) if isinstance(e, ast.Starred) else _string(e) for e in expression.elts]
            return _any_of(parts)
        if isinstance(expression, ast.Dict):
            return _any_of([_string(k) if k is not None else self._listed(v) for k, v in _items(expression)])
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.BitOr | ast.Add):
            return _any_of([self._listed(expression.left), self._listed(expression.right)])
        if isinstance(expression, ast.Call):
            if isinstance(expression.func, ast.Attribute) and expression.func.attr == "keys":
                return self._listed(expression.func.value)
            called = _called(expression)
            if called in _WRAPPERS and len(expression.args) == 1:
                return self._listed(expression.args[0])
            if called == "dict" and not expression.args and all(k.arg for k in expression.keywords):
                return frozenset(k.arg for k in expression.keywords if k.arg)
        return None

    def _is_name(self, expression: ast.AST | None) -> bool:
        return isinstance(expression, ast.Name) and expression.id == self._parameter

    # -- answers -------------------------------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: ast.expr, local: dict[str, ast.AST]) -> None:
        if isinstance(target, ast.Name):
            local[target.id] = value
        elif isinstance(target, ast.Tuple):
            for position, part in enumerate(target.elts):
                if isinstance(part, ast.Name):
                    local[part.id] = _Piece(value, position)

    def _answer(self, expression: ast.expr | None, names: Names, local: Mapping[str, ast.AST]) -> None:
        if names is None:
            self.open = True
            return
        for name in sorted(names):
            found = self.targets.setdefault(name, [])
            for target in self._places(expression, name, local) if expression is not None else ():
                if target not in found:
                    found.append(target)

    def _places(self, expression: ast.AST, name: str, local: Mapping[str, ast.AST]) -> Iterator[LazyTarget]:
        """Where the value of an expression comes from when the asked name is this one."""
        expression = _through(expression, local)
        if isinstance(expression, _Imported):
            yield from self._imported(expression)
        elif isinstance(expression, ast.Attribute):
            for owner in self._modules(expression.value, name, local):
                yield LazyTarget(owner, expression.attr)
        elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
            if expression.func.id == "getattr" and len(expression.args) >= 2:
                attribute = self._text(expression.args[1], name, local)
                for owner in self._modules(expression.args[0], name, local):
                    if attribute is not None:
                        yield LazyTarget(owner, attribute)
        for owner in self._modules(expression, name, local):
            yield LazyTarget(owner, "")

    def _imported(self, found: _Imported) -> Iterator[LazyTarget]:
        if isinstance(found.statement, ast.Import):
            name = found.alias.name if found.alias.asname else found.alias.name.partition(".")[0]
            yield LazyTarget(name, "")
        else:
            module = self._absolute("." * found.statement.level + (found.statement.module or ""))
            yield LazyTarget(module, found.alias.name)

    def _modules(self, expression: ast.AST, name: str, local: Mapping[str, ast.AST]) -> Iterator[str]:
        """The modules that an expression may be: an imported one, or the result of ``import_module``."""
        expression = _through(expression, local)
        if isinstance(expression, _Imported):
            for target in self._imported(expression):
                yield f"{target.module}.{target.name}" if target.name else target.module
        elif isinstance(expression, ast.Call) and expression.args:
            if _called(expression) in ("import_module", "__import__"):
                text = self._text(expression.args[0], name, local)
                if text:
                    yield self._absolute(text)

    def _text(self, expression: ast.AST, name: str, local: Mapping[str, ast.AST]) -> str | None:
        """The string an expression evaluates to for a name, as far as constants and the module's own name go."""
        if self._is_name(expression):
            return name
        expression = _through(expression, local)
        if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
            return expression.value
        if isinstance(expression, ast.Name):
            implicit = {"__name__": self._module, "__package__": self._package}
            return implicit.get(expression.id)
        if isinstance(expression, ast.JoinedStr):
            pieces = (v.value if isinstance(v, ast.FormattedValue) else v for v in expression.values)
            parts = [self._text(piece, name, local) for piece in pieces]
            return None if None in parts else "".join(p for p in parts if p is not None)
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
            left = self._text(expression.left, name, local)
            right = self._text(expression.right, name, local)
            return None if left is None or right is None else left + right
        entry = self._entry(expression, name, local)
        return self._text(entry, name, {}) if entry is not None else None

    def _entry(self, expression: ast.AST, name: str, local: Mapping[str, ast.AST]) -> ast.expr | None:
        """What a table holds for a name: ``TABLE[name]``, or one position of it."""
        if isinstance(expression, _Piece):
            whole = self._entry(expression.value, name, local)
            if isinstance(whole, ast.Tuple | ast.List) and expression.position < len(whole.elts):
                return whole.elts[expression.position]
            return None
        if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
            position = expression.slice.value
            return self._entry(_Piece(expression.value, position), name, local) if isinstance(position, int) else None
        if isinstance(expression, ast.Name):
            inner = _through(expression, local)
            return None if inner is expression else self._entry(inner, name, local)
        table = self._table(expression, local)
        return self._held(table, name) if table is not None else None

    def _held(self, table: ast.expr, name: str) -> ast.expr | None:
        """What a table of the module holds under a key."""
        if isinstance(table, ast.Name):
            constant = self._constants.get(table.id)
            return None if constant is None or constant is table else self._held(constant, name)
        if isinstance(table, ast.Dict):
            for key, value in reversed(list(_items(table))):
                if key is None:
                    found = self._held(value, name)
                    if found is not None:
                        return found
                elif isinstance(key, ast.Constant) and key.value == name:
                    return value
        elif isinstance(table, ast.BinOp):
            return self._held(table.right, name) or self._held(table.left, name)
        elif isinstance(table, ast.Call) and _called(table) in _WRAPPERS:
            given = [k.value for k in table.keywords if k.arg == name]
            return given[0] if given else self._held(table.args[0], name) if table.args else None
        return None

    def _absolute(self, module: str) -> str:
        level = len(module) - len(module.lstrip("."))
        if not level:
            return module
        package = self._package.split(".")
        base = package[: len(package) - level + 1]
        return ".".join([*base, module[level:]] if module[level:] else base)


class _Imported(ast.AST):
    """A local name that an import statement inside the function binds."""

    def __init__(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        super().__init__()
        self.statement = statement
        self.alias = alias


class _Piece(ast.AST):
    """One element of an unpacked value."""

    def __init__(self, value: ast.AST, position: int) -> None:
        super().__init__()
        self.value = value
        self.position = position


def _through(expression: ast.AST, local: Mapping[str, ast.AST]) -> ast.AST:
    """A local name replaced by what it was last given."""
    for _ in range(8):
        if not (isinstance(expression, ast.Name) and expression.id in local):
            break
        expression = local[expression.id]
    return expression


def _called(call: ast.Call) -> str | None:
    """The last part of the name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else None


def _string(expression: ast.expr) -> Names:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return frozenset({expression.value})
    return None


def _items(display: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    return zip(display.keys, display.values, strict=True)


def _pattern_values(pattern: ast.pattern) -> Names:
    if isinstance(pattern, ast.MatchValue):
        return _string(pattern.value)
    if isinstance(pattern, ast.MatchOr):
        return _any_of([_pattern_values(p) for p in pattern.patterns])
    return None


def _meet(a: Names, b: Names) -> Names:
    if a is None:
        return b
    return a if b is None else a & b


def _all_of(parts: Sequence[Names]) -> Names:
    result: Names = None
    for part in parts:
        result = _meet(result, part)
    return result


def _any_of(parts: Sequence[Names]) -> Names:
    result: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        result |= part
    return result
