"""The bytes of a code base's files, and one digest of them all.

Enters: a root folder and the files to read. Nothing outside them is read. A file that cannot be read is remembered with
the reason. The digest stands for what was read first: where a file is read again, since not all fit into memory, and
has changed, `steady` says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

KEEP_BYTES = 32 * 1024 * 1024
"""Up to this size in all, the files' bytes stay in memory between searches."""


class Contents:
    """The files of one root. Paths are relative to it, with forward slashes.

    `changed` are bytes that stand for those of a file, by its path as given.
    """

    def __init__(self, root: Path, paths: Sequence[Path | str], changed: Mapping[str, bytes] | None = None) -> None:
        start = os.path.join(os.fspath(root), "")  # noqa: PTH118 - thousands of paths are looked at
        self._absolute = {_relative(root, start, path): os.fspath(path) for path in paths}
        self.paths = sorted(self._absolute)
        self.unreadable: dict[str, str] = {}
        self.steady = True
        self._kept: dict[str, bytes] = {}
        self._room = KEEP_BYTES
        self._hashes: dict[str, bytes] = {}
        for path, data in (changed or {}).items():
            if (shown := _relative(root, start, path)) in self._absolute:
                self._kept[shown] = data

    def __contains__(self, path: str) -> bool:
        return path in self._absolute

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None, with an entry in `unreadable`, when it cannot be read."""
        known = self._kept.get(path)
        if known is not None:
            return known
        try:
            with open(self._absolute[path], "rb", buffering=0) as file:  # noqa: PTH123 - half the time of a Path's own
                data = file.readall()
        except OSError as error:
            self.unreadable.setdefault(path, error.strerror or type(error).__name__)
            self.steady = self.steady and path not in self._hashes
            return None
        if len(data) <= self._room:
            self._kept[path] = data
            self._room -= len(data)
        elif path in self._hashes and self._hashes[path] != _hash(data):
            self.steady = False
        return data

    def digest(self) -> str | None:
        """One digest over the path, the size and the bytes of every file; None when one of them cannot be read."""
        whole = hashlib.blake2b(digest_size=32)
        for path in self.paths:
            data = self.read(path)
            if data is None:
                return None
            hashed = self._hashes[path] = _hash(data)
            name = path.encode("utf-8", "surrogateescape")
            whole.update(b"%d %d %b %b" % (len(name), len(data), name, hashed))
        return whole.hexdigest()


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _relative(root: Path, start: str, path: Path | str) -> str:
    text = os.fspath(path)
    if text.startswith(start):
        return text[len(start) :].replace(os.sep, "/")
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return Path(path).as_posix()
