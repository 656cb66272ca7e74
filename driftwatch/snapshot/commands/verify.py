"""Is a target's store what its origins say? Snapshots made again, and compared byte for byte.

Enters: a `Target`, and which of its releases. Leaves: data about what differs; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.version import Version

from driftwatch.errors import DriftwatchError, IndexUnavailableError, SnapshotError
from driftwatch.snapshot.collect.reader import Reader
from driftwatch.snapshot.collect.release import collect
from driftwatch.snapshot.commands.update import Failure, Progress, facts_in
from driftwatch.snapshot.model.codec import lines
from driftwatch.snapshot.model.gpu_facts import GpuFact
from driftwatch.snapshot.model.symbols import Snapshot
from driftwatch.snapshot.sources.index import Artifact, PackageIndex, the_index
from driftwatch.snapshot.sources.origin import FromFolder, OpenedRelease, open_artifact, open_release
from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.gpu_facts import facts_of
from driftwatch.snapshot.store.store import ReleaseRecord
from driftwatch.targets.gpu_words import load_gpu_words
from driftwatch.targets.target import Target


@dataclass(frozen=True, slots=True)
class Difference:
    """A symbol whose stored line is not the one made again; None where there is none."""

    symbol: str
    stored: str | None
    made: str | None


@dataclass(frozen=True, slots=True)
class Verified:
    """A release held against its origin; it is right when nothing differs."""

    release: str
    differences: tuple[Difference, ...] = ()
    digest_differs: bool = False

    @property
    def right(self) -> bool:
        return not self.differences and not self.digest_differs


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What was compared, what could not be (no origin to make it from again), and what failed."""

    verified: tuple[Verified, ...] = ()
    skipped: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()

    @property
    def right(self) -> bool:
        """Nothing differs, and nothing failed."""
        return not self.failed and all(release.right for release in self.verified)


def verify(
    target: Target,
    releases: Iterable[str] | None = None,
    *,
    sample: int | None = None,
    progress: Progress | None = None,
    index: PackageIndex | None = None,
) -> VerifyResult:
    """Makes snapshots again from their origins and compares them with the stored ones, byte for byte.

    Those of `releases`, or `sample` of all evenly over time (oldest and newest among them), or all.
    """
    history = store.load(target.snapshots)
    records = {Version(record.version): record for record in store.records(target.snapshots)}
    if releases is not None:
        chosen = [records[Version(history.timeline.versions[history.timeline.index(name)])] for name in releases]
    else:
        chosen = evenly(list(records.values()), sample) if sample is not None else list(records.values())
    stored = store.snapshots_of(history)
    reader = Reader()
    failed: list[Failure] = []
    verified: list[Verified] = []
    skipped: list[str] = []
    with the_index(index) as used:
        for done, record in enumerate(chosen):
            if progress:
                progress(done, len(chosen), record.version)
            try:
                opened = _again(target, record, used)
                if opened is None:
                    skipped.append(record.version)
                    continue
                made = collect(opened.tree, target.module, record.version, reader)
                facts = (
                    facts_of(target.snapshots, history.timeline, record.version),
                    facts_in(target, opened.tree, made),
                )
                verified.append(_compare(stored[record.version], made, record, facts))
            except IndexUnavailableError:
                raise
            except DriftwatchError as error:
                failed.append(Failure(record.version, error))
    return VerifyResult(tuple(verified), tuple(skipped), tuple(failed))


def evenly(records: Sequence[ReleaseRecord], count: int) -> list[ReleaseRecord]:
    """So many of them, spread evenly, the first and the last among them."""
    if count <= 0:
        return []
    if count >= len(records):
        return list(records)
    if count == 1:
        return [records[-1]]
    return [records[round(i * (len(records) - 1) / (count - 1))] for i in range(count)]


def _again(target: Target, record: ReleaseRecord, index: PackageIndex) -> OpenedRelease | None:
    """The release from where it came from; None when that is not known any more."""
    if record.sha256 is not None and record.artifact is not None:
        artifact = _recorded_artifact(target, record, record.artifact, record.sha256, index)
        return open_artifact(artifact, target.module, index, load_gpu_words(target.data).files)
    if target.origin is not None:
        opened = open_release(FromFolder(target.origin, released=True), target.distribution, target.module, index)
        return opened if Version(opened.release) == Version(record.version) else None
    return None


def _recorded_artifact(
    target: Target, record: ReleaseRecord, filename: str, sha256: str, index: PackageIndex
) -> Artifact:
    """The very artifact that was recorded. Without the index, the cache may still have all of it that matters."""
    try:
        for artifact in index.project(target.distribution).artifacts(record.version):
            if artifact.sha256 == sha256:
                return artifact
    except IndexUnavailableError:
        if index.cache.listing(sha256) is None:
            raise
        return Artifact(target.distribution, record.version, filename, filename.endswith(".whl"), sha256, "")
    raise SnapshotError(
        f"the package index has no {filename} with the recorded sha256 any more",
        f"`driftwatch snapshot add {record.version}` takes what it has now",
    )


def _compare(
    stored: Snapshot, made: Snapshot, record: ReleaseRecord, facts: tuple[Sequence[GpuFact], Sequence[GpuFact]]
) -> Verified:
    old = {str(ref): line for ref, line in lines(stored)}
    new = {str(ref): line for ref, line in lines(made)}
    differences = [
        Difference(name, old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    for fact in sorted(set(facts[0]) ^ set(facts[1])):
        said = f"{fact.said.value}: {', '.join(fact.values)} ({fact.by})"
        differences.append(Difference(fact.symbol, *((said, None) if fact in facts[0] else (None, said))))
    return Verified(record.version, tuple(differences), store.digest(made) != record.digest)
