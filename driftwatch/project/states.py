"""What is no recorded release and is meant all the same: pre-releases, local builds, branches, working trees, archives.

Enters: a target, and what a person or a project names. Leaves: states, each the library's API under a version of its
own, and a history with them for one scan. No other scan gets one by this: a state is outside of the timeline of
releases, and is only ever meant when it is named. Pre-releases are recorded beside the releases; what else is read from
the index, or added by hand, is kept in the user's store, never in the target's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import DriftwatchError, NoModuleError, SnapshotError, UsageError
from driftwatch.project.ranges import is_source, named_versions
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.commands.update import users_store
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Snapshot
from driftwatch.snapshot.sources.index import PackageIndex, the_index
from driftwatch.snapshot.sources.origin import FromIndex, open_release, parse_origin
from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.targets.target import Target


@dataclass(frozen=True, slots=True)
class State:
    """The library's API where it is no recorded release. `said` is what it was read from, for a person."""

    snapshot: Snapshot
    said: str = ""

    @property
    def name(self) -> str:
        return self.snapshot.release


def read(target: Target, source: str, index: PackageIndex | None = None, taken: Sequence[str] = ()) -> State:
    """The state that a source has now; `taken` are names that others have."""
    origin = parse_origin(source, target.distribution)
    with the_index(index) as used:
        if isinstance(origin, FromIndex):
            found, unavailable = find(target, (origin.version,), used)
            if not found:
                raise UsageError(f"{target.distribution} {origin.version} cannot be had: {unavailable[0][1]}")
            return found[0]
        opened = open_release(origin, target.distribution, target.module, used)
        try:
            snapshot = collect(opened.tree, target.module, _free(opened.release, taken))
        except NoModuleError as error:
            raise NoModuleError(f"{source}: {error.message}", error.hint) from None
    return State(snapshot, source)


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, or one like it that nobody has."""
    number, free = 1, name
    while Version(free) in {Version(each) for each in taken}:
        number += 1
        free = f"{name}{'.' if '+' in name else '+'}{number}"
    return free


def find(
    target: Target, versions: Sequence[str], index: PackageIndex | None = None
) -> tuple[tuple[State, ...], tuple[tuple[str, str], ...]]:
    """Those of the versions that could be had, and why the others could not.

    What is recorded beside the releases or in the user's store is taken from there; the rest is read from the index,
    and kept. A release that does not have the module is one in which nothing of it is there.
    """
    own = users_store(target)
    found: list[State] = []
    unavailable: list[tuple[str, str]] = []
    for version in versions:
        try:
            state = _recorded(target, version) or _recorded(own, version)
            if state is None and target.origin is None and not Version(version).local:
                state = _fetched(target, own, version, index)
        except DriftwatchError as error:
            unavailable.append((version, error.message))
        except OSError as error:
            unavailable.append((version, f"the cache cannot be used: {error.strerror or error}"))
        else:
            if state is not None:
                found.append(state)
            else:
                unavailable.append((version, ""))
    return tuple(found), tuple(unavailable)


def early(target: Target) -> tuple[State, ...]:
    """All pre-releases that are recorded beside the releases."""
    folder = target.snapshots / store.EARLY
    if not (folder / store.RELEASES).is_file():
        return ()
    history = store.load(folder)
    return tuple(State(store.snapshot_of(history, version)) for version in history.timeline.versions)


def with_states(target: Target, states: Sequence[State]) -> History:
    """The recorded history with these states."""
    return store.load(target.snapshots, [state.snapshot for state in states])


def _recorded(target: Target, version: str) -> State | None:
    for folder in (target.snapshots / store.EARLY, target.snapshots):
        if (folder / store.RELEASES).is_file():
            history = store.load(folder)
            if Version(version) in history.timeline.parsed:
                return State(store.snapshot_of(history, version))
    return None


def _fetched(target: Target, own: Target, version: str, index: PackageIndex | None) -> State:
    """A release of the index, kept in the user's store; one that is known not to have the module is not asked for."""
    if version in store.releases_without_module(target.snapshots):
        return State(Snapshot(version, {}))
    with the_index(index) as used:
        try:
            opened = open_release(FromIndex(version), target.distribution, target.module, used)
            snapshot = collect(opened.tree, target.module, opened.release)
            record = ReleaseRecord(opened.release, opened.artifact, opened.sha256, opened.requires_python)
        except NoModuleError:
            snapshot, record = Snapshot(version, {}), ReleaseRecord(version)
        store.keep(own.snapshots, target.distribution, target.module, [(snapshot, record)])
    return State(snapshot)


def states_named(
    against: Sequence[str], targets: Sequence[Target], index: PackageIndex | None = None
) -> tuple[tuple[str, ...], Mapping[str, tuple[State, ...]]]:
    """What specifiers name beside the releases: the specifiers with states by name, and the states by distribution.

    ``./flashinfer``, ``git:PATH@REF`` and ``NAME @ PLACE`` are read; a version that is not recorded is looked for;
    where a pre-release is named, those that are recorded count.
    """
    written: list[str] = []
    states: dict[str, dict[str, State]] = {}
    for text in against:
        name, place = _placed(text)
        if place is not None:
            target, state = of_one(name, place, targets, index, [each for found in states.values() for each in found])
            states.setdefault(target.distribution, {})[state.name] = state
            text = f"{target.distribution}=={state.name}"
        else:
            for target in targets:
                for state in _by_specifier(target, text, index):
                    states.setdefault(target.distribution, {}).setdefault(state.name, state)
        written.append(text)
    return tuple(written), {name: tuple(found.values()) for name, found in states.items()}


def _placed(text: str) -> tuple[str | None, str | None]:
    """The distribution that is named, if one is, and the place of its sources; None where text is a specifier."""
    head, at, rest = text.partition(" @ ")
    if at and re.fullmatch(r"[A-Za-z0-9][\w.-]*", head.strip()):
        return head.strip(), rest.strip()
    return (None, text.strip()) if is_source(text) else (None, None)


def of_one(
    name: str | None,
    place: str,
    targets: Sequence[Target],
    index: PackageIndex | None,
    taken: Sequence[str] = (),
) -> tuple[Target, State]:
    """The target whose sources are in a place, and its state there; `taken` are names that others have."""
    meant = [t for t in targets if name is None or canonicalize_name(name) == canonicalize_name(t.distribution)]
    if not meant:
        raise UsageError(f"{name!r} is no target", f"targets are {', '.join(t.distribution for t in targets)}")
    last: SnapshotError | None = None
    for target in meant:
        known = (record.version for record in store.records(target.snapshots))
        try:
            return target, read(target, place, index, (*known, *taken))
        except NoModuleError as error:
            last = last or error
    assert last is not None
    raise last


def _by_specifier(target: Target, text: str, index: PackageIndex | None) -> tuple[State, ...]:
    """What a specifier names of a target, where it is not recorded as a release."""
    known = {Version(record.version) for record in store.records(target.snapshots)}
    missing = [version for version in named_versions(target.distribution, text) if version not in known]
    found: tuple[State, ...] = ()
    if any(version.is_prerelease for version in missing):
        found = early(target)
    have = {Version(state.name) for state in found}
    wanted = [str(v) for v in named_versions(target.distribution, text, exact=True) if v not in known | have]
    return (*found, *find(target, wanted, index)[0])


def meant(
    targets: Sequence[Target], text: str, index: PackageIndex | None = None, taken: Sequence[str] = ()
) -> tuple[Target, State]:
    """The target and the state that a text names: a release that is recorded, or what is read now."""
    last: DriftwatchError | None = None
    for target in targets:
        try:
            origin = parse_origin(text, target.distribution)
            if isinstance(origin, FromIndex):
                history = store.load(target.snapshots)
                if Version(origin.version) in history.timeline.parsed:
                    said = f"{target.distribution} {origin.version}"
                    return target, State(store.snapshot_of(history, origin.version), said)
            return of_one(target.distribution, text, targets, index, taken)
        except DriftwatchError as error:
            last = last or error
    assert last is not None
    raise last


def beside(targets: Sequence[Target], texts: Sequence[str], index: PackageIndex | None = None) -> list[History]:
    """The histories of targets, with the states that texts name."""
    found: dict[Target, list[State]] = {target: [] for target in targets}
    for text in texts:
        target, state = meant(targets, text, index, [each.name for states in found.values() for each in states])
        found[target].append(state)
    return [with_states(target, states) for target, states in found.items()]


def compared(
    target: Target, old: str, new: str, index: PackageIndex | None = None
) -> tuple[Snapshot, Snapshot, History]:
    """Two states, releases or not, and a history that has both."""
    known = store.load(target.snapshots)

    def one(text: str, taken: tuple[str, ...]) -> State:
        try:
            return meant((target,), text, index, taken)[1]
        except UsageError:
            if named_versions(target.distribution, text):
                known.timeline.index(text.rpartition("=")[2])  # which tells of the releases that are known
            raise

    before = one(old, ())
    after = one(new, (before.name,))
    states = [state for state in (before, after) if state.name not in known.timeline.versions]
    return before.snapshot, after.snapshot, with_states(target, states) if states else known
