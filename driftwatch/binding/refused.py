"""Constant arguments that a release refuses: held against the conditions under which its functions raise at once.

Enters: a call and the history. Leaves: each condition that surely holds for it, and the releases. An argument that is
not one known constant leaves a condition open, and then nothing is said.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from driftwatch.binding.calls import Part, parts, refine
from driftwatch.flow.uses import Argument, CallUse, Constant, Unknown
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Refusal

_UNKNOWN = Unknown.UNKNOWN
_MOST = 12
"""Combinations of arguments that are told apart."""


def _product(one: object, other: object) -> object:
    """A product of numbers alone: one of text and a number may be of any size."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one * other
    raise TypeError


_OPERATORS: dict[type, Callable[..., object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _product,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}


def refused_by(use: CallUse, history: History) -> Iterator[tuple[Refusal, ReleaseSet]]:
    """The conditions under which a call surely raises, each with the releases in which it does."""
    found: dict[Refusal, ReleaseSet] = {}
    if any(signature and signature.refusals for each in history.of(use.callee) for signature in each.symbol.possible):
        for part in parts(use, history):
            for refusal in part.signature.refusals if part.signature is not None and part.bound.fits else ():
                for here, known in known_arguments(use, part, names_in(refusal.condition)):
                    if truth_of(refusal.condition, known):
                        found[refusal] = found.get(refusal, EMPTY) | here
    yield from found.items()


def truth_of(condition: str, known: Mapping[str, Constant]) -> bool | None:
    """Whether a condition holds; None where that is not known, or Python raises something else."""
    return _truth(_value(_tree(condition), known))


def names_in(condition: str) -> frozenset[str]:
    """The parameters that a condition is about."""
    return frozenset(node.id for node in ast.walk(_tree(condition)) if isinstance(node, ast.Name))


def _given(
    use: CallUse, part: Part, names: Collection[str]
) -> tuple[Mapping[str | None, Argument], Sequence[ReleaseSet]]:
    """The arguments of a call by parameter, and its releases in parts that no value of these parameters divides."""
    given = {use.keywords[i].name: use.keywords[i] for i in part.keywords}
    given |= {place: use.positional[i] for i, place in zip(part.positional, part.bound.places, strict=True) if place}
    return given, refine(part.releases, [where for name in names if name in given for where, _ in given[name].values])


def known_arguments(
    use: CallUse, part: Part, names: Collection[str]
) -> Iterator[tuple[ReleaseSet, Mapping[str, Constant]]]:
    """What these parameters are in a call, each with its one value, in parts of the releases; defaults included."""
    given, parts = _given(use, part, names)
    for here in parts:
        known: dict[str, Constant] = {}
        for name in names:
            argument = given.get(name)
            if argument is None:
                known[name] = default_in(part, name)
            elif argument.certain:
                values = [value for where, value in argument.values if here <= where]
                known[name] = values[0] if len(values) == 1 else _UNKNOWN
        yield here, known


def possible_arguments(
    use: CallUse, part: Part, names: Collection[str]
) -> Iterator[tuple[ReleaseSet, Mapping[str, Constant]]]:
    """As `known_arguments`, once for each combination of values; of too many only what is known for certain."""
    given, parts = _given(use, part, names)
    for here in parts:
        of_each = [_possible(given.get(name), part, name, here) for name in names]
        if math.prod(map(len, of_each)) > _MOST:
            of_each = [values if len(values) == 1 else (_UNKNOWN,) for values in of_each]
        for values in itertools.product(*of_each):
            yield here, dict(zip(names, values, strict=True))


def _possible(argument: Argument | None, part: Part, name: str, here: ReleaseSet) -> tuple[Constant, ...]:
    """All that a parameter may be in these releases, which no value's own set divides."""
    if argument is None:
        return (default_in(part, name),)
    values = [value for where, value in argument.values if here <= where]
    if not argument.certain:
        # It is the only place that may fill the parameter.
        values.append(_default(part, name))
    return tuple({(type(value), value): value for value in values}.values()) or (_UNKNOWN,)


def default_in(part: Part, name: str) -> Constant:
    """What a parameter is that nothing fills; unknown where something may."""
    shape = part.shape
    if part.signature is None or shape.open_keywords or shape.open_positional or shape.firm < len(shape.positional):
        return _UNKNOWN
    return _default(part, name)


def _default(part: Part, name: str) -> Constant:
    """The default of a parameter, as far as it is a literal."""
    if part.signature is None:
        return _UNKNOWN
    text = next((p.default for p in part.signature.parameters if p.name == name), None)
    try:
        value = ast.literal_eval(text) if text is not None else _UNKNOWN
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _UNKNOWN
    return value if value is None or isinstance(value, bool | int | float | str) else _UNKNOWN


@lru_cache(maxsize=1024)
def _tree(condition: str) -> ast.expr:
    return ast.parse(condition, mode="eval").body


def _value(node: ast.expr, known: Mapping[str, Constant]) -> object:
    """What an expression is worth, its truth where it is a condition; unknown where Python would raise."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id, _UNKNOWN)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        values = tuple(_value(each, known) for each in node.elts)
        return _UNKNOWN if _UNKNOWN in values else values
    if isinstance(node, ast.BoolOp):
        return _first(isinstance(node.op, ast.Or), (_truth(_value(each, known)) for each in node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        truth = _truth(_value(node.operand, known))
        return _UNKNOWN if truth is None else not truth
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _applied(operator.neg, _value(node.operand, known))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _applied(_OPERATORS[type(node.op)], _value(node.left, known), _value(node.right, known))
    if isinstance(node, ast.Compare):
        return _compared(node, known)
    return _UNKNOWN


def _compared(node: ast.Compare, known: Mapping[str, Constant]) -> object:
    values = [_value(each, known) for each in (node.left, *node.comparators)]
    steps = zip(node.ops, values, values[1:], strict=False)
    return _first(False, (_truth(_applied(_OPERATORS[type(op)], left, right)) for op, left, right in steps))


def _first(deciding: bool, truths: Iterable[bool | None]) -> object:
    """What conditions come to that are asked one after the other, until one decides or cannot be told."""
    for truth in truths:
        if truth is None:
            return _UNKNOWN
        if truth is deciding:
            return deciding
    return not deciding


def _applied(function: Callable[..., object], *values: object) -> object:
    if _UNKNOWN in values or (any(isinstance(value, str) for value in values) and function is operator.mod):
        return _UNKNOWN
    try:
        return function(*values)
    except (TypeError, ValueError, ArithmeticError):
        return _UNKNOWN


def _truth(value: object) -> bool | None:
    return None if value is _UNKNOWN else bool(value)
