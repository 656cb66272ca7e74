"""Whether something in the cache was written by this person: a checksum that takes a key to make.

Enters: the cache's folder, and bytes. Leaves: their seal. The key lies in a folder of the person's own, which nobody
else may write to or read; where it does not, there is no key, nothing is sealed and no seal is right, which only costs
time. So an entry that somebody else has written, in a cache that is shared or was handed on, is dropped unread.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from functools import cache
from pathlib import Path

from driftwatch.system import atomic_files

FOLDER = "own"
_NAME = "key"
_SIZE = 32


class Seals:
    """The seals of one cache folder."""

    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER

    @property
    def _key(self) -> bytes | None:
        return _key(self._folder)

    @property
    def possible(self) -> bool:
        return self._key is not None

    def seal(self, *parts: bytes) -> bytes:
        """The seal of these parts, in this order; empty where none is possible."""
        key = self._key
        if key is None:
            return b""
        digest = hashlib.blake2b(key=key, digest_size=32)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.hexdigest().encode()

    def is_right(self, seal: bytes, *parts: bytes) -> bool:
        return self.possible and hmac.compare_digest(seal, self.seal(*parts))


@cache
def _key(folder: Path) -> bytes | None:
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder.lstat()):
            return None
        place = folder / _NAME
        if not place.exists():
            _make(place)
        return _read(place)
    return None


def _make(place: Path) -> None:
    """Write a new key, unless another run was first."""
    made = atomic_files.draft(place, secrets.token_bytes(_SIZE))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(made, place)
    finally:
        atomic_files.drop(made)


def _read(place: Path) -> bytes | None:
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not (stat.S_ISREG(state.st_mode) and _is_private(state)):
            return None
        key = file.read(_SIZE + 1)
    return key if len(key) == _SIZE else None


def _is_private(state: os.stat_result) -> bool:
    """Whether it is this person's, and nobody else's; where systems do not say, it is."""
    if not hasattr(os, "geteuid"):
        return True
    return not stat.S_ISLNK(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & 0o077
