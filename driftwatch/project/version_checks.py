"""Where a code base refuses to run with a release that is too old, whatever its metadata declare.

Enters: files, and the name of a distribution. Leaves: the checks, each with the least
version that it asks for. Known are a comparison of the installed version that is followed by a `raise`, there or in a
function that is given the distribution and the version; what a function does is read, and its name says nothing. One
that is never made, or whose exception the code itself takes, is none.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from driftwatch.project.python_files import PythonFiles

_ASKING = frozenset({"version", "get_version", "get_distribution"})
"""What gives the version of an installed distribution, by its last name."""

_ENDING = frozenset({"exit", "_exit", "abort", "fail", "error"})
"""What ends the program, by its last name."""

Round = Mapping[ast.AST, ast.AST]
"""What stands directly round each node."""

Parsed = Callable[[str], ast.Module | None]
"""The syntax of a file of the code base, by its path; None where there is none."""


@dataclass(frozen=True, slots=True, order=True)
class VersionCheck:
    """A place that raises where the installed release is older than `least`."""

    path: str
    line: int
    column: int
    end_column: int
    least: Version
    where: str = ""
    """The tests round it that must hold as well, as they are written; empty where it is made whenever it is met."""


class VersionChecks:
    """The checks of a code base. `prefix` goes before the name of a file that is told of."""

    def __init__(self, files: PythonFiles, prefix: str = "") -> None:
        self._files = files
        self._prefix = prefix
        self._known: dict[str, tuple[VersionCheck, ...]] = {}

    def of(self, name: str) -> tuple[VersionCheck, ...]:
        """All checks of a distribution, in order. Files are read when the first question comes."""
        name = canonicalize_name(name)
        if name not in self._known:
            self._known[name] = tuple(sorted(self._of(name)))
        return self._known[name]

    def _of(self, name: str) -> Iterator[VersionCheck]:
        spelt = re.compile(rb"""["']""" + name.replace("-", "[-_.]+").encode() + rb"""["']""", re.IGNORECASE)
        for path in self._files.having(first_word(name)):
            if spelt.search(self._files.read(path) or b""):
                for each in _in_file(path, name, self._files.syntax):
                    yield replace(each, path=self._prefix + each.path)


def first_word(distribution: str) -> str:
    """What stands in a file that names a distribution, however its parts are put together."""
    return canonicalize_name(distribution).partition("-")[0]


def _in_file(path: str, name: str, parsed: Parsed) -> Iterator[VersionCheck]:
    tree = parsed(path)
    round_it = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)} if tree else {}
    for node in ast.walk(tree) if tree is not None else ():
        least: Version | None = None
        place: ast.expr | None = None
        raising: ast.AST = node
        if isinstance(node, ast.If) and _raises(node.body):
            least, place = _refused(node.test, lambda each: _names(each, name)), node.test
        elif isinstance(node, ast.Call) and len(node.args) > 1 and _names(node.args[0], name):
            function = _function(node.func, path, parsed)
            if function is not None and _checks(function):
                least, place, raising = _version(node.args[1]), node, function
        if least is not None and place is not None and tree is not None and not _is_idle(node, raising, round_it, tree):
            end = place.end_col_offset if place.end_lineno == place.lineno else place.col_offset + 1
            columns = place.col_offset + 1, (end or place.col_offset) + 1
            yield VersionCheck(path, place.lineno, *columns, least, " and ".join(_tests(node, round_it)))


def _is_idle(node: ast.AST, raising: ast.AST, round_it: Round, tree: ast.Module) -> bool:
    """Whether a check refuses nothing: where it is never made, or what it raises is taken and the program goes on."""
    kinds = {_raised(each.exc) for each in ast.walk(raising) if isinstance(each, ast.Raise) and each.exc is not None}
    for inner, outer in _outwards(node, round_it):
        if isinstance(outer, ast.Try) and inner in outer.body and any(_swallows(h, kinds) for h in outer.handlers):
            return True
        if isinstance(outer, ast.If) and inner in outer.body and _never_holds(outer.test):
            return True
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_mentioned(outer, tree):
            return True
        block = next((each for each in _blocks(outer) if inner in each), [])
        before = block[: block.index(inner)] if isinstance(inner, ast.stmt) and inner in block else []
        if any(isinstance(each, ast.Return | ast.Raise | ast.Continue | ast.Break) for each in before):
            return True
    return False


def _outwards(node: ast.AST, round_it: Round) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What stands round something, from the inside out, each with what is in it."""
    while node in round_it:
        yield node, round_it[node]
        node = round_it[node]


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block


def _swallows(handler: ast.ExceptHandler, raised: set[str]) -> bool:
    """Whether a handler takes what a check may raise, and neither raises again nor ends the program."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    takes = not kinds or any(_is_a(each, _last(kind)) for kind in kinds for each in raised)
    ends = any(
        isinstance(each, ast.Raise) or (isinstance(each, ast.Call) and _last(each.func) in _ENDING)
        for statement in handler.body
        for each in ast.walk(statement)
    )
    return takes and not ends


def _raised(node: ast.expr) -> str:
    return _last(node.func if isinstance(node, ast.Call) else node)


def _is_a(name: str, taken: str) -> bool:
    """Whether an exception is one of a kind, both by name; of what is not Python's own, its name alone is known."""
    if name == taken or taken in ("Exception", "BaseException"):
        return True
    one, other = getattr(builtins, name, None), getattr(builtins, taken, None)
    return isinstance(one, type) and isinstance(other, type) and issubclass(one, other)


def _never_holds(test: ast.expr) -> bool:
    return _last(test) == "TYPE_CHECKING" or (isinstance(test, ast.Constant) and not test.value)


def _is_mentioned(function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.Module) -> bool:
    """Whether a function may be called: a private one has to be named somewhere in its file."""
    if not function.name.startswith("_") or function.name.startswith("__"):
        return True
    return any(
        isinstance(node, ast.Name | ast.Attribute) and _last(node) == function.name
        for node in ast.walk(tree)
        if node is not function
    )


def _tests(node: ast.AST, round_it: Round) -> list[str]:
    """The tests in the same function that lead to a check, the outermost first."""
    found: list[str] = []
    for inner, outer in _outwards(node, round_it):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        if isinstance(outer, ast.If) and inner is not outer.test:
            text = ast.unparse(outer.test)
            found.append(text if inner in outer.body else f"not ({text})")
    return found[::-1]


def _refused(test: ast.expr, is_it: Callable[[ast.expr], bool]) -> Version | None:
    """The version below which a test holds, where it compares that of the distribution with it."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt)):
        return None
    asked = [inner for inner in ast.walk(test.left) if isinstance(inner, ast.Call) and _last(inner.func) in _ASKING]
    if not any(call.args and is_it(call.args[0]) for call in asked):
        return None
    return _version(test.comparators[0])


def _checks(function: ast.FunctionDef) -> bool:
    """Whether a function raises where the version of its first parameter is less than its second."""
    parameters = [each.arg for each in function.args.args]
    if len(parameters) < 2:
        return False
    name, least = parameters[:2]
    installed = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _asks(node.value, name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.If) and _raises(node.body) and isinstance(node.test, ast.Compare):
            test = node.test
            left = {each.id for each in ast.walk(test.left) if isinstance(each, ast.Name)}
            right = {each.id for each in ast.walk(test.comparators[0]) if isinstance(each, ast.Name)}
            asked = bool(left & installed) or _asks(test.left, name)
            if len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt) and least in right and asked:
                return True
    return False


def _asks(node: ast.expr, parameter: str) -> bool:
    """Whether an expression asks for the installed version of what a parameter names."""
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call) and _last(inner.func) in _ASKING]
    return any(isinstance(a, ast.Name) and a.id == parameter for call in calls for a in call.args)


def _function(called: ast.expr, path: str, parsed: Parsed) -> ast.FunctionDef | None:
    """The function of a plain name: of the same file, or of the module that it is imported from."""
    tree = parsed(path)
    if not isinstance(called, ast.Name) or tree is None:
        return None
    own = _defined(tree, called.id)
    if own is not None:
        return own
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if (each.asname or each.name) == called.id:
                    return _imported(_base(node, path), each.name, parsed, 0)
    return None


def _imported(base: str, name: str, parsed: Parsed, depth: int) -> ast.FunctionDef | None:
    """A function of a module, or of one that this takes it from."""
    for candidate in (f"{base}.py", f"{base}/__init__.py"):
        tree = parsed(candidate)
        if tree is None or depth > 3:  # re-exports of re-exports
            continue
        found = _defined(tree, name)
        for node in ast.walk(tree) if found is None else ():
            if isinstance(node, ast.ImportFrom) and any(each.name in ("*", name) for each in node.names):
                found = found or _imported(_base(node, candidate), name, parsed, depth + 1)
        return found
    # The folder that is scanned may lie inside the package.
    shorter = base.partition("/")[2]
    return _imported(shorter, name, parsed, depth) if shorter else None


def _base(node: ast.ImportFrom, path: str) -> str:
    """The path of a module that is imported from, without its ending."""
    parts = path.split("/")[: -node.level] if node.level else []
    return "/".join([*parts, *(node.module or "").split(".")]).rstrip("/")


def _defined(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in body)


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and canonicalize_name(node.value) == name


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _version(node: ast.expr) -> Version | None:
    """A version that is written out, as text or as what is made of it."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    try:
        return Version(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    except InvalidVersion:
        return None
