"""Reads release archives that nobody has vouched for: tar and zip, bounded in every direction, safe in every name.

Enters: an archive whose hash was checked, or a zip that is read over the network. Leaves: the bytes of the members
asked for, by safe posix paths. Members are read into memory and never unpacked by a library, so what `tarfile`'s data
filter refuses (absolute names, ``..``, links that lead out, devices) is refused here for all of them, in every Python,
and the whole archive with it. Links to files inside are the files they lead to.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from driftwatch.errors import InputError

Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an archive is read before it is taken for an attack."""

    members: int = 200_000
    file: int = 64 << 20
    total: int = 4 << 30
    """Bytes of the unpacked archive, read or skipped."""
    kept: int = 1 << 30
    """Bytes of the members that are asked for."""
    ratio: int = 200
    """Unpacked bytes for each packed one, beyond a first 64 MiB."""
    directory: int = 32 << 20
    """Bytes of a zip's directory, which is taken in as a whole."""

    def end(self, packed: int) -> int:
        """How many bytes an archive of so many may unpack to."""
        return min(self.total, (64 << 20) + packed * self.ratio)


DEFAULT_LIMITS = Limits()
_ZIP_TAIL = (1 << 16) + 200
"""Where the end of a zip's directory is told, with the longest comment after it."""
_DRIVE = re.compile(r"[A-Za-z]:")
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
UNSUPPORTED = (NotImplementedError, RuntimeError)
"""What Python's archive modules raise for archives that are damaged, and for those they cannot read."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive, or (with a `target`, and no content) a link to another of its files, files first."""

    path: str
    content: bytes
    target: str | None = None


def members(path: Path, name: str, wanted: Wanted, limits: Limits = DEFAULT_LIMITS) -> Iterator[Member]:
    """The wanted files of an archive, one by one; `name` is its file name on the index, which says what it is."""
    try:
        if name.endswith((".zip", ".whl")):
            packed = path.stat().st_size
            _check_zip_directory(path, packed, name, limits)
            with zipfile.ZipFile(path) as archive:
                found = {m: info for m, info in zip_members(archive, name, packed, limits).items() if wanted(m)}
                if sum(info.file_size for info in found.values()) > limits.kept:
                    raise InputError(f"{name} holds more than {limits.kept:,} bytes of sources, which are not read")
                for member, info in found.items():
                    yield Member(member, read_zip_member(archive, info, name, limits))
        else:
            yield from _tar_members(path, name, wanted, limits)
    except DAMAGE as error:
        raise InputError(f"{name} is damaged: {gist(error)}") from None
    except UNSUPPORTED:
        raise InputError(f"{name} is packed in a way that cannot be read") from None


def read_members(path: Path, name: str, wanted: Wanted, limits: Limits = DEFAULT_LIMITS) -> dict[str, bytes]:
    """All wanted files of an archive by their paths, links as the files they lead to."""
    found: dict[str, bytes] = {}
    for member in members(path, name, wanted, limits):
        if member.target is None:
            found[member.path] = member.content
        elif member.target in found:
            found[member.path] = found[member.target]
    return found


def unpack(files: Iterable[Member], folder: Path, name: str) -> int:
    """Writes files below a folder, links as copies, and says how many."""
    count = 0
    try:
        for member in files:
            target = folder / member.path
            target.parent.mkdir(parents=True, exist_ok=True)
            if member.target is None:
                target.write_bytes(member.content)
            elif (folder / member.target).is_file():
                shutil.copyfile(folder / member.target, target)
            else:
                continue
            count += 1
    except OSError as error:
        raise InputError(f"{name} cannot be unpacked: {error.strerror or type(error).__name__}") from None
    return count


def zip_members(
    archive: zipfile.ZipFile, name: str, packed: int, limits: Limits = DEFAULT_LIMITS
) -> dict[str, zipfile.ZipInfo]:
    """The regular files of an open zip of `packed` bytes by their safe paths; an error when it is not to be trusted."""
    infos = archive.infolist()
    if len(infos) > limits.members:
        raise InputError(f"{name} has {len(infos):,} members; more than {limits.members:,} are not read")
    end = limits.end(packed)
    if sum(info.file_size for info in infos) > end:
        raise InputError(f"{name} unpacks to more than {end:,} bytes, which is not read")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        path = safe_path(info.filename, name)
        mode = info.external_attr >> 16
        if stat.S_ISLNK(mode) or info.is_dir():
            continue
        found[path] = info
    return found


def _check_zip_directory(path: Path, packed: int, name: str, limits: Limits) -> None:
    """An error when a zip's directory is too large to be read, before `zipfile` reads it."""
    with path.open("rb") as file:
        file.seek(max(0, packed - _ZIP_TAIL))
        tail = file.read(_ZIP_TAIL)
    # Whichever of them Python takes for the true one.
    for record, form, offset in ((b"PK\x05\x06", "<L", 12), (b"PK\x06\x06", "<Q", 40)):
        at = tail.find(record)
        while at >= 0:
            if len(tail) >= at + offset + struct.calcsize(form):
                (size,) = struct.unpack_from(form, tail, at + offset)
                if limits.directory < size <= packed:
                    raise InputError(f"{name} has a directory of {size:,} bytes, which is not read")
            at = tail.find(record, at + 1)


def read_zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limits: Limits = DEFAULT_LIMITS
) -> bytes:
    """One member's bytes, checked against the length and CRC-32 in the zip's directory."""
    if info.flag_bits & 0x1:
        raise InputError(f"{name} is encrypted")
    if info.file_size > limits.file:
        raise InputError(f"{info.filename} in {name} is larger than {limits.file:,} bytes, which is not read")
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise InputError(f"{info.filename} in {name} is not as long as the archive says")
    return content


def _tar_members(path: Path, name: str, wanted: Wanted, limits: Limits) -> Iterator[Member]:
    links: dict[str, str] = {}
    kept = count = 0
    with _unpacked(path, name) as raw:
        stream = cast("IO[bytes]", _Bounded(raw, name, path.stat().st_size, limits))
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            while member := archive.next():
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep every header
                count += 1
                if count > limits.members:
                    raise InputError(f"{name} has more than {limits.members:,} members, which are not read")
                member_path = safe_path(member.name, name)
                if member.issym() or member.islnk():
                    links[member_path] = _link_target(member, name)
                elif member.isreg() and wanted(member_path):
                    kept += member.size
                    if member.size > limits.file or kept > limits.kept:
                        raise InputError(f"{member.name} in {name} is too large to be read")
                    yield Member(member_path, _read_tar_member(archive, member, name))
                elif not (member.isreg() or member.isdir()):
                    raise InputError(f"{name} is unsafe: {member.name} is neither a file nor a folder")
    for link in sorted(links):
        target = _followed(link, links)
        if wanted(link) and target not in links:
            yield Member(link, b"", target)


def _read_tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> bytes:
    file = archive.extractfile(member)
    content = file.read() if file else b""
    if len(content) != member.size:
        raise InputError(f"{member.name} in {name} is cut off")
    return content


def _followed(link: str, links: dict[str, str]) -> str:
    seen: set[str] = set()
    while link in links and link not in seen:
        seen.add(link)
        link = links[link]
    return link


def _link_target(member: tarfile.TarInfo, name: str) -> str:
    target = member.linkname
    if member.issym() and not target.startswith("/"):
        target = posixpath.join(posixpath.dirname(member.name), target)
    return safe_path(posixpath.normpath(target), name)


def safe_path(text: str, archive: str) -> str:
    """The member's name as a plain relative path; the archive is refused when it could lead anywhere else."""
    path = text.replace("\\", "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or _DRIVE.match(path) or ".." in parts or "\0" in path:
        raise InputError(f"{archive} is unsafe: a member or link named {text!r} would leave the folder")
    return "/".join(parts)


def _unpacked(path: Path, name: str) -> IO[bytes]:
    if name.endswith((".tar.gz", ".tgz")):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if name.endswith((".tar.bz2", ".tbz", ".tbz2")):
        return cast("IO[bytes]", bz2.open(path, "rb"))
    if name.endswith((".tar.xz", ".txz")):
        return cast("IO[bytes]", lzma.open(path, "rb"))
    if name.endswith(".tar"):
        return path.open("rb")
    raise InputError(f"{name} is not an archive that can be read")


class _Bounded(io.RawIOBase):
    """A decompressed stream that refuses to yield more than the limits allow, in all or at once.

    `tarfile` reads an extended header in one piece, of whatever size it claims to be; so a single read is bounded too.
    """

    def __init__(self, raw: IO[bytes], name: str, packed: int, limits: Limits) -> None:
        self._raw = raw
        self._name = name
        self._once = limits.file
        self._end = limits.end(packed)

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._once:
            raise InputError(f"{self._name} holds a piece too large to be read")
        self._check(self._raw.tell() + size)
        return self._raw.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._check(offset)
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def _check(self, position: int) -> None:
        # A block more than the limit: archives end in padding, which tarfile asks for.
        if position > self._end + (1 << 20):
            raise InputError(f"{self._name} unpacks to more than {self._end:,} bytes, which is not read")


def gist(error: BaseException) -> str:
    """What an exception says, in one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__
