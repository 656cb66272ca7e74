"""Upstream impact: what a state of a library that is not released would do to the code bases that use it.

Enters: a library as it is now (a checkout with all that is changed in it, a commit, an archive, a release), what it is
held against, and code bases. Leaves: an `Impact`: every change of the API between the two, with the places that it
reaches, and the changes that reach nobody. Nothing of the library and nothing of a code base is run, and nothing is
recorded. The base of a branch is where it left the main line: what the main line has broken since is no fault of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.version import Version

from driftwatch.errors import DriftwatchError, InputError, UsageError
from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.project.config import Config
from driftwatch.project.states import State, meant, of_one, with_states
from driftwatch.releases import Timeline
from driftwatch.rules import rule
from driftwatch.rules.advisories import load
from driftwatch.rules.behaviour import behaviour_changes
from driftwatch.scan.code_bases import CodeBase, opened
from driftwatch.scan.sites import Site
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, Grade, diff
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources.git import checked_out, git, merge_base
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.origin import GIT, FromArchive, FromFolder, FromGit, FromIndex, parse_origin
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target
from driftwatch.watching.held import check, hits, scanned
from driftwatch.watching.news import Hits, NewRelease
from driftwatch.watching.reach import Effect, Impact, Reach, Side, Touch, Unread

MAIN_LINES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""What the main line of a repository may be called, likeliest first."""
_RANGE = re.compile(r"(.+?)\.\.\.?(.+)")


@dataclass(frozen=True, slots=True)
class ImpactRequest:
    """What to look at. `library` and `base` are as a person writes them; `config` is for code bases that have none."""

    targets: tuple[Target, ...]
    library: str
    code: tuple[str, ...]
    base: str | None = None
    config: Config | None = None
    cache: Path | None = None
    title: Callable[[str], None] = field(default=lambda _text: None, compare=False)


def impact(request: ImpactRequest, index: PackageIndex | None = None) -> Impact:
    """What the library as it is now does to the code bases."""
    request.title(f"reading {request.library}")
    target, history, base, now = sides(request.targets, request.library, request.base, index)
    old, new = store.snapshot_of(history, base.version), store.snapshot_of(history, now.version)
    knowledge = load(target.data, history.timeline)
    changes = diff(old, new)
    found: list[Hits] = []
    unread: list[Unread] = []
    for text in request.code:
        try:
            with opened(text, request.config, request.title) as code:
                check(code)
                request.title(f"analysing {code.name}")
                named = replace(code, name=_free(code.name, [each.name for each in found]))
                found.append(_held(named, target, history, base.version, now.version, request.cache))
        except DriftwatchError as error:
            unread.append(Unread(text, error.message))
    if not found:
        raise InputError(f"{unread[0].name}: {unread[0].reason}" if unread else "there is no code base to look at")
    release = NewRelease(
        now.version,
        base.version,
        changes,
        new.symbols,
        code=tuple(found),
        behaviour=behaviour_changes(knowledge, history.timeline, base.version, now.version),
    )
    reaching, used, unused, besides = _sorted_out(history, changes, found)
    return Impact(
        target.distribution, target.module, now, base, release, reaching, used, unused, besides, tuple(unread)
    )


def _held(code: CodeBase, target: Target, history: History, base: str, now: str, cache: Path | None) -> Hits:
    result = scanned(code, target, history, (base, now), cache)
    found = hits(target, history, base, now, code, result)
    for finding in found.findings:
        # A folder may be gone when the report is made: what it shows is read now.
        for path in {finding.location.path, *(step.path for step in finding.trace), (finding.caught_at or ("", 0))[0]}:
            if path:
                found.source(path)
    return found


def _free(name: str, taken: Sequence[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


# -- the two sides -----------------------------------------------------------------------------------------------------


def sides(
    targets: Sequence[Target], library: str, base: str | None, index: PackageIndex | None = None
) -> tuple[Target, History, Side, Side]:
    """The library that is meant, a history with both sides in it, and the sides: as it was, and as it is."""
    library, base = _ranged(library, base)
    target, now = meant(targets, library, index)
    recorded = store.load(target.snapshots).timeline
    before, why = _base(target, recorded, library, base, now, index)
    states = [each for each in (before, now) if each.snapshot.release not in recorded.versions]
    history = with_states(target, states) if states else store.load(target.snapshots)
    if before.name == now.name:
        raise UsageError(f"{library} is {now.name} itself, so there is nothing to compare", "name another --base")
    return target, history, Side(before.name, why), Side(now.name, now.said)


def _ranged(library: str, base: str | None) -> tuple[str, str | None]:
    """``git:FOLDER@BASE..HEAD`` as a commit and its base."""
    folder, at, ref = library.removeprefix(GIT).rpartition("@")
    match = _RANGE.fullmatch(ref) if at else None
    if match is None:
        return library, base
    if base is not None:
        raise UsageError(f"{library} names its base itself", "leave --base away")
    return f"{GIT}{folder}@{match[2]}", f"@{match[1]}"


def _base(
    target: Target, recorded: Timeline, library: str, base: str | None, now: State, index: PackageIndex | None
) -> tuple[State, str]:
    """What the library is held against, and how that was found, for a person."""
    if base is not None and not base.startswith("@"):
        found = meant((target,), base, index, (now.name,))[1]
        return found, found.said
    origin = parse_origin(library, target.distribution)
    place = _repository(origin)
    if base is not None and place is None:
        raise UsageError(f"{library} is in no git repository, so that {base} names nothing", "name a release as --base")
    if place is not None:
        repository, head, dirty = place
        parted = _parted(repository, head, base.removeprefix("@") if base is not None else None)
        if parted is not None:
            commit, line = parted
            if commit != head or dirty:
                text = f"{GIT}{repository}@{commit}"
                found = of_one(target.distribution, text, (target,), index, (now.name,))[1]
                told = f"{commit[:9]}, where it left {line}" if commit != head else f"{commit[:9]}, the commit it is on"
                return found, told
    if isinstance(origin, FromIndex):
        older = [v for v in recorded.versions_of(recorded.released) if Version(v) < Version(now.name)]
        if not older:
            raise UsageError(f"there is no release before {now.name}", "name a --base")
        return _known(target, older[-1]), "the release before it"
    return _known(target, recorded.versions_of(recorded.newest())[0]), "the newest release that is recorded"


def _known(target: Target, version: str) -> State:
    return meant((target,), version)[1]


def _repository(origin: object) -> tuple[Path, str, bool] | None:
    """The repository behind an origin, the commit it is on, and whether it is a working tree; None where none is."""
    if isinstance(origin, FromGit):
        return origin.repository, git(
            origin.repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{origin.ref}^{{commit}}",
            missing=origin.ref,
        ).decode().strip(), False  # fmt: skip
    if isinstance(origin, FromFolder):
        try:
            commit = checked_out(origin.path)
        except InputError:
            return None
        return commit.repository, commit.commit, True
    assert isinstance(origin, FromArchive | FromIndex) or origin is not None
    return None


def _parted(repository: Path, head: str, line: str | None) -> tuple[str, str] | None:
    """The commit at which a head left a line of history, and that line's name; None where none is known."""
    if line is not None:
        return merge_base(repository, line, head), line
    for name in MAIN_LINES:
        try:
            return merge_base(repository, name, head), name
        except InputError:
            continue
    return None


# -- who is reached by what --------------------------------------------------------------------------------------------


def effect_of(finding: Finding) -> Effect:
    """What a finding that is new says of its place."""
    if finding.outcome is Outcome.GUARDED:
        return Effect.OFF
    if finding.severity is Severity.ERROR:
        return Effect.SILENT if finding.outcome is Outcome.SILENT else Effect.BREAKS
    known = rule(finding.code)
    if finding.code == "DW301":
        return Effect.DEPRECATED
    return Effect.DIFFERS if known is not None and known.compares else Effect.LOOK


def _sorted_out(
    history: History, changes: Sequence[Change], code: Sequence[Hits]
) -> tuple[tuple[Reach, ...], tuple[Reach, ...], tuple[Change, ...], tuple[Touch, ...]]:
    """The changes that reach places, those of what is used, those that touch nobody, and places without a change."""
    homes = _Homes(history, changes)
    touches: dict[int, list[Touch]] = {}
    besides: list[Touch] = []
    for each in code:
        for finding in each.findings:
            touch = Touch(each.name, finding, effect_of(finding))
            home = homes.of(finding)
            if home is None:
                besides.append(touch)
            else:
                touches.setdefault(home, []).append(touch)
    counts = [(each.name, Counter(home for site in each.sites for home in homes.at(site))) for each in code]
    reaching: list[Reach] = []
    used: list[Reach] = []
    unused: list[Change] = []
    for number, change in enumerate(changes):
        where = tuple((name, found[number]) for name, found in counts if found[number])
        reach = Reach(change, tuple(touches.get(number, ())), where)
        if reach.touches:
            reaching.append(reach)
        elif where:
            used.append(reach)
        else:
            unused.append(change)
    order = list(Effect)
    reaching.sort(key=lambda reach: min(order.index(touch.effect) for touch in reach.touches))
    return tuple(reaching), tuple(used), tuple(unused), tuple(besides)


class _Homes:
    """Which change a place is about, by the symbol that it uses under any of its names."""

    def __init__(self, history: History, changes: Sequence[Change]) -> None:
        self._history = history
        self._changes = changes
        self._by_symbol: dict[str, list[int]] = {}
        self._by_ref: dict[Ref, list[int]] = {}
        for number, change in enumerate(changes):
            for ref in (change.ref, *change.also):
                for known in self._names(ref):
                    self._put(known, number)

    def _put(self, ref: Ref, number: int) -> None:
        for places in (self._by_symbol.setdefault(ref.dotted, []), self._by_ref.setdefault(ref, [])):
            if number not in places:
                places.append(number)

    def _names(self, ref: Ref) -> Iterable[Ref]:
        """A reference, and where what is behind it is defined."""
        yield ref
        for epoch in self._history.of(ref):
            if epoch.symbol.definition is not None:
                yield epoch.symbol.definition

    def at(self, site: Site) -> tuple[int, ...]:
        """The changes of what a site uses, or of what it is in: a member is gone with its class."""
        found: dict[int, None] = {}
        for ref in self._names(site.ref):
            found |= dict.fromkeys(self._by_ref.get(ref, ()))
            for owner in _owners(ref):
                found |= dict.fromkeys(n for n in self._by_ref.get(owner, ()) if self._is_removal(n))
        return tuple(found)

    def _is_removal(self, number: int) -> bool:
        return self._changes[number].kind is ChangeKind.SYMBOL_REMOVED

    def of(self, finding: Finding) -> int | None:
        """The change that a finding comes from; None where no change of the API shows it."""
        demanded = self._demanded(finding)
        if demanded is not None:
            return demanded
        parts = finding.symbol.split(".")
        for length in range(len(parts), 0, -1):
            symbol = ".".join(parts[:length])
            candidates = self._candidates(symbol)
            if length < len(parts):
                candidates = [number for number in candidates if self._is_removal(number)]
            if candidates:
                return min(candidates, key=lambda number: self._distance(finding, self._changes[number]))
        return None

    def _demanded(self, finding: Finding) -> int | None:
        """The method that a class of the library has begun to demand of those that come from it, where it is that."""
        if finding.code != "DW302":
            return None
        found = [
            (change.ref.dotted.rpartition(".")[0] != finding.symbol, number)
            for number, change in enumerate(self._changes)
            if change.grade is Grade.BREAKING and "." in change.ref.qualname
            if f"`{change.ref.qualname.rpartition('.')[2]}`" in finding.message
        ]
        return min(found)[1] if found else None

    def _candidates(self, symbol: str) -> list[int]:
        found = dict.fromkeys(self._by_symbol.get(symbol, ()))
        # A class is called by what its constructor takes.
        found |= dict.fromkeys(self._by_symbol.get(f"{symbol}.__init__", ()))
        module, _, name = symbol.rpartition(".")
        for ref in self._names(Ref(module, name)):
            found |= dict.fromkeys(self._by_symbol.get(ref.dotted, ()))
        return list(found)

    @staticmethod
    def _distance(finding: Finding, change: Change) -> tuple[bool, bool, int]:
        about = {change.parameter, *(_first_word(text) for text in (change.before, change.after))} - {None, ""}
        other = finding.parameter is not None and finding.parameter not in about
        default = (change.kind is ChangeKind.DEFAULT_CHANGED) != (finding.code == "DW304")
        return (other, default, list(Grade).index(change.grade))


def _first_word(text: str | None) -> str:
    match = re.match(r"\*{0,2}(\w+)", text or "")
    return match[1] if match else ""


def _owners(ref: Ref) -> Iterable[Ref]:
    """The classes and the modules that a reference is in, innermost first."""
    qualname = ref.qualname
    while qualname:
        qualname = qualname.rpartition(".")[0]
        yield Ref(ref.module, qualname)
