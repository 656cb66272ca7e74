"""``pypi:NAME==VERSION``: the right archive, checked, unpacked once, and nothing in it run."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.errors import InputError, UsageError
from driftwatch.snapshot.sources import fetch
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.fetch import ProjectSource, fetch_project, parse_project_spec
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from tests.fake_index import FakeIndex, make_sdist, make_wheel, serving

FILES = {
    "demo/__init__.py": "x = 1\n",
    "demo/typed.pyi": "x: int\n",
    "demo/data.bin": os.urandom(40_000),
    "demo/kernel.cu": "__global__ void f();\n",
    "pyproject.toml": "[project]\nname = 'demo'\n",
    "requirements/cuda.txt": "flashinfer-python==0.6.11\n",
    "notes.txt": "nothing\n",
}


@pytest.fixture
def fake() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as index:
        yield index


@pytest.fixture
def index(fake: FakeIndex, tmp_path: Path) -> Iterator[PackageIndex]:
    with PackageIndex(IndexSettings(fake.url), Cache(tmp_path)) as client:
        yield client


def files_of(source: ProjectSource) -> dict[str, bytes]:
    root = source.path
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_the_sdist_first(fake: FakeIndex, index: PackageIndex) -> None:
    fake.add("demo", "demo-1.0-py3-none-any.whl", make_wheel(FILES))
    fake.add("demo", "demo-1.0.tar.gz", make_sdist({**FILES, "setup.py": "import os; os.abort()\n"}))
    source = fetch_project("pypi:demo==1.0", index)
    assert (source.label, source.name, source.version, source.artifact) == (
        "demo 1.0",
        "demo",
        "1.0",
        "demo-1.0.tar.gz",
    )
    assert source.path.name == "demo-1.0"
    assert sorted(files_of(source)) == [
        "PKG-INFO", "demo/__init__.py", "demo/typed.pyi", "pyproject.toml", "requirements/cuda.txt", "setup.py",
    ]  # fmt: skip
    assert files_of(source)["demo/__init__.py"] == b"x = 1\n"


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["demo-1.0-cp312-cp312-win_amd64.whl", "demo-1.0-py3-none-any.whl"], "demo-1.0-py3-none-any.whl"),
        (
            ["demo-1.0-cp312-cp312-manylinux_2_34_aarch64.whl", "demo-1.0-cp312-cp312-manylinux_2_34_x86_64.whl"],
            "demo-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
        ),
        (["demo-1.0-cp312-cp312-win_amd64.whl"], "demo-1.0-cp312-cp312-win_amd64.whl"),
    ],
)
def test_else_a_wheel(fake: FakeIndex, index: PackageIndex, names: list[str], chosen: str) -> None:
    for name in names:
        fake.add("demo", name, make_wheel(FILES))
    source = fetch_project("pypi:demo", index)
    assert source.artifact == chosen
    assert sorted(files_of(source)) == [
        "demo-1.0.dist-info/METADATA", "demo/__init__.py", "demo/typed.pyi", "pyproject.toml", "requirements/cuda.txt",
    ]  # fmt: skip


def test_a_very_large_wheel_is_read_in_parts(
    fake: FakeIndex, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index page of the fake gives no sizes, so every wheel is of unknown size unless the limit is below zero."""
    monkeypatch.setattr(fetch, "LARGE_WHEEL", -1)
    compiled = {f"demo/_C{end}": os.urandom(400_000) for end in (".abi3.so", ".pyd", ".pyx")}
    wheel = make_wheel({"demo/a.bin": os.urandom(400_000), **FILES, **compiled, "demo/z.bin": os.urandom(400_000)})
    fake.add("demo", "demo-1.0-cp312-cp312-linux_x86_64.whl", wheel)
    source = fetch_project("pypi:demo==1.0", index)
    assert files_of(source)["demo/typed.pyi"] == b"x: int\n"
    assert not {*compiled} & {*files_of(source)}
    assert None not in fake.asked_for(".whl")
    assert fake.sent < 300_000
    fake.ranges = False
    fake.add("demo", "demo-1.0-cp312-cp312-linux_x86_64.whl", make_wheel({**FILES, "demo/more.py": ""}))
    with PackageIndex(index.settings, index.cache) as again:
        assert "demo/more.py" in files_of(fetch_project("pypi:demo==1.0", again))


def test_once_unpacked_it_stays(fake: FakeIndex, index: PackageIndex) -> None:
    fake.add("demo", "demo-1.0.tar.gz", make_sdist(FILES))
    first = fetch_project("pypi:demo==1.0", index)
    before = len(fake.requests)
    assert fetch_project("pypi:demo==1.0", index) == first
    assert len(fake.requests) == before


def test_a_damaged_folder_is_unpacked_again(fake: FakeIndex, index: PackageIndex) -> None:
    fake.add("demo", "demo-1.0.tar.gz", make_sdist(FILES))
    first = fetch_project("pypi:demo==1.0", index)
    (first.path / "demo/__init__.py").unlink()
    (first.path / "demo/stray.py").write_text("", encoding="utf-8")
    assert fetch_project("pypi:demo==1.0", index) == first
    assert files_of(first)["demo/__init__.py"] == b"x = 1\n"
    assert "demo/stray.py" not in files_of(first)


def test_a_wrong_hash(fake: FakeIndex, index: PackageIndex, tmp_path: Path) -> None:
    fake.add("demo", "demo-1.0.tar.gz", make_sdist(FILES))
    fake.claimed["demo-1.0.tar.gz"] = "1" * 64
    with pytest.raises(InputError, match="does not have the sha256"):
        fetch_project("pypi:demo==1.0", index)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_an_unsafe_archive_leaves_nothing(fake: FakeIndex, index: PackageIndex, tmp_path: Path) -> None:
    fake.add("demo", "demo-1.0.tar.gz", make_sdist({"ok.py": "", "../../evil.py": "x"}))
    with pytest.raises(InputError, match="would leave the folder"):
        fetch_project("pypi:demo==1.0", index)
    assert list(tmp_path.rglob("*.py")) == []
    assert list((tmp_path / "incoming").iterdir()) == []


def test_nothing_to_scan(fake: FakeIndex, index: PackageIndex) -> None:
    fake.add("demo", "demo-1.0-py3-none-any.whl", b"PK\5\6" + bytes(18))
    with pytest.raises(InputError, match="holds no Python sources"):
        fetch_project("pypi:demo==1.0", index)


def test_newest_is_the_newest_final_release(fake: FakeIndex, index: PackageIndex) -> None:
    for version in ("1.9", "1.10", "2.0rc1", "3.0"):
        fake.add("demo", f"demo-{version}.tar.gz", make_sdist(FILES, version=version))
    fake.yanked.add("demo-3.0.tar.gz")
    assert fetch_project("pypi:demo", index).version == "1.10"
    assert fetch_project("pypi:demo==3.0", index).version == "3.0"


def test_only_pre_releases(fake: FakeIndex, index: PackageIndex) -> None:
    fake.add("demo", "demo-2.0rc1.tar.gz", make_sdist(FILES, version="2.0rc1"))
    assert fetch_project("pypi:demo", index).version == "2.0rc1"


@pytest.mark.parametrize(
    "spec", ["pypi:", "pypi:==1", "pypi:a b", "pypi:demo>=1", "pypi:demo==1.*", "pypi:demo==x", "pypi:-a"]
)
def test_malformed(spec: str) -> None:
    with pytest.raises(UsageError, match="does not name a release"):
        parse_project_spec(spec)


def test_well_formed() -> None:
    assert parse_project_spec("pypi:demo==1.0.0") == ("demo", "1.0.0")
    assert parse_project_spec("pypi:Demo_Lib.x == 1.0-1") == ("Demo_Lib.x", "1.0.post1")
    assert parse_project_spec("pypi:a") == ("a", None)


@pytest.mark.network
def test_a_real_engine(tmp_path: Path) -> None:
    """SGLang 0.5.12 has platform wheels only; its sources are all there, its binaries are not."""
    with PackageIndex(cache=Cache(tmp_path)) as index:
        source = fetch_project("pypi:sglang==0.5.12", index)
        assert index.traffic.bytes < 10_000_000
    assert (source.path / "sglang/srt/layers/flashinfer_comm_fusion.py").is_file()
    assert b"flashinfer_python==0.6.11.post1" in (source.path / "sglang-0.5.12.dist-info/METADATA").read_bytes()
    assert sum(1 for _ in source.path.rglob("*.py")) > 1000
    assert list(source.path.rglob("*.so")) == []


@pytest.mark.network
def test_a_real_wheel_in_parts(tmp_path: Path) -> None:
    """vLLM's wheels have more than 300 MB, and its 3,000 sources cost less than 20."""
    with PackageIndex(cache=Cache(tmp_path)) as index:
        artifact = next(a for a in index.project("vllm").artifacts("0.33.0") if a.wheel and "x86_64" in a.filename)
        assert (artifact.size or 0) > fetch.LARGE_WHEEL
        found = {member.path: member.content for member in fetch._members(index, artifact)}
        assert index.traffic.bytes < 20_000_000
        assert index.traffic.requests < 200
    assert b"create_allreduce_fusion_workspace" in found[
        "vllm/distributed/device_communicators/flashinfer_all_reduce.py"
    ]  # fmt: skip
    assert len(found) > 3000


def test_the_fakes_are_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "demo.whl"
    path.write_bytes(make_wheel(FILES))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert "demo-1.0.dist-info/RECORD" in archive.namelist()


def test_every_source_has_a_folder_of_its_own_name(fake: FakeIndex, index: PackageIndex) -> None:
    """So that whoever reads a path in a report sees what it is of."""
    fake.add("demo", "demo-1.0.tar.gz", make_sdist(FILES))
    fake.add("demo", "demo-1.1-py3-none-any.whl", make_wheel(FILES, version="1.1"))
    assert fetch_project("pypi:demo==1.0", index).path.name == "demo-1.0"
    assert fetch_project("pypi:demo==1.1", index).path.name == "demo-1.1"


def test_what_killed_runs_left_is_dropped_after_a_day(fake: FakeIndex, index: PackageIndex, tmp_path: Path) -> None:
    fake.add("demo", "demo-1.0.tar.gz", make_sdist(FILES))
    incoming = tmp_path / "incoming"
    for name, age in (("old", 2), ("young", 0)):
        (incoming / name / "deep").mkdir(parents=True)
        (incoming / f"{name}.part").write_text("")
        for path in (incoming / name, incoming / f"{name}.part"):
            then = time.time() - age * 24 * 3600
            os.utime(path, (then, then))
    fetch_project("pypi:demo==1.0", index)
    assert sorted(path.name for path in incoming.iterdir()) == ["young", "young.part"]
