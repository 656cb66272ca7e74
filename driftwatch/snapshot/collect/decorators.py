"""What decorators say about the function or class they stand on.

Enters: decorators as written, their names resolved to dotted paths. Leaves: how a method is bound, whether it is
abstract or a property, its deprecation mark, the keywords it accepts beside its own. A decorator that is not known
here leaves the ``def`` as it is: measured against live imports, that is what they do (`functools.wraps`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from driftwatch.snapshot.collect.source_facts import DecoratorFacts, FunctionFacts
from driftwatch.snapshot.model.symbols import Binding, Deprecation, Parameter

ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
CONTEXT_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
MAKES_OBJECT = frozenset({"click.command", "click.group", "click.decorators.command", "pytest.fixture"})
"""Functions of other distributions that leave an object in the place of the function."""
COMPILERS = frozenset({"jit", "njit", "kernel", "function"})
"""Names that other distributions give to decorators that compile a function and leave an object in its place."""
TRANSPARENT_ON_CLASSES = frozenset(
    {"dataclass", "final", "runtime_checkable", "total_ordering", "unique", "verify", "deprecated", "register"}
)
BINDING = frozenset({"classmethod", "staticmethod", "property", "cached_property"})
"""Python's own decorators that say how a member is looked up."""

_WARNINGS = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})
_GIST_LENGTH = 240
_REMOVAL = re.compile(
    r"remov\w*\s+(?:in|from|as\s+of|with|by|after)?\s*(?:the\s+)?(?:version|release)?\s*v?(\d+\.\d+(?:\.\d+)*)",
    re.IGNORECASE,
)
_REMOVAL_KEYWORDS = ("removal", "removed_in", "remove_in", "removal_version", "removed_version", "remove_version")
_MESSAGE_KEYWORDS = ("message", "reason", "msg", "details")


def last_name(path: str) -> str:
    return path.rpartition(".")[2]


def is_property(function: FunctionFacts) -> bool:
    """By name, whoever provides it: ``cached_property``, ``hybrid_property``, ``classproperty`` read as attributes."""
    return any(last_name(d.path).lower().endswith("property") for d in function.decorators)


def is_abstract(function: FunctionFacts) -> bool:
    return any(last_name(d.path) in ABSTRACT for d in function.decorators)


def makes_foreign_callable(function: FunctionFacts, owned: Callable[[str], bool]) -> bool:
    """Whether the name stands for no Python function any more: a C function pointer, a kernel for another device."""
    return any(
        d.path.startswith("ctypes.") or d.path in MAKES_OBJECT or (last_name(d.path) in COMPILERS and not owned(d.path))
        for d in function.decorators
    )


def makes_context(function: FunctionFacts) -> bool:
    return any(last_name(d.path) in CONTEXT_MANAGERS for d in function.decorators)


def binding_of(name: str, function: FunctionFacts) -> Binding:
    """What a method is bound to: decorators say it, and a few names are implied by the language."""
    for decorator in function.decorators:
        last = last_name(decorator.path)
        if last in ("staticmethod", "abstractstaticmethod"):
            return Binding.STATIC
        if last in ("classmethod", "abstractclassmethod"):
            return Binding.CLASS
    if name in ("__init_subclass__", "__class_getitem__"):
        return Binding.CLASS
    return Binding.STATIC if name == "__new__" else Binding.INSTANCE


def is_dataclass(decorators: Iterable[DecoratorFacts]) -> DecoratorFacts | None:
    """The decorator that makes a class a dataclass, when there is one."""
    return next((d for d in decorators if last_name(d.path) == "dataclass"), None)


def may_add_members(of_class: Iterable[DecoratorFacts]) -> bool:
    """Whether a decorator of a class is none of those that are known to give it no public names of its own."""
    return any(last_name(d.path) not in TRANSPARENT_ON_CLASSES for d in of_class)


def keyword_flag(decorator: DecoratorFacts, name: str) -> bool | None:
    """The literal truth value of a decorator's keyword."""
    for argument in decorator.arguments:
        if argument.name == name and argument.value.text in ("True", "False"):
            return argument.value.text == "True"
    return None


def deprecation_of(decorators: Iterable[DecoratorFacts], warns: str | None) -> Deprecation | None:
    """The deprecation mark of a definition: a decorator of that meaning, or the warning its body starts with."""
    for decorator in decorators:
        last = last_name(decorator.path).lower()
        if "deprecat" not in last or "alias" in last or "kwarg" in last or "arg" in last.split("_"):
            continue
        given = {a.name: a.value.text for a in decorator.arguments if a.name is not None}
        positional = [a.value.text for a in decorator.arguments if a.name is None]
        text = next((given[k] for k in _MESSAGE_KEYWORDS if k in given), positional[0] if positional else "")
        removal = next((literal(given[k]) for k in _REMOVAL_KEYWORDS if k in given), None)
        return _mark(literal(text) or "", removal)
    return _mark(warns, None) if warns is not None else None


def deprecation_warning(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The text of a deprecation warning that a function gives whenever it is called."""
    for statement in node.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
            continue
        call = statement.value
        if ast.unparse(call.func).rpartition(".")[2] != "warn" or not call.args:
            continue
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "category")]
        if any(ast.unparse(c).rpartition(".")[2] in _WARNINGS for c in given):
            return literal(ast.unparse(call.args[0])) or ""
    return None


def accepted_keywords(function: FunctionFacts) -> tuple[str, ...]:
    """Old names that a decorator such as ``deprecated_aliases(old="new")`` still accepts."""
    own = {p.name for p in function.parameters}
    accepted: list[str] = []
    for decorator in function.decorators:
        if not re.search(r"alias|renam|deprecat", last_name(decorator.path), re.IGNORECASE):
            continue
        pairs = _renamings(decorator)
        accepted.extend(old for old, new in pairs if new in own and old not in own)
    return tuple(sorted(set(accepted)))


def _renamings(decorator: DecoratorFacts) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    strings: list[str] = []
    for argument in decorator.arguments:
        value = _evaluated(argument.value.text)
        if isinstance(value, dict):
            pairs.extend((k, v) for k, v in value.items() if isinstance(k, str) and isinstance(v, str))
        elif isinstance(value, str):
            if argument.name is not None:
                pairs.append((argument.name, value))
            else:
                strings.append(value)
    if len(strings) == 2:
        pairs.append((strings[0], strings[1]))
    return pairs


def without_first(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Parameters as the caller of a bound method sees them."""
    if parameters and parameters[0].kind.value.startswith("positional"):
        return parameters[1:]
    return parameters


def literal(text: str) -> str | None:
    """The string that a piece of source text evaluates to, when it is a literal."""
    value = _evaluated(text)
    return value if isinstance(value, str) else None


def _evaluated(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _mark(message: str, removal: str | None) -> Deprecation:
    gist = " ".join(message.split())
    if removal is None and (named := _REMOVAL.search(gist)):
        removal = named.group(1)
    return Deprecation(gist if len(gist) <= _GIST_LENGTH else gist[: _GIST_LENGTH - 1].rstrip() + "…", removal)
