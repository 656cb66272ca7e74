"""What in the cache is this person's own, and what is dropped unread; and where things go when nothing can be kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftwatch.snapshot.sources.cache import Cache, Entry
from driftwatch.snapshot.sources.fetch import fetch_project
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.system.seals import FOLDER, Seals, _key
from tests.cli_process import run
from tests.fake_index import FakeIndex, make_sdist, serving

SHA256 = "ab" * 32


@pytest.fixture
def fake() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as index:
        index.add("demo", "demo-1.0.tar.gz", make_sdist({"demo/__init__.py": "x = 1\n", "demo/more.py": "y = 2\n"}))
        yield index


def fetched(fake: FakeIndex, cache: Path) -> Path:
    with PackageIndex(IndexSettings(fake.url), Cache(cache)) as index:
        return fetch_project("pypi:demo==1.0", index).path


def test_the_key_is_for_nobody_else(tmp_path: Path) -> None:
    seal = Seals(tmp_path).seal(b"a", b"b")
    assert len(seal) == 64
    assert (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700
    assert (tmp_path / FOLDER / "key").stat().st_mode & 0o777 == 0o600
    assert Seals(tmp_path).is_right(seal, b"a", b"b")
    for parts in ((b"a",), (b"ab", b""), (b"", b"ab"), (b"b", b"a"), (b"a", b"b", b"")):
        assert not Seals(tmp_path).is_right(seal, *parts)
    assert not Seals(tmp_path / "other").is_right(seal, b"a", b"b")
    assert not Seals(tmp_path).is_right(b"", b"a", b"b")


def _opened(folder: Path) -> None:
    folder.chmod(0o777)


def _lent(folder: Path) -> None:
    (folder / "key").chmod(0o644)


def _cut(folder: Path) -> None:
    (folder / "key").write_bytes(b"short")


def _linked(folder: Path) -> None:
    (folder / "key").rename(folder / "elsewhere")
    (folder / "key").symlink_to(folder / "elsewhere")


def _piped(folder: Path) -> None:
    (folder / "key").unlink()
    os.mkfifo(folder / "key", 0o600)


def _elsewhere(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(folder.with_name("moved"))


@pytest.mark.parametrize("change", [_opened, _lent, _cut, _linked, _piped, _elsewhere])
def test_a_key_that_others_may_know_is_none(tmp_path: Path, change: Callable[[Path], None]) -> None:
    seal = Seals(tmp_path).seal(b"a")
    change(tmp_path / FOLDER)
    _key.cache_clear()
    seals = Seals(tmp_path)
    assert not seals.possible
    assert seals.seal(b"a") == b""
    assert not seals.is_right(seal, b"a")
    assert not seals.is_right(b"", b"a")


def test_a_listing_that_somebody_else_has_written(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_listing(SHA256, {"demo/x.py": Entry("0" * 64, 5)})
    (place,) = (tmp_path / "listings-3").rglob(SHA256)
    assert cache.listing(SHA256) == {"demo/x.py": Entry("0" * 64, 5)}
    seal, _, body = place.read_bytes().partition(b"\n")
    other = Seals(tmp_path / "other")
    for content in (
        b"",
        b"\n",
        body,
        other.seal(SHA256.encode(), body) + b"\n" + body,
        seal + b"\n" + body.replace(b"0", b"1", 1),
        seal + b"\nnot a listing\n",
        b"\xff" * 100,
    ):
        place.write_bytes(content)
        assert cache.listing(SHA256) is None
        assert not place.exists()
    cache.keep_listing(SHA256, {"demo/x.py": Entry("0" * 64, 5)})
    (tmp_path / "listings-3" / "cd").mkdir()
    place.rename(tmp_path / "listings-3" / "cd" / ("cd" * 32))
    assert cache.listing("cd" * 32) is None  # it is of another archive


def _changed(folder: Path) -> None:
    (folder / "demo" / "more.py").write_text("y = 3\n")


def _added(folder: Path) -> None:
    (folder / "demo" / "third.py").write_text("")


def _removed(folder: Path) -> None:
    (folder / "demo" / "more.py").unlink()


def _renamed(folder: Path) -> None:
    (folder / "demo" / "more.py").rename(folder / "demo" / "less.py")


def _linked_file(folder: Path) -> None:
    (folder / "demo" / "more.py").rename(folder.parent / "more.py")
    (folder / "demo" / "more.py").symlink_to(folder.parent / "more.py")


def _linked_folder(folder: Path) -> None:
    (folder / "linked").symlink_to("/")


@pytest.mark.parametrize("change", [_changed, _added, _removed, _renamed, _linked_file, _linked_folder])
def test_an_unpacked_folder_that_somebody_else_has_changed(
    tmp_path: Path, fake: FakeIndex, change: Callable[[Path], None]
) -> None:
    """Of as many files and bytes as before: what counts is what they hold."""
    folder = fetched(fake, tmp_path)
    before = {path.relative_to(folder): path.read_text() for path in folder.rglob("*.py")}
    change(folder)
    assert fetched(fake, tmp_path) == folder
    assert {path.relative_to(folder): path.read_text() for path in folder.rglob("*.py")} == before
    assert fake.asked_for("demo-1.0.tar.gz") == [None]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_cache_that_may_not_be_written_leaves_nothing_behind(fake: FakeIndex, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    leaves_nothing(fake, tmp_path, closed)


def test_a_cache_that_cannot_be_a_folder_leaves_nothing_behind(fake: FakeIndex, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    leaves_nothing(fake, tmp_path, tmp_path / "file")


def leaves_nothing(fake: FakeIndex, tmp_path: Path, cache: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {"DRIFTWATCH_CACHE_DIR": str(cache), "TMPDIR": str(temporary), "PIP_INDEX_URL": fake.url}
    for _ in range(2):
        result = run("scan", "pypi:demo==1.0", cwd=tmp_path, environment=environment)
        assert (result.status, result.err) == (0, "")
        assert list(temporary.iterdir()) == []
    assert len(fake.asked_for("demo-1.0.tar.gz")) == 2
    assert tempfile.gettempdir() != str(temporary)
