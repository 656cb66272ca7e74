"""The epochs of every symbol, read out of stored lines only when somebody asks for them.

Enters: the entries of a history file, each with the releases that have it. Leaves: a mapping from references to epochs
that looks as if every symbol had been built at once. A scan touches a few dozen symbols of many thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from driftwatch.errors import SnapshotError
from driftwatch.releases import ReleaseSet
from driftwatch.snapshot.model.codec import Entry, alias_of, decode
from driftwatch.snapshot.model.history import Epoch
from driftwatch.snapshot.model.symbols import Ref, Symbol


class StoredLine(NamedTuple):
    """One line of a history file: what it says, the releases it holds for (a mask), and where it stands."""

    entry: Entry
    mask: int
    number: int


class StoredEpochs(Mapping[Ref, tuple[Epoch, ...]]):
    """Epochs by reference, pointers followed; `source` names the file in messages."""

    def __init__(self, by_name: Mapping[str, list[StoredLine]], source: str) -> None:
        self._by_name = by_name
        self._source = source
        self._built: dict[Ref, tuple[Epoch, ...]] = {}
        self._decoded: dict[int, Symbol] = {}
        self._below: dict[str, list[str]] | None = None
        self._refs: dict[Ref, None] | None = None

    def __getitem__(self, ref: Ref) -> tuple[Epoch, ...]:
        found = self._built.get(ref)
        if found is None:
            masks: dict[Symbol, int] = {}
            self._gather(ref, masks, ())
            found = self._built[ref] = _epochs(masks)
        if not found:
            raise KeyError(ref)
        return found

    def __contains__(self, ref: object) -> bool:
        return isinstance(ref, tuple) and len(ref) == 2 and bool(self.get(Ref(*ref)))

    def __iter__(self) -> Iterator[Ref]:
        if self._refs is None:
            self._refs = dict.fromkeys(self._all_refs())
        return iter(self._refs)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def classes(self) -> Iterator[Ref]:
        """Every reference that is a class in some release, those that are only pointed at left out."""
        for name, lines in self._by_name.items():
            if any(line.entry.get("kind") == "class" for line in lines):
                yield Ref.parse(name)

    # -- one reference -------------------------------------------------------------------------------------------

    def _gather(self, ref: Ref, masks: dict[Symbol, int], chain: tuple[Ref, ...], within: int = -1) -> None:
        """Every symbol the reference is, with the releases in which it is.

        Only lines of the releases `within` are followed: two names may point at each other, in different releases.
        """
        if ref in chain:
            raise SnapshotError(f"{self._source}: {ref} points at itself")
        for line in self._by_name.get(str(ref), ()):
            if not line.mask & within:
                continue
            if "is" in line.entry:
                self._point(line, ref, ref, masks, (*chain, ref), within)
            else:
                symbol = self._decode(line)
                masks[symbol] = masks.get(symbol, 0) | line.mask
        head = ref.qualname.rpartition(".")[0]
        while head:
            owner = Ref(ref.module, head)
            for line in self._by_name.get(str(owner), ()):
                if "is" in line.entry and line.mask & within:
                    self._point(line, owner, ref, masks, (*chain, ref), within)
            head = head.rpartition(".")[0]

    def _point(
        self, line: StoredLine, owner: Ref, ref: Ref, masks: dict[Symbol, int], chain: tuple[Ref, ...], within: int
    ) -> None:
        target = Ref.parse(str(line.entry["is"]))
        behind: dict[Symbol, int] = {}
        found = Ref(target.module, target.qualname + ref.qualname[len(owner.qualname) :])
        self._gather(found, behind, chain, within & line.mask)
        requires = line.entry.get("requires") if ref == owner else None
        reached = 0
        for symbol, mask in behind.items():
            reached |= mask
            seen = alias_of(symbol, target, owner, requires)
            masks[seen] = masks.get(seen, 0) | (mask & line.mask)
        if ref == owner and line.mask & within & ~reached:
            raise SnapshotError(f"{self._source}, line {line.number}: {line.entry['is']} is not there in all releases")

    def _decode(self, line: StoredLine) -> Symbol:
        symbol = self._decoded.get(line.number)
        if symbol is None:
            try:
                symbol = self._decoded[line.number] = decode(line.entry)
            except (KeyError, ValueError, TypeError) as error:
                raise SnapshotError(f"{self._source}, line {line.number} is damaged: {error}") from error
        return symbol

    # -- all references ------------------------------------------------------------------------------------------

    def _all_refs(self) -> Iterator[Ref]:
        for name, lines in self._by_name.items():
            yield Ref.parse(name)
            for line in lines:
                if "is" in line.entry:
                    yield from self._pointed_members(name, str(line.entry["is"]), line.mask)

    def _pointed_members(self, name: str, target: str, mask: int) -> Iterator[Ref]:
        if self._below is None:
            self._below = {}
            for other in self._by_name:
                module, _, qualname = other.partition(":")
                head = qualname.rpartition(".")[0]
                while head:
                    self._below.setdefault(f"{module}:{head}", []).append(other)
                    head = head.rpartition(".")[0]
        for member in self._below.get(target, ()):
            if any(line.mask & mask for line in self._by_name[member]):
                yield Ref.parse(name + member[len(target) :])


def _epochs(masks: Mapping[Symbol, int]) -> tuple[Epoch, ...]:
    ordered = sorted(masks.items(), key=lambda item: item[1] & -item[1])
    return tuple(Epoch(symbol, ReleaseSet(mask)) for symbol, mask in ordered)
