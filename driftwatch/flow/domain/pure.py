"""Pure operations on constants, done by Python itself: this is how version comparisons become exact.

The library's version is one constant per release, so whatever a code base does to it (split, slice, convert, compare
with `packaging`) is simply done, release by release. Only side-effect-free operations on plain data are in the tables.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version, parse

from driftwatch.flow.domain.enums import Member
from driftwatch.flow.domain.values import Const

MAX_SIZE = 4096
"""Longer results are not kept."""

MAX_BITS = 4096
"""Longer numbers are not known: what is known may be written, and Python writes no number of over 4,300 digits."""

MAX_SEARCHED = 24
"""Longer texts are not searched by regular expressions, which may take exponential time; no version is longer."""

MAX_PATTERN = 200


class NotPureError(Exception):
    """The operation is not in the tables, or Python refused it; `raised` is the exception's name when it did."""

    def __init__(self, raised: str | None = None) -> None:
        super().__init__(raised or "")
        self.raised = raised


class Groups(tuple[Hashable, ...]):
    """What a match object gives: its whole text first, then its groups."""

    __slots__ = ()


def _groups(match: re.Match[str] | None) -> Groups | None:
    return None if match is None else Groups((match.group(0), *match.groups()))


def _searching(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `re` for short texts alone: a pattern may take for ever on a long one."""

    def search(pattern: str, *arguments: Any, **keywords: Any) -> Any:
        text = arguments[-1] if arguments else keywords.get("string", "")
        if len(pattern) > MAX_PATTERN or not isinstance(text, str) or len(text) > MAX_SEARCHED:
            raise NotPureError
        return function(pattern, *arguments, **keywords)

    return search


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
    "builtins.len": len,
    "builtins.tuple": tuple,
    "builtins.set": frozenset,
    "builtins.frozenset": frozenset,
    "builtins.sorted": lambda *a: tuple(sorted(*a)),
    "builtins.min": min,
    "builtins.max": max,
    "builtins.abs": abs,
    "builtins.range": range,
    "builtins.sum": sum,
    "builtins.chr": chr,
    "builtins.ord": ord,
    "builtins.round": round,
    "packaging.version.Version": Version,
    "packaging.version.parse": parse,
    "pkg_resources.parse_version": parse,
    "packaging.specifiers.SpecifierSet": SpecifierSet,
    "packaging.requirements.Requirement": Requirement,
    "distutils.version.LooseVersion": Version,
    "distutils.version.StrictVersion": Version,
    "re.match": _searching(lambda *a: _groups(re.match(*a))),
    "re.search": _searching(lambda *a: _groups(re.search(*a))),
    "re.fullmatch": _searching(lambda *a: _groups(re.fullmatch(*a))),
    "re.split": _searching(re.split),
    "re.findall": _searching(re.findall),
    "re.sub": _searching(re.sub),
    "operator.ge": operator.ge,
    "operator.gt": operator.gt,
    "operator.le": operator.le,
    "operator.lt": operator.lt,
    "operator.eq": operator.eq,
    "operator.ne": operator.ne,
}

_COPIES = re.compile(r".*\.(?:_?vendor|_?vendored|extern)\.(.+)")


def copied(dotted: str) -> str:
    """The path of what stands under a path: a package that another one carries a copy of is the package itself."""
    match = _COPIES.fullmatch(dotted)
    return match[1] if match else dotted


METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        {
            "split",
            "rsplit",
            "partition",
            "rpartition",
            "startswith",
            "endswith",
            "strip",
            "lstrip",
            "rstrip",
            "replace",
            "lower",
            "upper",
            "count",
            "find",
            "index",
            "join",
            "removeprefix",
            "removesuffix",
            "isdigit",
            "isnumeric",
            "isdecimal",
            "format",
            "casefold",
            "title",
            "splitlines",
        }
    ),
    tuple: frozenset({"index", "count"}),
    frozenset: frozenset({"issubset", "issuperset", "union", "intersection", "difference", "isdisjoint"}),
    SpecifierSet: frozenset({"contains"}),
}

ATTRIBUTES: dict[type, frozenset[str]] = {
    Version: frozenset(
        {
            "major",
            "minor",
            "micro",
            "release",
            "public",
            "base_version",
            "local",
            "is_prerelease",
            "is_postrelease",
            "post",
            "pre",
            "dev",
        }
    ),
    Member: frozenset({"name", "value"}),
    Requirement: frozenset({"name", "specifier"}),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Subtract": operator.sub,
    "Multiply": operator.mul,
    "FloorDivide": operator.floordiv,
    "Divide": operator.truediv,
    "Modulo": operator.mod,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
    "LeftShift": operator.lshift,
}

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
    "Is": lambda a, b: a is b if a is None or b is None or isinstance(a, bool) else a == b,
    "IsNot": lambda a, b: a is not b if a is None or b is None or isinstance(a, bool) else a != b,
}


def call(dotted: str, arguments: Sequence[Const], keywords: dict[str, Const] | None = None) -> Const:
    """Call a function of the table with constants."""
    function = FUNCTIONS.get(dotted)
    if function is None:
        raise NotPureError
    return _do(function, *(a.value for a in arguments), **{k: v.value for k, v in (keywords or {}).items()})


def method(owner: Const, name: str, arguments: Sequence[Const], keywords: dict[str, Const] | None = None) -> Const:
    """Call a method of a constant."""
    if isinstance(owner.value, Groups):
        return _group(owner.value, name, arguments)
    if not any(isinstance(owner.value, kind) and name in names for kind, names in METHODS.items()):
        raise NotPureError
    if name == "format" and not _plain_fields(owner.value):
        raise NotPureError
    bound = getattr(owner.value, name)
    return _do(bound, *(a.value for a in arguments), **{k: v.value for k, v in (keywords or {}).items()})


def has_method(owner: Const, name: str) -> bool:
    if isinstance(owner.value, Groups):
        return name in ("group", "groups")
    return any(isinstance(owner.value, kind) and name in names for kind, names in METHODS.items())


def attribute(owner: Const, name: str) -> Const:
    """Read a plain attribute of a constant."""
    if not any(isinstance(owner.value, kind) and name in names for kind, names in ATTRIBUTES.items()):
        raise NotPureError
    if isinstance(owner.value, Member) and not owner.value.known and name == "value":
        raise NotPureError
    return _do(lambda: getattr(owner.value, name))


UNARY: dict[str, Callable[[Any], Any]] = {"Minus": operator.neg, "Plus": operator.pos, "BitInvert": operator.invert}


def unary(operation: str, operand: Const) -> Const:
    function = UNARY.get(operation)
    if function is None or not isinstance(operand.value, (int, float, Member)):
        raise NotPureError
    return _do(function, operand.value)


def binary(operation: str, left: Const, right: Const) -> Const:
    function = BINARY.get(operation)
    if function is None:
        raise NotPureError
    if operation in ("Multiply", "LeftShift") and not (_small(left.value) and _small(right.value)):
        raise NotPureError
    if operation == "Modulo" and isinstance(left.value, (str, bytes)) and not _plain_fields(left.value):
        raise NotPureError
    return _do(function, left.value, right.value)


def compare(operation: str, left: Const, right: Const) -> bool:
    function = COMPARE.get(operation)
    if function is None:
        raise NotPureError
    return bool(_do(function, left.value, right.value).value)


def subscript(owner: Const, index: Hashable | slice) -> Const:
    value: Any = owner.value
    return _do(lambda: value[index])


def _plain_fields(text: object) -> bool:
    """Whether a text to be formatted has fields without widths, which could be as large as one likes."""
    return isinstance(text, str) and _WIDE_FIELD.search(text) is None


_WIDE_FIELD = re.compile(r"%[^a-zA-Z%]*[\d*]|\{[^}]*[^}\w]")


def _small(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < 10_000


def _group(groups: Groups, name: str, arguments: Sequence[Const]) -> Const:
    if name == "groups" and not arguments:
        return Const(tuple(groups[1:]))
    if name == "group" and len(arguments) <= 1:
        index = arguments[0].value if arguments else 0
        if isinstance(index, int):
            return _do(lambda: groups[index])
    raise NotPureError


_REFUSALS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError, RuntimeError, TypeError,
    ValueError, re.error,
)  # fmt: skip
"""What an operation on plain data may raise."""


def _do(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Const:
    try:
        result = function(*arguments, **keywords)
    except _REFUSALS as error:
        raise NotPureError(type(error).__name__) from None
    if isinstance(result, (list, range)):
        result = tuple(result[: MAX_SIZE + 1])
    if isinstance(result, (str, bytes, tuple, frozenset)) and len(result) > MAX_SIZE:
        raise NotPureError
    if not _plain(result) or not writable(result):
        raise NotPureError
    return Const(result)


def writable(value: object) -> bool:
    """Whether plain data holds no number that is too long to be written."""
    if isinstance(value, int):
        return value.bit_length() <= MAX_BITS
    return not isinstance(value, (tuple, list, set, frozenset)) or all(map(writable, value))


def _plain(value: object) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, bytes, Version, SpecifierSet, Requirement, Member)):
        return True
    return isinstance(value, (tuple, frozenset)) and all(_plain(item) for item in value)
