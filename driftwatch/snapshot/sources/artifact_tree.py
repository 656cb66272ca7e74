"""A release's artifact as a `SourceTree`: files are read when they are asked for, from as near as possible.

Every file has a sha256, from the wheel's RECORD or from the archive that was unpacked; bytes with that hash in the
cache are as good as the archive. Only what the cache lacks is fetched: from a wheel on the index by ranges where the
server serves them, else from the whole archive.
"""

from __future__ import annotations

import base64
import binascii
import csv
import hashlib
import io
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.archive import Wanted, read_members, safe_path
from driftwatch.snapshot.sources.cache import Entry, Listing
from driftwatch.snapshot.sources.index import Artifact, PackageIndex
from driftwatch.snapshot.sources.remote_zip import NoRangesError, RemoteWheel

SOURCES = (".py", ".pyi")
COMPILED = (".so", ".pyd", ".pyx")
"""Compiled modules, and what they are compiled from: that they are there is all that is read of them."""
NOT_THE_PACKAGE = frozenset({"test", "tests", "testing", "build", "docs", "doc", "example", "examples", "benchmarks"})


def is_source(path: str) -> bool:
    return path.endswith(SOURCES)


def wanting(also: Iterable[str]) -> Wanted:
    """Sources, and files that are asked for by their paths below the folder that holds the package."""
    ends = tuple(f"/{path}" for path in also)
    return lambda path: is_source(path) or f"/{path}".endswith(ends) if ends else is_source(path)


def _is_record(path: str) -> bool:
    return path.endswith(".dist-info/RECORD") and path.count("/") == 1


class _Members(Protocol):
    """Where files come from that the cache lacks."""

    def listing(self) -> Listing: ...

    def fetch(self, paths: list[str]) -> Mapping[str, bytes]: ...


class WholeArchive:
    """A downloaded artifact, whose hash is checked; all its sources are read at once, when the first is asked for."""

    def __init__(self, artifact: Artifact, index: PackageIndex, wanted: Wanted = is_source) -> None:
        self._artifact = artifact
        self._index = index
        self._wanted = wanted
        self._files: dict[str, bytes] | None = None

    def listing(self) -> Listing:
        files = dict(self._read())
        said = [read_record(files.pop(path), self._artifact.filename) for path in list(files) if _is_record(path)]
        compiled = {path: entry for record in said for path, entry in record.items() if path.endswith(COMPILED)}
        return {**compiled, **{path: Entry(_sha256(content), len(content)) for path, content in files.items()}}

    def fetch(self, paths: list[str]) -> Mapping[str, bytes]:
        files = self._read()
        return {path: files[path] for path in paths if path in files}

    def _read(self) -> dict[str, bytes]:
        if self._files is None:
            path = self._index.download(self._artifact)
            self._files = read_members(path, self._artifact.filename, self._is_read)
        return self._files

    def _is_read(self, path: str) -> bool:
        return self._wanted(path) or path.endswith(".pyx") or _is_record(path)


class RangedWheel:
    """A wheel on the index, read by ranges; each member is checked against its CRC-32 and the RECORD's sha256."""

    def __init__(self, artifact: Artifact, index: PackageIndex, wanted: Wanted = is_source) -> None:
        self._name = artifact.filename
        self._wanted = wanted
        self._wheel = RemoteWheel(artifact, index.transport)

    def listing(self) -> Listing:
        records = [path for path in self._wheel.members if _is_record(path)]
        if len(records) != 1:
            raise NoRangesError
        self._wheel.prefetch(records)
        listing = read_record(self._wheel.read(records[0]), self._name)
        sources = {path for path in self._wheel.members if self._wanted(path) or path.endswith(COMPILED)}
        if not sources <= listing.keys():
            # A RECORD that does not speak of every file proves nothing; the hash of the whole does.
            raise NoRangesError
        return {path: listing[path] for path in sources}

    def fetch(self, paths: list[str]) -> Mapping[str, bytes]:
        self._wheel.prefetch(paths)
        return {path: self._wheel.read(path) for path in paths}


class ArtifactTree:
    """The sources of one artifact below the folder that holds its top-level package, and what is `also` asked for."""

    def __init__(self, artifact: Artifact, index: PackageIndex, top: str, also: Sequence[str] = ()) -> None:
        artifact.require_hash()
        self._artifact = artifact
        self._index = index
        self._wanted = wanting(also)
        # Another choice of files is another listing.
        self._listed_as = _sha256("\n".join((artifact.sha256, *also)).encode()) if also else artifact.sha256
        self._source: _Members | None = None
        self._listing = self._list()
        self._prefix = package_folder(self._listing, top)
        self._folders = folders_of(self._listing, self._prefix)

    def paths(self) -> tuple[str, ...]:
        """Every source in the artifact, by its path there."""
        return tuple(self._listing)

    def read(self, path: str) -> bytes | None:
        name = self._prefix + posixpath.normpath(path)
        entry = self._listing.get(name)
        if entry is None:
            return None
        content = self._index.cache.blob(entry.sha256)
        return content if content is not None else self._fetch([name])[name]

    def names(self, path: str) -> tuple[str, ...]:
        folder = posixpath.normpath(path) if path else "."
        return tuple(sorted(self._folders.get("" if folder == "." else folder, ())))

    def prefetch(self, folder: str) -> None:
        """Fetches all sources below a folder together; what is read later costs a request each."""
        inside = self._prefix + folder.rstrip("/") + "/"
        missing = [
            path
            for path, entry in self._listing.items()
            if path.startswith(inside) and self._wanted(path) and self._index.cache.blob(entry.sha256) is None
        ]
        if missing:
            self._fetch(missing)

    def _list(self) -> Listing:
        cached = self._index.cache.listing(self._listed_as)
        if cached is not None:
            return cached
        try:
            listing = self._open().listing()
        except NoRangesError:
            self._source = WholeArchive(self._artifact, self._index, self._wanted)
            listing = self._source.listing()
        self._index.cache.keep_listing(self._listed_as, listing)
        return listing

    def _open(self) -> _Members:
        if self._source is None:
            if self._artifact.wheel and self._index.cache.archive(self._artifact.sha256) is None:
                try:
                    self._source = RangedWheel(self._artifact, self._index, self._wanted)
                except NoRangesError:
                    self._source = None
            if self._source is None:
                self._source = WholeArchive(self._artifact, self._index, self._wanted)
        return self._source

    def _fetch(self, paths: list[str]) -> Mapping[str, bytes]:
        try:
            found = self._open().fetch(paths)
        except NoRangesError:
            self._source = WholeArchive(self._artifact, self._index, self._wanted)
            found = self._source.fetch(paths)
        for path in paths:
            content = found.get(path)
            if content is None or _sha256(content) != self._listing[path].sha256:
                raise InputError(f"{path} in {self._artifact.filename} does not have the sha256 of its RECORD")
            self._index.cache.keep_blob(self._listing[path].sha256, content)
        return found


def read_record(content: bytes, name: str) -> dict[str, Entry]:
    """A wheel's RECORD: the files that have a sha256 there, and it."""
    entries: dict[str, Entry] = {}
    try:
        for row in csv.reader(io.StringIO(content.decode("utf-8"))):
            if len(row) < 2 or not row[1].startswith("sha256="):
                continue
            text = row[1][len("sha256=") :]
            digest = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()
            entries[safe_path(row[0], name)] = Entry(digest, int(row[2]) if len(row) > 2 and row[2] else 0)
    except (UnicodeDecodeError, csv.Error, binascii.Error, ValueError):
        raise InputError(f"the RECORD of {name} is damaged") from None
    return entries


def package_folder(paths: Iterable[str], top: str) -> str:
    """The folder that holds the top-level package or module, with a slash after it; the shallowest that is no test.

    Archives of sources hold it in ``name-version/``, with ``src/`` or another folder between; wheels in none, or in
    ``.data/purelib/``. Empty when nothing has that package.
    """
    found: set[str] = set()
    for path in paths:
        for end in (f"{top}/__init__.py", f"{top}.py"):
            if path == end or path.endswith("/" + end):
                found.add(path[: -len(end)])
    if not found:
        # A namespace package has no __init__.py: any source below a folder of the name.
        for path in paths:
            head, inside, _ = f"/{path}".partition(f"/{top}/")
            if inside:
                found.add(head[1:] + "/" if head else "")
    ranked = sorted(found, key=lambda p: (_asides(p), p.count("/"), p))
    return ranked[0] if ranked else ""


def _asides(folder: str) -> int:
    return sum(part in NOT_THE_PACKAGE for part in folder.split("/"))


def folders_of(paths: Iterable[str], prefix: str) -> dict[str, set[str]]:
    """What is directly in each folder, of the files below a prefix."""
    folders: dict[str, set[str]] = {}
    for path in paths:
        if not path.startswith(prefix):
            continue
        name = path[len(prefix) :]
        while name:
            name, _, last = name.rpartition("/")
            names = folders.setdefault(name, set())
            if last in names:
                break
            names.add(last)
    return folders


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
