"""The files of a scan: what the paths a user names come to.

Enters: paths, files or folders. Leaves: the project they are in, and roots, each with its Python files in a fixed
order, and a diagnostic for each folder that cannot be listed. Folders of tools and of other people's code are skipped
below a root, never the root itself; symbolic links to folders are not followed, so that no loop and no file is seen
twice. A file that is named is scanned whatever its name.

A file has one path in all that is said of it: the one from its project, however the scan is called.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from driftwatch.errors import InputError
from driftwatch.flow.uses import Diagnostic
from driftwatch.system import atomic_files

SUFFIXES = (".py", ".pyw")
SKIPPED = frozenset(
    {
        ".bzr",
        ".cache",
        ".direnv",
        ".eggs",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pyenv",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
        "venv",
    }
)
_REPOSITORY = (".git", ".hg")
_PYTHON_PROJECT = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO")
_OF_PYTHON = frozenset({"src", "test", "tests"})
_PROJECT_FILES = (*_PYTHON_PROJECT, *_REPOSITORY)
_NOT_FAR = 3
"""So many folders below the top are looked into for what is not Python."""
_RELEASE = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+]+")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:/|git@)")
_MAYBE_BUILT = frozenset({"build", "dist"})


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, and files in it, absolute. `prefix` is the way to it from the project, and goes before their paths.

    `named` are those that the user named themselves.
    """

    folder: Path
    files: tuple[str, ...]
    """As text: there may be very many."""
    prefix: str = ""
    named: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What the paths of a scan come to. Paths in reports start at `project`; `unread` cannot be listed."""

    project: Path
    roots: tuple[Root, ...]
    unread: tuple[Diagnostic, ...] = ()


def find_roots(
    paths: Sequence[Path], *, base: Path, exclude: Sequence[str] = (), exclude_from: Path | None = None
) -> Found:
    """The roots of a scan. `base` is the folder that relative paths start at.

    `exclude` are patterns relative to `exclude_from`, or to the root where a file is not below that. A file that
    several of the paths lead to is in one root: the outermost folder has it.
    """
    folders: dict[Path, None] = {}
    named: dict[Path, None] = {}
    for path in paths:
        absolute = Path(os.path.normpath(base.resolve() / path))
        if absolute.is_dir():
            folders[absolute.resolve()] = None
        elif absolute.exists() and not absolute.is_file():
            raise InputError(f"cannot scan {str(path)!r}: it is no regular file", "a device or a pipe may never end")
        elif absolute.exists():
            named[absolute.parent.resolve() / absolute.name] = None
        else:
            kind = "a broken link" if absolute.is_symlink() else "no such file or folder"
            # A path has one slash where an address has two.
            text = _ADDRESS.sub(lambda m: f"{m[0]}/" if m[0].endswith(":/") else m[0], str(path))
            raise InputError(f"cannot scan {text!r}: {kind}", _meant(text))
    project = project_of([*folders, *(path.parent for path in named)])
    seen: set[str] = set()
    files: dict[Path, tuple[str, ...]] = {}
    unread: list[Diagnostic] = []
    for folder in sorted(folders, key=lambda path: len(path.parts)):
        listing, unlisted = _walk(folder, exclude, exclude_from.resolve() if exclude_from else None)
        prefix = _prefix(folder, project)
        unread += [Diagnostic(f"{prefix}{d.path}", d.line, d.message) for d in unlisted]
        if not listing or not seen.issuperset(listing):
            files[folder] = tuple(path for path in listing if path not in seen)
            seen.update(listing)
    roots = [Root(folder, files[folder], _prefix(folder, project)) for folder in folders if folder in files]
    if left := tuple(path for path in named if str(path) not in seen):
        roots.append(Root(project, tuple(map(str, left)), "", left))
    return Found(project, tuple(roots), tuple(dict.fromkeys(unread)))


def project_of(folders: Sequence[Path]) -> Path:
    """The folder that the paths of reports start at, for a scan of these folders, which are resolved.

    It is the repository that holds them all; where there is none, the nearest folder round them with the files of a
    Python project; where there is none of these either, the nearest folder round them. A repository comes first, so
    that one that holds several projects has one name for each file, and the one that code hosts know. What lies in a
    folder that a scan of the project would skip, such as site-packages, is no part of the project. A repository that
    does not look like a Python project, and only happens to hold one somewhere below, is none.
    """
    common = Path(os.path.commonpath(folders))
    nearest: Path | None = None
    for place in (common, *common.parents):
        if any(os.path.lexists(place / name) for name in _REPOSITORY):
            if _looks_like_python(place):
                return place
            break
        if nearest is None and (is_project(place) or any(name.endswith(".dist-info") for name in listed(place)[1])):
            nearest = place
        if place.name in SKIPPED:
            break
    return nearest or common


def _looks_like_python(folder: Path) -> bool:
    """Whether there are Python files, packages or projects directly in a folder, or folders that are meant for them."""
    names, below = listed(folder)
    if any(name in _PYTHON_PROJECT or name.endswith(SUFFIXES) for name in names):
        return True
    inside = ("__init__.py", *_PYTHON_PROJECT)
    return any(name in _OF_PYTHON or any(os.path.lexists(folder / name / each) for each in inside) for name in below)


def is_project(folder: Path) -> bool:
    """Whether a folder is the root of a project or of a repository."""
    return any(os.path.lexists(folder / name) for name in _PROJECT_FILES)


def _prefix(folder: Path, project: Path) -> str:
    return "" if folder == project else f"{folder.relative_to(project).as_posix()}/"


def folders_below(
    top: Path, exclude: Sequence[str], exclude_from: Path | None
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder and those not far below it; with the names of what is in each."""
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        # Listing a folder once is many times faster than to ask for one file after the other.
        names, below = listed(folder)
        if depth and "pyvenv.cfg" in names:
            continue
        yield folder, names
        if depth == _NOT_FAR:
            continue
        for name in reversed(below):
            if name in SKIPPED or name.endswith((".dist-info", ".egg-info")):
                continue
            path = folder / name
            home = exclude_from if exclude_from is not None and path.is_relative_to(exclude_from) else top
            if exclude and any(path_matches(path.relative_to(home).as_posix(), pattern) for pattern in exclude):
                continue
            pending.append((path, depth + 1))


def mentions(paths: Sequence[Path], module: str) -> bool:
    """Whether a Python file in one of these folders, or one of these files, imports a module by its name."""
    wanted = re.compile(rb"^[ \t]*(?:from|import)[ \t]+" + re.escape(module.encode()) + rb"\b", re.MULTILINE)
    for root in find_roots(paths, base=Path.cwd()).roots:
        for name in root.files:
            with contextlib.suppress(OSError):
                if wanted.search(atomic_files.read(root.folder / name)):
                    return True
    return False


def listed(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of all that is in a folder, and of the folders among it that are no links, in order."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return (), ()
    return tuple(name for name, _ in found), tuple(name for name, is_folder in found if is_folder)


def _meant(text: str) -> str | None:
    """What somebody meant who names no file."""
    if _RELEASE.fullmatch(text):
        return f"a release of the package index is written pypi:{text}"
    if _ADDRESS.match(text):
        return "a repository is not fetched: clone it, and scan the folder"
    return None


def path_matches(path: str, pattern: str) -> bool:
    """Whether a pattern selects a path: all of it, a folder above it, or, without a slash, any part of its name."""
    wanted = pattern.strip().removeprefix("./").rstrip("/")
    if not wanted:
        return False
    parts = path.split("/")
    if "/" not in wanted:
        return any(fnmatchcase(part, wanted) for part in parts)
    return any(fnmatchcase("/".join(parts[: i + 1]), wanted.lstrip("/")) for i in range(len(parts)))


def _walk(root: Path, exclude: Sequence[str], exclude_from: Path | None) -> tuple[list[str], list[Diagnostic]]:
    files: list[str] = []
    unread: list[Diagnostic] = []
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            relative = folder.relative_to(root).as_posix()
            unread.append(Diagnostic(relative, None, f"the folder cannot be listed: {error.strerror or error}"))
            continue
        below: list[Path] = []
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder != root:
            continue
        for entry in entries:
            if exclude and _excluded(Path(entry.path), root, exclude, exclude_from):
                continue
            if _is_folder(entry):
                path = Path(entry.path)
                if entry.name not in SKIPPED and not _is_built(path):
                    below.append(path)
            elif entry.name.endswith(SUFFIXES) and _is_file(entry, root):
                files.append(entry.path)
        pending.extend(reversed(below))
    return files, unread


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str], root: Path) -> bool:
    """Whether an entry is a regular file, and not a link to one that is seen anyway."""
    try:
        if not entry.is_symlink():
            return entry.is_file()
        target = Path(entry.path).resolve()
        return target.is_file() and not target.is_relative_to(root)
    except (OSError, RuntimeError):  # RuntimeError is how older Pythons report a loop of links
        return False


def _is_built(path: Path) -> bool:
    """Whether a folder holds built copies of the sources, and is no package of that name."""
    return path.name in _MAYBE_BUILT and not (path / "__init__.py").exists()


def _excluded(path: Path, root: Path, patterns: Sequence[str], start: Path | None) -> bool:
    home = start if start is not None and path.is_relative_to(start) else root
    relative = path.relative_to(home).as_posix()
    return any(path_matches(relative, pattern) for pattern in patterns)
