"""Collects uses as the interpreter meets them; a place met several times is recorded once for each way it is met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from driftwatch.flow.uses import CallUse, Catch, Construction, Location, SubclassUse, Unresolved, Use
from driftwatch.releases import EMPTY, ReleaseSet


@dataclass
class Recorder:
    """Uses and unresolved places of one analysis. The order in which they are met does not matter for the result."""

    _uses: dict[object, Use] = field(default_factory=dict)
    _unresolved: dict[tuple[str, int, str], Unresolved] = field(default_factory=dict)
    _places: set[tuple[Location, object]] = field(default_factory=set)

    def add(self, use: Use) -> None:
        """Record a use; the same use in other releases extends the one that is there."""
        key = _key(use)
        known = self._uses.get(key)
        if known is not None:
            use = _merge(known, use)
        self._uses[key] = use
        self.expect(use)

    def expect(self, use: Use) -> None:
        """A use will be recorded when more is known of it."""
        self._places.add((use.location, _what(use)))

    def knows(self, use: Use) -> bool:
        """Whether a use of the same callee or name, called with as many and the same keywords, stands at its place."""
        return (use.location, _what(use)) in self._places

    def unresolved(self, path: str, line: int, reason: str) -> None:
        self._unresolved.setdefault((path, line, reason), Unresolved(path, line, reason))

    def uses(self) -> tuple[Use, ...]:
        return tuple(sorted(self._uses.values(), key=lambda u: (u.location, type(u).__name__, repr(_key(u)))))

    def all_unresolved(self) -> tuple[Unresolved, ...]:
        return tuple(self._unresolved[k] for k in sorted(self._unresolved))


def _what(use: Use) -> object:
    if isinstance(use, CallUse):
        return str(use.callee), len(use.positional), tuple(argument.name for argument in use.keywords)
    return str(getattr(use, "callee", None) or getattr(use, "name", ""))


def _key(use: Use) -> object:
    """Everything that tells one use from another but the releases in which it is reached."""
    bare: Use = replace(use, releases=EMPTY, trace=(), conditional=EMPTY)
    if isinstance(bare, CallUse):
        # Calls met in different releases with different arguments stay apart: arguments are facts of the call.
        return (type(use), repr(bare), use.releases if _split(bare) else None)
    if isinstance(bare, SubclassUse):
        bare = replace(bare, instantiated=())
    return (type(use), repr(bare))


def _split(use: CallUse) -> bool:
    return any(not argument.certain for argument in (*use.positional, *use.keywords))


def _merge(known: Use, use: Use) -> Use:
    releases: ReleaseSet = known.releases | use.releases
    surely = (known.releases - known.conditional) | (use.releases - use.conditional)
    conditional = releases - surely
    if isinstance(known, SubclassUse) and isinstance(use, SubclassUse):
        places = merged_constructions((*known.instantiated, *use.instantiated))
        return replace(known, releases=releases, conditional=conditional, instantiated=places)
    return replace(known, releases=releases, conditional=conditional)


def merged_constructions(places: Iterable[Construction]) -> tuple[Construction, ...]:
    """Each place once for each thing that becomes of an exception there."""
    merged: dict[tuple[Location, Catch], Construction] = {}
    for place in places:
        key = (place.location, place.catch)
        before = merged.get(key)
        merged[key] = place if before is None else replace(place, releases=before.releases | place.releases)
    return tuple(merged[key] for key in sorted(merged, key=repr))
