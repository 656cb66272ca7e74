"""The sources of a released project, for a scan: downloaded, checked, unpacked into the cache, never built or run.

Enters: ``pypi:NAME==VERSION``. Leaves: a folder with the files that a scan reads (Python sources, and what declares the
project's dependencies), and a label for people. The sdist is taken where there is one, since it is the sources; else a
wheel. The archive's sha256 is checked; only of a very large wheel are parts fetched, and their own hashes checked.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from driftwatch.errors import InputError, UsageError
from driftwatch.snapshot.sources.archive import Member, members, unpack
from driftwatch.snapshot.sources.artifact_tree import RangedWheel
from driftwatch.snapshot.sources.index import Artifact, PackageIndex
from driftwatch.snapshot.sources.remote_zip import NoRangesError
from driftwatch.system.seals import Seals

SCHEME = "pypi:"
LARGE_WHEEL = 16 << 20
"""A wheel of more bytes than this is read by ranges."""
LAYOUT = 2
"""What is unpacked, and how; a folder of another layout is unpacked again."""
_SPEC = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:==\s*(\S+))?")
_DECLARING = frozenset({"METADATA", "PKG-INFO", "requires.txt", "pyproject.toml", "driftwatch.toml", "setup.cfg"})


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """A released project's sources in a folder, and where they are from."""

    path: Path
    label: str
    name: str
    version: str
    artifact: str


def fetch_project(spec: str, index: PackageIndex | None = None) -> ProjectSource:
    """Fetches ``pypi:NAME==VERSION``, or the newest final release of ``pypi:NAME``."""
    name, version = parse_project_spec(spec)
    if index is None:
        with PackageIndex() as own:
            return _fetch(own, name, version)
    return _fetch(index, name, version)


def parse_project_spec(spec: str) -> tuple[str, str | None]:
    """The name and version of ``pypi:NAME==VERSION``; `UsageError` for any other form."""
    match = _SPEC.fullmatch(spec.removeprefix(SCHEME).strip())
    if match:
        try:
            return match[1], str(Version(match[2])) if match[2] else None
        except ValueError:  # also for a number of more digits than Python reads
            pass
    raise UsageError(f"{spec!r} does not name a release", "write pypi:NAME==VERSION, or pypi:NAME for the newest")


def is_project_file(path: str) -> bool:
    """What of an archive a scan reads."""
    name = path.rpartition("/")[2]
    return (
        name.endswith((".py", ".pyi"))
        or name in _DECLARING
        or ("requirements" in path and name.endswith((".txt", ".in")))
    )


def choose_for_scan(artifacts: tuple[Artifact, ...]) -> Artifact:
    """The sdist, else the pure wheel, else one platform's wheel: the same on every machine."""

    def rank(artifact: Artifact) -> tuple[bool, bool, bool, str]:
        platform = "linux" in artifact.filename and "x86_64" in artifact.filename
        return not artifact.wheel, artifact.pure, platform, artifact.filename

    return max(artifacts, key=rank)


def _fetch(index: PackageIndex, name: str, version: str | None) -> ProjectSource:
    project = index.project(name)
    version = version or str(project.newest())
    artifact = choose_for_scan(project.artifacts(version))
    artifact.require_hash()
    folder = _unpacked(index, artifact)
    return ProjectSource(_sources(folder), f"{name} {version}", name, version, artifact.filename)


def _unpacked(index: PackageIndex, artifact: Artifact) -> Path:
    folder = index.cache.folder(artifact.sha256)
    if _whole(folder, index.cache.seals):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    with index.cache.draft() as draft:
        inside = draft / _folder_name(artifact)
        if not unpack(_members(index, artifact), inside, artifact.filename):
            raise InputError(f"{artifact.filename} holds no Python sources")
        return _placed(draft, folder, index.cache.seals)


def _members(index: PackageIndex, artifact: Artifact) -> Iterator[Member]:
    if artifact.wheel and (artifact.size or 0) > LARGE_WHEEL and index.cache.archive(artifact.sha256) is None:
        with contextlib.suppress(NoRangesError):
            yield from _ranged(index, artifact)
            return
    yield from members(index.download(artifact), artifact.filename, is_project_file)


def _ranged(index: PackageIndex, artifact: Artifact) -> Iterator[Member]:
    wheel = RangedWheel(artifact, index, is_project_file)
    listing = wheel.listing()
    # Its listing names compiled modules too, of which nothing is read.
    for path, content in wheel.fetch(sorted(filter(is_project_file, listing))).items():
        if hashlib.sha256(content).hexdigest() != listing[path].sha256:
            raise InputError(f"{path} in {artifact.filename} does not have the sha256 of its RECORD")
        yield Member(path, content)


# -- folders in the cache: whole or not there ------------------------------------------------------------------------


def _placed(draft: Path, folder: Path, seals: Seals) -> Path:
    """Moves a finished folder to its place, unless another run was first; where it cannot be, the draft serves."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _seal(folder).write_bytes(seals.seal(folder.name.encode(), _measure(draft)))
        draft.rename(folder)
    except OSError:
        if not _whole(folder, seals):
            return draft
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _whole(folder: Path, seals: Seals) -> bool:
    """Whether a folder is there, down to the last byte as it was unpacked by this person."""
    try:
        return folder.is_dir() and seals.is_right(_seal(folder).read_bytes(), folder.name.encode(), _measure(folder))
    except OSError:
        return False


def _seal(folder: Path) -> Path:
    return folder.with_name(folder.name + ".seal")


def _measure(folder: Path) -> bytes:
    """What is below a folder: the name and the bytes of every file, and nothing but files and folders."""
    digest = hashlib.blake2b(b"layout %d" % LAYOUT)
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(folders + names):
            path = os.path.join(where, name)  # noqa: PTH118 - thousands of paths are looked at
            kind = os.lstat(path).st_mode
            if stat.S_ISDIR(kind):
                continue
            if not stat.S_ISREG(kind):
                raise OSError(errno.EINVAL, "neither a file nor a folder", path)
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                content = hashlib.blake2b(file.read()).digest()
            relative = os.fsencode(os.path.relpath(path, folder))
            digest.update(b"%d %b %b" % (len(relative), relative, content))
    return digest.digest()


def _folder_name(artifact: Artifact) -> str:
    """An sdist has a folder ``NAME-VERSION`` of its own; a wheel gets one."""
    return f"{artifact.project}-{artifact.version}" if artifact.wheel else ""


def _sources(folder: Path) -> Path:
    """The one folder in an unpacked archive; the whole of it, where somebody packed an sdist in another way."""
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder
