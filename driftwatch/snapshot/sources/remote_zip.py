"""A wheel on the index, of which only the files asked for are fetched: HTTP ranges, few and joined.

The whole file's hash cannot be checked without the whole file. What is checked of every member is its CRC-32 in the
zip's directory and its sha256 in the wheel's own RECORD; both come over the same connection as the member, so they
guard against damage, and against anyone between only as far as TLS does.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import requests
from remotezip import PartialBuffer, RemoteFetcher, RemoteZip, RemoteZipError  # type: ignore[import-untyped]

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.archive import DAMAGE, DEFAULT_LIMITS, UNSUPPORTED, gist, read_zip_member, zip_members
from driftwatch.snapshot.sources.index import Artifact
from driftwatch.snapshot.sources.transport import RETRIES, BrokenOffError, RefusedError, Transport

TAIL = 1 << 16
"""Bytes asked for first, from the end; the zip's directory begins to be read from them."""
GAP = 1 << 17
"""Two members with no more than this between them are fetched in one request."""

MAX_FETCHED = 512 << 20
"""No more bytes of one wheel are fetched than this, whatever its directory says is to be had."""


class NoRangesError(Exception):
    """The server does not serve parts of a file; the whole of it must be downloaded."""


class _Segments(RemoteFetcher):  # type: ignore[misc]
    """Remotezip's source of bytes, which keeps what it has fetched and fetches only what is missing."""

    def __init__(self, url: str, transport: Transport, size: int | None, what: str) -> None:
        super().__init__(url, transport.session)
        self._transport = transport
        self._what = what
        self._size = size
        self._have: list[tuple[int, bytes]] = []
        self.left = DEFAULT_LIMITS.directory + 2 * TAIL
        """How many bytes more may be fetched."""

    def fetch(self, data_range: tuple[int, int | None], stream: bool = False) -> Any:
        start, last = data_range
        if last is None:
            start, end = self._tail(-start)
        else:
            end = last + 1
        content = self.bytes_of(start, end)
        return PartialBuffer(io.BytesIO(content), start, len(content), stream)

    def bytes_of(self, start: int, end: int) -> bytes:
        """These bytes of the file, from what is here and one request for each gap."""
        parts: list[bytes] = []
        position = start
        while position < end:
            for begin, content in self._have:
                if begin <= position < begin + len(content):
                    part = content[position - begin : end - begin]
                    break
            else:
                upto = min((begin for begin, _ in self._have if position < begin < end), default=end)
                part = self._request(f"bytes={position}-{upto - 1}", position, upto)
            parts.append(part)
            position += len(part)
        return b"".join(parts)

    def want(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Fetches these ranges ahead, near ones in one request."""
        joined: list[list[int]] = []
        for start, end in sorted(ranges):
            if joined and start - joined[-1][1] <= GAP:
                joined[-1][1] = max(end, joined[-1][1])
            else:
                joined.append([start, end])
        for start, end in joined:
            self.bytes_of(start, end)

    @property
    def size(self) -> int:
        """The bytes of the whole file."""
        return self._size or 0

    def _tail(self, length: int) -> tuple[int, int]:
        if self._size is None:
            content = self._request(f"bytes=-{length}", None, None)
            self._size = self._have[-1][0] + len(content)
        return max(0, self._size - length), self._size

    def _request(self, header: str, start: int | None, end: int | None) -> bytes:
        for attempt in range(RETRIES + 1):
            try:
                return self._request_once(header, start, end)
            except BrokenOffError:
                if attempt == RETRIES:
                    raise
            except RefusedError as refusal:
                if refusal.status in (400, 405, 406, 416, 501):
                    raise NoRangesError from None
                raise
        raise AssertionError("unreachable")

    def _request_once(self, header: str, start: int | None, end: int | None) -> bytes:
        with self._transport.get(self._url, self._what, {"Range": header}) as response:
            given = response.headers.get("Content-Range", "")
            if response.status_code != requests.codes.partial_content or not given.startswith("bytes "):
                raise NoRangesError
            try:
                first, last = (int(n) for n in given[6:].partition("/")[0].split("-"))
            except ValueError:
                raise NoRangesError from None
            if start is not None and (first != start or (end is not None and last + 1 != end)):
                raise NoRangesError
            if start is None and last - first >= TAIL:
                raise NoRangesError
            self.left -= last - first + 1
            if self.left < 0:
                raise InputError(f"{self._what}: more of it would have to be fetched than is right")
            content = b"".join(self._transport.chunks(response, last - first + 1))
        if len(content) != last - first + 1:
            raise InputError(f"{self._what}: the server sent another part of it than it said")
        self._have.append((first, content))
        return content


class RemoteWheel:
    """An open wheel on the index: its members, and the bytes of any of them."""

    def __init__(self, artifact: Artifact, transport: Transport) -> None:
        self._name = artifact.filename
        what = f"{artifact.filename} cannot be read"
        self._segments = _Segments(artifact.url, transport, artifact.size, what)
        with self._damage():
            self._zip = RemoteZip(artifact.url, initial_buffer_size=TAIL, fetcher=lambda *_, **__: self._segments)
            self._segments.left = MAX_FETCHED
            self.members = zip_members(self._zip, artifact.filename, self._segments.size)
        starts = sorted({info.header_offset for info in self._zip.infolist()})
        self._ends = dict(zip(starts, [*starts[1:], self._zip.start_dir], strict=True))

    def prefetch(self, paths: Iterable[str]) -> None:
        """Fetches the bytes of these members together."""
        starts = (self.members[path].header_offset for path in paths)
        self._segments.want((start, self._ends[start]) for start in starts)

    def read(self, path: str) -> bytes:
        """A member's bytes, checked against its CRC-32."""
        with self._damage():
            return read_zip_member(self._zip, self.members[path], self._name)

    def close(self) -> None:
        self._zip.close()

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (RemoteZipError, *DAMAGE, *UNSUPPORTED) as error:
            raise InputError(f"{self._name} is damaged: {gist(error)}") from None
