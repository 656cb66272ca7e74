"""The history of a library that nobody has set up: its modules and its releases as the package index has them.

Enters: the name of a distribution, and which of its releases count. Leaves: the history of these, made as every
snapshot is, and kept in the user's cache under a name that depends on all that it is made of. Which modules a
distribution has is read from its files, never guessed from its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import DriftwatchError, IndexUnavailableError, InputError, SnapshotError
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.collect.reader import parser_version
from driftwatch.snapshot.commands.update import Progress, update
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Snapshot
from driftwatch.snapshot.sources.artifact_tree import NOT_THE_PACKAGE, ArtifactTree
from driftwatch.snapshot.sources.cache import cache_root
from driftwatch.snapshot.sources.cache_size import LIMIT, shrink
from driftwatch.snapshot.sources.index import PackageIndex, Project, the_index
from driftwatch.snapshot.sources.origin import choose_for_snapshot
from driftwatch.snapshot.store import store
from driftwatch.system import atomic_files
from driftwatch.targets.target import Target

FOLDER = "libraries-2"  # another number for another form
_ASKED = "asked.json"
_OF_THE_BUILD = frozenset({"setup", "conftest", "noxfile", "versioneer", "tasks", "fabfile"})


@dataclass(frozen=True, slots=True)
class Offered:
    """The releases on the index that may be chosen from, and which Pythons each says it is for."""

    timeline: Timeline
    requires_python: tuple[frozenset[str | None], ...]


Select = Callable[[Offered], ReleaseSet]


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The histories of a distribution's modules, one each, over the same releases, and the folders they are in.

    `others` are modules that nobody asked for, `failed` the releases that could not be read, and why. `stale` says that
    the index could not be reached, so that this is what was known of the library before.
    """

    histories: tuple[History, ...]
    places: tuple[Path, ...]
    others: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    stale: bool = False


def on_demand(
    distribution: str,
    select: Select,
    asked: Sequence[str],
    *,
    mentioned: Callable[[str], bool] = lambda module: False,
    progress: Progress | None = None,
    index: PackageIndex | None = None,
) -> OnDemand:
    """The history of the releases that are selected among all on the index.

    `asked` is the same in words: without the index, what was found for it before is the answer. Of several modules all
    that the code base has `mentioned` are read; of none, the one that most looks like the distribution.
    """
    home = cache_root() / FOLDER / canonicalize_name(distribution)
    with the_index(index) as used:
        try:
            project = used.project(distribution)
            versions = _selected(project, select, asked)
            whole = set(versions) >= set(project.finals())
            modules = modules_of(project, versions, used)
            wanted = [each for each in modules if mentioned(each)]
            if not wanted and any(map(mentioned, _likely(project.name))):
                _must_be_told(project, versions, modules)
            wanted = wanted or modules[:1]
            read = [_read(home, project, module, versions, progress, used) for module in wanted]
        except IndexUnavailableError:
            known = _recalled(home, select, asked, mentioned)
            if known is None:
                raise
            return known
    _recall(home, asked, [place for place, _ in read])
    shrink(cache_root(), LIMIT)
    failed = dict(pair for _, failures in read for pair in failures)
    places = tuple(place for place, _ in read)
    return OnDemand(
        tuple(replace(store.load(place), whole=whole) for place in places),
        places,
        tuple(each for each in modules if each not in wanted),
        tuple(failed.items()),
    )


def _read(
    home: Path,
    project: Project,
    module: str,
    versions: Sequence[Version],
    progress: Progress | None,
    index: PackageIndex,
) -> tuple[Path, tuple[tuple[str, str], ...]]:
    """Where the history of a module is, made if it is not there, and the releases that could not be read."""
    place = home / f"{module}-{_digest(project, versions)}"
    if (place / store.RELEASES).is_file():
        os.utime(place)
        return place, ()
    wheels = {str(version) for version in versions if choose_for_snapshot(project.releases[version]).wheel}
    return place, _made(Target(project.name, module, place), versions, wheels, progress, index)


def _selected(project: Project, select: Select, asked: Sequence[str]) -> list[Version]:
    """The releases that are asked for; pre-releases and those that were yanked are there for who names one."""
    named = {Version(part) for text in asked for part in _versions_in(text)}
    pre = any(version.is_prerelease for version in named)
    finals = project.finals(pre=pre) or project.finals(pre=True)
    pinned = {Version(part) for text in asked for part in _versions_in(text) if f"=={part}" in text.replace(" ", "")}
    finals = sorted({*finals, *(version for version in pinned if version in project.releases)})
    if not finals:
        raise InputError(f"{project.name} has no release on the package index")
    pythons = (frozenset(each.requires_python for each in project.releases[version]) for version in finals)
    chosen = select(Offered(Timeline.of(str(version) for version in finals), tuple(pythons)))
    return [version for position, version in enumerate(finals) if chosen.mask >> position & 1]


def _versions_in(text: str) -> Iterable[str]:
    for part in text.replace(",", " ").replace("=", " ").replace("<", " ").replace(">", " ").replace("~", " ").split():
        try:
            yield str(Version(part))
        except ValueError:
            continue


def _made(
    target: Target, versions: Sequence[Version], wheels: Set[str], progress: Progress | None, index: PackageIndex
) -> tuple[tuple[str, str], ...]:
    """Make the snapshots in a folder of their own, and put that in its place when it is whole.

    A release whose wheel does not have the module is in the history, without anything in it: every import of it fails
    there. What a build makes of the sources of another, nobody knows.
    """
    target.snapshots.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=target.snapshots.parent) as folder:
        draft = Path(folder) / "snapshots"
        drafted = Target(target.distribution, target.module, draft)
        result = update(drafted, only=versions, progress=progress, index=index)
        if not result.known:
            why = f": {result.failed[0].error.message}" if result.failed else ""
            raise SnapshotError(f"no release of {target.distribution} could be read{why}")
        unavailable = next((f.error for f in result.failed if isinstance(f.error, IndexUnavailableError)), None)
        if unavailable is not None:
            raise unavailable
        lacking = sorted(wheels & set(result.without_module), key=Version)
        if lacking:
            store.add(draft, [(Snapshot(release, {}), store.ReleaseRecord(release)) for release in lacking])
        if not target.snapshots.exists():
            draft.replace(target.snapshots)
    unbuilt = (release for release in result.without_module if release not in wheels)
    why = f"it has no wheel, and its sources no module {target.module}"
    return (*((each.release, each.error.message) for each in result.failed), *((each, why) for each in unbuilt))


def _digest(project: Project, versions: Sequence[Version]) -> str:
    """A name for what a history is made of: the artifacts, and all that reads them."""
    digest = hashlib.sha256(_reader().encode())
    for version in versions:
        digest.update(f"\n{version} {choose_for_snapshot(project.releases[version]).sha256}".encode())
    return digest.hexdigest()[:24]


@cache
def _reader() -> str:
    """What reads a release: driftwatch's sources that do, its parser, and the Python that knows its own classes."""
    digest = hashlib.sha256()
    rooms = Path(__file__).parents[1]
    for path in sorted(rooms.rglob("*.py")):
        digest.update(b"%b %b" % (path.relative_to(rooms).as_posix().encode(), path.read_bytes()))
    return f"{digest.hexdigest()} {parser_version()} {sys.version_info[:2]}"


# -- without the index -------------------------------------------------------------------------------------------------


def _recall(home: Path, asked: Sequence[str], places: Sequence[Path]) -> None:
    """Keep what was found for a question, for a time without the index."""
    known = _questions(home)
    known["\n".join(asked)] = [place.name for place in places]
    atomic_files.write(home / _ASKED, json.dumps(known, sort_keys=True).encode())


def _recalled(home: Path, select: Select, asked: Sequence[str], mentioned: Callable[[str], bool]) -> OnDemand | None:
    """What was found for the question before; else what is known of the releases that it is about."""
    names = _questions(home).get("\n".join(asked))
    if isinstance(names, list) and all((home / str(name) / store.RELEASES).is_file() for name in names) and names:
        places = tuple(home / str(name) for name in names)
        return OnDemand(tuple(map(_part, places)), places, stale=True)
    known: dict[str, tuple[History, Path]] = {}
    for place in sorted(home.iterdir()) if home.is_dir() else ():
        if not (place / store.RELEASES).is_file():
            continue
        with contextlib.suppress(DriftwatchError):
            history = _part(place)
            pythons = tuple(frozenset({record.requires_python}) for record in store.records(place))
            if select(Offered(history.timeline, pythons)):
                best = known.get(history.module)
                if best is None or len(best[0].timeline) < len(history.timeline):
                    known[history.module] = history, place
    wanted = [each for module, each in known.items() if mentioned(module)] or list(known.values())[:1]
    return OnDemand(tuple(h for h, _ in wanted), tuple(p for _, p in wanted), stale=True) if wanted else None


def _part(place: Path) -> History:
    """A history that may lack releases."""
    return replace(store.load(place), whole=False)


def _questions(home: Path) -> dict[str, object]:
    try:
        known = json.loads((home / _ASKED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


# -- modules -----------------------------------------------------------------------------------------------------------


def modules_of(project: Project, versions: Sequence[Version], index: PackageIndex) -> list[str]:
    """The public modules of a distribution as its oldest and newest of these releases have them, likeliest first."""
    if not versions:
        raise InputError(f"no release of {project.name} is asked for")
    found: Counter[str] = Counter()
    for version in dict.fromkeys((versions[-1], versions[0])):
        artifact = choose_for_snapshot(project.releases[version])
        tree = ArtifactTree(artifact, index, "")
        namespaces = _namespaces(tree, wheel=artifact.wheel)
        listed = importable(tree.paths(), wheel=artifact.wheel, namespaces=namespaces, distribution=project.name)
        if not found and not listed:
            raise InputError(f"{artifact.filename} has no Python sources, so nothing can be told of {project.name}")
        found.update({module: files for module, files in listed.items() if artifact.wheel or not found})
    # What is a package in one release and only holds others in another one is shared with other distributions.
    for module in [each for each in found if any(other.startswith(f"{each}.") for other in found)]:
        del found[module]
    likely = {name: min(place, 1) for place, name in reversed(list(enumerate(_likely(project.name))))}
    return sorted(found, key=lambda module: (likely.get(module.replace(".", "_").lower(), 2), -found[module], module))


def _likely(distribution: str) -> tuple[str, ...]:
    """What the module of a distribution may be called, to go by its name alone."""
    name = canonicalize_name(distribution).replace("-", "_")
    return name, name.removeprefix("python_"), name.removeprefix("py")


def _must_be_told(project: Project, versions: Sequence[Version], modules: Sequence[str]) -> None:
    """The code uses a module of the distribution's name, and none that was found: sources need not be laid out alike.

    What a wheel installs is certain; what a build makes of sources is not.
    """
    built = [
        version for version in (versions[0], versions[-1]) if not choose_for_snapshot(project.releases[version]).wheel
    ]
    if built:
        raise InputError(
            f"{project.name} {built[0]} has no wheel, and which modules its sources install cannot be told: what is "
            f"in them looks like {' and '.join(modules)}"
        )


def _namespaces(tree: ArtifactTree, *, wheel: bool) -> list[str]:
    """The top-level packages that say in their ``__init__.py`` that other distributions have parts of them."""
    found = []
    for path in tree.paths():
        parts = _below_the_root(PurePosixPath(path).parts, wheel=wheel)
        if len(parts) == 2 and parts[1] == "__init__.py" and (content := tree.read(path)) is not None:
            if b"declare_namespace" in content or b"extend_path" in content:
                found.append(parts[0])
    return found


def importable(
    paths: Iterable[str], *, wheel: bool, namespaces: Sequence[str] = (), distribution: str = ""
) -> Counter[str]:
    """The top-level modules among the files of an archive, and how many files each has.

    A namespace package stands for the packages in it: several distributions may share it. A folder of tests, or what a
    build has left, is none, unless the distribution is called like that.
    """
    own = canonicalize_name(distribution)
    inside = [parts for path in paths if (parts := _below_the_root(PurePosixPath(path).parts, wheel=wheel))]
    inside = [parts for parts in inside if parts not in {(top, "__init__.py") for top in namespaces}]
    packages = {parts[:-1] for parts in inside if parts[-1] in ("__init__.py", "__init__.pyi")}
    found: Counter[str] = Counter()
    for parts in inside:
        depth = next((n for n in range(1, len(parts)) if parts[:n] in packages), len(parts))
        names = parts[:depth] if depth < len(parts) else (*parts[:-1], parts[-1].partition(".")[0])
        aside = names[0] in NOT_THE_PACKAGE and names[0] != own
        aside = aside or (not wheel and len(parts) == 1 and names[0] in _OF_THE_BUILD)
        if not aside and all(name.isidentifier() for name in names) and not names[0].startswith("_"):
            found[".".join(names)] += 1
    return found


def _below_the_root(parts: tuple[str, ...], *, wheel: bool) -> tuple[str, ...]:
    """A path as an installation has it; empty for what is not installed."""
    if wheel:
        if parts[0].endswith(".data"):
            return parts[2:] if len(parts) > 2 and parts[1] in ("purelib", "platlib") else ()
        return () if parts[0].endswith((".dist-info", ".libs")) else parts
    inside = parts[1:]
    return inside[1:] if inside[:1] in (("src",), ("lib",), ("python",)) else inside
