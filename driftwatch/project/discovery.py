"""The files of a scan: what the paths a user names come to.

Enters: paths, files or folders. Leaves: roots, each with its Python files in a fixed order, and a diagnostic for each
folder that cannot be listed. Folders of tools and of other people's code are skipped below a root, never the root
itself; symbolic links to folders are not followed, so that no loop and no file is seen twice. A file that is named is
scanned whatever its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from driftwatch.errors import InputError
from driftwatch.flow.uses import Diagnostic

SUFFIXES = (".py", ".pyw")
SKIPPED = frozenset(
    {
        ".bzr",
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
_NOT_FAR = 3
"""So many folders below the top are looked into for what is not Python."""
_RELEASE = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.!+]+")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:/|git@)")
_MAYBE_BUILT = frozenset({"build", "dist"})


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, and files in it, absolute. `prefix` goes before their paths in reports, to tell several roots apart.

    `named` are those that the user named themselves.
    """

    folder: Path
    files: tuple[str, ...]
    """As text: there may be very many."""
    prefix: str = ""
    named: tuple[Path, ...] = ()


def find_roots(
    paths: Sequence[Path], *, base: Path, exclude: Sequence[str] = (), exclude_from: Path | None = None
) -> tuple[tuple[Root, ...], tuple[Diagnostic, ...]]:
    """The roots of a scan. `base` is the working folder: named files below it are shown relative to it.

    `exclude` are patterns relative to `exclude_from`, or to the root where a file is not below that.
    """
    folders: dict[Path, Path] = {}
    named: dict[Path, dict[Path, None]] = {}
    base = base.resolve()
    for path in paths:
        absolute = Path(os.path.normpath(base / path))
        if absolute.is_dir():
            folders.setdefault(absolute.resolve(), path)
        elif absolute.exists():
            home = base if absolute.is_relative_to(base) else absolute.parent
            named.setdefault(home, {})[absolute] = None
        else:
            kind = "a broken link" if absolute.is_symlink() else "no such file or folder"
            raise InputError(f"cannot scan {str(path)!r}: {kind}", _meant(str(path)))
    roots: list[Root] = []
    diagnostics: list[Diagnostic] = []
    several = len(folders) + len(named) > 1
    prefixes = _prefixes(list(folders.values()), base) if several else [""] * len(folders)
    for (folder, _), prefix in zip(folders.items(), prefixes, strict=True):
        files, unread = _walk(folder, exclude, exclude_from.resolve() if exclude_from else None)
        roots.append(Root(folder, tuple(files), prefix))
        diagnostics += [Diagnostic(f"{prefix}{d.path}", d.line, d.message) for d in unread]
    for home, chosen in named.items():
        # Files of the working folder already have paths that tell them apart.
        prefix = "" if home == base or not several else f"{home.name}/"
        roots.append(Root(home, tuple(map(str, chosen)), prefix, tuple(chosen)))
    return tuple(roots), tuple(diagnostics)


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


def _prefixes(given: list[Path], base: Path) -> list[str]:
    """A prefix for each root: the path as the user gave it, where that is a plain one below the working folder."""
    prefixes: list[str] = []
    for path in given:
        plain = not path.is_absolute() and ".." not in path.parts and path.parts
        name = PurePath(path).as_posix() if plain else (base / path).resolve().name
        prefix, number = name, 2
        while f"{prefix}/" in prefixes:
            prefix, number = f"{name}-{number}", number + 1
        prefixes.append(f"{prefix}/" if path.parts else "")
    return prefixes


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
