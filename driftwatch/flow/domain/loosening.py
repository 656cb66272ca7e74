"""A container that goes to somebody who may change it: what may be in it afterwards."""

from __future__ import annotations

from dataclasses import replace

from driftwatch.flow.domain.contents import Content, DictContent, Entry, ListContent
from driftwatch.flow.domain.taint import made_from
from driftwatch.flow.domain.values import Atom, Const, Unknown, Value, join, unknown, value_of
from driftwatch.releases import ReleaseSet, union


def loosened(content: Content, where: ReleaseSet) -> Content:
    """A container of which anything may have become in these releases."""
    if isinstance(content, DictContent):
        return content.having({k: _loose(e, where) for k, e in content.entries.items()}).opened(where)
    if isinstance(content, ListContent):
        # What stood somewhere may be anywhere, or nowhere.
        kept = tuple(replace(e, releases=e.releases - where, certain=e.certain - where) for e in content.elements)
        held = value_of(a for e in content.elements for a in e.value.within(where & e.releases).alternatives)
        others = join(join(content.further(), held), unknown(where))
        elements = tuple(e for e in kept if e.releases)
        return replace(content, elements=elements, open=content.open | where, others=others)
    return content


def _loose(entry: Entry, where: ReleaseSet) -> Entry:
    here = entry.releases & where
    if not here.mask:
        return entry
    # What told something about the release may be a guard still.
    value, certain = join(entry.value, made_from(here, entry.value)), entry.certain - where
    return entry if value == entry.value and certain == entry.certain else replace(entry, certain=certain, value=value)


MAX_NUMBERS = 4
"""A variable that has been more numbers than these is one that somebody counts with."""


def counted(value: Value) -> Value:
    """What a variable may be that is assigned again and again: of many numbers, any; and of any, no single one."""
    anything = value.where(lambda atom: isinstance(atom, Unknown))
    numbers = [where for where, atom in value.alternatives if _is_number(atom)]
    if len(numbers) <= MAX_NUMBERS and not (numbers and anything):
        return value
    rest = value_of((where if not _is_number(a) else where - anything, a) for where, a in value.alternatives)
    if len(numbers) <= MAX_NUMBERS:
        return rest
    return join(rest.only(lambda atom: not _is_number(atom)), made_from(union(numbers), value))


def _is_number(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, (int, float)) and not isinstance(atom.value, bool)
