"""The history of a library that nobody has set up: its modules and its releases as the package index has them.

Enters: the name of a distribution, and which of its releases count. Leaves: the history of these, made as every
snapshot is, and kept in the user's cache under a name that depends on all that it is made of. Which modules a
distribution has is read from its files, never guessed from its name.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch import __version__
from driftwatch.errors import IndexUnavailableError, InputError, SnapshotError
from driftwatch.releases import ReleaseSet, Timeline
from driftwatch.snapshot.commands.update import Progress, update
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.sources.artifact_tree import NOT_THE_PACKAGE, ArtifactTree
from driftwatch.snapshot.sources.cache import cache_root
from driftwatch.snapshot.sources.index import PackageIndex, Project, the_index
from driftwatch.snapshot.sources.origin import choose_for_snapshot
from driftwatch.snapshot.store import store
from driftwatch.targets.target import Target

FOLDER = "libraries-1"  # another number for another form
_ASKED = "asked.json"
_OF_THE_BUILD = frozenset({"setup", "conftest", "noxfile", "versioneer", "tasks", "fabfile"})

Select = Callable[[Timeline], ReleaseSet]


@dataclass(frozen=True, slots=True)
class OnDemand:
    """A history; the distribution's other modules, which are not in it; the releases that could not be read, and why.

    `stale` says that the index could not be reached, so that this is what was known of the library before.
    """

    history: History
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

    `asked` is the same in words: without the index, what was found for it before is the answer. Of several modules that
    the code base has `mentioned`, and then of all, the one that most looks like the distribution is taken.
    """
    home = cache_root() / FOLDER / canonicalize_name(distribution)
    with the_index(index) as used:
        try:
            project = used.project(distribution)
        except IndexUnavailableError:
            known = _recalled(home, asked)
            if known is None:
                raise
            return known
        versions = _selected(project, select, asked)
        modules = modules_of(project, versions, used)
        module = next((each for each in modules if mentioned(each)), modules[0])
        place = home / f"{module}-{_digest(project, versions)}"
        failed: tuple[tuple[str, str], ...] = ()
        if not (place / store.RELEASES).is_file():
            failed = _made(Target(project.name, module, place), versions, progress, used)
    _recall(home, asked, place)
    return OnDemand(store.load(place), tuple(each for each in modules if each != module), failed)


def _selected(project: Project, select: Select, asked: Sequence[str]) -> list[Version]:
    """The releases that are asked for; pre-releases are there for who names one."""
    pre = any(Version(part).is_prerelease for text in asked for part in _versions_in(text))
    finals = project.finals(pre=pre) or project.finals(pre=True)
    if not finals:
        raise InputError(f"{project.name} has no release on the package index")
    chosen = select(Timeline.of(str(version) for version in finals))
    return [version for position, version in enumerate(finals) if chosen.mask >> position & 1]


def _versions_in(text: str) -> Iterable[str]:
    for part in text.replace(",", " ").replace("=", " ").replace("<", " ").replace(">", " ").replace("~", " ").split():
        try:
            yield str(Version(part))
        except ValueError:
            continue


def _made(
    target: Target, versions: Sequence[Version], progress: Progress | None, index: PackageIndex
) -> tuple[tuple[str, str], ...]:
    """Make the snapshots in a folder of their own, and put that in its place when it is whole."""
    target.snapshots.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=target.snapshots.parent) as folder:
        draft = Path(folder) / "snapshots"
        result = update(
            Target(target.distribution, target.module, draft), only=versions, progress=progress, index=index
        )
        if not result.known:
            why = f": {result.failed[0].error.message}" if result.failed else ""
            raise SnapshotError(f"no release of {target.distribution} could be read{why}")
        if not target.snapshots.exists():
            draft.replace(target.snapshots)
    without = tuple((release, f"it has no module {target.module}") for release in result.without_module)
    return (*((each.release, each.error.message) for each in result.failed), *without)


def _digest(project: Project, versions: Sequence[Version]) -> str:
    """A name for what a history is made of: the artifacts, and the driftwatch that reads them."""
    digest = hashlib.sha256(__version__.encode())
    for version in versions:
        digest.update(f"\n{version} {choose_for_snapshot(project.releases[version]).sha256}".encode())
    return digest.hexdigest()[:24]


# -- without the index -------------------------------------------------------------------------------------------------


def _recall(home: Path, asked: Sequence[str], place: Path) -> None:
    """Keep what was found for a question, for a time without the index."""
    known = _questions(home)
    known["\n".join(asked)] = place.name
    draft = home / f".{_ASKED}.{place.name}"
    draft.write_text(json.dumps(known, sort_keys=True), encoding="utf-8")
    draft.replace(home / _ASKED)


def _recalled(home: Path, asked: Sequence[str]) -> OnDemand | None:
    name = _questions(home).get("\n".join(asked))
    if not isinstance(name, str) or not (home / name / store.RELEASES).is_file():
        return None
    return OnDemand(store.load(home / name), stale=True)


def _questions(home: Path) -> dict[str, object]:
    try:
        known = json.loads((home / _ASKED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


# -- modules -----------------------------------------------------------------------------------------------------------


def modules_of(project: Project, versions: Sequence[Version], index: PackageIndex) -> list[str]:
    """The public modules of a distribution as its newest release has them, likeliest first."""
    if not versions:
        raise InputError(f"no release of {project.name} is asked for")
    artifact = choose_for_snapshot(project.releases[versions[-1]])
    paths = ArtifactTree(artifact, index, "").paths()
    found = importable(paths, wheel=artifact.wheel)
    if not found:
        raise InputError(f"{artifact.filename} has no Python sources, so nothing can be told of {project.name}")
    wanted = canonicalize_name(project.name).replace("-", "_")
    likely = {wanted: 0, wanted.removeprefix("python_"): 1, wanted.removeprefix("py"): 1}
    return sorted(found, key=lambda module: (likely.get(module.replace(".", "_").lower(), 2), -found[module], module))


def importable(paths: Iterable[str], *, wheel: bool) -> Counter[str]:
    """The top-level modules among the files of an archive, and how many files each has.

    A namespace package stands for the packages in it: several distributions may share it.
    """
    inside = [parts for path in paths if (parts := _below_the_root(PurePosixPath(path).parts, wheel=wheel))]
    packages = {parts[:-1] for parts in inside if parts[-1] in ("__init__.py", "__init__.pyi")}
    found: Counter[str] = Counter()
    for parts in inside:
        depth = next((n for n in range(1, len(parts)) if parts[:n] in packages), len(parts))
        names = parts[:depth] if depth < len(parts) else (*parts[:-1], parts[-1].partition(".")[0])
        aside = names[0] in NOT_THE_PACKAGE or (not wheel and len(parts) == 1 and names[0] in _OF_THE_BUILD)
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
