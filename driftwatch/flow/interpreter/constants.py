"""Values that are known exactly: as the arguments of a pure function, and the two sides of an operator."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from driftwatch.flow.domain import pure
from driftwatch.flow.domain.contents import DictContent, Entry, ListContent
from driftwatch.flow.domain.lineage import lineage
from driftwatch.flow.domain.taint import depends_on_release, unknown_tainted
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    Const,
    DictRef,
    Instance,
    ListRef,
    ParameterMap,
    Raised,
    Unknown,
    Value,
    atom_of,
    value_of,
)
from driftwatch.flow.interpreter.objects import content_of
from driftwatch.flow.interpreter.run import Run, as_alternatives, lists_of
from driftwatch.flow.interpreter.sequences import layouts_of
from driftwatch.releases import ReleaseSet

MAX_COMBINATIONS = 256
"""Combinations of the arguments' alternatives that are looked at."""

MAX_PRODUCT = 512
"""Pairs of alternatives that a binary operation looks at."""


def constants_of(
    run: Run, args: ListContent, keywords: DictContent
) -> Iterator[tuple[ReleaseSet, list[Const] | None, dict[str, Const]]]:
    """Every combination of the arguments' constants, with its releases; None where one is no constant."""
    combinations: list[tuple[ReleaseSet, list[Const] | None, dict[str, Const]]] = [(run.state.reach, [], {})]
    if args.open & run.state.reach or keywords.open & run.state.reach:
        yield run.state.reach, None, {}
        return
    named: list[tuple[str | None, Entry]] = [(None, e) for e in args.elements]
    named += [(name, entry) for name, entry in keywords.entries.items() if isinstance(name, str)]
    for name, entry in named:
        grown: list[tuple[ReleaseSet, list[Const] | None, dict[str, Const]]] = []
        for where, values, by_name in combinations:
            for there, constant in _constants_within(run, entry.value, where):
                if values is None or constant is None:
                    grown.append((there, None, {}))
                elif name is None:
                    grown.append((there, [*values, constant], by_name))
                else:
                    grown.append((there, values, {**by_name, name: constant}))
        if len(grown) > MAX_COMBINATIONS:
            yield run.state.reach, None, {}
            return
        combinations = grown
    yield from combinations


def _constants_within(run: Run, value: Value, where: ReleaseSet) -> Iterator[tuple[ReleaseSet, Const | None]]:
    for here, atom in as_alternatives(value, where):
        run.asks_constant(atom)
        yield from constants_within(run, atom, here)


def constants_within(run: Run, atom: Atom, where: ReleaseSet) -> list[tuple[ReleaseSet, Const | None]]:
    """An atom as constants, where it is another one in other releases; None where it is none."""
    content = run.content(atom.key) if isinstance(atom, ListRef) else None
    constant = as_constant(run, atom, where)
    if constant is not None or not isinstance(content, ListContent) or content.open & where:
        return [(where, constant)]
    found: list[tuple[ReleaseSet, Const | None]] = []
    for there, listed in layouts_of(content, where):
        tuples = tuple_of(listed, there) if listed is not None else None
        if tuples is None:
            found.append((there, None))
            continue
        for here, each in tuples.alternatives:
            items = each.value if isinstance(each, Const) and isinstance(each.value, tuple) else ()
            found.append((here, Const(frozenset(items) if content.is_set else items)))
    return found


def as_constant(run: Run, atom: Atom, where: ReleaseSet) -> Const | None:
    """An atom as a constant in these releases: a list or a signature's names become a tuple of constants."""
    if isinstance(atom, Const):
        return atom
    if isinstance(atom, ParameterMap):
        return Const(tuple(p.name for p in atom.parameters))
    if isinstance(atom, (ListRef, DictRef)):
        content = run.content(atom.key)
        entries: Sequence[Entry]
        if isinstance(content, DictContent):
            held = {k: e for k, e in content.entries.items() if not e.releases.isdisjoint(where)}
            if content.open & where or not all(where <= e.certain for e in held.values()):
                return None
            keys = [atom_of(key) for key in held]
            return (
                Const(tuple(key.value for key in keys if isinstance(key, Const)))
                if all(isinstance(key, Const) for key in keys)
                else None
            )
        if not isinstance(content, ListContent) or content.open & where:
            return None
        entries = [e for e in content.elements if not e.releases.isdisjoint(where)]
        values: list[object] = []
        for entry in entries:
            single = entry.value.within(where).single()
            if not isinstance(single, Const) or not where <= entry.certain:
                return None
            values.append(single.value)
        return Const(frozenset(values) if content.is_set else tuple(values))
    return None


def tuple_of(entries: Sequence[Entry], where: ReleaseSet) -> Value | None:
    """A tuple of constants that may be others in other releases; None where an element is no constant."""
    combinations: list[tuple[ReleaseSet, tuple[Hashable, ...]]] = [(where, ())]
    for entry in entries:
        if not where <= entry.certain:
            return None
        alternatives = as_alternatives(entry.value, where)
        constants = [(where, atom.value) for where, atom in alternatives if isinstance(atom, Const)]
        if len(constants) < len(alternatives) or len(constants) * len(combinations) > MAX_PRODUCT:
            return None
        combinations = [
            (here & there, (*values, value))
            for here, values in combinations
            for there, value in constants
            if not here.isdisjoint(there)
        ]
    return value_of((where, Const(values)) for where, values in combinations)


def pairwise(run: Run, operation: str, left: Value, right: Value) -> Value:
    pairs = len(left.alternatives) * len(right.alternatives)
    if pairs > MAX_PRODUCT:
        return run.combine(run.state.reach, left, right)
    found: list[tuple[Any, Atom]] = []
    guards = depends_on_release(left) | depends_on_release(right)
    for where, a in left.alternatives:
        for there, b in right.alternatives:
            both = where & there & run.state.reach
            if not both:
                continue
            atom = _combined(operation, a, b)
            if atom is not None:
                found.append((both, atom))
            elif guards.mask:
                made = run.combine(both, left.within(both), right.within(both))
                found.extend(unknown_tainted(made, guards).alternatives)
            else:
                found.extend(run.combine(both, Value(((both, a),)), Value(((both, b),))).alternatives)
    return value_of(found)


def _combined(operation: str, left: Atom, right: Atom) -> Atom | None:
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return pure.binary(operation, left, right)
        except pure.NotPureError:
            return None
    for known, other in ((left, right), (right, left)):
        # A flag that is put together bit by bit, as others are by `and` and `or`.
        if isinstance(known, Const) and isinstance(known.value, bool) and isinstance(other, Unknown):
            if (operation, known.value) in (("BitAnd", False), ("BitOr", True)):
                return replace(other, truth=known.value)
    return None


def text_of(run: Run, value: Value) -> Value:
    """What ``str`` makes of a value: of an exception, its message."""
    return value_of(
        alternative
        for where, atom in as_alternatives(value, run.state.reach)
        for alternative in _text_of(run, atom, where)
    )


def _text_of(run: Run, atom: Atom, where: ReleaseSet) -> Sequence[Alternative]:
    if isinstance(atom, Const):
        return [(where, Const(str(atom.value)))]
    if isinstance(atom, Raised):
        text = _message(run, atom.made) if atom.made is not None else atom.text
        return [(where, Unknown(truth=True) if text is None else Const(text))]
    return run.combine(where, Value(((where, atom),))).alternatives


def _message(run: Run, made: Instance) -> str | None:
    """The message of an exception of the code base's own, where Python makes it of the one thing it was given."""
    content = content_of(run, made)
    given = content.entries.get("args") if content is not None else None
    if given is None or any("__str__" in each.methods for each in lineage(made.code)[0]):
        return None
    atom = given.value.single()
    if isinstance(atom, ListRef):
        listed = lists_of(run, atom)
        atom = listed.elements[0].value.single() if listed is not None and len(listed.elements) == 1 else None
    return str(atom.value) if isinstance(atom, Const) else None
