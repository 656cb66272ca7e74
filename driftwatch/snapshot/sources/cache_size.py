"""How large the cache is, by what is in it, and making it smaller: what was not used for the longest goes first.

Enters: the cache's folder. Leaves: files and bytes by kind. What a run may be using stays: whatever was touched within
the last hour. Everything in the cache can be made or fetched again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT = 2 << 30
"""Bytes that all together may take."""
IN_USE = 3600
"""Seconds after which nothing uses what was not touched."""
_WHOLE = ("libraries-2", "projects")
"""Kinds whose entries are folders that stand or fall as a whole."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is in one folder of the cache."""

    name: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    used: float
    bytes: int


def kinds(root: Path) -> tuple[Kind, ...]:
    """What is in the cache, by folder; empty where there is none."""
    found = []
    for folder in _folders(root):
        sizes = [size for _, size, _ in _files(folder)]
        found.append(Kind(folder.name, len(sizes), sum(sizes)))
    return tuple(found)


def shrink(root: Path, limit: int) -> int:
    """Drop what was not used for the longest until no more than `limit` bytes are left; how many bytes went."""
    entries = sorted((entry for folder in _folders(root) for entry in _entries(folder)), key=lambda each: each.used)
    left = sum(entry.bytes for entry in entries)
    gone = 0
    for entry in entries:
        if left <= limit or entry.used > time.time() - IN_USE:
            break
        _drop(entry.path)
        left -= entry.bytes
        gone += entry.bytes
    return gone


def clear(root: Path) -> int:
    """Drop everything, in use or not; how many bytes went."""
    gone = sum(kind.bytes for kind in kinds(root))
    for folder in _folders(root):
        _drop(folder)
    return gone


def _folders(root: Path) -> list[Path]:
    """The kinds; what else lies in the folder is not the cache's."""
    try:
        return sorted(
            each for each in root.iterdir() if each.is_dir() and not each.is_symlink() and _is_kind(each.name)
        )
    except OSError:
        return []


def _is_kind(name: str) -> bool:
    kind = name.partition("-")[0]
    return kind in ("analyses", "archives", "files", "incoming", "libraries", "listings", "projects")


def _entries(folder: Path) -> Iterator[_Entry]:
    if folder.name not in _WHOLE:
        yield from (_Entry(path, used, size) for path, size, used in _files(folder))
        return
    with contextlib.suppress(OSError):
        for place in (
            each for below in folder.iterdir() if below.is_dir() for each in below.iterdir() if each.is_dir()
        ):
            found = list(_files(place))
            newest = max((used for _, _, used in found), default=0.0)
            yield _Entry(place, max(newest, place.stat().st_mtime), sum(size for _, size, _ in found))


def _files(folder: Path) -> Iterator[tuple[Path, int, float]]:
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where, name)
            with contextlib.suppress(OSError):
                state = path.lstat()
                yield path, state.st_size, state.st_mtime


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
