"""What a project needs at run time: each distribution, the ways in which it is installed, the releases these allow.

Enters: a folder, and the extras and groups that count as well. Leaves: a `Dependency` for each distribution. A release
that cannot be installed on any Python that the project and the requirement's marker are for is none that is allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from driftwatch.errors import InputError, UsageError
from driftwatch.project.declared import Declaration, Requirements
from driftwatch.project.discovery import is_project, listed
from driftwatch.project.ranges import selected
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.system import atomic_files, toml

MOST_RELEASES = 200
"""Of a dependency with more releases than this, the newest are looked at."""

PYTHONS = tuple(f"3.{minor}" for minor in range(6, 21))
_PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
_MACHINES = ("x86_64", "arm64", "aarch64", "AMD64")
_IMPLEMENTATIONS = (("cpython", "CPython"), ("pypy", "PyPy"))


@dataclass(frozen=True, slots=True)
class Way:
    """One requirement on a distribution: the releases it allows, on the Pythons that it is for."""

    specifier: str
    pythons: frozenset[str]
    declared: Declaration


@dataclass(frozen=True, slots=True)
class Dependency:
    """A distribution that the project requires, and each way in which it is installed.

    `why_not` says why none of its releases can be checked, where that is known without asking the index.
    """

    distribution: str
    ways: tuple[Way, ...]
    declared: Declaration
    why_not: str = ""

    @property
    def requirement(self) -> str:
        """The requirement as a person writes it, all ways together."""
        return f"{self.distribution}{' or '.join(dict.fromkeys(way.specifier for way in self.ways))}"

    @property
    def against(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{self.distribution}{way.specifier}" for way in self.ways))

    def allowed(self, timeline: Timeline, requires_python: Sequence[Collection[str | None]]) -> ReleaseSet:
        """The releases that some way of installing it allows; `UsageError` where there is none."""
        found = [self._of(way, timeline, requires_python) for way in self.ways]
        releases = union([EMPTY, *found])
        if not releases:
            raise UsageError(f"no release that can be installed is in {self.requirement}")
        return releases

    def lowest(self, timeline: Timeline, requires_python: Sequence[Collection[str | None]]) -> ReleaseSet:
        """The lowest release of each way, as a resolver may choose it."""
        self.allowed(timeline, requires_python)
        found = [self._of(way, timeline, requires_python).mask for way in self.ways]
        return union([EMPTY, *(ReleaseSet(mask & -mask) for mask in found)])

    def looked_at(self, timeline: Timeline, requires_python: Sequence[Collection[str | None]]) -> ReleaseSet:
        """What is allowed, and what came after it: whether a cap is needed is worth knowing."""
        allowed = self.allowed(timeline, requires_python)
        top = allowed.mask.bit_length()
        later = _installable(requires_python, frozenset(PYTHONS)) >> top << top
        newest = ((1 << MOST_RELEASES) - 1) << max(len(timeline) - MOST_RELEASES, 0)
        return ReleaseSet((allowed.mask | later) & newest or allowed.mask & -allowed.mask)

    def _of(self, way: Way, timeline: Timeline, requires_python: Sequence[Collection[str | None]]) -> ReleaseSet:
        try:
            chosen = selected(self.distribution, timeline, [f"{self.distribution}{way.specifier}"])
        except UsageError:
            return EMPTY
        return ReleaseSet(chosen.mask & _installable(requires_python, way.pythons))


def dependencies(path: Path, extras: Sequence[str], shown: str) -> tuple[Dependency, ...]:
    """What the project round a folder requires when it runs, and with the extras and groups that are asked for."""
    requirements = Requirements(path, None)
    declared = requirements.all_own()
    if all(_in_requirements_file(each.path) for each in declared) and _says_none(requirements.start):
        declared = ()  # what is in a requirements file then is for whoever works on the project
    groups = {each.group for each in declared if each.group}
    for name in extras:
        if name not in groups:
            raise InputError(f"the project has no extra or group {name!r}", f"it has {', '.join(sorted(groups))}")
    found: dict[str, list[Declaration]] = {}
    for each in declared:
        if not each.group or each.group in extras:
            found.setdefault(each.distribution, []).append(each)
    if not found and (requirements.notices or not _says_none(requirements.start)):
        broken = "; ".join(f"{notice.path}: {notice.message}" for notice in requirements.notices)
        raise InputError(f"no dependency is declared for {shown!r}{f' ({broken})' if broken else ''}")
    pythons = _pythons(requirements.python)
    return tuple(_dependency(name, own, pythons) for name, own in found.items())


def _in_requirements_file(path: str) -> bool:
    return path.endswith((".txt", ".in")) and not path.endswith(".egg-info/requires.txt")


def _says_none(start: Path) -> bool:
    """Whether a project says that it requires nothing, rather than saying nothing."""
    for place in (start, *start.parents):
        names = listed(place)[0]
        if "METADATA" in names or any(name.endswith(".egg-info") for name in names):
            return True
        try:
            project = toml.parse(atomic_files.read(place / "pyproject.toml").decode("utf-8")).get("project")
        except (OSError, ValueError):
            project = None
        if isinstance(project, dict):
            return "dependencies" not in project.get("dynamic", ())
        if "PKG-INFO" in names:
            return "setup.py" not in names  # what that would have it require is not in metadata of its time
        if is_project(place):
            return False
    return False


def _dependency(name: str, declared: Sequence[Declaration], pythons: frozenset[str]) -> Dependency:
    ways: list[Way] = []
    why_not = ""
    for each in declared:
        if each.url:
            why_not = f"it comes from {each.url}, not from the package index"
            continue
        meant = _meeting(each.marker, pythons)
        if meant:
            ways.append(Way(str(Requirement(each.requirement).specifier) or ">=0", meant, each))
        else:
            why_not = f"it is required under `{each.marker}` alone, on no Python that the project is for"
    return Dependency(name, tuple(ways), declared[0], "" if ways else why_not)


def _pythons(specifier: str | None) -> frozenset[str]:
    """The Pythons that a project is for; all, where it does not say."""
    return frozenset(python for python in PYTHONS if _takes(specifier, python)) or frozenset(PYTHONS)


@lru_cache(maxsize=1024)
def _takes(specifier: str | None, python: str) -> bool:
    """Whether any patch release of a Python is meant; what cannot be read excludes none."""
    if not specifier:
        return True
    try:
        meant = SpecifierSet(specifier)
    except InvalidSpecifier:
        return True
    return any(meant.contains(f"{python}.{patch}") for patch in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 30))


def _installable(requires_python: Sequence[Collection[str | None]], pythons: frozenset[str]) -> int:
    """The releases, as bits, of which some file is for one of these Pythons."""
    mask = 0
    for position, specifiers in enumerate(requires_python):
        if any(_takes(specifier, python) for specifier in specifiers for python in pythons):
            mask |= 1 << position
    return mask


@lru_cache(maxsize=256)
def _meeting(marker: str, pythons: frozenset[str]) -> frozenset[str]:
    """The Pythons on which a marker may hold, on any platform; what cannot be evaluated may hold on all."""
    if not marker or "platform_release" in marker or "platform_version" in marker:
        return pythons
    try:
        parsed = Marker(marker)
        return frozenset(python for python in pythons if _holds(parsed, python))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return pythons


def _holds(marker: Marker, python: str) -> bool:
    places = product(_PLATFORMS, _IMPLEMENTATIONS, _MACHINES, ("0", "9"))
    for (platform, system, name), (implementation, spelt), machine, patch in places:
        surroundings = {
            "python_version": python,
            "python_full_version": f"{python}.{patch}",
            "implementation_version": f"{python}.{patch}",
            "sys_platform": platform,
            "platform_system": system,
            "platform_machine": machine,
            "os_name": name,
            "implementation_name": implementation,
            "platform_python_implementation": spelt,
            "extra": "",
        }
        if marker.evaluate(dict(surroundings)):
            return True
    return False
