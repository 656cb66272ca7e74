"""What tests of an attribute say of an object of the library, and which values are only there where they said so.

Enters: an attribute of such an object, and what it is compared with. Leaves: facts for either way of the test, and
values some of whose atoms go together with facts. They decide no branch: what an object says of itself is the
library's affair. Objects that were made alike, of the same things, count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

from driftwatch.flow.domain.frozen import frozen
from driftwatch.flow.domain.values import Alternative, Atom, Const, Key, LibInstance, Unknown, Value, value_of
from driftwatch.flow.uses import OPEN
from driftwatch.releases import EMPTY, ReleaseSet


@frozen
class Fact:
    """Whether an attribute of an object is one of these constants."""

    of: LibInstance
    name: str
    among: tuple[Hashable, ...]
    holds: bool


Facts = frozenset[Fact]
NO_FACTS: Facts = frozenset()


@frozen
class ToldValue(Value):
    """A value of which some atoms are only there where facts hold; without any, wherever the value is."""

    told: tuple[tuple[Atom, Facts], ...] = ()

    def within(self, releases: ReleaseSet) -> Value:
        found = Value(self.alternatives).within(releases)
        return found if not found.alternatives else ToldValue(found.alternatives, self.told)

    def joined(self, other: Value) -> Value:
        mine, others = dict(self.told), dict(told_of(other))
        here, there = ({atom for _, atom in value.alternatives} for value in (self, other))
        both = value_of((*self.alternatives, *other.alternatives))
        told: dict[Atom, Facts] = {}
        for _, atom in both.alternatives:
            first, second = mine.get(atom, NO_FACTS), others.get(atom, NO_FACTS)
            told[atom] = first & second if atom in here and atom in there else first or second
        return _value_told(both, told.items())


def told_of(value: Value) -> tuple[tuple[Atom, Facts], ...]:
    """The facts that go together with each atom of a value."""
    return value.told if isinstance(value, ToldValue) else ()


def telling(value: Value, facts: Facts) -> Value:
    """A value as it is where these facts hold."""
    if not facts or not value.alternatives:
        return value
    before = dict(told_of(value))
    return _value_told(value, [(atom, before.get(atom, NO_FACTS) | facts) for _, atom in value.alternatives])


def as_in(found: Value, value: Value) -> Value:
    """What is left of a value, with the facts that its atoms went together with."""
    told = dict(told_of(value))
    return _value_told(found, [(atom, told.get(atom, NO_FACTS)) for _, atom in found.alternatives]) if told else found


def common(value: Value, atoms: Iterable[Atom]) -> Facts:
    """The facts that hold wherever a value is one of these atoms of it."""
    told = dict(told_of(value))
    found: Facts | None = None
    for atom in atoms if told else ():
        here = told.get(atom, NO_FACTS)
        found = here if found is None else found & here
    return found or NO_FACTS


def _value_told(value: Value, told: Iterable[tuple[Atom, Facts]]) -> Value:
    kept = tuple((atom, facts) for atom, facts in told if facts)
    return ToldValue(value.alternatives, kept) if kept else Value(value.alternatives)


def said_by(asked: Iterable[tuple[ReleaseSet, Atom, bool | None]], operation: str, wanted: Atom) -> tuple[Facts, Facts]:
    """What a comparison says on its two ways of the objects that one side was read from.

    `asked` are the atoms of that side, each with whether the comparison holds for it, `wanted` is the other side. A
    way that something else may go as well, which was read from no such object, says nothing.
    """
    among = _constants(operation, wanted)
    if among is None:
        return NO_FACTS, NO_FACTS
    asked = list(asked)
    is_it = operation in ("Equal", "Is", "In")
    yes = _read_from((where, atom) for where, atom, holds in asked if holds is not False)
    no = _read_from((where, atom) for where, atom, holds in asked if holds is not True)
    return (
        frozenset(Fact(of, name, among, is_it) for of, name in yes),
        frozenset(Fact(of, name, among, not is_it) for of, name in no),
    )


def is_read_from(atom: Atom) -> bool:
    """Whether an atom is an attribute of an object of the library."""
    return type(atom) is Unknown and atom.of is not None


def is_left_open(alternative: Alternative) -> bool:
    """Whether something is an object of the library's that was made with a text that nobody knows."""
    atom = alternative[1]
    return isinstance(atom, LibInstance) and any(text.endswith(f"={OPEN}") for text in atom.made_of)


def _constants(operation: str, wanted: Atom) -> tuple[Hashable, ...] | None:
    if not isinstance(wanted, Const):
        return None
    if operation in ("Equal", "NotEqual", "Is", "IsNot"):
        return (wanted.value,)
    if operation in ("In", "NotIn") and isinstance(wanted.value, (tuple, frozenset)):
        return tuple(sorted(wanted.value, key=repr))
    return None


def _read_from(alternatives: Iterable[Alternative]) -> Iterator[tuple[LibInstance, str]]:
    """The objects that something was read from, wherever it was read from nothing else."""
    read, others = [], EMPTY
    for where, atom in alternatives:
        if isinstance(atom, Unknown) and atom.of is not None:
            read.append((where, atom.of))
        else:
            others |= where
    for where, (of, name) in read:
        if isinstance(of, LibInstance) and where.isdisjoint(others):
            yield of, name


# -- what an object was made with that is not known --------------------------------------------------------------------

_ITS_KEY = ("", 0)
"""Stands for the key that an object is under, where it was made with that."""


def kept_under_asked(value: Value, asked: tuple[str | None, int]) -> Value:
    """What is put under a key that is not known, a parameter of this name in this call."""
    return _each_asked(value, lambda atom: _under(atom, asked))


def _under(atom: LibInstance, asked: tuple[str | None, int]) -> LibInstance:
    names = [name for name, *given in atom.asked if tuple(given) == asked]
    return replace(atom, asked=tuple((name, *_ITS_KEY) for name in names))


def made_with_key(value: Value, key: Key) -> Value:
    """What was put under a key that was not known, where it is known which it is."""
    return _each_asked(value, lambda atom: _made_with(atom, key))


def _made_with(atom: LibInstance, key: Key) -> LibInstance:
    known = {f"{name}={OPEN}": f"{name}={key!r}" for name, *given in atom.asked if tuple(given) == _ITS_KEY}
    return replace(atom, made_of=tuple(known.get(text, text) for text in atom.made_of), asked=())


def of_nobody(value: Value, call: int) -> Value:
    """A value that leaves a function: what a parameter of this call of it was is nothing to others."""
    return _each_asked(value, lambda atom: atom if all(number != call for *_, number in atom.asked) else _alone(atom))


def _alone(atom: LibInstance) -> LibInstance:
    return replace(atom, asked=())


def _each_asked(value: Value, change: Callable[[LibInstance], LibInstance]) -> Value:
    if not any(type(atom) is LibInstance and atom.asked for _, atom in value.alternatives):
        return value
    found = ((w, change(a) if isinstance(a, LibInstance) and a.asked else a) for w, a in value.alternatives)
    return value_of(found)
