"""The watch: what came out upstream, what that changes, and which call sites of which code bases it breaks.

Enters: targets, and code bases. Leaves: for each target its news, as data: every release that was not known, the graded
changes from the release before it, and for each code base the findings that hold in the new release and did not in that
one. Releases are recorded, unless nothing is to be written: pre-releases beside the others. Nothing upstream, and
nothing of a code base, is ever run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from driftwatch.releases import Timeline
from driftwatch.rules.advisories import Knowledge, load
from driftwatch.rules.behaviour import behaviour_changes
from driftwatch.scan.code_bases import CodeBase
from driftwatch.scan.report_model import Report
from driftwatch.snapshot.commands.update import Progress, list_, update
from driftwatch.snapshot.comparison.diff import diff
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target
from driftwatch.watching.held import check, hits, scanned
from driftwatch.watching.news import NewRelease, News


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What to look for. `pre` asks for pre-releases as well. Without `write`, nothing is recorded. `title` is told what
    is being done.
    """

    targets: tuple[Target, ...]
    code: tuple[CodeBase, ...] = ()
    pre: bool = False
    write: bool = True
    cache: Path | None = None
    title: Callable[[str], None] = lambda _text: None
    progress: Progress | None = None


def watch(request: WatchRequest, index: PackageIndex | None = None) -> tuple[News, ...]:
    """Look at every target; what one of them has new is held against all code bases.

    A code base that cannot be looked at is told before anything is recorded: a release is new only once.
    """
    for code in request.code:
        check(code)
    return tuple(_news(request, target, index) for target in request.targets)


def _news(request: WatchRequest, target: Target, index: PackageIndex | None) -> News:
    request.title(f"looking for releases of {target.distribution}")
    known = _versions(target)
    with _workplace(target, apart=not request.write) as own:
        found = update(own, pre=request.pre, progress=request.progress, index=index)
        news = News(
            target.distribution,
            target.module,
            known[-1] if known else None,
            recorded=found.added,
            without_module=found.without_module,
            failed=found.failed,
            written=request.write,
        )
        new = _news_since(known, [*found.added, *found.changed])
        if not new:
            return news
        history = _history(own, new)
        steps = _steps(history.timeline, new)
        knowledge = load(target.data, history.timeline)
        releases = [_release(history, knowledge, step) for step in steps]
        # A history reads on demand: all that needs it is done while its folder is there.
        return replace(news, releases=_held_against(request, own, history, releases))


def _news_since(known: Sequence[str], found: Sequence[str]) -> list[str]:
    """What is new of these releases: a pre-release of what is out already is none, and at first nothing is."""
    if not known:
        return []
    newest = Version(known[-1])
    return [version for version in found if not Version(version).is_prerelease or Version(version) > newest]


def _history(target: Target, new: Sequence[str]) -> History:
    """The history of the releases, with those of the new ones that are pre-releases."""
    early = [version for version in new if Version(version).is_prerelease]
    if not early:
        return store.load(target.snapshots)
    beside = store.load(target.snapshots / store.EARLY)
    return store.load(target.snapshots, [store.snapshot_of(beside, version) for version in early])


@contextmanager
def _workplace(target: Target, *, apart: bool) -> Iterator[Target]:
    """The target itself, or one with a copy of its snapshots that may be written to."""
    if not apart:
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="driftwatch-watch-") as folder:
        copy = Path(folder) / "snapshots"
        if target.snapshots.is_dir():
            shutil.copytree(target.snapshots, copy)
        yield replace(target, snapshots=copy)


def _versions(target: Target) -> tuple[str, ...]:
    if not (target.snapshots / store.RELEASES).exists():
        return ()
    return tuple(record.version for record in list_(target))


def _steps(timeline: Timeline, new: Sequence[str]) -> list[tuple[str, str]]:
    """Each new release with the one before it. A pre-release follows on a release, never on another pre-release."""
    released = timeline.versions_of(timeline.released)
    steps: list[tuple[str, str]] = []
    for version in sorted(set(new), key=Version):
        older = [other for other in released if Version(other) < Version(version)]
        if older:
            steps.append((version, older[-1]))
    return steps


def _release(history: History, knowledge: Knowledge, step: tuple[str, str]) -> NewRelease:
    version, before = step
    old, new = store.snapshot_of(history, before), store.snapshot_of(history, version)
    behaviour = behaviour_changes(knowledge, history.timeline, before, version)
    early = Version(version).is_prerelease
    return NewRelease(version, before, diff(old, new), new.symbols, preview=early, behaviour=behaviour)


# -- code bases --------------------------------------------------------------------------------------------------------


def _held_against(
    request: WatchRequest, target: Target, history: History, releases: Sequence[NewRelease]
) -> tuple[NewRelease, ...]:
    """The releases with what they do to each code base: one scan answers for all of them."""
    versions = [version for release in releases for version in (release.previous, release.version)]
    found: list[tuple[CodeBase, Report]] = []
    for code in request.code:
        request.title(f"analysing {code.name}")
        found.append((code, scanned(code, target, history, versions, request.cache)))
    return tuple(
        replace(
            release,
            code=tuple(
                hits(target, history, release.previous, release.version, code, result) for code, result in found
            ),
        )
        for release in releases
    )
