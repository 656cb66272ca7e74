"""Releases of one library, in order, and sets of them.

A release is a bit: its position in the `Timeline`. A set of releases is an int with those bits set, wrapped in
`ReleaseSet` so that it cannot be mistaken for a number. Everything the analysis knows is split by such sets, so their
algebra (`&`, `|`, `-`) is exactly that of `frozenset` and costs one int operation.

"Release" means one of the library's; "version" only ever means the string.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from driftwatch.errors import UsageError


class ReleaseSet:
    """An immutable set of releases of one timeline, as a bit mask.

    Sets of different timelines must not be mixed; nothing checks it, because the check would cost more than the
    operations.
    """

    __slots__ = ("mask",)
    mask: int

    def __init__(self, mask: int = 0) -> None:
        object.__setattr__(self, "mask", mask)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ReleaseSet is immutable: cannot set {name}")

    def __reduce__(self) -> tuple[type[ReleaseSet], tuple[int]]:
        return ReleaseSet, (self.mask,)

    def __and__(self, other: ReleaseSet) -> ReleaseSet:
        mask = self.mask & other.mask
        return self if mask == self.mask else _set_of(mask)

    def __or__(self, other: ReleaseSet) -> ReleaseSet:
        mask = self.mask | other.mask
        return self if mask == self.mask else _set_of(mask)

    def __sub__(self, other: ReleaseSet) -> ReleaseSet:
        mask = self.mask & ~other.mask
        return self if mask == self.mask else _set_of(mask)

    def __le__(self, other: ReleaseSet) -> bool:
        return not self.mask & ~other.mask

    def isdisjoint(self, other: ReleaseSet) -> bool:
        return not self.mask & other.mask

    def __bool__(self) -> bool:
        return self.mask != 0

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReleaseSet) and self.mask == other.mask

    def __hash__(self) -> int:
        return hash(self.mask)

    def indices(self) -> Iterator[int]:
        """Positions in the timeline, oldest first."""
        mask = self.mask
        while mask:
            low = mask & -mask
            yield low.bit_length() - 1
            mask ^= low

    def __repr__(self) -> str:
        return f"ReleaseSet({self.mask:#x})"


EMPTY = ReleaseSet(0)


class _Sets(dict[int, ReleaseSet]):
    """The sets that came out of an operation: there are few, and to make one takes longer than to find it."""

    def __missing__(self, mask: int) -> ReleaseSet:
        made = self[mask] = ReleaseSet(mask)
        return made


_set_of = _Sets({0: EMPTY}).__getitem__


@dataclass(frozen=True, slots=True)
class Timeline:
    """All known releases of a library, oldest first, and the way between versions and sets.

    `versions` are the strings as the index spells them; `all` is the set of every one. `states` are those of them that
    are no releases: a branch, a working tree, a local build. They may stand anywhere. `released` is what is meant where
    nobody names anything: neither states nor, by PEP 440, pre-releases, unless there is nothing else.
    """

    versions: tuple[str, ...]
    states: frozenset[str] = frozenset()
    parsed: tuple[Version, ...] = field(init=False, repr=False, compare=False)
    all: ReleaseSet = field(init=False, repr=False, compare=False)
    released: ReleaseSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parsed = tuple(Version(v) for v in self.versions)
        dated = [p for v, p in zip(self.versions, parsed, strict=True) if v not in self.states]
        if len(set(parsed)) != len(parsed) or dated != sorted(dated):
            raise ValueError("a timeline's versions must be distinct and in order")
        object.__setattr__(self, "parsed", parsed)
        object.__setattr__(self, "all", ReleaseSet((1 << len(parsed)) - 1))
        out = sum(1 << i for i, v in enumerate(self.versions) if v not in self.states)
        final = sum(1 << i for i, p in enumerate(parsed) if not p.is_prerelease) & out
        object.__setattr__(self, "released", ReleaseSet(final or out or self.all.mask))

    @classmethod
    def of(cls, versions: Iterable[str]) -> Timeline:
        """A timeline of these versions, sorted by PEP 440."""
        return cls(tuple(sorted(versions, key=Version)))

    def __len__(self) -> int:
        return len(self.versions)

    def set_of(self, versions: Iterable[str]) -> ReleaseSet:
        """The set of exactly these versions; `UsageError` for one that is not known."""
        mask = 0
        for text in versions:
            mask |= 1 << self.index(text)
        return ReleaseSet(mask)

    def index(self, version: str) -> int:
        """Position of a version, in any spelling PEP 440 holds equal; `UsageError` when it is not known."""
        try:
            wanted = Version(version)
        except ValueError:  # InvalidVersion, and a number of more digits than Python reads
            raise UsageError(f"{version!r} is not a version") from None
        try:
            return self.parsed.index(wanted)
        except ValueError:
            raise UsageError(f"release {version} is not known", self._known_hint()) from None

    def versions_of(self, releases: ReleaseSet) -> tuple[str, ...]:
        """The versions in a set, oldest first."""
        return tuple(self.versions[i] for i in releases.indices())

    def matching(self, specifier: str) -> ReleaseSet:
        """All that a PEP 440 specifier such as ``>=0.6,<0.7`` is true of; `UsageError` when it is malformed."""
        try:
            spec = SpecifierSet(specifier, prereleases=True)
            return ReleaseSet(sum(1 << i for i, version in enumerate(self.parsed) if version in spec))
        except ValueError:  # InvalidSpecifier, and a number of more digits than Python reads
            raise UsageError(f"{specifier!r} is not a version specifier", "write it as in '>=0.6.0,<0.7'") from None

    def meant(self, specifier: str) -> ReleaseSet:
        """What a person means by a specifier: of what it is true of, the releases, and what is named.

        A pre-release counts where the specifier names one, as PEP 440 has it, a state where it is named itself.
        """
        found = self.matching(specifier)
        counting = self.released
        named = _named(specifier)
        if any(version.is_prerelease for version in named):
            early = (i for i, v in enumerate(self.versions) if v not in self.states and self.parsed[i].is_prerelease)
            counting |= ReleaseSet(sum(1 << i for i in early))
        counting |= ReleaseSet(sum(1 << i for i, version in enumerate(self.parsed) if version in named))
        return found & counting

    def ranges(self, releases: ReleaseSet) -> tuple[tuple[str, str], ...]:
        """The set as runs of consecutive releases: ``(first, last)`` pairs, both included."""
        runs: list[tuple[str, str]] = []
        mask, i = releases.mask, 0
        while mask >> i:
            if mask >> i & 1:
                start = i
                while mask >> (i + 1) & 1:
                    i += 1
                runs.append((self.versions[start], self.versions[i]))
            i += 1
        return tuple(runs)

    def describe(self, releases: ReleaseSet) -> str:
        """The set for a person: ``0.6.0 to 0.6.10, 0.7.4``; ``none`` when it is empty."""
        return ", ".join(a if a == b else f"{a} to {b}" for a, b in self.ranges(releases)) or "none"

    def newest(self) -> ReleaseSet:
        """The set of the newest release alone; empty when there is none."""
        mask = self.released.mask
        return ReleaseSet(1 << (mask.bit_length() - 1)) if mask else EMPTY

    def _known_hint(self) -> str:
        if not self.versions:
            return "no release is known yet"
        return f"known are {self.versions[0]} to {self.versions[-1]} ({len(self)} releases)"


def _named(specifier: str) -> set[Version]:
    """The versions that a specifier names, as far as it can be read."""
    try:
        return {Version(each.version.removesuffix(".*")) for each in SpecifierSet(specifier)}
    except ValueError:
        return set()


def are_apart(sets: Iterable[ReleaseSet]) -> bool:
    """Whether no release is in two of some sets."""
    seen = EMPTY
    for each in sets:
        if not seen.isdisjoint(each):
            return False
        seen |= each
    return True


def union(sets: Sequence[ReleaseSet]) -> ReleaseSet:
    """The union of any number of sets."""
    mask = 0
    for releases in sets:
        mask |= releases.mask
    return ReleaseSet(mask)
