"""Comparisons of objects of the code base: what their own methods say, and records, which compare field by field."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from driftwatch.flow.domain.code import ClassCode
from driftwatch.flow.domain.contents import Arguments, Entry, ListContent
from driftwatch.flow.domain.predicates import truth
from driftwatch.flow.domain.values import UNKNOWN, Const, External, Instance, Value, unknown, value_of
from driftwatch.flow.interpreter.members import instance_attribute, method_of
from driftwatch.flow.interpreter.records import fields_of, is_record
from driftwatch.flow.interpreter.run import Run, as_alternatives
from driftwatch.flow.syntax.syntax import dotted_name

_METHODS = {
    "Equal": ("__eq__", "__eq__"),
    "NotEqual": ("__ne__", "__ne__"),
    "LessThan": ("__lt__", "__gt__"),
    "LessThanEqual": ("__le__", "__ge__"),
    "GreaterThan": ("__gt__", "__lt__"),
    "GreaterThanEqual": ("__ge__", "__le__"),
}
"""The method of the left side for each operator, and that of the right side, which is asked where the left has none."""

ORDERS = frozenset(_METHODS)

_DERIVED: dict[str, dict[str, Callable[[bool, bool], bool]]] = {
    "__lt__": {
        "__gt__": lambda less, same: not less and not same,
        "__le__": lambda less, same: less or same,
        "__ge__": lambda less, same: not less,
    },
    "__le__": {
        "__ge__": lambda most, same: not most or same,
        "__lt__": lambda most, same: most and not same,
        "__gt__": lambda most, same: not most,
    },
    "__gt__": {
        "__lt__": lambda more, same: not more and not same,
        "__ge__": lambda more, same: more or same,
        "__le__": lambda more, same: not more,
    },
    "__ge__": {
        "__le__": lambda least, same: not least or same,
        "__gt__": lambda least, same: least and not same,
        "__lt__": lambda least, same: not least,
    },
}
"""What ``functools.total_ordering`` makes of the one method that there is, and of ``__eq__``."""


def compared(run: Run, left: Value, operation: str, right: Value, node: cst.CSTNode) -> Value | None:
    """What the methods of an object say of a comparison; None where none says anything."""
    if operation not in _METHODS:
        return None
    for this, name, other in zip((left, right), _METHODS[operation], (right, left), strict=True):
        atom = this.single()
        if isinstance(atom, Instance):
            said = _said(run, atom, name, other, node)
            if said is not None:
                return said
    return None


def _said(run: Run, this: Instance, name: str, other: Value, node: cst.CSTNode) -> Value | None:
    said = by_operator(run, this, name, (other,), node)
    if said is not None:
        return said
    if name == "__ne__":
        same = by_operator(run, this, "__eq__", (other,), node)
        return None if same is None else _of_both(same, same, lambda one, _: not one)
    if not _is_ordered(this.code):
        return None
    for known, derived in _DERIVED.items():
        how = derived.get(name)
        first = by_operator(run, this, known, (other,), node) if how is not None else None
        if how is not None and first is not None:
            return _of_both(first, by_operator(run, this, "__eq__", (other,), node) or unknown(run.state.reach), how)
    return None


def by_operator(run: Run, this: Instance, name: str, others: tuple[Value, ...], node: cst.CSTNode) -> Value | None:
    """What the method of an operator gives; None where there is none, or where it leaves that to the other side."""
    reach = run.state.reach
    given = ListContent(tuple(Entry(reach, reach, other) for other in others))
    said = method_of(run, this, name, Arguments(given), reach, node)
    if said is None or said.where(lambda atom: isinstance(atom, External) and atom.dotted.endswith("NotImplemented")):
        return None
    return said.within(run.state.reach)


def _of_both(one: Value, other: Value, how: Callable[[bool, bool], bool]) -> Value:
    found = []
    for where, a in one.alternatives:
        for there, b in as_alternatives(other, where):
            first, second = truth(a), truth(b)
            # What does not depend on what is not known is known all the same.
            said = {how(x, y) for x in _either(first) for y in _either(second)}
            found.append((there, Const(said.pop()) if len(said) == 1 else UNKNOWN))
    return value_of(found)


def _either(known: bool | None) -> tuple[bool, ...]:
    return (True, False) if known is None else (known,)


def _is_ordered(code: ClassCode) -> bool:
    names = (dotted_name(each.decorator) or "" for each in code.node.decorators)
    return any(name.rpartition(".")[2] == "total_ordering" for name in names)


def by_fields(run: Run, value: Value, node: cst.CSTNode) -> Value:
    """A record as the tuple of its fields, as which it compares."""
    atom = value.single()
    if not isinstance(atom, Instance) or not is_record(atom.code):
        return value
    reach = value.defined()
    held = (instance_attribute(run, atom, name, reach, None) for name in fields_of(atom.code))
    entries = tuple(Entry(reach, reach, unknown(reach) if each is None else each) for each in held)
    return run.new_list(node, ListContent(entries, is_tuple=True)).within(reach)
