"""Code bases by what a person calls them: a folder, a release of the package index, a commit, or a list of these.

Enters: texts, and the texts of lists. Leaves: for each what a scan takes, for as long as it is needed. Nothing of a
code base is run, checked out or built: releases are fetched and unpacked, commits are read from git's objects.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet

from driftwatch.errors import InputError, UsageError
from driftwatch.project.config import Config, config_for, discover
from driftwatch.project.dockerfile import is_dockerfile
from driftwatch.snapshot.sources.git import GitCommit
from driftwatch.system import atomic_files
from driftwatch.system.tables import read

FROM_INDEX = "pypi:"
"""Begins a code base that is fetched."""
FROM_GIT = "git:"
"""Begins one that is read from a commit: ``git:FOLDER@REF``."""
LISTS = (".txt", ".toml")
"""The endings of files that are lists of code bases."""

_NAMES = ("METADATA", "PKG-INFO", "requires.txt")
_SUFFIXES = (".py", ".pyw", ".toml", ".cfg", ".txt", ".in", ".json")
"""What a scan reads of a project: its sources, what declares its dependencies, its configuration and baseline."""
_AT_ONCE = 500
_RANGE = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*([<>!~].*)")


@dataclass(frozen=True, slots=True)
class CodeBase:
    """Code to hold releases against: what it is called, where it is, and the configuration that applies to it."""

    name: str
    paths: tuple[Path, ...]
    config: Config = field(default_factory=Config)


def is_local(text: str) -> bool:
    """Whether a code base is a folder or a file here."""
    return not text.startswith((FROM_INDEX, FROM_GIT))


def title_of(text: str) -> str:
    """What a code base is called in a report: ``sglang 0.5.12``, ``engine at main``, or the name of its folder."""
    if text.startswith(FROM_INDEX):
        return " ".join(text.removeprefix(FROM_INDEX).replace("===", "==").split("=="))
    if text.startswith(FROM_GIT):
        folder, at, ref = text.removeprefix(FROM_GIT).rpartition("@")
        return f"{Path(folder if at else ref).resolve().name} at {ref if at else 'HEAD'}"
    return Path(text).resolve().name or text


@contextmanager
def opened(text: str, config_file: Config | None = None, said: Callable[[str], None] = print) -> Iterator[CodeBase]:
    """A code base, for as long as the context lasts.

    One that is fetched, or read from a commit elsewhere, is no part of the project that stands in the working folder:
    of that project's configuration, only its libraries count for it.
    """
    if text.startswith(FROM_INDEX):
        # Imported here, so that a local scan imports nothing that fetches.
        from driftwatch.snapshot.sources.fetch import fetch_project  # noqa: PLC0415

        said(f"fetching {text}")
        found = fetch_project(text)
        yield CodeBase(f"{found.name} {found.version}", (found.path,), config_file or elsewhere())
    elif text.startswith(FROM_GIT):
        folder, at, ref = text.removeprefix(FROM_GIT).rpartition("@")
        place = Path(folder if at else ref).expanduser()
        if not place.is_dir():
            raise InputError(f"{place} is not a folder")
        commit = GitCommit(place, ref if at else "HEAD")
        with tempfile.TemporaryDirectory(prefix="driftwatch-code-") as above:
            copy = Path(above).resolve() / (place.resolve().name or "code")
            write_commit(commit, copy)
            yield CodeBase(title_of(text), (copy,), config_file or elsewhere())
    else:
        path = Path(text)
        yield CodeBase(title_of(text), (path,), config_file or config_for((path,)))


def elsewhere() -> Config:
    """The configuration for code that is no part of the project in the working folder: that one's libraries alone."""
    nearest = discover(Path.cwd())
    return Config(path=nearest.path, targets=nearest.targets)


# -- lists -------------------------------------------------------------------------------------------------------------


def is_list(text: str) -> bool:
    """Whether text names a file with a list of code bases."""
    return is_local(text) and text.endswith(LISTS) and Path(text).is_file()


def listed(texts: Sequence[str]) -> tuple[str, ...]:
    """Code bases, with those of lists in place of these; paths in a list start at its folder."""
    found: dict[str, None] = {}
    for text in texts:
        found |= dict.fromkeys(read_list(Path(text)) if is_list(text) else (text,))
    return tuple(found)


def read_list(path: Path) -> tuple[str, ...]:
    """The code bases in a file: one to a line with ``#`` before remarks, or ``code = [...]`` in TOML."""
    if path.suffix == ".toml":
        table = read(path)
        if "code" not in table:
            raise table.error("'code' is missing", None, 'write code = ["pypi:vllm>=0.20", "../engine"]')
        return tuple(_from(path, entry) for entry in table.strings("code"))
    try:
        text = atomic_files.read(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"the list {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(_from(path, line) for line in lines if line)


def _from(path: Path, text: str) -> str:
    if text.startswith(FROM_INDEX):
        return text
    if text.startswith(FROM_GIT):
        return f"{FROM_GIT}{path.parent / text.removeprefix(FROM_GIT)}"
    return str(path.parent / text)


def expanded(texts: Sequence[str]) -> tuple[str, ...]:
    """Code bases one by one: those of lists, and each release of a range; the index is asked where there is one."""
    found = listed(texts)
    if not any(_RANGE.fullmatch(text.removeprefix(FROM_INDEX)) for text in found if text.startswith(FROM_INDEX)):
        return found
    from driftwatch.snapshot.sources.index import PackageIndex  # noqa: PLC0415

    with PackageIndex() as index:

        def releases(name: str) -> tuple[str, ...]:
            return tuple(str(version) for version in index.project(name).finals())

        return tuple(dict.fromkeys(each for text in found for each in each_release(text, releases)))


def each_release(text: str, releases: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """What ``pypi:NAME>=1.0`` means: each release that the range selects; anything else means itself.

    `releases` are the final releases of a project of the index, oldest first.
    """
    match = _RANGE.fullmatch(text.removeprefix(FROM_INDEX)) if text.startswith(FROM_INDEX) else None
    if match is None:
        return (text,)
    try:
        specifier = SpecifierSet(match[2])
    except ValueError:
        raise UsageError(f"{text!r} does not name releases", "write pypi:NAME>=1.0,<2") from None
    chosen = tuple(version for version in releases(match[1]) if version in specifier)
    if not chosen:
        raise UsageError(f"{text!r} selects no release of {match[1]}")
    return tuple(f"{FROM_INDEX}{match[1]}=={version}" for version in chosen)


# -- commits as files --------------------------------------------------------------------------------------------------


def write_commit(commit: GitCommit, copy: Path) -> None:
    """Write what a scan reads of a commit into a folder."""
    paths = [path for path in commit.blobs if is_read(path)]
    copy.mkdir(parents=True)
    for start in range(0, len(paths), _AT_ONCE):
        part = paths[start : start + _AT_ONCE]
        for path, content in zip(part, commit.contents(part), strict=True):
            place = copy.joinpath(*path.split("/"))
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            except (OSError, ValueError):
                # A name this system cannot have; the working tree cannot have it either.
                continue
    # What looks for the project's top stops here, as it does in the working tree: reports show equal paths.
    (copy / ".git").mkdir(exist_ok=True)


def is_read(path: str) -> bool:
    """Whether a scan may read a file of a project, by its path there."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return False
    return parts[-1].endswith(_SUFFIXES) or parts[-1] in _NAMES or parts[-1] == "pyvenv.cfg" or is_dockerfile(parts[-1])
