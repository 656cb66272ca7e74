"""What was fetched before, by its content: a file's name is its sha256, so nothing in the cache can be out of date.

Files appear whole or not at all, so that runs side by side can share it; a damaged one is noticed when it is read, and
dropped. What has no such name, a list or an unpacked folder, is sealed, so that what somebody else has put there is not
taken for our own. A cache that cannot be written only costs time.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import platformdirs

from driftwatch.system import atomic_files
from driftwatch.system.seals import Seals

STALE = 24 * 3600
_LISTINGS = "listings-3"  # another number for another choice of files to list


def cache_root() -> Path:
    """``DRIFTWATCH_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get("DRIFTWATCH_CACHE_DIR")
    return Path(named) if named else platformdirs.user_cache_path("driftwatch")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a release: the sha256 of its bytes, and how many they are."""

    sha256: str
    size: int


Listing = Mapping[str, Entry]
"""The files of a release, by their path in its archive."""


class Cache:
    """Archives, single files of archives, and lists of them, under one folder."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or cache_root()
        self.seals = Seals(self.root)
        self._spare: tempfile.TemporaryDirectory[str] | None = None

    # -- whole archives ------------------------------------------------------------------------------------------

    def archive(self, sha256: str) -> Path | None:
        """An archive that was downloaded before and still has its hash."""
        path = self._path("archives", sha256)
        try:
            with path.open("rb") as file:
                digest = hash_of(file)
        except OSError:
            return None
        if digest == sha256:
            return path
        atomic_files.drop(path)
        return None

    @contextmanager
    def incoming(self) -> Iterator[tuple[IO[bytes], Path]]:
        """A file to download into, which `keep` may then take; it is gone afterwards."""
        try:
            handle, name = tempfile.mkstemp(dir=self._incoming())
        except OSError:
            handle, name = tempfile.mkstemp(dir=self._temporary())
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file, path
        finally:
            atomic_files.drop(path)

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A folder to unpack into, to be moved to its place when it is whole; gone when that fails."""
        try:
            path = Path(tempfile.mkdtemp(dir=self._incoming()))
        except OSError:
            path = Path(tempfile.mkdtemp(dir=self._temporary()))
        try:
            yield path
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise

    def _temporary(self) -> Path:
        """Where there is no other place: a folder that is gone when the run is."""
        if self._spare is None:
            self._spare = tempfile.TemporaryDirectory(prefix="driftwatch-", ignore_cleanup_errors=True)
            atexit.register(self._spare.cleanup)
        return Path(self._spare.name)

    def _incoming(self) -> Path:
        """The folder of what is on its way; what a run that was killed has left there is dropped after a day."""
        folder = self.root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - left.lstat().st_mtime > STALE:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
        return folder

    def keep(self, path: Path, sha256: str) -> Path:
        """Moves a checked download to its place, and says where that is."""
        target = self._path("archives", sha256)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
            return target
        except OSError:
            # Not writable: the archive serves this run from a temporary folder.
            fallback = self._temporary() / sha256
            shutil.move(path, fallback)
            return fallback

    # -- single files --------------------------------------------------------------------------------------------

    def blob(self, sha256: str) -> bytes | None:
        """The bytes with this hash, if they are here."""
        path = self._path("files", sha256)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
        atomic_files.drop(path)
        return None

    def keep_blob(self, sha256: str, content: bytes) -> None:
        self._write(self._path("files", sha256), content)

    # -- listings ------------------------------------------------------------------------------------------------

    def listing(self, archive: str) -> Listing | None:
        """The listing of the archive with this hash, if it is here and whole."""
        path = self._path(_LISTINGS, archive)
        try:
            seal, _, body = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if not self.seals.is_right(seal, archive.encode(), body):
            atomic_files.drop(path)
            return None
        entries: dict[str, Entry] = {}
        for line in body.decode().splitlines():
            sha256, size, name = line.split(" ", 2)
            entries[name] = Entry(sha256, int(size))
        return entries

    def keep_listing(self, archive: str, listing: Listing) -> None:
        lines = (f"{e.sha256} {e.size} {name}\n" for name, e in sorted(listing.items()) if _one_line(name))
        body = "".join(lines).encode()
        if self.seals.possible:
            self._write(self._path(_LISTINGS, archive), self.seals.seal(archive.encode(), body) + b"\n" + body)

    # -- folders -------------------------------------------------------------------------------------------------

    def folder(self, key: str) -> Path:
        """Where the unpacked folder of this key belongs; whether it is there is for the caller to see."""
        return self._path("projects", key)

    def _path(self, kind: str, sha256: str) -> Path:
        return self.root / kind / sha256[:2] / sha256

    def _write(self, path: Path, content: bytes) -> None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_files.write(path, content)


def _one_line(name: str) -> bool:
    return len(f"{name}.".splitlines()) == 1


def hash_of(file: IO[bytes]) -> str:
    """The sha256 of all that is left to read in a file."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
