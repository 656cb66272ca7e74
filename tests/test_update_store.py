"""New releases found, added, verified: against an index over HTTP, git refs and folders, with real stores on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.errors import IndexUnavailableError, InputError, SnapshotError, UsageError
from driftwatch.snapshot.commands.update import UpdateResult, add, early, list_, remove, update, users_own
from driftwatch.snapshot.commands.verify import evenly, verify
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref
from driftwatch.snapshot.sources import transport
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.store import store
from driftwatch.snapshot.store.store import ABSENT, ReleaseRecord
from driftwatch.targets.target import Target
from tests.fake_index import FakeIndex, make_sdist, make_wheel, serving

OLD = {"demo/__init__.py": "raise SystemExit('this was run')\n", "demo/api.py": "def f(a):\n    return a\n"}
NEW = {**OLD, "demo/api.py": "def f(a, b=1):\n    return a\n\n\ndef g(): ...\n"}
BARE = {"demo/__init__.py": ""}


@pytest.fixture
def fake() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as index:
        index.add("demo", "demo-0.9.tar.gz", make_sdist(BARE, version="0.9"))
        index.add("demo", "demo-1.0.tar.gz", make_sdist(OLD, version="1.0"))
        index.add("demo", "demo-1.1-py3-none-any.whl", make_wheel(OLD, version="1.1"))
        index.add("demo", "demo-1.2-py3-none-any.whl", make_wheel(NEW, version="1.2"))
        index.add("demo", "demo-2.0rc1-py3-none-any.whl", make_wheel(NEW, version="2.0rc1"))
        yield index


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target("demo", "demo.api", tmp_path / "snapshots" / "demo")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BACKOFF", 0.0)


def client(fake: FakeIndex, tmp_path: Path) -> PackageIndex:
    return PackageIndex(IndexSettings(fake.url), Cache(tmp_path / "cache"))


def versions(history: History, name: str) -> tuple[str, ...]:
    return history.timeline.versions_of(history.present(Ref("demo.api", name)))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# -- update ------------------------------------------------------------------------------------------------------------


def test_from_nothing(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    with client(fake, tmp_path) as index:
        result = update(target, progress=lambda *step: seen.append(step), index=index)
    assert result == UpdateResult(added=("1.0", "1.1", "1.2"), without_module=("0.9",), known=3)
    assert seen == [(0, 4, "0.9"), (1, 4, "1.0"), (2, 4, "1.1"), (3, 4, "1.2"), (4, 4, "")]
    history = store.load(target.snapshots)
    assert history.timeline.versions == ("1.0", "1.1", "1.2")
    assert versions(history, "f") == ("1.0", "1.1", "1.2")
    assert versions(history, "g") == ("1.2",)
    records = list_(target)
    assert [r.artifact for r in records] == [
        "demo-1.0.tar.gz",
        "demo-1.1-py3-none-any.whl",
        "demo-1.2-py3-none-any.whl",
    ]
    assert records[0].requires_python == ">=3.9"
    assert records[0].digest == records[1].digest != records[2].digest


def test_nothing_new_fetches_and_writes_nothing(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
    before = bytes_of(target.snapshots)
    fake.requests.clear()
    with PackageIndex(IndexSettings(fake.url), Cache(tmp_path / "another")) as index:
        assert update(target, index=index) == UpdateResult(known=3)
    assert [path for path, _ in fake.requests] == ["/simple/demo/"]
    assert bytes_of(target.snapshots) == before


def test_a_new_release_is_the_same_as_all_at_once(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    new = fake.files["demo"].pop("demo-1.2-py3-none-any.whl")
    with client(fake, tmp_path) as index:
        assert update(target, index=index).added == ("1.0", "1.1")
    fake.add("demo", "demo-1.2-py3-none-any.whl", new)
    with client(fake, tmp_path) as index:
        assert update(target, index=index) == UpdateResult(added=("1.2",), known=3)
        other = Target("demo", "demo.api", tmp_path / "other")
        update(other, index=index)
    assert bytes_of(target.snapshots) == bytes_of(other.snapshots)


def test_pre_releases_on_request(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        assert update(target, pre=True, index=index).added == ("1.0", "1.1", "1.2", "2.0rc1")
        assert update(target, index=index) == UpdateResult(known=4)


def test_since_is_the_oldest(fake: FakeIndex, tmp_path: Path) -> None:
    target = Target("demo", "demo.api", tmp_path / "s", since="1.1")
    with client(fake, tmp_path) as index:
        assert update(target, index=index) == UpdateResult(added=("1.1", "1.2"), known=2)
    assert fake.asked_for("0.9.tar.gz") == fake.asked_for("1.0.tar.gz") == []


def test_one_bad_release_spoils_no_other(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    fake.add("demo", "demo-1.0.1.tar.gz", make_sdist(OLD, version="1.0.1")[:100])
    fake.add("demo", "demo-1.3.tar.gz", make_sdist(OLD, version="1.3"))
    fake.claimed["demo-1.3.tar.gz"] = "2" * 64
    with client(fake, tmp_path) as index:
        result = update(target, index=index)
    assert result.added == ("1.0", "1.1", "1.2")
    assert [(f.release, type(f.error)) for f in result.failed] == [("1.0.1", InputError), ("1.3", InputError)]
    assert "damaged" in result.failed[0].error.message
    assert store.load(target.snapshots).timeline.versions == ("1.0", "1.1", "1.2")


def test_an_index_that_goes_away_midway(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        index.project("demo")
        del fake.files["demo"]["demo-1.1-py3-none-any.whl"]
        result = update(target, index=index)
    assert result.added == ("1.0",)
    assert result.failed[0].release == "1.1"
    assert isinstance(result.failed[0].error, IndexUnavailableError)
    assert [record.version for record in list_(target)] == ["1.0"]


def test_an_index_that_is_not_there(target: Target, tmp_path: Path) -> None:
    with (
        PackageIndex(IndexSettings("http://127.0.0.1:9/simple"), Cache(tmp_path)) as index,
        pytest.raises(IndexUnavailableError, match="cannot be reached"),
    ):
        update(target, index=index)
    assert not target.snapshots.exists()


def test_a_library_that_never_had_the_module(fake: FakeIndex, tmp_path: Path) -> None:
    target = Target("demo", "demo.nope", tmp_path / "s")
    with client(fake, tmp_path) as index:
        result = update(target, index=index)
        assert result == UpdateResult(without_module=("0.9", "1.0", "1.1", "1.2"))
        with pytest.raises(SnapshotError, match=r"no release of demo is known to have demo\.nope"):
            update(target, index=index)


def test_what_lacks_the_module_is_remembered_by_its_artifact(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
    rows = [json.loads(line) for line in (target.snapshots / ABSENT).read_text().splitlines()]
    assert [(row["version"], row["artifact"]) for row in rows] == [("0.9", "demo-0.9.tar.gz")]
    fake.add("demo", "demo-0.9-py3-none-any.whl", make_wheel(OLD, version="0.9"))
    with client(fake, tmp_path) as index:
        assert update(target, index=index) == UpdateResult(added=("0.9",), known=4)
    (target.snapshots / ABSENT).write_text("{")
    with client(fake, tmp_path) as index, pytest.raises(SnapshotError, match="is damaged"):
        update(target, index=index)


def test_a_store_of_another_target(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
        with pytest.raises(SnapshotError, match=r"module demo\.api, not of demo, module demo"):
            update(Target("demo", "demo", target.snapshots), index=index)


def test_a_local_library(target: Target, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "demo").mkdir(parents=True)
    (checkout / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1.0"\n')
    (checkout / "demo/api.py").write_text(OLD["demo/api.py"])
    local = Target("demo", "demo.api", target.snapshots, origin=checkout)
    with PackageIndex(IndexSettings(disabled=True), Cache(tmp_path / "cache")) as index:
        assert update(local, index=index) == UpdateResult(added=("1.0",), known=1)
        assert update(local, index=index) == UpdateResult(known=1)
        (checkout / "demo/api.py").write_text(NEW["demo/api.py"])
        assert not verify(local, index=index).right
        assert update(local, index=index) == UpdateResult(changed=("1.0",), known=1)
        assert verify(local, index=index).right
        (checkout / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1.1"\n')
        assert update(local, index=index) == UpdateResult(added=("1.1",), known=2)
        assert verify(local, index=index).skipped == ("1.0",)


# -- add ---------------------------------------------------------------------------------------------------------------


def test_adding_by_hand(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "demo").mkdir(parents=True)
    (checkout / "demo/api.py").write_text(NEW["demo/api.py"])
    with client(fake, tmp_path) as index:
        assert add(target, ["1.1", "demo==2.0rc1"], index=index) == UpdateResult(added=("1.1", "2.0rc1"), known=2)
        assert add(target, ["1.0"], index=index) == UpdateResult(added=("1.0",), known=3)
        assert add(target, ["1.0"], index=index) == UpdateResult(known=3)
        assert add(target, [f"1.2.dev1={checkout}"], index=index) == UpdateResult(added=("1.2.dev1",), known=4)
        (checkout / "demo/api.py").write_text(OLD["demo/api.py"])
        assert add(target, [f"1.2.dev1={checkout}"], index=index) == UpdateResult(changed=("1.2.dev1",), known=4)
        with pytest.raises(UsageError, match=r"release 1\.0 is there already, made from demo-1\.0\.tar\.gz") as caught:
            add(target, [f"1.0={checkout}"], index=index)
        assert "1.0+local=" in (caught.value.hint or "")
    assert [record.version for record in list_(target)] == ["1.0", "1.1"]
    assert [record.version for record in early(target)] == ["2.0rc1"]
    # What the index does not have is no release of the library: it is in the user's store.
    assert users_own(target) == (ReleaseRecord("1.2.dev1", digest=list_(target)[0].digest),)
    remove(target, ["1.2.dev1"])
    assert users_own(target) == ()
    with pytest.raises(UsageError, match=r"1\.2\.dev1 is not in the user's store"):
        remove(target, ["1.2.dev1"])


def test_adding_yanked_releases_when_asked(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    fake.yanked.add("demo-1.2-py3-none-any.whl")
    with client(fake, tmp_path) as index:
        assert update(target, index=index).added == ("1.0", "1.1")
        assert add(target, ["1.2"], index=index).added == ("1.2",)


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("0.9", SnapshotError, r"release 0\.9 has no module demo\.api"),
        ("7.0", InputError, r"demo has no release 7\.0"),
        ("nowhere", InputError, "neither a release nor a folder"),
    ],
)
def test_all_or_nothing(
    fake: FakeIndex, target: Target, tmp_path: Path, spec: str, kind: type[Exception], message: str
) -> None:
    with client(fake, tmp_path) as index, pytest.raises(kind, match=message):
        add(target, ["1.0", spec], index=index)
    assert not target.snapshots.exists()


# -- verify ------------------------------------------------------------------------------------------------------------


def test_verified(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
        result = verify(target, index=index)
        assert result.right
        assert [v.release for v in result.verified] == ["1.0", "1.1", "1.2"]
        assert [v.release for v in verify(target, ["1.2.0"], index=index).verified] == ["1.2"]
        assert [v.release for v in verify(target, sample=2, index=index).verified] == ["1.0", "1.2"]
        with pytest.raises(UsageError, match=r"release 5 is not known"):
            verify(target, ["5"], index=index)


def test_a_store_that_says_something_else(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
        path = target.snapshots / store.HISTORY
        text = path.read_text()
        assert text.count('"b=1"') == 1
        path.write_text(text.replace('"b=1"', '"b=2"'))
        result = verify(target, index=index)
    assert not result.right
    assert [v.right for v in result.verified] == [True, True, False]
    (difference,) = result.verified[2].differences
    assert difference.symbol == "demo.api:f"
    assert "b=2" in (difference.stored or "")
    assert "b=1" in (difference.made or "")


def test_a_store_with_a_wrong_digest(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
        path = target.snapshots / store.RELEASES
        path.write_text(path.read_text().replace(list_(target)[2].digest, "3" * 64))
        result = verify(target, index=index)
    assert [v.right for v in result.verified] == [True, True, False]
    assert result.verified[2].digest_differs
    assert result.verified[2].differences == ()


def test_an_artifact_that_was_replaced(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
    fake.add("demo", "demo-1.2-py3-none-any.whl", make_wheel(OLD, version="1.2"))
    with client(fake, tmp_path) as index:
        result = verify(target, index=index)
    assert [v.release for v in result.verified] == ["1.0", "1.1"]
    assert not result.right
    assert "no demo-1.2-py3-none-any.whl with the recorded sha256" in result.failed[0].error.message


def test_a_better_artifact_does_not_change_what_was_recorded(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
    fake.add("demo", "demo-1.0-py3-none-any.whl", make_wheel(NEW, version="1.0"))
    with client(fake, tmp_path) as index:
        assert verify(target, index=index).right


def test_without_the_index_the_cache_serves(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    with client(fake, tmp_path) as index:
        update(target, index=index)
    nowhere = IndexSettings("http://127.0.0.1:9/simple")
    with PackageIndex(nowhere, Cache(tmp_path / "cache")) as index:
        assert verify(target, index=index).right
    with (
        PackageIndex(nowhere, Cache(tmp_path / "empty")) as index,
        pytest.raises(IndexUnavailableError, match="cannot be reached"),
    ):
        verify(target, index=index)


def test_what_was_made_by_hand_is_skipped(fake: FakeIndex, target: Target, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "demo").mkdir(parents=True)
    (checkout / "demo/api.py").write_text(NEW["demo/api.py"])
    with client(fake, tmp_path) as index:
        add(target, ["1.0", f"1.1={checkout}"], index=index)
        result = verify(target, index=index)
    assert (result.right, result.skipped) == (True, ("1.1",))


def test_no_store(target: Target) -> None:
    for use in (list_, verify):
        with pytest.raises(SnapshotError, match="does not exist"):
            use(target)


@pytest.mark.parametrize(
    ("count", "chosen"), [(0, ""), (1, "4"), (2, "04"), (3, "024"), (4, "0134"), (5, "01234"), (9, "01234")]
)
def test_evenly(count: int, chosen: str) -> None:
    records = [ReleaseRecord(str(n)) for n in range(5)]
    assert "".join(record.version for record in evenly(records, count)) == chosen


def test_a_definition_that_moves_back_and_forth(target: Target, tmp_path: Path) -> None:
    """In one release `a` imports it from `b`, in the next `b` from `a`: two pointers that never meet."""
    here, there = "class Moved:\n    def m(self): ...\n", "from demo.api.{} import Moved\n"
    specs = []
    for version, sources in (
        ("1.0", (here, there.format("a"))),
        ("2.0", (there.format("b"), here)),
        ("3.0", (here, here)),
    ):
        folder = tmp_path / version / "demo" / "api"
        folder.mkdir(parents=True)
        for name, text in zip(("__init__", "a", "b"), ("", *sources), strict=True):
            (folder / f"{name}.py").write_text(text)
        specs.append(f"{version}={tmp_path / version}")
    with PackageIndex(IndexSettings(disabled=True), Cache(tmp_path / "cache")) as index:
        add(target, specs, index=index)
    history = store.load(target.snapshots)
    for module, definitions in (("a", [None, "b", None]), ("b", ["a", None, None])):
        for ref, tail in ((Ref(f"demo.api.{module}", "Moved"), ""), (Ref(f"demo.api.{module}", "Moved.m"), ".m")):
            assert history.present(ref) == history.timeline.all
            expected = [d and Ref(f"demo.api.{d}", "Moved" + tail) for d in definitions]
            assert [store.snapshot_of(history, v).symbols[ref].definition for v in ("1.0", "2.0", "3.0")] == expected
