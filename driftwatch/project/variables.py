"""Where a code base sets an environment variable for what it starts, or reads it itself.

Enters: files, and a variable's name. Leaves: the places, by what stands there as text; a value that is no text is not
known. Files are read when the first question comes, and parsed only where they hold the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from driftwatch.project.python_files import PythonFiles


class How(Enum):
    """What is done with a variable."""

    SET = "set"
    READ = "read"


@dataclass(frozen=True, slots=True, order=True)
class Touch:
    """A place at which a variable is set or read. `value` is what it is set to, None where that is not known."""

    path: str
    line: int
    how: How = field(compare=False)
    value: str | None = field(default=None, compare=False)


class Variables:
    """The environment variables of a code base."""

    def __init__(self, files: PythonFiles) -> None:
        self._files = files
        self._known: dict[str, tuple[Touch, ...]] = {}

    def touched(self, name: str) -> tuple[Touch, ...]:
        """Where a variable is set or read, in order."""
        if name not in self._known:
            self._known[name] = tuple(sorted(self._touched(name)))
        return self._known[name]

    def _touched(self, name: str) -> Iterator[Touch]:
        for path in self._files.having(name):
            tree = self._files.syntax(path)
            if tree is not None:
                for line, how, value in _Module(tree).touches(name):
                    yield Touch(path, line, how, value)


class _Module:
    """One file: the names by which it knows the environment, and its constants."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._os: set[str] = set()
        self._names = {"environ": set[str](), "getenv": set[str](), "putenv": set[str]()}
        self._constants: dict[str, str | None] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import):
                self._os |= {each.asname or each.name for each in node.names if each.name == "os"}
            elif isinstance(node, ast.ImportFrom) and node.module == "os" and not node.level:
                for each in node.names:
                    if each.name in self._names:
                        self._names[each.name].add(each.asname or each.name)
        for node in self._nodes:
            for target, value in _assigned(node):
                if isinstance(target, ast.Name):
                    said = _text(value)
                    again = target.id in self._constants and self._constants[target.id] != said
                    self._constants[target.id] = None if again else said
                    if self._is_copy(value):
                        self._names["environ"].add(target.id)

    def touches(self, name: str) -> Iterator[tuple[int, How, str | None]]:
        for node in self._nodes:
            for target, value in _assigned(node):
                if (
                    isinstance(target, ast.Subscript)
                    and self._is_environ(target.value)
                    and self._is(target.slice, name)
                ):
                    yield target.lineno, How.SET, self._value(value)
            if isinstance(node, ast.AugAssign) and self._is_environ(node.target):
                yield from self._in_dict(node.value, name)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                if self._is_environ(node.value) and self._is(node.slice, name):
                    yield node.lineno, How.READ, None
            elif isinstance(node, ast.Compare) and self._is(node.left, name):
                if isinstance(node.ops[0], ast.In | ast.NotIn) and self._is_environ(node.comparators[0]):
                    yield node.lineno, How.READ, None
            elif isinstance(node, ast.Call):
                yield from self._in_call(node, name)

    def _in_call(self, node: ast.Call, name: str) -> Iterator[tuple[int, How, str | None]]:
        for keyword in node.keywords:
            if keyword.arg == "env":
                yield from self._in_dict(keyword.value, name)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if method == "update" and isinstance(node.func, ast.Attribute) and self._is_environ(node.func.value):
            for argument in node.args:
                yield from self._in_dict(argument, name)
            for keyword in node.keywords:
                if keyword.arg == name:
                    yield node.lineno, How.SET, self._value(keyword.value)
        if not node.args or not self._is(node.args[0], name):
            return
        given = self._value(node.args[1]) if len(node.args) > 1 else None
        if method == "setenv" or self._calls(node.func, "putenv"):
            yield node.lineno, How.SET, given
        elif self._calls(node.func, "getenv"):
            yield node.lineno, How.READ, None
        elif isinstance(node.func, ast.Attribute) and self._is_environ(node.func.value):
            if method == "setdefault":
                yield node.lineno, How.SET, given
            elif method == "get":
                yield node.lineno, How.READ, None

    def _in_dict(self, node: ast.expr, name: str) -> Iterator[tuple[int, How, str | None]]:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None and self._is(key, name):
                    yield key.lineno, How.SET, self._value(value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            for keyword in node.keywords:
                if keyword.arg == name:
                    yield node.lineno, How.SET, self._value(keyword.value)

    def _is_environ(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._names["environ"]
        return self._calls(node, "environ")

    def _is_copy(self, node: ast.expr) -> bool:
        """Whether it is the environment, or one made of it for another process."""
        if isinstance(node, ast.Dict):
            return any(
                key is None and self._is_environ(value) for key, value in zip(node.keys, node.values, strict=True)
            )
        if not isinstance(node, ast.Call):
            return self._is_environ(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
            return self._is_environ(node.func.value)
        return isinstance(node.func, ast.Name) and node.func.id == "dict" and any(map(self._is_environ, node.args))

    def _calls(self, node: ast.expr, name: str) -> bool:
        """Whether it is what `os` has under this name."""
        if isinstance(node, ast.Name):
            return node.id in self._names[name]
        return (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.value, ast.Name)
            and node.value.id in self._os
        )

    def _is(self, node: ast.expr, name: str) -> bool:
        return self._value(node) == name

    def _value(self, node: ast.expr) -> str | None:
        return self._constants.get(node.id) if isinstance(node, ast.Name) else _text(node)


def _assigned(node: ast.AST) -> Sequence[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        return [(node.target, node.value)]
    return ()


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
