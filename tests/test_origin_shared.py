"""Several indexes, and one cache shared by runs side by side."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.errors import InputError
from driftwatch.snapshot.sources import transport
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.sources.transport import Traffic
from tests.demo_index import FILES, SDIST, WHEEL, client, tree
from tests.fake_index import FakeIndex, make_sdist, make_wheel, serving


@pytest.fixture
def fake() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as index:
        yield index


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BACKOFF", 0.0)


# -- several indexes -------------------------------------------------------------------------------------------------


def test_an_extra_index_is_asked_only_about_what_the_first_does_not_have(fake: FakeIndex, tmp_path: Path) -> None:
    with serving(FakeIndex()) as other:
        fake.add("demo", SDIST, make_sdist(FILES))
        other.add("demo", "demo-9.0.tar.gz", make_sdist(FILES, version="9.0"))
        other.add("rare", "rare-1.0.tar.gz", b"")
        with PackageIndex(IndexSettings(fake.url, (other.url,)), Cache(tmp_path)) as index:
            assert str(index.project("demo").newest()) == "1.0"
            assert other.requests == []
            assert str(index.project("Rare").newest()) == "1.0"


def test_a_mirror_in_a_folder(tmp_path: Path) -> None:
    content = make_wheel(FILES)
    page = tmp_path / "mirror/demo/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="{WHEEL}#sha256={hashlib.sha256(content).hexdigest()}">{WHEEL}</a>')
    (page.parent / WHEEL).write_bytes(content)
    with PackageIndex(IndexSettings((tmp_path / "mirror").as_uri()), Cache(tmp_path / "cache")) as index:
        assert tree(index).read("demo/sub/a.py") == b"x = 1\n"
        assert index.traffic.bytes == 0
        with pytest.raises(InputError, match="no project named 'nope'"):
            index.project("nope")


# -- the cache -------------------------------------------------------------------------------------------------------


def test_runs_side_by_side_share_a_cache(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    fake.add("demo", "demo-0.9.tar.gz", make_sdist(FILES, version="0.9"))
    results: list[object] = []

    def run() -> None:
        try:
            with client(fake, tmp_path) as index:
                results.append((tree(index).read("demo/last.py"), tree(index, "0.9").read("demo/last.py")))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(b"z = 1\n", b"z = 1\n")] * 12
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_cache_that_cannot_be_written(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    fake.add("demo", "demo-0.9.tar.gz", make_sdist(FILES, version="0.9"))
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with client(fake, blocked) as index:
        assert tree(index).read("demo/last.py") == b"z = 1\n"
        assert tree(index, "0.9").read("demo/last.py") == b"z = 1\n"
    assert blocked.read_text() == "not a folder"


def test_traffic_counts(fake: FakeIndex, tmp_path: Path) -> None:
    traffic = Traffic()
    fake.add("demo", SDIST, make_sdist(FILES))
    with PackageIndex(IndexSettings(fake.url), Cache(tmp_path), traffic) as index:
        tree(index)
    assert (traffic.bytes, traffic.requests) == (fake.sent, 2)
