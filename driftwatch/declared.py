"""What a project itself says it needs of a library, read from the files that declare dependencies.

Enters: a folder that is scanned and a distribution. Leaves: the requirements found in the project that the folder
belongs to. Nothing is executed, so a setup.py says nothing; a file that cannot be read says nothing either.
"""

from __future__ import annotations

import configparser
import email.parser
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO", ".git", ".hg")
_LARGEST = 8_000_000
_Reader = Callable[[Path, str], "Iterator[Declaration]"]
_COMMENT = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, slots=True)
class Declaration:
    """One requirement. `always` says that it holds however the project is installed."""

    requirement: str
    file: str
    project: str
    always: bool


def declarations(folder: Path, distribution: str) -> tuple[Declaration, ...]:
    """The requirements on a distribution that the project round a folder declares.

    Looked for in the folder and upward to the project's root, then in the folders directly below (a repository of
    several projects). In one place the first kind of file that declares it speaks: pyproject.toml, the metadata of a
    built distribution, setup.cfg, requirements files.
    """
    start = folder.resolve()
    if start.is_file():
        start = start.parent
    for place in (start, *start.parents):
        project = _is_project(place)
        # Between a scanned folder and its project's root, only the metadata of an unpacked wheel is the project's own.
        found = _in_folder(place, distribution, _READERS if project or place == start else (_metadata,))
        if found:
            return found
        if project:
            break
    return tuple(declared for below in _folders(start) for declared in _in_folder(below, distribution, _READERS))


def _is_project(folder: Path) -> bool:
    return any((folder / name).exists() for name in _PROJECT_FILES)


def _in_folder(folder: Path, distribution: str, readers: tuple[_Reader, ...]) -> tuple[Declaration, ...]:
    for read in readers:
        try:
            found = tuple(read(folder, canonicalize_name(distribution)))
        except (OSError, ValueError, RecursionError, configparser.Error):
            continue
        if found:
            return found
    return ()


def _pyproject(folder: Path, name: str) -> Iterator[Declaration]:
    path = folder / "pyproject.toml"
    if not path.is_file():
        return
    document = tomllib.loads(_read(path))
    project = _table(document, "project")
    title = str(project.get("name") or folder.name)
    for text in _list(project.get("dependencies")):
        yield from _declare(text, name, path.name, title, always=True)
    groups = [*_table(project, "optional-dependencies").values(), *_table(document, "dependency-groups").values()]
    for group in groups:
        for text in _list(group):
            yield from _declare(text, name, path.name, title, always=False)


def _metadata(folder: Path, name: str) -> Iterator[Declaration]:
    candidates = [folder / "PKG-INFO", folder / "METADATA"]
    candidates += sorted(folder.glob("*.dist-info/METADATA")) + sorted(folder.glob("*.egg-info/PKG-INFO"))
    for path in candidates:
        if path.is_file():
            message = email.parser.HeaderParser().parsestr(_read(path))
            title = str(message.get("Name") or folder.name)
            for text in message.get_all("Requires-Dist") or ():
                yield from _declare(str(text), name, path.name, title, always=True)


def _setup_cfg(folder: Path, name: str) -> Iterator[Declaration]:
    path = folder / "setup.cfg"
    if not path.is_file():
        return
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(_read(path))
    title = parser.get("metadata", "name", fallback=folder.name)
    for text in parser.get("options", "install_requires", fallback="").splitlines():
        yield from _declare(text, name, path.name, title, always=True)
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            for text in value.splitlines():
                yield from _declare(text, name, path.name, title, always=False)


def _requirements(folder: Path, name: str) -> Iterator[Declaration]:
    paths = sorted(folder.glob("requirements*.txt")) + sorted((folder / "requirements").glob("*.txt"))
    for path in paths:
        if not path.is_file():
            continue
        for line in _read(path).splitlines():
            # Options of a line ("--hash=...") are not part of the requirement.
            text = _COMMENT.sub("", line).partition(" --")[0].rstrip("\\").strip()
            if text and not text.startswith("-"):
                always = path.name == "requirements.txt" and len(paths) == 1
                yield from _declare(text, name, path.relative_to(folder).as_posix(), folder.name, always=always)


_READERS: tuple[_Reader, ...] = (_pyproject, _metadata, _setup_cfg, _requirements)


def _declare(text: str, name: str, file: str, project: str, *, always: bool) -> Iterator[Declaration]:
    try:
        requirement = Requirement(text.strip())
    except InvalidRequirement:
        return
    if canonicalize_name(requirement.name) == name:
        always = always and requirement.marker is None
        yield Declaration(f"{requirement.name}{requirement.specifier}", file, project, always)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith("."))
    except OSError:
        return []


def _read(path: Path) -> str:
    if path.stat().st_size > _LARGEST:
        return ""
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
