"""Every symbol's life over all releases: what the analysis and the rules ask of the snapshots.

Enters: for each reference, the distinct facts it had and the releases in which it had them. Leaves: exact sets. A
`History` never guesses: what a class inherits from a foreign base is not known, and `member` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.snapshot.model.gpu_facts import GpuFact
from driftwatch.snapshot.model.lineage import linearized
from driftwatch.snapshot.model.loading import loaded_with
from driftwatch.snapshot.model.standard_bases import standard_members
from driftwatch.snapshot.model.symbols import Ref, Snapshot, Symbol, SymbolKind


@dataclass(frozen=True, slots=True)
class Epoch:
    """The facts of a symbol and the releases that share them."""

    symbol: Symbol
    releases: ReleaseSet


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where a name is present, and where nobody can tell; everywhere else in the asked set it is absent."""

    present: ReleaseSet
    unknown: ReleaseSet = EMPTY


@dataclass(frozen=True)
class History:
    """The symbols of one target over its timeline.

    `distribution` is its name on the index, `module` the import path of its public root.
    """

    distribution: str
    module: str
    timeline: Timeline
    epochs: Mapping[Ref, tuple[Epoch, ...]]
    classes: Callable[[], Iterable[Ref]] | None = field(default=None, repr=False, compare=False)
    """Where to look for classes, when that is known without looking at every symbol."""
    digest: str = field(default="", compare=False)
    """Stands for all of it, where it was read from files; empty where nobody can tell."""
    gpus: Callable[[], tuple[tuple[GpuFact, ReleaseSet], ...]] | None = field(default=None, repr=False, compare=False)
    """Where to read what the releases say of GPUs."""
    whole: bool = field(default=True, compare=False)
    """Whether all releases there are were read, as far as anybody knew; else what none has another one may have."""

    @cached_property
    def gpu_facts(self) -> tuple[tuple[GpuFact, ReleaseSet], ...]:
        """What the sources of releases say of the GPUs, sizes and dtypes that functions are for."""
        return self.gpus() if self.gpus is not None else ()

    def same_in(self, one: Ref, other: Ref) -> ReleaseSet:
        """The releases in which two references are one object."""
        if one == other:
            return self.timeline.all
        same = EMPTY
        for first in self.of(one):
            for second in self.of(other):
                if self.definition(first, one) == self.definition(second, other):
                    same |= first.releases & second.releases
        return same

    @cached_property
    def _members(self) -> dict[Ref, tuple[str, ...]]:
        members: dict[Ref, list[str]] = {}
        for ref in self.epochs:
            head, dot, last = ref.qualname.rpartition(".")
            if dot:
                members.setdefault(Ref(ref.module, head), []).append(last)
        return {ref: tuple(sorted(names)) for ref, names in members.items()}

    @cached_property
    def _descents(self) -> dict[tuple[Ref, ReleaseSet], tuple[tuple[Ref, ...], tuple[str, ...], int]]:
        return {}

    @cached_property
    def _uniform(self) -> dict[Ref, tuple[ReleaseSet, ...]]:
        return {}

    @cached_property
    def _looked_up(self) -> dict[tuple[Ref, str], Lookup]:
        return {}

    @cached_property
    def _looked_up_below(self) -> dict[tuple[Ref, str], ReleaseSet]:
        return {}

    @cached_property
    def _descendants(self) -> dict[Ref, tuple[Ref, ...]]:
        return {}

    @cached_property
    def _loads(self) -> dict[str, dict[str, ReleaseSet]]:
        return {}

    @cached_property
    def _demanded(self) -> dict[str, ReleaseSet]:
        found: dict[str, ReleaseSet] = {}
        for module in self.modules():
            for epoch in self.of(Ref(module, "")):
                for demanded in epoch.symbol.demands:
                    for other, releases in loaded_with(demanded, self.module, self._imports).items():
                        found[other] = found.get(other, EMPTY) | (releases & epoch.releases)
        return found

    def _imports(self, module: str) -> Iterator[tuple[ReleaseSet, tuple[str, ...]]]:
        return ((epoch.releases, epoch.symbol.imports) for epoch in self.of(Ref(module, "")))

    @cached_property
    def _presence(self) -> dict[Ref, ReleaseSet]:
        return {}

    @cached_property
    def _subclasses(self) -> dict[Ref, tuple[Ref, ...]]:
        below: dict[Ref, dict[Ref, None]] = {}
        for ref in self.classes() if self.classes is not None else self.epochs:
            for epoch in self.of(ref):
                for base in epoch.symbol.bases:
                    if ":" in base:
                        below.setdefault(Ref.parse(base), {})[ref] = None
        return {ref: tuple(refs) for ref, refs in below.items()}

    # -- names ---------------------------------------------------------------------------------------------------

    def of(self, ref: Ref) -> tuple[Epoch, ...]:
        """All epochs of a reference, oldest first; empty when no release ever had it."""
        return self.epochs.get(ref, ())

    def present(self, ref: Ref) -> ReleaseSet:
        """The releases that have exactly this reference."""
        known = self._presence.get(ref)
        if known is None:
            known = self._presence[ref] = union([epoch.releases for epoch in self.of(ref)])
        return known

    def modules(self) -> Iterator[str]:
        """Import paths of every public module any release ever had."""
        return (ref.module for ref in self.epochs if not ref.qualname)

    def has_module(self, module: str) -> ReleaseSet:
        """The releases in which this module of the library can be imported."""
        return self.present(Ref(module, ""))

    def importable(self, module: str, name: str) -> ReleaseSet:
        """The releases in which ``from module import name`` works: an attribute of it, or a submodule.

        A module whose symbol is open may have the name in other releases as well.
        """
        if name.startswith("__") and name.endswith("__"):
            # Every module has those that Python gives it; of its own ones nobody keeps a record.
            return self.has_module(module)
        return self.present(Ref(module, name)) | self.has_module(f"{module}.{name}")

    def attribute(self, module: str, name: str) -> ReleaseSet:
        """The releases in which a module that has just been imported has an attribute, open modules as above.

        A submodule is one where something that is loaded with its package imports it.
        """
        below = self.has_module(f"{module}.{name}")
        bound = self.loads(module, f"{module}.{name}") if below else EMPTY
        return self.importable(module, name) - (below - bound - self.present(Ref(module, name)))

    def loads(self, module: str, other: str) -> ReleaseSet:
        """The releases in which importing a module of the library loads another one as well."""
        known = self._loads.get(module)
        if known is None:
            known = self._loads[module] = loaded_with(module, self.module, self._imports)
        return known.get(other, EMPTY)

    def may_load(self, module: str) -> ReleaseSet:
        """The releases in which some code of the library loads a module later, or perhaps."""
        return self._demanded.get(module, EMPTY)

    # -- classes -------------------------------------------------------------------------------------------------

    def definition(self, epoch: Epoch, ref: Ref) -> Ref:
        """Where the object behind a reference is defined in an epoch."""
        return epoch.symbol.definition or ref

    def lineage(self, ref: Ref, release: ReleaseSet) -> tuple[tuple[Ref, ...], bool]:
        """A class and its bases within the library, in lookup order, as of any one release of the set.

        The second value says whether the lineage is closed: nothing in it could bring members that are not recorded.
        """
        order, others, _ = self._descent(ref, release)
        return order, all(standard_members(base) is not None for base in others)

    def member(self, cls: Ref, name: str, releases: ReleaseSet) -> Lookup:
        """Where a class or its instances have a member of this name, what they inherit included.

        Unknown is where a base outside the library or a ``__getattr__`` may bring it.
        """
        found = self._looked_up.get((cls, name))
        if found is None:
            # One member is asked for again and again: in every release, so that one answer is enough.
            found = self._looked_up[cls, name] = self._member(cls, name)
        return Lookup(found.present & releases, found.unknown & releases)

    def member_below(self, cls: Ref, name: str) -> ReleaseSet:
        """Where some class that descends from this one has, or may have, a member of this name."""
        found = self._looked_up_below.get((cls, name))
        if found is None:
            found = EMPTY
            for below in self.subclasses(cls):
                also = self.member(below, name, self.timeline.all)
                found |= also.present | also.unknown
            self._looked_up_below[cls, name] = found
        return found

    def _member(self, cls: Ref, name: str) -> Lookup:
        present, unknown = EMPTY, EMPTY
        for part in self._slices(cls, self.timeline.all):
            order, others, _ = self._descent(cls, part)
            # The slice is uniform in the classes' own facts, not in this member's.
            here = part & union([self.present(base.member(name)) for base in order])
            standard = [standard_members(base) for base in others]
            if any(members is not None and name in members for members in standard):
                here = part
            present |= here
            if None in standard:
                unknown |= part - here
        return Lookup(present, unknown)

    def member_epochs(self, cls: Ref, name: str, releases: ReleaseSet) -> tuple[tuple[Ref, Epoch], ...]:
        """The epochs of the member a lookup on the class finds, each cut to where it is the one found."""
        found: list[tuple[Ref, Epoch]] = []
        for part in self._slices(cls, releases):
            order, _, sure = self._descent(cls, part)
            left = part
            # Behind a base that nobody knows, what is found may not be what a lookup finds.
            for base in order[:sure]:
                for epoch in self.of(base.member(name)):
                    here = epoch.releases & left
                    if here:
                        found.append((base.member(name), replace(epoch, releases=here)))
                left -= self.present(base.member(name))
                if not left:
                    break
        return tuple(found)

    def members(self, cls: Ref) -> tuple[str, ...]:
        """Names that the class itself has in any release."""
        return self._members.get(cls, ())

    def subclasses(self, cls: Ref) -> tuple[Ref, ...]:
        """Every class of the library that in some release descends from this one, itself not included."""
        known = self._descendants.get(cls)
        if known is None:
            seen: dict[Ref, None] = {}
            queue = [cls, *self._aliases(cls)]
            while queue:
                for below in self._subclasses.get(queue.pop(), ()):
                    if below not in seen and below != cls:
                        seen[below] = None
                        queue.append(below)
            known = self._descendants[cls] = tuple(seen)
        return known

    def is_open(self, ref: Ref) -> ReleaseSet:
        """The releases in which a module or a class has further names that cannot be listed."""
        return union([epoch.releases for epoch in self.of(ref) if epoch.symbol.open])

    def is_class(self, ref: Ref) -> bool:
        return any(epoch.symbol.kind is SymbolKind.CLASS for epoch in self.of(ref))

    def _aliases(self, cls: Ref) -> list[Ref]:
        return [epoch.symbol.definition for epoch in self.of(cls) if epoch.symbol.definition is not None]

    def _descent(self, cls: Ref, part: ReleaseSet) -> tuple[tuple[Ref, ...], tuple[str, ...], int]:
        """The library's classes in a lineage, and what else is in it: foreign bases, ``?`` for members unknown.

        The number says how many of the classes surely come before all whose members nobody knows.
        """
        known = self._descents.get((cls, part))
        if known is None:
            known = self._descents[cls, part] = self._descend(cls, part)
        return known

    def _descend(self, cls: Ref, part: ReleaseSet) -> tuple[tuple[Ref, ...], tuple[str, ...], int]:
        others: dict[str, None] = {}
        behind: set[Ref] = set()

        def bases(ref: Ref) -> list[Ref]:
            epoch = next((e for e in self.of(ref) if not e.releases.isdisjoint(part)), None)
            if epoch is None or epoch.symbol.kind is not SymbolKind.CLASS or epoch.symbol.open:
                others["?"] = None
            own = epoch.symbol.bases if epoch is not None else ()
            others.update((base, None) for base in own if ":" not in base)
            strange = next((i for i, b in enumerate(own) if ":" not in b and standard_members(b) is None), len(own))
            behind.update(Ref.parse(base) for base in own[strange:] if ":" in base)
            return [Ref.parse(base) for base in own if ":" in base]

        order = linearized(cls, bases)
        sure = next((i for i, each in enumerate(order) if each in behind), len(order))
        return order, (*others, "object"), sure

    def _slices(self, cls: Ref, releases: ReleaseSet) -> Iterator[ReleaseSet]:
        """The asked set, cut so that the class and all its bases have the same facts within each part."""
        parts = self._uniform.get(cls)
        if parts is None:
            parts = self._uniform[cls] = tuple(self._cut(cls))
        return (here for part in parts if (here := part & releases))

    def _cut(self, cls: Ref) -> list[ReleaseSet]:
        parts = [epoch.releases for epoch in self.of(cls)]
        seen = {cls}
        queue = [cls]
        while queue:
            for epoch in self.of(queue.pop()):
                for base in epoch.symbol.bases:
                    ref = Ref.parse(base)
                    if ":" not in base or ref in seen:
                        continue
                    seen.add(ref)
                    queue.append(ref)
                    cuts = [e.releases for e in self.of(ref)]
                    cuts.append(self.timeline.all - self.present(ref))
                    parts = [here for part in parts for cut in cuts if (here := part & cut)]
        return parts


def merge(distribution: str, module: str, snapshots: Iterable[Snapshot], timeline: Timeline | None = None) -> History:
    """The history that a set of snapshots tells; equal facts of a reference become one epoch."""
    taken = list(snapshots)
    timeline = timeline or Timeline.of(s.release for s in taken)
    masks: dict[Ref, dict[Symbol, int]] = {}
    for snapshot in taken:
        bit = 1 << timeline.index(snapshot.release)
        for ref, symbol in snapshot.symbols.items():
            facts = masks.setdefault(ref, {})
            facts[symbol] = facts.get(symbol, 0) | bit
    epochs = {
        ref: tuple(
            Epoch(symbol, ReleaseSet(mask))
            for symbol, mask in sorted(facts.items(), key=lambda item: item[1] & -item[1])
        )
        for ref, facts in masks.items()
    }
    return History(distribution, module, timeline, epochs)
