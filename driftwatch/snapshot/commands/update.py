"""What can be done with a target's snapshots: find and add new releases, add one by hand, list; `verify` is beside it.

Enters: a `Target`. Leaves: data about what was done, for a command to print. A store is written once, at the end, with
all that could be made: what fails for one release is reported with it and spoils no other.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import DriftwatchError, IndexUnavailableError, SnapshotError, UsageError
from driftwatch.releases import Timeline
from driftwatch.snapshot.collect.gpu_facts import gpu_facts
from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.model.gpu_facts import GpuFact
from driftwatch.snapshot.model.symbols import Snapshot
from driftwatch.snapshot.sources.cache import cache_root
from driftwatch.snapshot.sources.index import Artifact, PackageIndex, Project, the_index
from driftwatch.snapshot.sources.origin import (
    FromFolder,
    OpenedRelease,
    choose_for_snapshot,
    has_module,
    open_artifact,
    open_release,
    parse_origin,
)
from driftwatch.snapshot.sources.tree import SourceTree
from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.gpu_facts import Facts, add_facts, facts_of
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.system import atomic_files
from driftwatch.targets.gpu_words import load_gpu_words
from driftwatch.targets.target import Target

AHEAD = 4
"""So many releases are fetched while one is collected."""

STATES = "states-1"
"""The user's store, below the cache; another number for another form."""

Progress = Callable[[int, int, str], None]
"""Called with how many releases are done, how many there are, and which one is next."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A release of which no snapshot could be made or compared, and why."""

    release: str
    error: DriftwatchError


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """What an update did: releases that are new in the store, those made again because their sources changed, those
    found to lack the module, and those that failed. `known` is how many releases the store now has."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    without_module: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    known: int = 0


@dataclass
class _Making:
    """Snapshots in the making: one reader for all, and what became of each release."""

    target: Target
    reader: Reader = field(default_factory=Reader)
    facts: dict[str, tuple[GpuFact, ...]] = field(default_factory=dict)
    without: list[OpenedRelease] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)

    def snapshot(self, opened: OpenedRelease) -> Snapshot:
        made = collect(opened.tree, self.target.module, opened.release, self.reader)
        self.facts[opened.release] = facts_in(self.target, opened.tree, made)
        return made


def facts_in(target: Target, tree: SourceTree, snapshot: Snapshot) -> tuple[GpuFact, ...]:
    """What a release's sources say of GPUs, in the target's words."""
    return gpu_facts(tree, snapshot, target.module, load_gpu_words(target.data))


# -- use cases ---------------------------------------------------------------------------------------------------------


def update(
    target: Target,
    *,
    pre: bool = False,
    only: Sequence[Version] | None = None,
    progress: Progress | None = None,
    index: PackageIndex | None = None,
) -> UpdateResult:
    """Adds the releases that the index (or the target's folder) has and the store does not; `only` these, if given."""
    with the_index(index) as used:
        known = _known(target)
        if target.origin is not None:
            return _update_from_folder(target, target.origin, known, used)
        project = used.project(target.distribution)
        absent = store.without_module(target.snapshots)
        wanted = _watched(project, target, pre=pre) if only is None else only
        missing = [v for v in wanted if v not in known and _hash(project, v) not in absent]
        making = _Making(target)
        added: list[str] = []
        if missing:
            _save(target, _made(making, project, missing, used, progress, added), making.facts)
            _remember(target, making.without)
        elif not known:
            raise SnapshotError(f"no release of {target.distribution} is known to have {target.module}")
        return UpdateResult(
            added=tuple(added),
            without_module=tuple(opened.release for opened in making.without),
            failed=tuple(making.failed),
            known=len(known) + len(added),
        )


def add(target: Target, specs: Sequence[str], *, index: PackageIndex | None = None) -> UpdateResult:
    """Adds the releases that a person names, whatever their origin; nothing is written unless all can be made.

    What is no release of the library goes into the user's store.
    """
    with the_index(index) as used:
        known = {**_known(users_store(target)), **_known(target)}
        making = _Making(target)
        made: dict[Version, tuple[Snapshot, ReleaseRecord]] = {}
        for spec in specs:
            origin = parse_origin(spec, target.distribution)
            opened = open_release(origin, target.distribution, target.module, used, load_gpu_words(target.data).files)
            version = Version(opened.release)
            there = made[version][1] if version in made else known.get(version)
            if there is not None and there.artifact is not None and opened.artifact is None:
                raise UsageError(
                    f"release {opened.release} is there already, made from {there.artifact}",
                    f"call it something else: {version.public}+local={spec}",
                )
            made[version] = making.snapshot(opened), _record(opened)
        return _saved(target, known, list(made.values()), making.facts)


def list_(target: Target) -> tuple[ReleaseRecord, ...]:
    """The releases in a target's store, oldest first."""
    return store.records(target.snapshots)


def early(target: Target) -> tuple[ReleaseRecord, ...]:
    """The pre-releases that are recorded beside the releases, oldest first."""
    return _records(replace(target, snapshots=target.snapshots / store.EARLY))


def users_store(target: Target) -> Target:
    """The target with the folder that is the user's own, for what is no release."""
    name = f"{canonicalize_name(target.distribution)}-{target.module}"
    return replace(target, snapshots=cache_root() / STATES / name)


def users_own(target: Target) -> tuple[ReleaseRecord, ...]:
    """What the user's store has of a target, oldest first."""
    return _records(users_store(target))


def remove(target: Target, versions: Sequence[str]) -> None:
    """Takes states out of the user's store; `UsageError` for one that is not there, and then none is taken out."""
    known = {Version(record.version): record.version for record in users_own(target)}
    for version in versions:
        try:
            there = Version(version) in known
        except ValueError:
            there = False
        if not there:
            names = ", ".join(known.values())
            raise UsageError(f"{version} is not in the user's store", f"in it are {names}" if names else "it is empty")
    store.drop(users_store(target).snapshots, [known[Version(version)] for version in versions])


# -- new releases ------------------------------------------------------------------------------------------------------


def _watched(project: Project, target: Target, *, pre: bool) -> list[Version]:
    oldest = Version(target.since) if target.since else None
    return [version for version in project.finals(pre=pre) if oldest is None or version >= oldest]


def _made(
    making: _Making,
    project: Project,
    versions: Sequence[Version],
    index: PackageIndex,
    progress: Progress | None,
    added: list[str],
) -> Iterator[tuple[Snapshot, ReleaseRecord]]:
    """The snapshots of these releases, in order; those that fail are left out, and noted."""
    artifacts = [choose_for_snapshot(project.releases[version]) for version in versions]
    for done, (artifact, opening) in enumerate(_opened(artifacts, making.target, index)):
        if progress:
            progress(done, len(artifacts), artifact.version)
        try:
            opened = opening.result()
            if not has_module(opened.tree, making.target.module):
                making.without.append(opened)
                continue
            snapshot = making.snapshot(opened)
        except DriftwatchError as error:
            making.failed.append(Failure(artifact.version, error))
            if isinstance(error, IndexUnavailableError):
                return
            continue
        added.append(opened.release)
        yield snapshot, _record(opened)
    if progress:
        progress(len(artifacts), len(artifacts), "")


def _opened(
    artifacts: Sequence[Artifact], target: Target, index: PackageIndex
) -> Iterator[tuple[Artifact, Future[OpenedRelease]]]:
    """Each artifact with its opening, a few of which are on their way at any time."""
    also = load_gpu_words(target.data).files
    waiting = deque(artifacts)
    running: deque[tuple[Artifact, Future[OpenedRelease]]] = deque()
    with ThreadPoolExecutor(AHEAD) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < AHEAD:
                    artifact = waiting.popleft()
                    running.append((artifact, pool.submit(open_artifact, artifact, target.module, index, also)))
                yield running.popleft()
        finally:
            for _, opening in running:
                opening.cancel()


def _update_from_folder(
    target: Target, folder: Path, known: dict[Version, ReleaseRecord], index: PackageIndex
) -> UpdateResult:
    opened = open_release(FromFolder(folder, released=True), target.distribution, target.module, index)
    making = _Making(target)
    return _saved(target, known, [(making.snapshot(opened), _record(opened))], making.facts)


# -- the store ---------------------------------------------------------------------------------------------------------


def _known(target: Target) -> dict[Version, ReleaseRecord]:
    """What the store has; nothing, where there is none yet."""
    if not (target.snapshots / store.RELEASES).exists():
        return {}
    history = store.load(target.snapshots)
    if (history.distribution, history.module) != (target.distribution, target.module):
        raise SnapshotError(
            f"{target.snapshots} has the snapshots of {history.distribution}, module {history.module}, "
            f"not of {target.distribution}, module {target.module}",
            "give each target a folder of its own",
        )
    return {Version(record.version): record for record in (*store.records(target.snapshots), *early(target))}


def _records(target: Target) -> tuple[ReleaseRecord, ...]:
    return store.records(target.snapshots) if (target.snapshots / store.RELEASES).exists() else ()


def _save(target: Target, made: Iterable[tuple[Snapshot, ReleaseRecord]], facts: Facts) -> None:
    """Puts snapshots where they belong, and of the releases the facts that were found in making them.

    Releases go into the target's store, pre-releases beside them, the rest into the user's own store. The first release
    is made before anything is written.
    """
    early: list[tuple[Snapshot, ReleaseRecord]] = []
    states: list[tuple[Snapshot, ReleaseRecord]] = []

    def releases() -> Iterator[tuple[Snapshot, ReleaseRecord]]:
        for snapshot, record in made:
            version = Version(record.version)
            if version.local or (version.is_prerelease and record.artifact is None):
                states.append((snapshot, record))
            elif version.is_prerelease:
                early.append((snapshot, record))
            else:
                yield snapshot, record

    before = _timeline(target)
    iterator = releases()
    first = next(iterator, None)
    if first is not None:
        store.keep(target.snapshots, target.distribution, target.module, chain([first], iterator))
        after = _timeline(target)
        add_facts(target.snapshots, before, after, {v: found for v, found in facts.items() if v in after.versions})
    if early:
        # Where nothing else is known, they are what there is.
        folder = target.snapshots / store.EARLY if (target.snapshots / store.RELEASES).exists() else target.snapshots
        store.keep(folder, target.distribution, target.module, early)
    if states:
        store.keep(users_store(target).snapshots, target.distribution, target.module, states)


def _timeline(target: Target) -> Timeline:
    """The releases in the store."""
    return Timeline.of(record.version for record in _records(target))


def _saved(
    target: Target,
    known: dict[Version, ReleaseRecord],
    made: Sequence[tuple[Snapshot, ReleaseRecord]],
    facts: Facts,
) -> UpdateResult:
    added: list[str] = []
    changed: list[str] = []
    for snapshot, record in made:
        there = known.get(Version(record.version))
        if there is None:
            added.append(record.version)
        elif there.digest != store.digest(snapshot) or _says_else(target, record.version, facts):
            changed.append(record.version)
    touched = {*added, *changed}
    _save(target, ((snapshot, record) for snapshot, record in made if record.version in touched), facts)
    return UpdateResult(tuple(added), tuple(changed), known=len(known) + len(added))


def _says_else(target: Target, version: str, facts: Facts) -> bool:
    """Whether what was found of GPUs is not what is stored of a release."""
    timeline = _timeline(target)
    if version not in timeline.versions:
        return False  # of what is no release, none are stored
    return set(facts_of(target.snapshots, timeline, version)) != set(facts.get(version, ()))


def _record(opened: OpenedRelease) -> ReleaseRecord:
    return ReleaseRecord(opened.release, opened.artifact, opened.sha256, opened.requires_python)


# -- releases without the module ---------------------------------------------------------------------------------------


def _hash(project: Project, version: Version) -> str:
    return choose_for_snapshot(project.releases[version]).sha256


def _remember(target: Target, without: Sequence[OpenedRelease]) -> None:
    if not without:
        return
    rows = store.without_module(target.snapshots)
    for opened in without:
        if opened.artifact and opened.sha256:
            rows[opened.sha256] = {"version": opened.release, "artifact": opened.artifact, "sha256": opened.sha256}
    ordered = sorted(rows.values(), key=lambda row: (Version(row["version"]), row["artifact"]))
    target.snapshots.mkdir(parents=True, exist_ok=True)
    atomic_files.write_lines(target.snapshots / store.ABSENT, [json.dumps(row) for row in ordered])
