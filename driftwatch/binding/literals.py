"""Constant arguments held against the ``Literal[...]`` that a release's signature declares for a parameter.

Enters: a call in parts, as `calls.parts` has them. Leaves: the constants that are none of those declared, each with the
releases. An argument whose value is not known says nothing, and neither does an annotation that takes more than
constants.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from driftwatch.binding.calls import Part
from driftwatch.flow.uses import Argument, CallUse, Constant
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.symbols import Parameter

_UNIONS = frozenset({"Optional", "Union"})


@dataclass(frozen=True, slots=True)
class Outside:
    """A constant that a parameter is not declared to take: `declared` are those it is.

    `certain` says that nothing else may be passed there in these releases.
    """

    argument: Argument
    parameter: str
    value: Constant
    declared: tuple[Constant, ...]
    releases: ReleaseSet
    certain: bool


def outside_literals(use: CallUse, parts: Iterable[Part]) -> Iterator[Outside]:
    """The constants of a call that are none of those its callee declares, release by release."""
    for part in parts:
        if part.signature is None or not part.bound.fits:
            continue
        known = {parameter.name: parameter for parameter in part.signature.parameters}
        given = [(use.keywords[i], use.keywords[i].name) for i in part.keywords]
        given += [(use.positional[i], name) for i, name in zip(part.positional, part.bound.places, strict=True)]
        for argument, name in given:
            if name is not None and (parameter := known.get(name)) is not None:
                yield from _outside(argument, parameter, part.releases)


def _outside(argument: Argument, parameter: Parameter, within: ReleaseSet) -> Iterator[Outside]:
    declared = literals_of(parameter.annotation)
    kinds = {type(value) for value in declared} - {type(None)}
    if not kinds:
        return
    others = EMPTY
    found: list[tuple[ReleaseSet, Constant]] = []
    for releases, value in argument.values:
        # What is of another kind altogether is left to a type checker: it may be something that compares equal.
        if type(value) in kinds and not any(type(value) is type(each) and value == each for each in declared):
            found.append((releases & within, value))
        else:
            others |= releases
    for releases, value in found:
        sure = releases - others if argument.certain else EMPTY
        for part, certain in ((sure, True), (releases - sure, False)):
            if part:
                yield Outside(argument, parameter.name, value, declared, part, certain)


@cache
def literals_of(annotation: str | None) -> tuple[Constant, ...]:
    """The constants that an annotation takes, where it takes nothing else; None may be among them."""
    if annotation is None or "Literal" not in annotation:
        return ()
    try:
        found = _of(ast.parse(annotation, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return found or ()


def _of(node: ast.expr) -> tuple[Constant, ...] | None:
    """The constants of an annotation; None where it takes anything else."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return _of(ast.parse(node.value, mode="eval").body)
        return (None,) if node.value is None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _all([node.left, node.right])
    if not isinstance(node, ast.Subscript):
        return None
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    if name == "Literal":
        return _constants(inner)
    if name in _UNIONS:
        found = _all(inner)
        return found if found is None or name == "Union" else (*found, None)
    return None


def _all(nodes: list[ast.expr]) -> tuple[Constant, ...] | None:
    found: list[Constant] = []
    for node in nodes:
        values = _of(node)
        if values is None:
            return None
        found += values
    return tuple(found)


def _constants(nodes: list[ast.expr]) -> tuple[Constant, ...] | None:
    found: list[Constant] = []
    for node in nodes:
        if not isinstance(node, ast.Constant) or not (node.value is None or isinstance(node.value, bool | int | str)):
            return None
        found.append(node.value)
    return tuple(found)
