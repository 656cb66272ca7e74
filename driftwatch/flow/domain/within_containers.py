"""What depends on the release in a value, with what is in its containers.

Enters: a value, and whoever knows what containers hold. Leaves: the releases in which it was found out of the library,
or would be another one in another release. A list that has an element in some releases alone is another one in these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from driftwatch.flow.domain.contents import Content, DictContent, ListContent
from driftwatch.flow.domain.taint import depends_on_release, unknown_tainted
from driftwatch.flow.domain.values import TAINTED, DictRef, ListRef, Unknown, Value, join
from driftwatch.releases import ReleaseSet, union

Contents = Callable[[int], Content | None]

_CONTAINERS = frozenset({ListRef, DictRef})
_DEPTH = 2
"""How many containers within one another are looked into."""


def depends_within(value: Value, contents: Contents, depth: int = _DEPTH) -> ReleaseSet:
    """The releases in which a value, or something in it, depends on the release."""
    found = depends_on_release(value)
    held = [(where, atom) for where, atom in value.alternatives if type(atom) in _CONTAINERS]
    if not held:
        return found
    if any(where != held[0][0] for where, _ in held):
        for where, _ in held:
            found |= where
        return found
    for where, atom in held:
        content = contents(atom.key) if isinstance(atom, (ListRef, DictRef)) else None
        if not isinstance(content, (ListContent, DictContent)):
            continue
        found |= depends_on_release(content.others.within(where))
        entries = content.entries.values() if isinstance(content, DictContent) else content.elements
        for entry in entries:
            there = entry.releases & where
            if there and there != where:
                return found | where
            found |= entry.conditional & where
            if depth:
                found |= depends_within(entry.value.within(there), contents, depth - 1)
    return found


def made_of(value: Value, inputs: Iterable[Value], contents: Contents) -> Value:
    """What was made of other values: what is unknown of it is tainted where one of them depends on the release."""
    if not any(type(atom) is Unknown for _, atom in value.alternatives):
        return value
    return unknown_tainted(value, union([depends_within(each, contents) for each in inputs]))


def tainted_within_containers(value: Value, contents: Contents) -> Value:
    """A value, tainted where what is in its containers depends on the release."""
    if not any(type(atom) in _CONTAINERS for _, atom in value.alternatives):
        return value
    found = depends_within(value, contents)
    return join(value, Value(((found, TAINTED),))) if found else value
