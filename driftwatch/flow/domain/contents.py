"""What containers, objects and calls hold: entries, each with the releases in which it is there.

Contents are values, which never change; a state's heap has the one that a container holds at the moment.
"""

from __future__ import annotations

from dataclasses import field, replace

from driftwatch.flow.domain.facts import Facts, telling
from driftwatch.flow.domain.frozen import frozen
from driftwatch.flow.domain.values import (
    NOTHING,
    UNKNOWN,
    Atom,
    Const,
    Key,
    Value,
    join,
    unknown,
    value_of,
)
from driftwatch.flow.uses import Location, Step
from driftwatch.releases import EMPTY, ReleaseSet


@frozen
class Entry:
    """An item of a dict: where it may be, where it surely is, its value, and how it got there.

    `location` is set when it first became an argument in another call than the one at hand, and `written` is where its
    name stands in that one. `conditional` is where a
    test that depends on the release, and could not be followed, decided whether it is there.
    """

    releases: ReleaseSet
    certain: ReleaseSet
    value: Value
    trace: tuple[Step, ...] = ()
    location: Location | None = None
    conditional: ReleaseSet = EMPTY
    written: Location | None = None

    def over(self, before: Entry) -> Entry:
        """What is under a key after this was put there; where it may not have been, what was there stays."""
        stays = before.releases - self.certain
        certain = self.certain | (before.certain & (stays | self.releases))
        value = join(self.value, before.value.within(stays))
        return replace(self, releases=self.releases | stays, certain=certain, value=value)

    def within(self, releases: ReleaseSet) -> Entry:
        if self.releases <= releases:
            return self
        return Entry(
            self.releases & releases, self.certain & releases, self.value, self.trace, self.location, self.conditional,
            self.written,
        )  # fmt: skip


@frozen
class DictContent:
    """Keys that are known, and the releases in which there may be others: of a dict, or of an instance's attributes.

    `forwarded` is where those others are what the current function's own caller passes. `others` is what may be under
    the keys that are not known by name; where there may be such and it says nothing, it may be anything.
    """

    entries: dict[Key, Entry] = field(default_factory=dict)
    open: ReleaseSet = EMPTY
    forwarded: ReleaseSet = EMPTY
    others: Value = NOTHING
    factory: Value = NOTHING
    """What makes a value for a key that is asked for and not there."""

    def under_unknown_keys(self) -> Value:
        """What may be under the keys that are not known by name."""
        anywhere = self.open | self.forwarded
        known = self.others.within(anywhere)
        return join(known, unknown(anywhere - known.defined()))

    def opened(self, where: ReleaseSet, value: Value | None = None) -> DictContent:
        """The same with something under a key that is not known in these releases, and perhaps more than one."""
        others = self.others
        if value is not None or others.alternatives:
            added = unknown(where) if value is None else value.within(where)
            added = join(added, unknown(where - added.defined()))
            others = join(self.under_unknown_keys(), added)
        return DictContent(self.entries, self.open | where, self.forwarded, others, self.factory)

    def having(self, entries: dict[Key, Entry]) -> DictContent:
        """The same with these items instead."""
        return DictContent(entries, self.open, self.forwarded, self.others, self.factory)

    def telling(self, facts: Facts) -> DictContent:
        """The same where these facts hold."""
        return self.having({k: replace(e, value=telling(e.value, facts)) for k, e in self.entries.items()})

    def joined_others(self, other: DictContent, where: ReleaseSet) -> DictContent:
        """The same with what may be under the other dict's unknown keys in these releases."""
        here = other.open & where
        if not here:
            return self
        return self.opened(here, other.under_unknown_keys() if other.others.alternatives else None)


def put(content: DictContent, key: Key, entry: Entry) -> DictContent:
    """The dict after ``d[key] = value`` where the entry says; elsewhere what was there stays."""
    before = content.entries.get(key)
    return content.having({**content.entries, key: entry if before is None else entry.over(before)})


def take(content: DictContent, key: Key, where: ReleaseSet) -> DictContent:
    """The dict after the key was removed in these releases."""
    before = content.entries.get(key)
    if before is None:
        return content
    entries = dict(content.entries)
    left = before.releases - where
    if left:
        entries[key] = replace(before, releases=left, certain=before.certain - where)
    else:
        del entries[key]
    return content.having(entries)


@frozen
class ListContent:
    """Elements in order, each where it is there, and the releases in which there may be more or others; or a set's.

    `others` is what those may be; where it says nothing, they may be anything.
    """

    elements: tuple[Entry, ...] = ()
    open: ReleaseSet = EMPTY
    forwarded: ReleaseSet = EMPTY
    is_tuple: bool = False
    others: Value = NOTHING
    is_set: bool = False

    def further(self) -> Value:
        """What the elements may be of which it is not known whether they are there."""
        anywhere = self.open | self.forwarded
        known = self.others.within(anywhere)
        return join(known, unknown(anywhere - known.defined()))


@frozen
class PartialContent:
    """What a ``functools.partial`` holds."""

    func: Value
    positional: ListContent
    keywords: DictContent


Content = DictContent | ListContent | PartialContent


@frozen
class Arguments:
    """What a call passes."""

    positional: ListContent = field(default_factory=ListContent)
    keywords: DictContent = field(default_factory=DictContent)

    def __bool__(self) -> bool:
        """Whether anything may be passed."""
        content = (self.positional, self.keywords)
        return bool(self.positional.elements or self.keywords.entries or any(c.open or c.forwarded for c in content))

    def values(self) -> list[Value]:
        found = [e.value for e in self.positional.elements]
        found += [e.value for e in self.keywords.entries.values()]
        return found

    @property
    def constants(self) -> bool:
        """Whether an argument is known exactly in some release."""
        return any(_is_literal(atom) for value in self.values() for _, atom in value.alternatives)

    def without_constants(self) -> Arguments:
        """The same arguments, unknown where they are constants."""
        return Arguments(
            replace(self.positional, elements=tuple(_without_constants(e) for e in self.positional.elements)),
            replace(self.keywords, entries={k: _without_constants(e) for k, e in self.keywords.entries.items()}),
        )


def _is_literal(atom: Atom) -> bool:
    return isinstance(atom, Const) and atom.value is not None


def _without_constants(entry: Entry) -> Entry:
    alternatives = ((where, UNKNOWN if _is_literal(atom) else atom) for where, atom in entry.value.alternatives)
    return replace(entry, value=value_of(alternatives))


NO_LIST, NO_DICT = ListContent(), DictContent()
NO_ARGUMENTS = Arguments(NO_LIST, NO_DICT)
