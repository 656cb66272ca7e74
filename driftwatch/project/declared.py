"""What a project says it needs, read from the files that declare dependencies: the one reader of requirements.

Enters: a folder that is scanned, and the distributions that are of interest. Leaves: requirements, each with its file,
line, marker and group, and what of the files could not be read although it mentions one of them. Read are
pyproject.toml, the metadata of a built distribution, setup.cfg, what is written out in a setup.py, requirements and
constraints files with what they include, and the ``pip install`` lines of Dockerfiles. Nothing is executed.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from driftwatch.errors import DriftwatchError
from driftwatch.project.dependency_files import metadata_files, root_of, subfolders
from driftwatch.project.discovery import folders_below, is_project, listed, project_of
from driftwatch.project.dockerfile import Installed, installed, is_dockerfile
from driftwatch.project.egg_info import built_requirements, in_sections
from driftwatch.project.project_files import Described, of_pyproject, of_setup_cfg, of_setup_py
from driftwatch.project.requirement_texts import beginnings, logical_lines, public_version, spelling
from driftwatch.system import atomic_files

_LARGEST = 8_000_000
_REQUIREMENTS = re.compile(r".*(?:requirements|constraints).*\.(?:txt|in)", re.IGNORECASE)
_INCLUDED = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s+|=)(\S+)")
_EXTRA = re.compile(r"""(?:\s+and\s+)?\bextra\s*==\s*(['"])(?P<name>[^'"]*)\1(?:\s+and\s+)?""")
_NAMED_URL = re.compile(r"(?:(?:-e|--editable)(?:\s+|=))?(?P<url>[\w+.-]+://\S+?)#(?:\S*&)?egg=(?P<name>[\w.-]+)")
_SECRET = re.compile(r"(?<=://)[^/@\s]*@")
_INDEX = re.compile(r"index[-_ ]?url|find[-_]links|--index\b|tool\.uv\.index|poetry\.source|pdm\.source", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One requirement, where it is written. `requirement` is its text without marker and extras.

    `version` is the public version that it pins, None where it leaves a choice; `url` is where it comes from instead of
    an index. `marker` is the condition it stands under, `group` the extra or dependency group it belongs to; empty for
    what is always installed. `always` says that it holds however the project is installed, `indexed` that its file
    speaks of another package index than the usual one.
    """

    distribution: str
    requirement: str
    version: Version | None
    path: str
    line: int
    column: int
    end_column: int
    project: str = ""
    marker: str = ""
    group: str = ""
    url: str = ""
    always: bool = False
    indexed: bool = False

    @property
    def file(self) -> str:
        """The file as a person calls it who knows the project."""
        path = re.sub(r"^(?:\.\./)+", "", self.path)
        return path.rpartition("/")[2] if path.endswith(("/METADATA", "/PKG-INFO")) else path

    @property
    def whole(self) -> str:
        """The version that it pins as it is written, local part and all; empty where it pins none."""
        if self.version is None:
            return ""
        exact = [each.version for each in Requirement(self.requirement).specifier if each.operator in ("==", "===")]
        return next(iter(exact), str(self.version))

    def meets(self, other: Declaration) -> bool:
        """Whether both may hold in one environment, as far as their conditions show."""
        return not self.marker or not other.marker or self.marker == other.marker


@dataclass(frozen=True, slots=True, order=True)
class Notice:
    """What a person must know of something that a project declares, or may: where, one sentence, about what."""

    path: str
    line: int
    message: str
    about: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which kind of file a requirement stands."""

    path: Path
    line: int
    source: str
    project: str
    group: str = ""
    firm: bool = True


class Requirements:
    """What the project round a folder declares of some distributions. Each file is read once, whoever asks.

    `names` None means every distribution.

    Paths are relative to `project`, by default the one that a scan of the folder has. `exclude` are patterns of
    folders that are not looked into, relative to `exclude_from` where they are below it. `aliases` are other names of
    distributions: what is declared of such a one is declared of the one that it stands for.
    """

    def __init__(
        self,
        folder: Path,
        names: Iterable[str] | None,
        *,
        project: Path | None = None,
        exclude: Sequence[str] = (),
        exclude_from: Path | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        start = folder.resolve()
        self.start = start.parent if start.is_file() else start
        self._top = project or project_of([self.start])
        self.names = tuple(dict.fromkeys(canonicalize_name(name) for name in names or ()))
        self._every = names is None
        self._exclude = tuple(exclude)
        self._exclude_from = exclude_from.resolve() if exclude_from else None
        self._meant = {name: name for name in self.names}
        self._meant |= {canonicalize_name(a): canonicalize_name(n) for a, n in (aliases or {}).items()}
        self._spelt = re.compile(r"[A-Za-z0-9]") if self._every else beginnings(frozenset(self._meant))
        self._read: dict[object, tuple[Declaration, ...]] = {}
        self._notices: dict[Notice, None] = {}
        self._missing: dict[Notice, None] = {}
        self._pythons: dict[Path, str] = {}
        self._carried: dict[str, tuple[Declaration, ...]] = {}
        self._worked_out: dict[Path, tuple[tuple[int, str], ...]] = {}
        """What is not known of a setup.py, which does not matter where another file says it."""

    # -- questions -----------------------------------------------------------------------------------------------------

    def own(self, distribution: str) -> tuple[Declaration, ...]:
        """The requirements on one distribution that say which releases the project is for.

        Looked for in the folder and upward to the project's root, then in the folders directly below (a repository of
        several projects), then in every file that `sheets` has. In one place the first kind of file that declares it
        speaks: pyproject.toml, the metadata of a built distribution, setup.cfg, setup.py, requirements files.
        """
        name = canonicalize_name(distribution)
        for place in (self.start, *self.start.parents):
            project = is_project(place)
            # Between a scanned folder and its project's root, only the metadata of an unpacked wheel is its own.
            found = self._in_folder(place, name, everything=project or place == self.start)
            if found:
                return found
            if project:
                break
        below = [d for folder in subfolders(self.start) for d in self._in_folder(folder, name, everything=True)]
        if below:
            return tuple(below)
        anywhere = (d for sheet in (*self.sheets[0], *self.sheets[1]) for d in sheet if d.distribution == name)
        found = tuple(dict.fromkeys(replace(d, always=False) for d in anywhere))
        return found or self.carried(name)

    def carry(
        self, distribution: str, carriers: Iterable[str], required: Callable[[str, str], tuple[str, ...]]
    ) -> None:
        """Have what pinned carriers require of a distribution count as declared, where nothing else is.

        `required` gives the requirements of a release of a package; where it cannot, a notice says so.
        """
        name = canonicalize_name(distribution)
        for carrier in carriers:
            for pin in self.own(carrier):
                if pin.version is None:
                    continue
                try:
                    texts = required(carrier, str(pin.version))
                except DriftwatchError as error:
                    said = f"what `{pin.requirement}` requires of {name} is not known: {error.message}"
                    self._notices[Notice(pin.path, pin.line, said, name)] = None
                    continue
                place = _Place(self.start, pin.line, "", f"{carrier} {pin.version}")
                found = (each for text in texts for each in self._declare(text, place) if not each.group)
                self._carried[name] = tuple(
                    replace(each, path=pin.path, column=pin.column, end_column=pin.end_column, always=pin.always)
                    for each in found
                    if each.distribution == name
                )
                if self._carried[name]:
                    return

    def carried(self, distribution: str) -> tuple[Declaration, ...]:
        """What comes of a distribution with a pinned carrier, as far as it was asked for."""
        return self._carried.get(canonicalize_name(distribution), ())

    def all_own(self) -> tuple[Declaration, ...]:
        """What the project itself requires, by the first kind of file that says so, in the folder or above it."""
        for place in (self.start, *self.start.parents):
            for read in (*self._of_projects, self._all_requirements):
                found = tuple(read(place))
                if found:
                    return found
            self._tell_worked_out(place)
            if is_project(place):
                break
        return ()

    @cached_property
    def sheets(self) -> tuple[tuple[tuple[Declaration, ...], ...], tuple[tuple[Declaration, ...], ...]]:
        """What is declared together in and not far below the project's root: by projects, and by all other files.

        Those are requirements files, each with what it includes, and the stages of Dockerfiles.
        """
        projects: list[tuple[Declaration, ...]] = []
        others: list[tuple[Declaration, ...]] = []
        for folder, names in folders_below(root_of(self.start), self._exclude, self._exclude_from):
            projects += self._projects(folder, names)
            others += self._files(folder, names)
        return tuple(sheet for sheet in projects if sheet), tuple(sheet for sheet in others if sheet)

    @property
    def python(self) -> str | None:
        """The specifier of Python that the project declares, None where it declares none that can be read."""
        for place in (self.start, *self.start.parents):
            self._pyproject(place)
            list(self._all_metadata(place))
            self._setup_cfg(place)
            self._setup_py(place)
            found = [self._pythons[path] for path in self._pythons if path.is_relative_to(place)]
            if found:
                return found[0]
            if is_project(place):
                return None
        return None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The files that mention one of the distributions, and of which it is not known what they declare."""
        return tuple(sorted(self._notices))

    @property
    def missing(self) -> tuple[Notice, ...]:
        """Files that requirements files include and that are not there: what they declare, nobody knows."""
        return tuple(sorted(self._missing))

    # -- folders -------------------------------------------------------------------------------------------------------

    def _in_folder(self, folder: Path, name: str, *, everything: bool) -> tuple[Declaration, ...]:
        readers: list[Callable[[Path], Iterable[Declaration]]] = [self._all_metadata]
        if everything:
            readers = [*self._of_projects, self._all_requirements]
        for read in readers:
            found = tuple(declared for declared in read(folder) if declared.distribution == name)
            if found:
                return found
        self._tell_worked_out(folder)
        return ()

    def _tell_worked_out(self, folder: Path) -> None:
        """What a setup.py works out when it runs may be written in any other file, and is told where it is in none."""
        for line, reason in self._worked_out.get(folder / "setup.py", ()):
            self._unread(folder / "setup.py", line, reason)

    @property
    def _of_projects(self) -> tuple[Callable[[Path], Iterable[Declaration]], ...]:
        """The kinds of files that describe a project; in one folder the first that declares something speaks."""
        return self._pyproject, self._all_metadata, self._setup_cfg, self._setup_py

    def _projects(self, folder: Path, names: Sequence[str]) -> Iterator[tuple[Declaration, ...]]:
        """The requirements of each project in a folder; for each, the first kind of file that has any speaks."""
        pyproject = self._pyproject(folder) if "pyproject.toml" in names else ()
        # The same requirements in another form of metadata are those of the same project.
        built = {
            sheet[0].project: sheet
            for path in reversed(metadata_files(folder, names))
            if (sheet := self._metadata(path))
        }
        if pyproject:
            yield pyproject
        elif built:
            yield from reversed(built.values())
        elif "setup.cfg" in names and (declared := self._setup_cfg(folder)):
            yield declared
        elif "setup.py" in names:
            yield self._setup_py(folder)

    def _files(self, folder: Path, names: Sequence[str]) -> Iterator[tuple[Declaration, ...]]:
        above = "/".join(folder.parts[-2:])
        for name in names:
            # Of nearly all files the name is enough.
            if is_dockerfile(name):
                yield from self._dockerfile(folder / name)
            elif _REQUIREMENTS.fullmatch(f"{above}/{name}") and (folder / name).is_file():
                yield self._requirements(folder / name)

    # -- kinds of files ------------------------------------------------------------------------------------------------

    def _pyproject(self, folder: Path) -> tuple[Declaration, ...]:
        return self._once(folder / "pyproject.toml", self._of_pyproject)

    def _of_pyproject(self, path: Path, text: str) -> Iterator[Declaration]:
        return self._described(path, of_pyproject(text))

    def _described(self, path: Path, found: Described) -> Iterator[Declaration]:
        self._for_python(path, found.python)
        for line, reason in found.faults:
            self._unread(path, line, reason)
        for each in found.requirements:
            place = _Place(path, each.line, each.source, found.name or path.parent.name, each.group)
            yield from self._declare(each.text, place)
        for line, file in found.included:
            there = self._included(path, line, file)
            yield from (replace(each, always=not each.marker) for each in self._requirements(there))

    def _all_metadata(self, folder: Path) -> Iterator[Declaration]:
        names = listed(folder)[0]
        found = [each for path in metadata_files(folder, names) for each in self._metadata(path)]
        yield from found or (d for path in built_requirements(folder, names) for d in self._once(path, self._of_built))

    def _metadata(self, path: Path) -> tuple[Declaration, ...]:
        return self._once(path, self._of_metadata)

    def _of_metadata(self, path: Path, text: str) -> Iterator[Declaration]:
        title = path.parent.name
        for number, line in enumerate(text.split("\n"), 1):
            if not line:
                break  # the description begins
            key, _, value = line.partition(":")
            if key == "Name":
                title = value.strip()
            elif key == "Requires-Python":
                self._for_python(path, value)
            elif key == "Requires-Dist":
                yield from self._declare(value.strip(), _Place(path, number, line, title))

    def _of_built(self, path: Path, text: str) -> Iterator[Declaration]:
        for number, requirement, extra in in_sections(text):
            yield from self._declare(requirement, _Place(path, number, requirement, path.parent.stem, extra))

    def _setup_cfg(self, folder: Path) -> tuple[Declaration, ...]:
        return self._once(folder / "setup.cfg", self._of_setup_cfg)

    def _of_setup_cfg(self, path: Path, text: str) -> Iterator[Declaration]:
        return self._described(path, of_setup_cfg(text))

    def _setup_py(self, folder: Path) -> tuple[Declaration, ...]:
        return self._once(folder / "setup.py", self._of_setup_py)

    def _of_setup_py(self, path: Path, text: str) -> Iterator[Declaration]:
        found = of_setup_py(text)
        self._worked_out[path] = found.faults
        return self._described(path, replace(found, faults=()))

    def _all_requirements(self, folder: Path) -> Iterator[Declaration]:
        paths = sorted(folder.glob("requirements*.txt")) + sorted((folder / "requirements").glob("*.txt"))
        only = len(paths) == 1 and paths[0].name == "requirements.txt"
        for declared in dict.fromkeys(d for path in paths for d in self._requirements(path)):
            yield replace(declared, project=folder.name, always=only and not declared.marker)

    def _requirements(self, path: Path, above: tuple[Path, ...] = ()) -> tuple[Declaration, ...]:
        """A requirements file with what it includes."""
        if path in above:
            return ()
        return self._once(path, lambda file, text: self._of_requirements(file, text, (*above, path)), above)

    def _of_requirements(self, path: Path, text: str, above: tuple[Path, ...]) -> Iterator[Declaration]:
        for number, source, code in logical_lines(text):
            included = _INCLUDED.match(code)
            if included and "://" not in included[1]:
                yield from self._requirements(self._included(path, number, included[1]), above)
            elif code and (not code.startswith("-") or _NAMED_URL.match(code)):
                # Options of a line ("--hash=...") are not part of the requirement.
                requirement = code if code.startswith("-") else code.partition(" --")[0].strip()
                yield from self._declare(requirement, _Place(path, number, source, path.parent.name, firm=False))

    def _included(self, path: Path, line: int, name: str) -> Path:
        there = Path(os.path.normpath(path.parent / name))
        if not there.is_file():
            self._missing[Notice(self._shown(path), line, f"it includes `{name}`, which is not there", "")] = None
        return there

    def _dockerfile(self, path: Path) -> Iterator[tuple[Declaration, ...]]:
        """The requirements of each stage."""
        text = self._text(path)
        if text is None or self._every or not self._spelt.search(text):
            return
        for stage in installed(text, {name: spelling(name) for name in self._meant}):
            pins = (self._of_stage(path, found) for found in stage)
            indexed = _INDEX.search(text) is not None
            yield tuple(replace(pin, indexed=indexed) for pin in pins if pin is not None)

    def _of_stage(self, path: Path, found: Installed) -> Declaration | None:
        version = public_version(found.version)
        if version is None:
            return None
        text = f"{found.name}=={found.version}"
        place = (self._shown(path), found.line, found.column, found.end_column)
        return Declaration(self._meant[canonicalize_name(found.name)], text, version, *place, path.parent.name)

    # -- single requirements -------------------------------------------------------------------------------------------

    def _declare(self, text: str, place: _Place) -> Iterator[Declaration]:
        url = _NAMED_URL.match(text)
        if url is not None:
            text = f"{url['name']} @ {url['url']}"
        begins = self._spelt.match(text)
        if begins is None:
            return  # of most requirements the first letters are enough
        try:
            parsed = Requirement(text)
            for each in parsed.specifier:
                if each.operator != "===":
                    Version(each.version.removesuffix(".*"))
        except ValueError:  # InvalidRequirement, and a number of more digits than Python reads
            if not self._every and re.match(r"[\s\[<>=!~;@(,]|$", text[begins.end() :]):
                name = self._meant[canonicalize_name(begins[0])]
                said = f"this is no requirement; what it requires of {name} is not known"
                self._notices[Notice(self._shown(place.path), place.line, said, name)] = None
            return
        name = canonicalize_name(parsed.name)
        if name not in self._meant and not self._every:
            return
        exact = [s.version for s in parsed.specifier if s.operator in ("==", "===") and not s.version.endswith(".*")]
        marker = str(parsed.marker) if parsed.marker else ""
        group, extra = place.group, _EXTRA.search(marker)
        if extra:
            group, marker = extra["name"], _EXTRA.sub("", marker).strip()
        column = place.source.find(text)
        end = column + len(text)
        if column < 0:
            found = self._spelt.search(place.source)
            column, end = (found.start() if found else 0), len(place.source.rstrip())
        comes_from = _SECRET.sub("", parsed.url or "")
        yield Declaration(
            self._meant.get(name, name),
            f"{parsed.name} @ {comes_from}" if comes_from else f"{parsed.name}{parsed.specifier}",
            public_version(exact[0]) if exact else None,
            self._shown(place.path),
            place.line,
            column + 1,
            end + 1,
            place.project,
            marker,
            group,
            comes_from,
            place.firm and not group and not marker,
        )

    # -- files ---------------------------------------------------------------------------------------------------------

    def _once(
        self, path: Path, read: Callable[[Path, str], Iterator[Declaration]], key: object = None
    ) -> tuple[Declaration, ...]:
        if (path, key) not in self._read:
            text = self._text(path)
            found = () if text is None else tuple(read(path, text))
            if text is not None and _INDEX.search(text):
                found = tuple(replace(declared, indexed=True) for declared in found)
            self._read[path, key] = found
        return self._read[path, key]

    def _text(self, path: Path) -> str | None:
        try:
            if path.stat().st_size > _LARGEST:
                return None
            return atomic_files.read(path).decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        except OSError as error:
            for name in self.names:
                said = f"it cannot be read: {error.strerror or error}"
                self._notices[Notice(self._shown(path), 1, said, name)] = None
            return None

    def _for_python(self, path: Path, specifier: object) -> None:
        if isinstance(specifier, str):
            with contextlib.suppress(InvalidSpecifier):
                self._pythons[path] = str(SpecifierSet(specifier))

    def _unread(self, path: Path, line: int, reason: str) -> None:
        """A file is broken. Where it does not even mention a distribution, it declares none whatever it means."""
        text = self._text(path) or ""
        if self._every:
            self._notices[Notice(self._shown(path), line, f"{reason[:1].lower()}{reason[1:]}", "")] = None
            return
        named = {canonicalize_name(found[0]) for found in self._spelt.finditer(text)}
        for name in sorted({self._meant.get(name, name) for name in named}):
            said = f"{reason[:1].lower()}{reason[1:]}; what it requires of {name} is not known"
            self._notices[Notice(self._shown(path), line, said, name)] = None

    def _shown(self, path: Path) -> str:
        return Path(os.path.relpath(path, self._top)).as_posix()
