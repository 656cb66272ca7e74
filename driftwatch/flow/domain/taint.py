"""What a value owes to the release: constants that differ by it, and unknown values that were made from guards."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from driftwatch.flow.domain.predicates import touches_library
from driftwatch.flow.domain.values import (
    TAINTED,
    UNKNOWN,
    Alternative,
    ArgSpecOf,
    Atom,
    CodeOf,
    Const,
    MethodOf,
    NamesOf,
    ParameterInfo,
    ParameterMap,
    SignatureOf,
    Unknown,
    Value,
    join,
    unknown,
    value_of,
)
from driftwatch.releases import EMPTY, ReleaseSet


def differs_by_release(value: Value) -> bool:
    """Whether a value is one constant in some releases and another one in others: a flag that a guard has set."""
    if len(value.alternatives) < 2:
        return False
    return len({where.mask for where, atom in value.alternatives if type(_owner_of(atom)) is Const}) > 1


def is_tainted(atom: Atom) -> bool:
    """Whether an atom is unknown, and was made from what depends on the release."""
    return type(atom) is Unknown and atom.tainted


def depends_on_release(value: Value) -> ReleaseSet:
    """The releases in which the value was found out of the library, or would be another one in another release."""
    if len(value.alternatives) == 1:
        where, atom = value.alternatives[0]
        return where if is_tainted(atom) or type(_owner_of(atom)) in _ANSWERS else EMPTY
    found, constant, first, differs = EMPTY, EMPTY, None, False
    for where, atom in value.alternatives:
        if type(atom) is Unknown:
            if atom.tainted:
                found |= where
            continue
        kind = type(_owner_of(atom))
        if kind is Const:
            constant |= where
            differs = differs or (first is not None and first != where)
            first = where
        elif kind in _ANSWERS:
            found |= where
    return found | constant if differs else found


_ANSWERS = frozenset({SignatureOf, ArgSpecOf, ParameterMap, ParameterInfo, CodeOf, NamesOf})
"""What the library answers when it is looked at."""


def _owner_of(atom: Atom) -> Atom:
    return atom.owner if type(atom) is MethodOf else atom


def derived_from(releases: ReleaseSet, *values: Value) -> Value:
    """As `made_from`, of values alone: what it is of a parameter's, whoever calls the function decides."""
    made = made_from(releases, *values)
    parameter, part = None, True
    for value in values:
        for _, atom in value.alternatives:
            if type(atom) is Unknown and atom.parameter is not None:
                parameter, part = parameter or atom.parameter, part and atom.part
    if parameter is None:
        return made
    return Value(
        tuple(
            (where, Unknown(parameter, is_tainted(atom), derived=True, part=part)) for where, atom in made.alternatives
        )
    )


def of_parameter(atom: Atom) -> TypeGuard[Unknown]:
    """Whether an atom is what came in by a parameter of the current function, or was made from it."""
    return isinstance(atom, Unknown) and atom.parameter is not None


def made_from(releases: ReleaseSet, *values: Value) -> Value:
    """What something that is not understood makes of values: anything, and tainted where one of them is a guard's."""
    tainted = EMPTY
    for value in values:
        found = depends_on_release(value)
        if found.mask:
            tainted |= found & releases
    if not tainted.mask:
        return unknown(releases)
    return value_of([(releases - tainted, UNKNOWN), (tainted, TAINTED)])


def tainted_within(value: Value, releases: ReleaseSet) -> Value:
    """The value, chosen in these releases by a test that depends on the release and could not be followed."""
    return join(value, Value(((releases, TAINTED),))) if releases else value


def unknown_tainted(value: Value, guards: ReleaseSet) -> Value:
    """The value, made in these releases from what depends on the release: what is unknown of it there is tainted."""
    if not guards.mask or guards.isdisjoint(value.where(_may_be_tainted)):
        return value
    found: list[Alternative] = []
    for where, atom in value.alternatives:
        if _may_be_tainted(atom) and isinstance(atom, Unknown):
            found.append((where & guards, replace(atom, tainted=True)))
            found.append((where - guards, atom))
        else:
            found.append((where, atom))
    return value_of(found)


def _may_be_tainted(atom: Atom) -> bool:
    return type(atom) is Unknown and not atom.tainted


def anonymous(atom: Atom) -> Atom:
    """An atom as it is outside of the function whose parameter it came in by."""
    return Unknown(None, atom.tainted, atom.truth) if isinstance(atom, Unknown) and atom.parameter else atom


def tells(value: Value) -> bool:
    """Whether a value tells something about the library to whoever reads it."""
    return differs_by_release(value) or any(touches_library(a) or is_tainted(a) for _, a in value.alternatives)
