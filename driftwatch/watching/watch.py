"""The watch: what came out upstream, what that changes, and which call sites of which code bases it breaks.

Enters: targets, and code bases. Leaves: for each target its news, as data: every release that was not known, the graded
changes from the release before it, and for each code base the findings that hold in the new release and did not in that
one. Final releases are recorded, unless nothing is to be written; pre-releases and unreleased sources are looked at in
a copy of the snapshots that is gone afterwards. Nothing upstream, and nothing of a code base, is ever run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.version import Version

from driftwatch.errors import InputError, UsageError
from driftwatch.findings import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.project import ranges
from driftwatch.project.config import Config
from driftwatch.project.declared import Requirements
from driftwatch.project.discovery import find_roots
from driftwatch.releases import EMPTY, ReleaseSet, Timeline
from driftwatch.rules.advisories import Knowledge, load
from driftwatch.rules.behaviour import behaviour_changes
from driftwatch.scan import ScanRequest, ScanResult, Watched, scan
from driftwatch.snapshot.commands.update import Failure, Progress, add, list_, update
from driftwatch.snapshot.comparison.diff import diff
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.store import store
from driftwatch.suppress import read_baseline
from driftwatch.targets.target import Target
from driftwatch.watching.news import Hits, NewRelease, News


@dataclass(frozen=True, slots=True)
class CodeBase:
    """Code to hold new releases against: what it is called, where it is, and the configuration that applies to it."""

    name: str
    paths: tuple[Path, ...]
    config: Config = field(default_factory=Config)


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What to look for. `pre` asks for pre-releases, `previews` are sources that are not released, as `snapshot add`
    takes them. Without `write`, nothing is recorded. `title` is told what is being done.
    """

    targets: tuple[Target, ...]
    code: tuple[CodeBase, ...] = ()
    pre: bool = False
    previews: tuple[str, ...] = ()
    write: bool = True
    cache: Path | None = None
    title: Callable[[str], None] = lambda _text: None
    progress: Progress | None = None


def watch(request: WatchRequest, index: PackageIndex | None = None) -> tuple[News, ...]:
    """Look at every target; what one of them has new is held against all code bases.

    A code base that cannot be looked at is told before anything is recorded: a release is new only once.
    """
    for code in request.code:
        _check(code)
    return tuple(_news(request, target, index) for target in request.targets)


def _news(request: WatchRequest, target: Target, index: PackageIndex | None) -> News:
    request.title(f"looking for releases of {target.distribution}")
    known = _versions(target)
    with _workplace(target, apart=not request.write) as own:
        finals = update(own, progress=request.progress, index=index)
        news = News(
            target.distribution,
            target.module,
            known[-1] if known else None,
            recorded=finals.added,
            without_module=finals.without_module,
            failed=finals.failed,
            written=request.write,
        )
        with _workplace(own, apart=bool(request.pre or request.previews)) as wide:
            previews, failed = _previews(request, wide, index)
            news = replace(news, failed=(*news.failed, *failed))
            new = [version for version in (*finals.added, *finals.changed) if known] + list(previews)
            if not new:
                return news
            history = store.load(wide.snapshots)
            steps = _steps(history.timeline, new, previews)
            knowledge = load(target.data, history.timeline)
            releases = [_release(history, knowledge, step, preview=step[0] in previews) for step in steps]
            # A history reads on demand: all that needs it is done while its folder is there.
            return replace(news, releases=_held_against(request, wide, history, releases))


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


def _previews(
    request: WatchRequest, target: Target, index: PackageIndex | None
) -> tuple[dict[str, bool], tuple[Failure, ...]]:
    """What is put into the copy beside final releases: versions, and whether each was named by the person."""
    found: dict[str, bool] = {}
    failed: tuple[Failure, ...] = ()
    known = _versions(target)
    if request.pre and known and target.origin is None:
        # Pre-releases of what is out already are no news.
        since = replace(target, since=known[-1])
        result = update(since, pre=True, progress=request.progress, index=index)
        found |= dict.fromkeys(result.added, False)
        failed = result.failed
    if request.previews:
        result = add(target, request.previews, index=index)
        found |= dict.fromkeys((*result.added, *result.changed), True)
        failed = (*failed, *result.failed)
    return found, failed


def _steps(timeline: Timeline, new: Sequence[str], previews: Mapping[str, bool]) -> list[tuple[str, str]]:
    """Each new release with the one before it. A preview follows on a recorded release, never on another preview."""
    recorded = [version for version in timeline.versions if version not in previews]
    steps: list[tuple[str, str]] = []
    for version in sorted(set(new), key=Version):
        older = [other for other in recorded if Version(other) < Version(version)]
        if previews.get(version) and recorded:
            # What the sources call themselves need not be true: they are what comes after everything that is out.
            older = [other for other in recorded if other != version]
        if older:
            steps.append((version, older[-1]))
    return steps


def _release(history: History, knowledge: Knowledge, step: tuple[str, str], *, preview: bool) -> NewRelease:
    version, before = step
    old, new = store.snapshot_of(history, before), store.snapshot_of(history, version)
    behaviour = behaviour_changes(knowledge, history.timeline, before, version)
    return NewRelease(version, before, diff(old, new), new.symbols, preview=preview, behaviour=behaviour)


# -- code bases --------------------------------------------------------------------------------------------------------


def _check(code: CodeBase) -> None:
    config = code.config
    found = find_roots(code.paths, base=Path.cwd(), exclude=config.exclude, exclude_from=config.folder)
    if not any(root.files for root in found.roots):
        raise InputError(f"there is no Python file in {code.name}")
    if config.baseline is not None:
        read_baseline(config.baseline)


def _held_against(
    request: WatchRequest, target: Target, history: History, releases: Sequence[NewRelease]
) -> tuple[NewRelease, ...]:
    """The releases with what they do to each code base: one scan answers for all of them."""
    versions = dict.fromkeys(version for release in releases for version in (release.previous, release.version))
    found: list[tuple[CodeBase, ScanResult]] = []
    for code in request.code:
        request.title(f"analysing {code.name}")
        result = scan(
            ScanRequest(
                paths=code.paths,
                targets=(Watched(history, target.data, target.companions, target.aliases, target.carriers),),
                config=code.config,
                against=tuple(f"{target.distribution}=={version}" for version in versions),
                cache=request.cache,
            )
        )
        found.append((code, result))
    return tuple(
        replace(release, code=tuple(_hits(target, history, release, code, result) for code, result in found))
        for release in releases
    )


def _hits(target: Target, history: History, release: NewRelease, code: CodeBase, result: ScanResult) -> Hits:
    timeline = history.timeline
    now, before = timeline.set_of([release.version]), timeline.set_of([release.previous])
    findings = [f for f in result.findings if f.releases & now]
    requirement, allowed = _requirement(target, history, code, now)
    return Hits(
        name=code.name,
        findings=tuple(sorted((_only(f, now) for f in findings if not f.releases & before), key=_worst_first)),
        already=sum(f.severity is Severity.ERROR for f in findings if f.releases & before),
        requirement=requirement,
        allowed=allowed,
        source=result.sources.lines,
        timeline=timeline,
    )


def _requirement(target: Target, history: History, code: CodeBase, now: ReleaseSet) -> tuple[str | None, bool]:
    """What the code base asks for, for a person, and whether that lets the new release in."""
    try:
        found = ranges.choose(
            history.distribution,
            history.timeline,
            configured=code.config.against,
            configured_in=code.config.path.name if code.config.path is not None else "the configuration",
            requirements=Requirements(
                code.paths[0],
                [history.distribution],
                exclude=code.config.exclude,
                exclude_from=code.config.folder,
                aliases=target.other_names,
            ),
        )
    except UsageError as error:
        # It asks for releases that nobody knows, so surely not for this one.
        return error.message, False
    said = "; ".join([found.source, *(notice.message for notice in found.notices)])
    # What stands in for a release that is not known is not what is asked for.
    return (said if found.declared else None), not found.declared or bool((found.releases - found.stand_in) & now)


def _only(finding: Finding, now: ReleaseSet) -> Finding:
    """A finding as of the new release: in which others it holds is no news."""
    return replace(finding, releases=finding.releases & now, beyond=EMPTY)


def _worst_first(finding: Finding) -> tuple[object, ...]:
    silent = finding.outcome is not Outcome.SILENT
    return (finding.outcome is Outcome.GUARDED, list(Severity).index(finding.severity), silent, finding.location)
