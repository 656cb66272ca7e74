"""The package index over real HTTP: what is fetched, what is refused, and what a person reads when it goes wrong."""

from __future__ import annotations

import hashlib
import io
import random
import shutil
import ssl
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.errors import DriftwatchError, IndexUnavailableError, InputError
from driftwatch.snapshot.sources import index as index_module
from driftwatch.snapshot.sources import remote_zip, transport
from driftwatch.snapshot.sources.artifact_tree import ArtifactTree, package_folder
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.index import Artifact, PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.sources.origin import choose_for_snapshot, has_module, open_artifact
from tests.demo_index import FILES, SDIST, WHEEL, client, tree
from tests.fake_index import FakeIndex, make_sdist, make_wheel, serving


@pytest.fixture
def fake() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as index:
        yield index


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BACKOFF", 0.0)


# -- wheels by ranges ------------------------------------------------------------------------------------------------


def test_a_wheel_is_read_in_parts(fake: FakeIndex, tmp_path: Path) -> None:
    wheel = make_wheel(FILES)
    fake.add("demo", WHEEL, wheel)
    with client(fake, tmp_path) as index:
        found = tree(index)
        assert found.names("") == ("demo",)
        assert found.names("demo") == ("__init__.py", "last.py", "sub")
        assert found.names("demo/sub/") == ("__init__.py", "a.py", "b.py")
        assert found.names("demo/kernels") == found.names("nope") == ()
        before = len(fake.requests)
        found.prefetch("demo/sub")
        assert len(fake.requests) == before + 1
        assert found.read("demo/sub/a.py") == b"x = 1\n"
        assert found.read("demo/sub/b.py") == b"y = 1\n"
        assert found.read("demo/sub") is found.read("demo/nope.py") is found.read("../x") is None
        assert len(fake.requests) == before + 1
        assert found.read("demo/last.py") == b"z = 1\n"
        assert fake.sent < len(wheel) / 2
        assert index.traffic.bytes == fake.sent
        assert index.traffic.requests == len(fake.requests)
    assert all(header and header.startswith("bytes=") for header in fake.asked_for(WHEEL))


def test_what_was_read_once_is_not_fetched_again(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    for expected in (True, False):
        fake.requests.clear()
        with client(fake, tmp_path) as index:
            assert tree(index).read("demo/sub/a.py") == b"x = 1\n"
        assert bool(fake.asked_for(WHEEL)) is expected


def test_a_damaged_cache_is_discarded(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    fake.add("demo", "demo-0.9.tar.gz", make_sdist(FILES, version="0.9"))
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/sub/a.py") == b"x = 1\n"
        assert tree(index, "0.9").read("demo/sub/a.py") == b"x = 1\n"
    damaged = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(damaged) >= 4
    for path in damaged:
        path.write_bytes(b"\xff damaged")
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/sub/a.py") == b"x = 1\n"
        assert tree(index, "0.9").read("demo/sub/a.py") == b"x = 1\n"


def test_a_server_without_ranges_sends_the_whole(fake: FakeIndex, tmp_path: Path) -> None:
    fake.ranges = False
    fake.add("demo", WHEEL, make_wheel(FILES))
    with client(fake, tmp_path) as index:
        found = tree(index)
        assert found.read("demo/sub/a.py") == b"x = 1\n"
        assert found.names("demo") == ("__init__.py", "last.py", "sub")
        assert found.read("demo/last.py") == b"z = 1\n"
    assert (tmp_path / "archives").is_dir()


@pytest.mark.parametrize("status", [416, 405, 501])
def test_a_server_that_refuses_ranges(fake: FakeIndex, tmp_path: Path, status: int) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    with client(fake, tmp_path) as index:
        project = index.project("demo")
        fake.statuses = [status]
        assert ArtifactTree(project.artifacts("1.0")[0], index, "demo").read("demo/last.py") == b"z = 1\n"


def test_a_wheel_without_a_record_is_checked_as_a_whole(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES, record=False))
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/sub/a.py") == b"x = 1\n"
    assert None in fake.asked_for(WHEEL)


def test_a_member_that_is_not_what_record_says(fake: FakeIndex, tmp_path: Path) -> None:
    """The zip's own CRC is right, so only RECORD can tell."""
    honest = zipfile.ZipFile(io.BytesIO(make_wheel(FILES)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as forged:
        for name in honest.namelist():
            forged.writestr(name, b"x = 2\n" if name.endswith("/a.py") else honest.read(name))
    fake.add("demo", WHEEL, buffer.getvalue())
    with client(fake, tmp_path) as index:
        found = tree(index)
        assert found.read("demo/sub/b.py") == b"y = 1\n"
        with pytest.raises(InputError, match=r"demo/sub/a\.py in .* does not have the sha256"):
            found.read("demo/sub/a.py")


def test_a_member_that_is_damaged_on_its_way(fake: FakeIndex, tmp_path: Path) -> None:
    wheel = bytearray(make_wheel(FILES))
    start = bytes(wheel).index(b"demo/sub/a.py") + len("demo/sub/a.py")
    wheel[start : start + 4] = b"\0\0\0\0"
    fake.add("demo", WHEEL, bytes(wheel))
    with client(fake, tmp_path) as index, pytest.raises(InputError, match="is damaged"):
        tree(index).read("demo/sub/a.py")


def test_damage_anywhere_is_an_error_or_harmless(
    fake: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeded damage to a small wheel, read in parts of several sizes. What is read is right, or it is not read."""
    files = {name: text for name, text in FILES.items() if name.endswith(".py")}
    pristine = make_wheel(files)
    outcomes = {True: 0, False: 0}
    for seed in (17, *range(100, 160)):
        rng = random.Random(seed)
        wheel = bytearray(pristine)
        for _ in range(rng.randint(1, 4)):
            wheel[rng.randrange(len(wheel))] = rng.randrange(256)
        monkeypatch.setattr(remote_zip, "TAIL", rng.choice([64, 512, 65536]))
        fake.add("demo", WHEEL, bytes(wheel))
        with client(fake, tmp_path / str(seed)) as index:
            try:
                found = tree(index)
                found.prefetch("demo")
                contents = {name: found.read(name) for name in files}
            except InputError as error:
                outcomes[False] += 1
                assert "\n" not in error.message  # noqa: PT017
            else:
                outcomes[True] += 1
                assert all(content in (None, files[name].encode()) for name, content in contents.items())
    assert min(outcomes.values()) > 0


def test_a_name_that_is_not_utf8(fake: FakeIndex, tmp_path: Path) -> None:
    wheel = make_wheel({"demo/__init__.py": "", "demo/ü.py": ""})
    assert wheel.count("ü".encode()) == 2
    fake.add("demo", WHEEL, wheel.replace("ü".encode(), b"\xff\xff"))
    with client(fake, tmp_path) as index, pytest.raises(InputError, match="is damaged"):
        tree(index)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\5\6" + bytes(18), b"PK\5\6" + b"\xff" * 18])
def test_a_wheel_that_is_none(fake: FakeIndex, tmp_path: Path, content: bytes) -> None:
    fake.add("demo", WHEEL, content)
    with client(fake, tmp_path) as index:
        artifact = index.project("demo").artifacts("1.0")[0]
        if content.startswith(b"PK") and b"\xff" not in content:
            assert not has_module(open_artifact(artifact, "demo", index).tree, "demo")
        else:
            with pytest.raises(InputError, match=WHEEL.replace(".", r"\.")):
                open_artifact(artifact, "demo", index)


def test_near_members_are_fetched_together(fake: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_zip, "TAIL", 1024)
    many = {f"demo/m{n:03}.py": f"# {hashlib.sha256(str(n).encode()).hexdigest() * 20}\n" for n in range(300)}
    fake.add("demo", WHEEL, make_wheel({"demo/__init__.py": "", **many}))
    with client(fake, tmp_path) as index:
        tree(index).prefetch("demo")
        assert index.traffic.requests <= 6
        assert fake.sent <= index.traffic.bytes


# -- sdists ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["", "src/", "python/", "lib/python/"])
def test_an_sdist_wherever_the_package_lies(fake: FakeIndex, tmp_path: Path, where: str) -> None:
    files = {where + path: text for path, text in FILES.items()}
    fake.add("demo", SDIST, make_sdist({**files, "tests/demo/__init__.py": "", "setup.py": "raise SystemExit('run!')"}))
    with client(fake, tmp_path) as index:
        opened = open_artifact(choose_for_snapshot(index.project("demo").artifacts("1.0")), "demo.sub", index)
        assert opened.tree.read("demo/sub/a.py") == b"x = 1\n"
        assert opened.tree.names("demo/sub") == ("__init__.py", "a.py", "b.py")
        assert has_module(opened.tree, "demo.sub")
        assert not has_module(opened.tree, "demo.other")
        assert (opened.artifact, opened.requires_python) == (SDIST, ">=3.9")


def test_the_wrong_hash_is_refused_before_use(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", SDIST, make_sdist(FILES))
    fake.claimed[SDIST] = "0" * 64
    with client(fake, tmp_path) as index, pytest.raises(InputError, match="does not have the sha256") as caught:
        tree(index)
    assert "altered" in (caught.value.hint or "")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", [SDIST, WHEEL])
def test_no_hash_no_use(fake: FakeIndex, tmp_path: Path, name: str) -> None:
    fake.add("demo", name, make_sdist(FILES) if name == SDIST else make_wheel(FILES))
    fake.claimed[name] = ""
    with client(fake, tmp_path) as index, pytest.raises(InputError, match="gives no sha256"):
        tree(index)
    assert fake.asked_for(name) == []


def test_a_body_that_breaks_off_is_asked_for_again(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", SDIST, make_sdist(FILES))
    fake.break_off = 2
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/last.py") == b"z = 1\n"
    fake.break_off = 99
    with client(fake, tmp_path / "other") as index, pytest.raises(IndexUnavailableError, match="connection early"):
        tree(index)


def test_a_part_that_breaks_off_is_asked_for_again(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", WHEEL, make_wheel(FILES))
    fake.break_off = 2
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/last.py") == b"z = 1\n"


# -- which artifact, which release -----------------------------------------------------------------------------------


def test_finals_skip_yanked_and_pre_releases(fake: FakeIndex, tmp_path: Path) -> None:
    for version in ("1.0", "1.0.post1", "1.1rc1", "1.1.dev2", "0.9", "1.10", "1.9", "2.0"):
        fake.add("demo", f"demo-{version}.tar.gz", make_sdist(FILES, version=version))
    fake.add("demo", "demo-nightly.tar.gz", b"")
    fake.add("demo", "other-3.0.tar.gz", b"")
    fake.add("demo", "demo-3.0.exe", b"")
    fake.yanked.add("demo-2.0.tar.gz")
    with client(fake, tmp_path) as index:
        project = index.project("demo")
        assert [str(v) for v in project.finals()] == ["0.9", "1.0", "1.0.post1", "1.9", "1.10"]
        assert [str(v) for v in project.finals(pre=True)] == [
            "0.9", "1.0", "1.0.post1", "1.1.dev2", "1.1rc1", "1.9", "1.10",
        ]  # fmt: skip
        assert str(project.newest()) == "1.10"
        assert project.artifacts("2.0")[0].yanked
        assert project.artifacts("1.0.0")[0].filename == SDIST


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ((SDIST, WHEEL), WHEEL),
        (
            ("demo-1.0-cp310-cp310-win_amd64.whl", SDIST, "demo-1.0-py2.py3-none-any.whl"),
            "demo-1.0-py2.py3-none-any.whl",
        ),
        (("demo-1.0-cp310-cp310-win_amd64.whl", SDIST), "demo-1.0-cp310-cp310-win_amd64.whl"),
        (
            ("demo-1.0-cp39-abi3-manylinux_2_28_x86_64.whl", "demo-1.0-cp39-abi3-manylinux_2_28_aarch64.whl"),
            "demo-1.0-cp39-abi3-manylinux_2_28_x86_64.whl",
        ),
        ((SDIST, "demo-1.0.zip"), "demo-1.0.zip"),
    ],
)
def test_the_artifact_chosen_is_the_same_everywhere(names: tuple[str, ...], chosen: str) -> None:
    artifacts = [Artifact("demo", "1.0", name, name.endswith(".whl"), "0" * 64, "https://x/") for name in names]
    assert choose_for_snapshot(tuple(artifacts)).filename == chosen
    assert choose_for_snapshot(tuple(reversed(artifacts))).filename == chosen


def test_package_folder_prefers_the_package_itself() -> None:
    paths = ["a-1/tests/pkg/__init__.py", "a-1/build/lib/pkg/__init__.py", "a-1/src/pkg/__init__.py"]
    assert package_folder(paths, "pkg") == "a-1/src/"
    assert package_folder(["one.py"], "one") == ""
    assert package_folder(["a-1.data/purelib/pkg/__init__.py"], "pkg") == "a-1.data/purelib/"
    assert package_folder(["a-1/src/space/inner/x.py"], "space") == "a-1/src/"
    assert package_folder(["a/other.py"], "pkg") == ""


# -- what a person reads ---------------------------------------------------------------------------------------------


def failure(fake: FakeIndex, cache: Path, **settings: object) -> DriftwatchError:
    with client(fake, cache, **settings) as index, pytest.raises(DriftwatchError) as caught:
        index.project("demo")
    assert "\n" not in caught.value.message
    return caught.value


def test_an_unknown_project(fake: FakeIndex, tmp_path: Path) -> None:
    error = failure(fake, tmp_path)
    assert isinstance(error, InputError)
    assert error.message == "the package index has no project named 'demo'"


def test_an_unknown_version_names_near_ones(fake: FakeIndex, tmp_path: Path) -> None:
    for version in ("0.9", "1.0", "1.1", "1.2", "2.0"):
        fake.add("demo", f"demo-{version}.tar.gz", b"")
    with client(fake, tmp_path) as index:
        with pytest.raises(InputError, match=r"demo has no release 1\.1\.5") as caught:
            index.project("demo").artifacts("1.1.5")
        assert caught.value.hint == "near it are 1.0, 1.1, 1.2, 2.0; the newest is 2.0"
        with pytest.raises(InputError, match="'one' is not a version"):
            index.project("demo").artifacts("one")


@pytest.mark.parametrize(("status", "said"), [(500, "HTTP status 500"), (403, "HTTP status 403"), (429, "status 429")])
def test_a_server_that_fails(fake: FakeIndex, tmp_path: Path, status: int, said: str) -> None:
    fake.statuses = [status] * 20
    error = failure(fake, tmp_path)
    assert isinstance(error, IndexUnavailableError)
    assert said in error.message
    assert len(fake.requests) <= 1 + transport.RETRIES


def test_a_server_that_fails_once(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", SDIST, make_sdist(FILES))
    fake.statuses = [503, 500]
    with client(fake, tmp_path) as index:
        assert len(index.project("demo").releases) == 1


def test_a_slow_server(fake: FakeIndex, tmp_path: Path) -> None:
    fake.delay = 5
    error = failure(fake, tmp_path, timeout=0.2)
    assert isinstance(error, IndexUnavailableError)
    assert "does not answer in time" in error.message
    assert "snapshots" in (error.hint or "")


def test_nobody_there(fake: FakeIndex, tmp_path: Path) -> None:
    unused = FakeIndex(base="http://127.0.0.1:9")
    error = failure(unused, tmp_path)
    assert isinstance(error, IndexUnavailableError)
    assert "127.0.0.1:9 cannot be reached" in error.message
    assert "snapshots" in (error.hint or "")


def test_a_server_that_drips(fake: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.add("demo", SDIST, make_sdist(FILES))
    monkeypatch.setattr(transport, "DEADLINE", -1.0)
    with client(fake, tmp_path) as index, pytest.raises(IndexUnavailableError, match="is too slow"):
        tree(index)


def test_a_server_that_sends_too_much(fake: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.add("demo", SDIST, make_sdist(FILES))
    monkeypatch.setattr(index_module, "MAX_ARCHIVE", 1000)
    with client(fake, tmp_path) as index, pytest.raises(IndexUnavailableError, match="more than the 1,000 bytes"):
        tree(index)


def test_certificates(tmp_path: Path) -> None:
    """Refused unless the user vouches for it, in one of the two ways that pip has."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-nodes", "-days", "2", "-subj", "/CN=demo", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *options, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(FakeIndex(), context) as fake:
        fake.add("demo", WHEEL, make_wheel(FILES))
        error = failure(fake, tmp_path / "a")
        assert isinstance(error, IndexUnavailableError)
        assert "certificate of 127.0.0.1" in error.message
        assert "PIP_CERT" in (error.hint or "")
        for settings in ({"certificates": str(certificate)}, {"trusted_hosts": ("127.0.0.1",)}):
            with client(fake, tmp_path / str(*settings), **settings) as index:
                assert tree(index).read("demo/last.py") == b"z = 1\n"
        assert "certificate" in failure(fake, tmp_path / "b", trusted_hosts=("127.0.0.1:1",)).message


def test_something_else_answers(fake: FakeIndex, tmp_path: Path) -> None:
    fake.add("demo", SDIST, b"")
    with PackageIndex(IndexSettings(f"{fake.base}/files/"), Cache(tmp_path)) as index:
        fake.files["files"] = {"x": b""}
        with pytest.raises(InputError, match="no project"):
            index.project("demo")


def test_no_index_is_respected(fake: FakeIndex, tmp_path: Path) -> None:
    assert "no package index" in failure(fake, tmp_path, disabled=True).message
    assert fake.requests == []


# -- credentials -----------------------------------------------------------------------------------------------------


def test_credentials_of_the_url_are_used_and_never_shown(fake: FakeIndex, tmp_path: Path) -> None:
    fake.password = ("user", "hunter2")
    fake.add("demo", WHEEL, make_wheel(FILES))
    secret = fake.url.replace("http://", "http://user:hunter2@")
    with PackageIndex(IndexSettings(secret), Cache(tmp_path)) as index:
        assert tree(index).read("demo/last.py") == b"z = 1\n"
        assert "hunter2" not in repr(index.project("demo"))
    fake.password = ("user", "changed")
    with PackageIndex(IndexSettings(secret), Cache(tmp_path)) as index, pytest.raises(IndexUnavailableError) as caught:
        index.project("demo")
    assert "status 401" in caught.value.message
    assert "credentials" in (caught.value.hint or "")
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"


def test_credentials_stay_with_their_host(fake: FakeIndex, tmp_path: Path) -> None:
    with serving(FakeIndex()) as other:
        other.add("demo", SDIST, make_sdist(FILES))
        secret = fake.url.replace("http://", "http://user:hunter2@")
        with PackageIndex(IndexSettings(secret, (other.url,)), Cache(tmp_path)) as index:
            assert tree(index).read("demo/last.py") == b"z = 1\n"
        assert fake.authorizations != [None]
        assert set(other.authorizations) == {None}


def test_netrc(fake: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login user password hunter2\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    fake.password = ("user", "hunter2")
    fake.add("demo", SDIST, make_sdist(FILES))
    with client(fake, tmp_path) as index:
        assert tree(index).read("demo/last.py") == b"z = 1\n"
