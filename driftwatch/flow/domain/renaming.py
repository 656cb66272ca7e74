"""What a function that is not followed has made, for one call of it: another call makes others of the same kind.

Enters: a value of a function's summary, and what its parameters are in the call. Leaves: the value as that call gives
it, with containers and instances of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from driftwatch.flow.domain.contents import Content, DictContent, Entry, ListContent, PartialContent
from driftwatch.flow.domain.predicates import truth
from driftwatch.flow.domain.taint import anonymous, made_from
from driftwatch.flow.domain.values import (
    Alternative,
    Atom,
    DictRef,
    Function,
    Giving,
    Instance,
    ListRef,
    Managed,
    MethodOf,
    Partial,
    Unknown,
    Value,
    key_of,
    value_of,
)
from driftwatch.releases import ReleaseSet


@dataclass(frozen=True, slots=True)
class Renaming:
    """New heap numbers for old ones, and values for parameters; a parameter without one is anything."""

    keys: Mapping[int, int]
    parameters: Mapping[str, Value]

    def value(self, value: Value) -> Value:
        """The value in this call."""
        if not any(map(self._concerns, value.alternatives)):
            return value
        return value_of(each for where, atom in value.alternatives for each in self._alternatives(where, atom))

    def content(self, content: Content) -> Content:
        """What a container holds in this call."""
        if isinstance(content, DictContent):
            entries = {name: self._entry(entry) for name, entry in content.entries.items()}
            return replace(content, entries=entries, others=self.value(content.others))
        if isinstance(content, ListContent):
            elements = tuple(self._entry(entry) for entry in content.elements)
            return replace(content, elements=elements, others=self.value(content.others))
        positional, keywords = self.content(content.positional), self.content(content.keywords)
        assert isinstance(positional, ListContent) and isinstance(keywords, DictContent)
        return PartialContent(self.value(content.func), positional, keywords)

    def _entry(self, entry: Entry) -> Entry:
        value = self.value(entry.value)
        return entry if value is entry.value else replace(entry, value=value)

    def _concerns(self, alternative: Alternative) -> bool:
        atom = alternative[1]
        return key_of(atom) is not None or isinstance(atom, (Unknown, Function, MethodOf, Managed, Giving))

    def _alternatives(self, where: ReleaseSet, atom: Atom) -> Iterable[Alternative]:
        if isinstance(atom, Unknown) and atom.parameter is not None:
            given = self.parameters.get(atom.parameter)
            if given is None:
                return [(where, anonymous(atom))]
            if atom.derived:
                return made_from(where, given).alternatives
            # What a test has found out of it by then is true of it here, too.
            return [
                (there & where, _as_found(each, atom))
                for there, each in given.alternatives
                if there & where and (atom.truth is None or truth(each) is not (not atom.truth))
            ]
        return [(where, self._atom(atom))]

    def _atom(self, atom: Atom) -> Atom:
        if isinstance(atom, (DictRef, ListRef, Partial)):
            return replace(atom, key=self.keys.get(atom.key, atom.key))
        if isinstance(atom, Instance) and atom.site is not None:
            return replace(atom, site=self.keys.get(atom.site, atom.site))
        if isinstance(atom, Function) and atom.bound is not None:
            return replace(atom, bound=self._atom(atom.bound))
        if isinstance(atom, MethodOf):
            return replace(atom, owner=self._atom(atom.owner))
        if isinstance(atom, (Managed, Giving)):
            return replace(atom, gives=self.value(atom.gives))
        return atom


def _as_found(given: Atom, atom: Unknown) -> Atom:
    """What is given for a parameter, with what has been found out of that."""
    if not isinstance(given, Unknown) or (atom.truth is None and not atom.tainted):
        return given
    return replace(
        given, truth=given.truth if atom.truth is None else atom.truth, tainted=given.tainted or atom.tainted
    )


def held_by(content: Content) -> list[Value]:
    """The values that a container holds."""
    if isinstance(content, DictContent):
        return [*(entry.value for entry in content.entries.values()), content.others]
    if isinstance(content, ListContent):
        return [*(entry.value for entry in content.elements), content.others]
    return [content.func, *held_by(content.positional), *held_by(content.keywords)]


def reachable(values: Iterable[Value], heap: Mapping[int, Content]) -> dict[int, Atom]:
    """The containers and instances that are, or are held by, some values: the things by their heap numbers."""
    found: dict[int, Atom] = {}
    waiting = [atom for value in values for _, atom in value.alternatives]
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Function):
            waiting.extend([atom.bound] if atom.bound is not None else ())
            continue
        if isinstance(atom, MethodOf):
            waiting.append(atom.owner)
            continue
        if isinstance(atom, (Managed, Giving)):
            waiting.extend(each for _, each in atom.gives.alternatives)
            continue
        key = key_of(atom)
        content = heap.get(key) if key is not None else None
        if key is None or content is None or key in found:
            continue
        found[key] = atom
        waiting.extend(each for value in held_by(content) for _, each in value.alternatives)
    return found
