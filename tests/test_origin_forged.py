"""An index that is out to do harm: nothing of this machine is read, nothing is without end; one sentence says so."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftwatch.errors import DriftwatchError, IndexUnavailableError, InputError
from driftwatch.snapshot.sources import index as index_module
from driftwatch.snapshot.sources import transport
from driftwatch.snapshot.sources.artifact_tree import ArtifactTree
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.fetch import fetch_project
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from tests.cli_process import run
from tests.fake_index import make_sdist, make_wheel
from tests.forged_index import Answer, ForgedIndex, dripping, endless, forging, redirect, reply

JSON = "application/vnd.pypi.simple.v1+json"
HASH = "0" * 64


@pytest.fixture
def forged() -> Iterator[ForgedIndex]:
    with forging() as index:
        yield index
    for thread in threading.enumerate():
        if thread.name.startswith("driftwatch"):
            thread.join(10)  # it ends with the server


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder of this machine that is a good index by itself, and a pipe that nobody writes to."""
    folder = tmp_path / "secret" / "demo"
    folder.mkdir(parents=True)
    (folder / "demo-1.0.tar.gz").write_bytes(make_sdist({"demo/__init__.py": "SECRET = 1\n"}))
    (folder / "index.html").write_text('<a href="demo-1.0.tar.gz">demo-1.0.tar.gz</a>')
    os.mkfifo(folder / "pipe")
    return folder


def failure(forged: ForgedIndex, cache: Path, *, timeout: float = 5.0) -> DriftwatchError:
    """What becomes of a release that is asked for by its name."""
    settings = IndexSettings(forged.url, timeout=timeout)
    with PackageIndex(settings, Cache(cache)) as index, pytest.raises(DriftwatchError) as caught:
        fetch_project("pypi:demo==1.0", index)
    assert "\n" not in caught.value.message
    assert not list(cache.rglob("*.py"))
    return caught.value


def link(address: str, name: str = "demo-1.0.tar.gz", sha256: str = HASH) -> bytes:
    return f'<!DOCTYPE html><a href="{address}#sha256={sha256}">{name}</a>'.encode()


# -- the files of this machine -----------------------------------------------------------------------------------------


def targets(secret: Path) -> list[str]:
    places = [
        secret.as_uri() + "/",
        (secret / "pipe").as_uri(),
        "file:///dev/zero",
        "FILE:///dev/zero",
        "file:/dev/zero",
    ]
    return [*places, "file://localhost/dev/zero", "ftp://127.0.0.1/x", "data:text/html,<a>", "unix:///run/x.sock"]


def test_a_page_that_redirects_to_what_is_not_the_web(forged: ForgedIndex, secret: Path, tmp_path: Path) -> None:
    for target in targets(secret):
        forged.page(redirect(target))
        error = failure(forged, tmp_path / "cache")
        assert isinstance(error, IndexUnavailableError)
        assert error.message.endswith("leads to another address than http or https"), target


def test_a_page_that_redirects_there_by_way_of_another(forged: ForgedIndex, secret: Path, tmp_path: Path) -> None:
    forged.page(redirect("/elsewhere"))
    forged.answers["/elsewhere"] = redirect(secret.as_uri() + "/")
    assert "another address than http or https" in failure(forged, tmp_path / "cache").message
    assert forged.asked == ["/simple/demo/", "/elsewhere"]


@pytest.mark.parametrize("form", ["html", "base", "json"])
def test_a_page_that_links_to_what_is_not_the_web(forged: ForgedIndex, secret: Path, tmp_path: Path, form: str) -> None:
    for target in [(secret / "demo-1.0.tar.gz").as_uri(), "file:///dev/zero", "ftp://127.0.0.1/demo-1.0.tar.gz"]:
        if form == "json":
            forged.page(reply(json_page(url=target), JSON))
        elif form == "base":
            folder, _, name = target.rpartition("/")
            forged.page(reply(f'<base href="{folder}/">'.encode() + link(name)))
        else:
            forged.page(reply(link(target)))
        error = failure(forged, tmp_path / "cache")
        assert isinstance(error, IndexUnavailableError)
        assert "links demo-1.0.tar.gz at another address than http or https" in error.message


def test_an_archive_that_redirects_there(forged: ForgedIndex, secret: Path, tmp_path: Path) -> None:
    for name in ("demo-1.0.tar.gz", "demo-1.0-py3-none-any.whl"):
        forged.page(reply(link(f"/files/{name}", name)))
        for target in targets(secret):
            forged.answers[f"/files/{name}"] = redirect(target)
            assert "another address than http or https" in failure(forged, tmp_path / "cache").message


def test_parts_of_a_wheel_that_redirect_there(forged: ForgedIndex, secret: Path, tmp_path: Path) -> None:
    name = "demo-1.0-py3-none-any.whl"
    forged.page(reply(link(f"/files/{name}", name)))
    forged.answers[f"/files/{name}"] = redirect(secret.as_uri())
    with PackageIndex(IndexSettings(forged.url), Cache(tmp_path / "cache")) as index:
        artifact = index.project("demo").artifacts("1.0")[0]
        with pytest.raises(IndexUnavailableError, match="another address than http or https"):
            ArtifactTree(artifact, index, "demo")


def test_a_folder_is_an_index_where_the_user_says_so(secret: Path, tmp_path: Path) -> None:
    content = (secret / "demo-1.0.tar.gz").read_bytes()
    (secret / "index.html").write_bytes(link("demo-1.0.tar.gz", sha256=hash_of(content)))
    with PackageIndex(IndexSettings(secret.parent.as_uri() + "/"), Cache(tmp_path / "cache")) as index:
        source = fetch_project("pypi:demo==1.0", index)
        assert (source.path / "demo" / "__init__.py").read_text() == "SECRET = 1\n"


@pytest.mark.parametrize("place", ["pipe", "/dev/zero"])
def test_a_folder_that_links_to_what_has_no_end(secret: Path, tmp_path: Path, place: str) -> None:
    (secret / "index.html").write_bytes(link(place))
    with PackageIndex(IndexSettings(secret.parent.as_uri() + "/"), Cache(tmp_path / "cache")) as index:
        assert len(index.project("demo").releases) == 1
        with pytest.raises(DriftwatchError, match="does not have it"):
            fetch_project("pypi:demo==1.0", index)


def hash_of(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


# -- without end -------------------------------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (dripping(HEAD + b"\r\n", b"<a>"), "is too slow"),
        (dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), "is too slow"),
        (dripping(HEAD, b"X-A: b\r\n"), "does not answer in time"),
        (dripping(b"HTTP/1.1 200 OK\r\nX-A: ", b"b"), "does not answer in time"),
        (dripping(b"HTTP/1.1 ", b"2"), "does not answer in time"),
    ],
    ids=["body", "chunks", "headers", "one_header", "status"],
)
def test_a_page_that_drips(
    forged: ForgedIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, said: str
) -> None:
    """Each byte comes in time, the answer never does."""
    monkeypatch.setattr(transport, "PAGE_DEADLINE", 0.5)
    forged.page(answer)
    start = time.monotonic()
    error = failure(forged, tmp_path / "cache", timeout=0.2)
    assert isinstance(error, IndexUnavailableError)
    assert said in error.message
    assert time.monotonic() - start < 30


def test_redirects_without_end(forged: ForgedIndex, tmp_path: Path) -> None:
    forged.page(redirect("/simple/demo/"))
    assert "redirects without end" in failure(forged, tmp_path / "cache").message


PACKED = gzip.compress(bytes(64 << 20))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (endless(HEAD + b"\r\n", bytes(1 << 16)), "sends more than the 1,048,576 bytes expected"),
        (reply(PACKED, Content_Encoding="gzip"), "unpacks to more than 1,048,576 bytes"),
        (reply(gzip.compress(PACKED), Content_Encoding="gzip, gzip"), "does not speak HTTP as it should"),
        (reply(b"<html>", Content_Encoding="br"), "does not speak HTTP as it should"),
        (reply(b"no gzip at all", Content_Encoding="gzip"), "does not speak HTTP as it should"),
        (reply(PACKED[:1000], Content_Encoding="gzip"), "ends in the middle"),
    ],
    ids=["plain", "packed", "packed_twice", "unknown", "not_packed", "cut"],
)
def test_a_page_that_is_too_large(
    forged: ForgedIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, said: str
) -> None:
    monkeypatch.setattr(index_module, "MAX_PAGE", 1 << 20)
    forged.page(answer)
    tracemalloc.start()
    try:
        error = failure(forged, tmp_path / "cache")
        assert isinstance(error, IndexUnavailableError)
        assert said in error.message
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_that_says_it_is_packed_is_taken_as_it_is(forged: ForgedIndex, tmp_path: Path) -> None:
    """The hash is that of the bytes as they are sent; they are never unpacked on the way."""
    content = make_sdist({"demo/__init__.py": "x = 1\n"})
    forged.page(reply(link("/files/demo-1.0.tar.gz", sha256=hash_of(content))))
    forged.answers["/files/demo-1.0.tar.gz"] = reply(content, Content_Encoding="gzip")
    with PackageIndex(IndexSettings(forged.url), Cache(tmp_path / "cache")) as index:
        assert (fetch_project("pypi:demo==1.0", index).path / "demo" / "__init__.py").is_file()


def test_a_wheel_whose_server_sends_more_than_was_asked_for(forged: ForgedIndex, tmp_path: Path) -> None:
    name = "demo-1.0-py3-none-any.whl"
    forged.page(reply(link(f"/files/{name}", name)))
    start = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99999999999/100000000000\r\n\r\n"
    forged.answers[f"/files/{name}"] = endless(start, bytes(1 << 16))
    with PackageIndex(IndexSettings(forged.url), Cache(tmp_path / "cache")) as index:
        artifact = index.project("demo").artifacts("1.0")[0]
        index.transport.chunks = _at_most(index.transport.chunks, 1 << 20)  # type: ignore[method-assign]
        with pytest.raises(DriftwatchError, match="expected"):
            ArtifactTree(artifact, index, "demo")


def _at_most(chunks: Callable[..., Iterator[bytes]], most: int) -> Callable[..., Iterator[bytes]]:
    """The whole archive, which is asked for when parts are refused, need not be two gigabytes for a test."""
    return lambda response, limit, deadline=None: chunks(response, min(limit, most), deadline)


def test_a_wheel_with_a_directory_without_end(forged: ForgedIndex, tmp_path: Path) -> None:
    """The end of the zip says how long its directory is, and would have all of it fetched."""
    size = 10 << 30
    end = b"PK\x05\x06" + bytes(8) + (0xF0000000).to_bytes(4, "little") + bytes(6)
    tail = bytes((1 << 16) - len(end)) + end
    name = "demo-1.0-py3-none-any.whl"

    def answer(_path: str) -> Iterator[bytes]:
        yield f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {size - len(tail)}-{size - 1}/{size}\r\n".encode()
        yield f"Content-Length: {len(tail)}\r\nConnection: close\r\n\r\n".encode() + tail

    forged.page(reply(link(f"/files/{name}", name)))
    forged.answers[f"/files/{name}"] = answer
    with PackageIndex(IndexSettings(forged.url, timeout=2), Cache(tmp_path / "cache")) as index:
        artifact = index.project("demo").artifacts("1.0")[0]
        with pytest.raises(DriftwatchError):
            ArtifactTree(artifact, index, "demo")
    assert len(forged.asked) <= 4


def test_a_wheel_that_is_a_bomb(forged: ForgedIndex, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(5):
            archive.writestr(f"demo/{n}.py", bytes(48 << 20))
    name, content = "demo-1.0-py3-none-any.whl", buffer.getvalue()
    forged.page(reply(link(f"/files/{name}", name, hash_of(content))))
    forged.answers[f"/files/{name}"] = reply(content)
    assert "unpacks to more than" in failure(forged, tmp_path / "cache").message


# -- not what it should be ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", ["", "x", "-5", "1e3", "9" * 5000, "٣", "0x10", "1 2"])
def test_a_length_that_is_none(forged: ForgedIndex, tmp_path: Path, length: str) -> None:
    body = link("/files/demo-1.0.tar.gz")

    def answer(_path: str) -> Iterator[bytes]:
        yield HEAD + f"Content-Length: {length}\r\n".encode() + b"Connection: close\r\n\r\n" + body

    forged.page(answer)
    error = failure(forged, tmp_path / "cache")
    assert isinstance(error, IndexUnavailableError)
    assert error.message.endswith(("does not speak HTTP as it should", "cannot be reached"))


def json_page(**file: object) -> bytes:
    entry = {"filename": "demo-1.0.tar.gz", "url": "/files/demo-1.0.tar.gz", "hashes": {"sha256": HASH}, **file}
    return json.dumps({"meta": {"api-version": "1.0"}, "name": "demo", "files": [entry]}).encode()


STRANGE = {
    "brackets": (b"[" * 100_000, JSON),
    "braces": (b'{"a":' * 100_000, JSON),
    "number": (b'{"meta": {"api-version": "1.0"}, "name": "demo", "files": ' + b"9" * 5000 + b"}", JSON),
    "list": (b"[]", JSON),
    "null": (b"null", JSON),
    "nothing": (b"", JSON),
    "not_utf_8": (b'{"name": "\xff"}', JSON),
    "files_are_text": (b'{"meta": {"api-version": "1.0"}, "name": "demo", "files": "x"}', JSON),
    "later_form": (b'{"meta": {"api-version": "9.0"}, "name": "demo", "files": []}', JSON),
    "size_is_text": (json_page(size="many"), JSON),
    "address_is_none": (json_page(url="http://[::1"), JSON),
    "tags": (b"<div>" * 100_000 + link("/files/x"), "text/html"),
    "links": (b"<a href=x>" * 200_000, "text/html"),
    "comments": (b"<!--" * 200_000, "text/html"),
    "another_kind": (b"\x89PNG", "image/png"),
    "no_kind": (b"x", ";;;"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_a_page_that_is_none(forged: ForgedIndex, tmp_path: Path, kind: str) -> None:
    body, media = STRANGE[kind]
    forged.page(reply(body, media))
    error = failure(forged, tmp_path / "cache")
    assert "does not answer as a package index does" in error.message


ODD = {
    "entities": b"&#" * 50_000,
    "noise": bytes(range(256)) * 200,
    "version": link("/files/x", f"demo-{'9' * 5000}.tar.gz"),
    "epoch": link("/files/x", f"demo-{'9' * 4400}!1.0.tar.gz"),
    "address": b'<a href="http://[::1">demo-1.0.tar.gz</a>',
    "charset": b"<meta charset=klingon>" + link("/files/x", "demo-2.0.tar.gz"),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_page_that_is_odd_ends_with_one_sentence(forged: ForgedIndex, tmp_path: Path, kind: str) -> None:
    forged.page(reply(ODD[kind], "text/html"))
    assert failure(forged, tmp_path / "cache").message


def test_a_release_has_no_more_digits_than_are_read(forged: ForgedIndex, tmp_path: Path) -> None:
    with PackageIndex(IndexSettings(forged.url), Cache(tmp_path)) as index, pytest.raises(DriftwatchError) as caught:
        fetch_project(f"pypi:demo=={'9' * 5000}", index)
    assert "does not name a release" in caught.value.message


def test_what_a_person_reads(forged: ForgedIndex, tmp_path: Path) -> None:
    """By the program itself: one sentence, exit status 2."""
    forged.page(redirect("file:///dev/zero"))
    result = run("scan", "pypi:demo==1.0", cwd=tmp_path, environment={"PIP_INDEX_URL": forged.url})
    assert (result.status, result.out) == (2, "")
    assert [line.partition(" 127")[0] for line in result.err.splitlines()] == [
        "error: the package index cannot be asked about demo:"
    ]


NOISE = {
    "binary": (bytes(range(256)) * 50, "text/html"),
    "name_of_a_file": (b"page.html", "text/html"),
    "markup_of_another_kind": (b"<?xml version='1.0'?><a/>", "text/html"),
    "escapes": (b'<a href="\x00\x1b[2J\xff">\x1b]0;demo-1.0.tar.gz</a>', "text/html"),
    "another_encoding": (b'<a href="x">demo-\xff\xfe1.0.tar.gz</a>', "text/html; charset=utf-16"),
}


@pytest.mark.parametrize("kind", NOISE)
def test_a_page_of_noise_makes_none(forged: ForgedIndex, tmp_path: Path, kind: str) -> None:
    """Nor does the parser of HTML, which would print what it has to say."""
    forged.page(reply(*NOISE[kind]))
    result = run("scan", "pypi:demo==1.0", cwd=tmp_path, environment={"PIP_INDEX_URL": forged.url})
    assert (result.status, result.out) == (2, "")
    error, hint = result.err.splitlines()
    assert error.startswith(("error: the package index cannot be asked", "error: the package index lists no release"))
    assert hint.startswith("hint: ")
    assert result.err.replace("\n", "").isprintable()


def test_the_same_archive_is_read_where_nothing_is_forged(forged: ForgedIndex, tmp_path: Path) -> None:
    wheel = make_wheel({"demo/__init__.py": "x = 1\n"})
    name = "demo-1.0-py3-none-any.whl"
    forged.page(reply(gzip.compress(link(f"/files/{name}", name, hash_of(wheel))), Content_Encoding="gzip"))
    forged.answers[f"/files/{name}"] = reply(wheel)
    with PackageIndex(IndexSettings(forged.url), Cache(tmp_path)) as index:
        assert (fetch_project("pypi:demo", index).path / "demo" / "__init__.py").is_file()
    with pytest.raises(InputError, match="has no release 2"), PackageIndex(IndexSettings(forged.url)) as index:
        fetch_project("pypi:demo==2", index)
