"""What a code base pins to one release, file by file and line by line, and what is installed together.

Enters: a folder that is scanned, and the distributions that are of interest. Leaves: installations, each of the pins
that one way to install the code base brings together. Read are pyproject.toml, the metadata of a built distribution,
requirements and constraints files, and the ``pip install`` lines of Dockerfiles; nothing is executed. A pin is a
requirement of exactly one version: what leaves a choice is none. A file that cannot be read says nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from driftwatch.discovery import SKIPPED, path_matches

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LARGEST = 8_000_000
_DEEPEST = 3
_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO", ".git", ".hg")
_DOCKERFILE = re.compile(r"(?:Dockerfile|Containerfile)(?:\..+)?|.+\.(?:Dockerfile|Containerfile)", re.IGNORECASE)
_REQUIREMENTS = re.compile(r".*(?:requirements|constraints).*\.(?:txt|in)", re.IGNORECASE)
_INCLUDED = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s+|=)(\S+)")
_EXTRA = re.compile(r"""(?:\s+and\s+)?\bextra\s*==\s*(['"])(?P<name>[^'"]*)\1(?:\s+and\s+)?""")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED = re.compile(r"(?:^|\s)(\w+)=(\"[^\"]*\"|'[^']*'|\S*)")
_COMMAND = re.compile(r"[^;&|]+")
_PINNED = r"(?:\[[\w,-]*\])?==([^\s\"';&|,)]+)"
_PIP_INSTALL = re.compile(r"\bpip3?\b.*\binstall\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pin:
    """One distribution at one public version, where it is written. `marker` is the condition it stands under.

    `group` is the extra or the dependency group it belongs to; empty for what is always installed.
    """

    distribution: str
    version: Version
    path: str
    line: int
    column: int
    end_column: int
    marker: str = ""
    group: str = ""

    def meets(self, other: Pin) -> bool:
        """Whether both may hold in one environment, as far as their conditions show."""
        return not self.marker or not other.marker or self.marker == other.marker


@dataclass(frozen=True, slots=True)
class Installation:
    """Pins that are installed together, in the order in which they are written."""

    pins: tuple[Pin, ...]


def installations(
    folder: Path, names: Collection[str], *, exclude: Sequence[str] = (), exclude_from: Path | None = None
) -> tuple[Installation, ...]:
    """The ways to install the project round a folder, as far as they pin these distributions; the first is its subject.

    A requirements file or a Dockerfile that does not pin the first of `names` gets it from the project itself, where
    all that the project says of it is one version. Paths are relative to `folder`.
    """
    ordered = list(dict.fromkeys(canonicalize_name(name) for name in names))
    if len(ordered) < 2:
        return ()
    start = folder.resolve()
    reader = _Reader(start, frozenset(ordered))
    projects: list[list[Pin]] = []
    others: list[list[Pin]] = []
    for place, names_in in _folders(_project(start), exclude, exclude_from.resolve() if exclude_from else None):
        projects += reader.projects(place, names_in)
        others += reader.files(place, names_in)
    own = _agreed(projects, ordered[0]) or _agreed(others, ordered[0])
    result: dict[Installation, None] = {}
    for pins in projects:
        always = [pin for pin in pins if not pin.group]
        for group in dict.fromkeys(pin.group for pin in pins):
            result[Installation((*always, *(pin for pin in pins if group and pin.group == group)))] = None
    for pins in others:
        subject = any(pin.distribution == ordered[0] for pin in pins)
        result[Installation(tuple(pins if subject or own is None else [own, *pins]))] = None
    return tuple(result)


def _agreed(found: list[list[Pin]], name: str) -> Pin | None:
    """The one version that is always installed of a distribution; None where there are several or none."""
    pins = [pin for pins in found for pin in pins if pin.distribution == name and not pin.group and not pin.marker]
    return pins[0] if pins and len({pin.version for pin in pins}) == 1 else None


def _project(folder: Path) -> Path:
    """The root of the project that a folder belongs to; itself where nothing above it says so."""
    if any(folder.glob("*.dist-info")):
        return folder
    for place in (folder, *folder.parents):
        if any((place / name).exists() for name in _PROJECT_FILES):
            return place
    return folder


def _folders(top: Path, exclude: Sequence[str], exclude_from: Path | None) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder and those not far below it, but for those of tools and of other people's code; with what is in each."""
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        # Listing a folder once is many times faster than to ask for one file after the other.
        names, below = _listed(folder)
        if depth and "pyvenv.cfg" in names:
            continue
        yield folder, names
        if depth == _DEEPEST:
            continue
        for name in reversed(below):
            if name in SKIPPED or name.endswith((".dist-info", ".egg-info")):
                continue
            path = folder / name
            home = exclude_from if exclude_from is not None and path.is_relative_to(exclude_from) else top
            if exclude and any(path_matches(path.relative_to(home).as_posix(), pattern) for pattern in exclude):
                continue
            pending.append((path, depth + 1))


def _listed(folder: Path) -> tuple[tuple[str, ...], list[str]]:
    """The names of all that is in a folder, and of the folders among it that are no links, in order."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return (), []
    return tuple(name for name, _ in found), [name for name, is_folder in found if is_folder]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads files below `start`, for pins of `names`."""

    start: Path
    names: frozenset[str]

    def projects(self, folder: Path, names: Sequence[str]) -> Iterator[list[Pin]]:
        """The pins of each project that a folder declares; for each, the first kind of file that has any speaks."""
        pins = list(self._pyproject(folder / "pyproject.toml")) if "pyproject.toml" in names else []
        if pins:
            yield pins
            return
        told: set[str] = set()
        candidates = [name for name in ("PKG-INFO", "METADATA") if name in names]
        candidates += [f"{name}/METADATA" for name in names if name.endswith(".dist-info")]
        candidates += [f"{name}/PKG-INFO" for name in names if name.endswith(".egg-info")]
        for candidate in candidates:
            name, pins = self._metadata(folder / candidate)
            if pins and name not in told:
                told.add(name)
                yield pins

    def _pyproject(self, path: Path) -> Iterator[Pin]:
        text = self._text(path)
        if text is None:
            return
        try:
            document = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return
        project = _table(document, "project")
        lists = [("", "dependencies", project.get("dependencies"))]
        for table in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
            lists += [(group, group, value) for group, value in table.items()]
        for group, key, value in lists:
            head = re.search(rf"""(?m)^\s*["']?{re.escape(key)}["']?\s*=""", text)
            place = head.start() if head else 0
            for requirement in value if isinstance(value, list) else ():
                if isinstance(requirement, str):
                    found = text.find(requirement, place)
                    line = text.count("\n", 0, max(found, place)) + 1
                    pin = self._pin(requirement, path, line, text, group)
                    if pin is not None:
                        yield pin

    def _metadata(self, path: Path) -> tuple[str, list[Pin]]:
        """The name of a built distribution, and its pins."""
        text = self._text(path)
        name, pins = "", []
        for number, line in enumerate((text or "").split("\n"), 1):
            if not line:
                break  # the description begins
            key, _, value = line.partition(":")
            if key == "Name":
                name = canonicalize_name(value.strip())
            elif key == "Requires-Dist" and (pin := self._pin(value.strip(), path, number, text or "", "")):
                pins.append(pin)
        return name, pins

    def files(self, folder: Path, names: Sequence[str]) -> Iterator[list[Pin]]:
        """The pins of each requirements file, with what it includes, and of each stage of a Dockerfile."""
        above = "/".join(folder.parts[-2:])
        for name in names:
            # Of nearly all files the name is enough.
            dockerfile = _DOCKERFILE.fullmatch(name) is not None
            if not (dockerfile or _REQUIREMENTS.fullmatch(f"{above}/{name}")) or not (folder / name).is_file():
                continue
            path = folder / name
            found = list(self._dockerfile(path)) if dockerfile else [list(self._requirements(path, set()))]
            yield from (pins for pins in found if pins)

    def _requirements(self, path: Path, seen: set[Path]) -> Iterator[Pin]:
        text = self._text(path)
        if text is None or path.resolve() in seen:
            return
        seen.add(path.resolve())
        for number, line in enumerate(text.split("\n"), 1):
            code = re.sub(r"(^|\s)#.*", "", line).strip()
            included = _INCLUDED.match(code)
            if included:
                yield from self._requirements(path.parent / included[1], seen)
            elif code and not code.startswith("-"):
                # Options of a line ("--hash=...") are not part of the requirement.
                pin = self._pin(code.partition(" --")[0].rstrip("\\").strip(), path, number, text, "")
                if pin is not None:
                    yield pin

    def _dockerfile(self, path: Path) -> Iterator[list[Pin]]:
        text = self._text(path)
        if text is None or not any(re.search(_spelt(name), text, re.IGNORECASE) for name in self.names):
            return
        values: dict[str, str] = {}
        pins: list[Pin] = []
        for first, lines in _instructions(text):
            whole = "\n".join(lines)
            word = whole.split(None, 1)[0].upper() if whole.strip() else ""
            if word == "FROM":
                yield pins
                pins = []
            elif word in ("ARG", "ENV"):
                values.update((m[1], m[2].strip("\"'")) for m in _ASSIGNED.finditer(whole))
            elif word == "RUN" and _PIP_INSTALL.search(whole):
                inside = {m[1] for m in _ASSIGNED.finditer(whole)}
                pins += self._in_shell(whole, path, first, {k: v for k, v in values.items() if k not in inside})
        yield pins

    def _in_shell(self, text: str, path: Path, first: int, values: dict[str, str]) -> Iterator[Pin]:
        """The pins of those commands that are ``pip install``."""
        for command in _COMMAND.finditer(text):
            if not _PIP_INSTALL.search(command[0]):
                continue
            for name in sorted(self.names):
                for match in re.finditer(rf"(?<![\w./=-]){_spelt(name)}{_PINNED}", command[0], re.IGNORECASE):
                    version = _public(_VARIABLE.sub(lambda v: values.get(v[1] or v[2], v[0]), match[1]))
                    if version is not None:
                        start = command.start() + match.start()
                        column = start - text.rfind("\n", 0, start)
                        line = first + text.count("\n", 0, start)
                        yield Pin(name, version, self._shown(path), line, column, column + len(match[0]))

    def _pin(self, requirement: str, path: Path, line: int, text: str, group: str) -> Pin | None:
        if not _beginning(self.names).match(requirement):
            return None  # of most requirements the first letters are enough
        try:
            parsed = Requirement(requirement)
        except InvalidRequirement:
            return None
        name = canonicalize_name(parsed.name)
        exact = [s.version for s in parsed.specifier if s.operator in ("==", "===") and not s.version.endswith(".*")]
        version = _public(exact[0]) if name in self.names and exact else None
        if version is None:
            return None
        marker = str(parsed.marker) if parsed.marker else ""
        extra = _EXTRA.search(marker)
        if extra:
            group, marker = extra["name"], _EXTRA.sub("", marker).strip()
        source = text.split("\n")[line - 1]
        column = source.find(requirement)
        column, end = (column, column + len(requirement)) if column >= 0 else (0, len(source.rstrip()))
        return Pin(name, version, self._shown(path), line, column + 1, end + 1, marker, group)

    def _shown(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.start)).as_posix()

    def _text(self, path: Path) -> str | None:
        try:
            if path.stat().st_size > _LARGEST:
                return None
            return path.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")
        except OSError:
            return None


def _public(version: str) -> Version | None:
    """A version without its local part; None where it is none, such as one that a variable was to give."""
    try:
        return Version(Version(version).public)
    except InvalidVersion:
        return None


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


@cache
def _beginning(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_spelt, sorted(names))), re.IGNORECASE)


def _spelt(name: str) -> str:
    """A pattern for a distribution's name in any spelling."""
    return "[-_.]+".join(re.escape(part) for part in name.split("-"))


def _instructions(text: str) -> Iterator[tuple[int, list[str]]]:
    """The instructions of a Dockerfile, each with its first line's number; a backslash continues one."""
    first = 0
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            if lines:
                lines.append("")
            continue
        if not lines:
            first = number
        lines.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield first, lines
            lines = []
    if lines:
        yield first, lines
