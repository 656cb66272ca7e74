"""What an instance may be, and what a class has beyond what the library itself gives it.

Enters: a class of the library and a set of releases. Leaves: exact sets; where a foreign base or a ``__getattr__``
could bring the member, that is said, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import History, Lookup
from driftwatch.snapshot.model.standard_bases import ABSTRACT_BASES, readable_on_class
from driftwatch.snapshot.model.symbols import Binding, Ref, Symbol, SymbolKind


def candidates(history: History, cls: Ref, releases: ReleaseSet, *, exact: bool) -> Iterator[tuple[Ref, ReleaseSet]]:
    """The classes an instance of `cls` may be of, each with the releases in which it is one; `cls` comes first."""
    own = releases & history.present(cls)
    yield cls, own
    if exact:
        return
    for below in history.subclasses(cls):
        descends = descent(history, below, cls, own)
        if descends:
            yield below, descends


def descent(history: History, below: Ref, cls: Ref, releases: ReleaseSet) -> ReleaseSet:
    """The releases in which one class of the library descends from another."""
    result = EMPTY
    for i in (releases & history.present(below)).indices():
        one = ReleaseSet(1 << i)
        if not same_class(history, cls, one).isdisjoint(history.lineage(below, one)[0]):
            result |= one
    return result


def same_class(history: History, cls: Ref, release: ReleaseSet) -> set[Ref]:
    """The references under which a class is known in one release: the one asked for, and where it is defined."""
    names = {cls}
    for epoch in history.of(cls):
        if epoch.symbol.definition is not None and not epoch.releases.isdisjoint(release):
            names.add(epoch.symbol.definition)
    return names


def look_up(history: History, cls: Ref, name: str, releases: ReleaseSet, *, instance: bool) -> Lookup:
    """As `History.member`, with what Python's own bases bring, and what only instances have.

    A class that is open may have any.
    """
    found = history.member(cls, name, releases)
    present, unknown = found.present, found.unknown
    if not instance:
        present -= _only_on_instances(history, cls, name, present)
    for i in (releases - present - unknown).indices():
        one = ReleaseSet(1 << i)
        order, _ = history.lineage(cls, one)
        if not instance and any(
            readable_on_class(base, name) for base in (*_foreign_bases(history, order, one), "object")
        ):
            present |= one
        elif any(one <= e.releases and e.symbol.open for base in order for e in history.of(base)):
            unknown |= one
    return Lookup(present, unknown)


def _only_on_instances(history: History, cls: Ref, name: str, releases: ReleaseSet) -> ReleaseSet:
    """Where the member is an attribute that methods or a dataclass set on instances, and the class has none itself."""
    result = EMPTY
    for ref, epoch in history.member_epochs(cls, name, releases):
        if not _is_instance_attribute(epoch.symbol):
            continue
        for i in epoch.releases.indices():
            one = ReleaseSet(1 << i)
            order, _ = history.lineage(cls, one)
            others = (e for base in order if base.member(name) != ref for e in history.of(base.member(name)))
            if not any(one <= e.releases and not _is_instance_attribute(e.symbol) for e in others):
                result |= one
    return result


def _is_instance_attribute(symbol: Symbol) -> bool:
    return symbol.kind is SymbolKind.ATTRIBUTE and symbol.binding is Binding.INSTANCE


def is_abstract(history: History, cls: Ref, release: ReleaseSet) -> bool:
    """Whether Python refuses to construct the class while it has abstract methods, in one release."""
    order, _ = history.lineage(cls, release)
    return any(base.partition("[")[0] in ABSTRACT_BASES for base in _foreign_bases(history, order, release))


def _foreign_bases(history: History, order: Sequence[Ref], release: ReleaseSet) -> Iterator[str]:
    for ref in order:
        for epoch in history.of(ref):
            if release <= epoch.releases:
                yield from (base for base in epoch.symbol.bases if ":" not in base)
