"""Archives that nobody vouches for: nothing leaves the folder, nothing blows up, every refusal is one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.errors import InputError
from driftwatch.snapshot.sources.archive import Limits, members, read_members, safe_path, unpack

SMALL = Limits(members=50, file=1 << 16, total=1 << 20, kept=1 << 17, ratio=20)


def everything(_path: str) -> bool:
    return True


def tar_of(*entries: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def file(name: str, content: bytes = b"x = 1\n") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info, b""


def zip_of(*entries: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def stored(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "archive"
    path.write_bytes(content)
    return path


def refused(tmp_path: Path, content: bytes, name: str, limits: Limits = SMALL) -> str:
    """The refusal's sentence; nothing may have been written beside the archive."""
    target = tmp_path / "inside" / "target"
    target.mkdir(parents=True)
    with pytest.raises(InputError) as caught:
        unpack(members(stored(tmp_path, content), name, everything, limits), target, name)
    outside = {path for path in tmp_path.rglob("*") if not path.is_relative_to(target)}
    assert outside == {tmp_path / "archive", tmp_path / "inside", target} - {target}
    assert "\n" not in caught.value.message
    return caught.value.message


BAD_NAMES = ["../evil.py", "a/../../evil.py", "/etc/evil.py", "a/..", "..", "C:/evil.py", "c:evil.py"]
BAD_NAMES += ["..\\evil.py", "\\\\host\\evil.py", "a\\..\\..\\evil.py"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_lead_out_of_a_tar(tmp_path: Path, name: str) -> None:
    assert "would leave the folder" in refused(tmp_path, tar_of(file("a/b.py"), file(name)), "a.tar.gz")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_lead_out_of_a_zip(tmp_path: Path, name: str) -> None:
    assert "would leave the folder" in refused(tmp_path, zip_of(("a/b.py", b""), (name, b"x")), "a.whl")


@pytest.mark.parametrize(
    "link",
    [
        special("a/link.py", tarfile.SYMTYPE, "../../etc/passwd"),
        special("a/link.py", tarfile.SYMTYPE, "/etc/passwd"),
        special("a/link.py", tarfile.LNKTYPE, "../etc/passwd"),
        special("a/link.py", tarfile.LNKTYPE, "/etc/passwd"),
        special("link", tarfile.SYMTYPE, ".."),
        special("../link", tarfile.SYMTYPE, "a"),
    ],
)
def test_links_that_lead_out(tmp_path: Path, link: tuple[tarfile.TarInfo, bytes]) -> None:
    assert "would leave the folder" in refused(tmp_path, tar_of(file("a/b.py"), link), "a.tar.gz")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices(tmp_path: Path, kind: bytes) -> None:
    assert "neither a file nor a folder" in refused(tmp_path, tar_of(special("a/dev", kind)), "a.tar.gz")


def test_a_file_through_a_link_to_a_folder(tmp_path: Path) -> None:
    """The classic: a link to a folder, then a file below it. The link is never made, so the file is just a file."""
    target = tmp_path / "target"
    target.mkdir()
    content = tar_of(file("real/x.py"), special("a", tarfile.SYMTYPE, "real"), file("a/y.py", b"y\n"))
    unpack(members(stored(tmp_path, content), "a.tar.gz", everything, SMALL), target, "a.tar.gz")
    assert not (target / "a").is_symlink()
    assert sorted(p.name for p in (target / "real").iterdir()) == ["x.py"]
    assert (target / "a/y.py").read_bytes() == b"y\n"


def test_links_inside_are_the_files_they_lead_to(tmp_path: Path) -> None:
    content = tar_of(
        special("p/first.py", tarfile.SYMTYPE, "sub/second.py"),
        special("p/sub/second.py", tarfile.SYMTYPE, "../real.py"),
        file("p/real.py"),
        special("p/hard.py", tarfile.LNKTYPE, "p/real.py"),
        special("p/loop.py", tarfile.SYMTYPE, "loop.py"),
        special("p/one.py", tarfile.SYMTYPE, "two.py"),
        special("p/two.py", tarfile.SYMTYPE, "one.py"),
        special("p/dangling.py", tarfile.SYMTYPE, "nothing.py"),
    )
    expected = dict.fromkeys(["p/real.py", "p/first.py", "p/sub/second.py", "p/hard.py"], b"x = 1\n")
    path = stored(tmp_path, content)
    assert read_members(path, "a.tar.gz", everything, SMALL) == expected
    target = tmp_path / "target"
    assert unpack(members(path, "a.tar.gz", everything, SMALL), target, "a.tar.gz") == 4
    assert {p.relative_to(target).as_posix(): p.read_bytes() for p in target.rglob("*.py")} == expected
    assert not any(p.is_symlink() for p in target.rglob("*"))


def test_links_in_a_zip_are_not_followed(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a/link.py")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")
        archive.writestr("a/b.py", "b")
    assert read_members(stored(tmp_path, buffer.getvalue()), "a.zip", everything, SMALL) == {"a/b.py": b"b"}


# -- bombs -------------------------------------------------------------------------------------------------------------


def test_a_tar_that_unpacks_to_far_too_much(tmp_path: Path) -> None:
    """Not even the members that nobody asked for are unpacked without end."""
    bomb = tar_of(*(file(f"a/{n}.bin", bytes(1 << 16)) for n in range(40)))
    assert len(bomb) < 1 << 14
    with pytest.raises(InputError, match="unpacks to more than"):
        read_members(stored(tmp_path, bomb), "a.tar.gz", lambda _: False, SMALL)


def test_a_tar_with_one_huge_member(tmp_path: Path) -> None:
    assert "too large" in refused(tmp_path, tar_of(file("a.py", bytes(SMALL.file + 1))), "a.tar.gz")


def test_a_tar_that_keeps_too_much(tmp_path: Path) -> None:
    bomb = tar_of(*(file(f"{n}.py", random.Random(n).randbytes(1 << 15)) for n in range(6)))
    assert "too large" in refused(tmp_path, bomb, "a.tar.gz")


def test_a_tar_whose_header_claims_a_huge_extension(tmp_path: Path) -> None:
    """`tarfile` reads an extended header in one piece, whatever its size."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type = tarfile.XHDTYPE
    info.size = 1 << 32
    content = gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))
    assert "too large" in refused(tmp_path, content, "a.tar.gz")


def test_a_tar_with_far_too_many_members(tmp_path: Path) -> None:
    assert "more than 50 members" in refused(tmp_path, tar_of(*(file(f"{n}.py", b"") for n in range(60))), "a.tar.gz")


def test_a_zip_with_far_too_many_members(tmp_path: Path) -> None:
    assert "60 members" in refused(tmp_path, zip_of(*((f"{n}.py", b"") for n in range(60))), "a.whl")


def test_a_zip_that_unpacks_to_far_too_much(tmp_path: Path) -> None:
    bomb = zip_of(*((f"{n}.bin", bytes(1 << 16)) for n in range(20)))
    assert "unpacks to more than" in refused(tmp_path, bomb, "a.whl")
    assert "is larger than" in refused_again(tmp_path, zip_of(("a.py", bytes(SMALL.file + 1))), "a.whl")


def refused_again(tmp_path: Path, content: bytes, name: str) -> str:
    with pytest.raises(InputError) as caught:
        read_members(stored(tmp_path, content), name, everything, SMALL)
    return caught.value.message


def test_a_zip_of_two_megabytes_is_not_read_as_two_gigabytes(tmp_path: Path) -> None:
    """As a tar: more bytes for each packed one than sources ever have, whether or not they are asked for."""
    bomb = zip_of(*((f"a/{n}.py", bytes(48 << 20)) for n in range(4)))
    assert len(bomb) < 200_000
    assert refused(tmp_path, bomb, "a.whl", Limits()) == (
        f"a.whl unpacks to more than {(64 << 20) + 200 * len(bomb):,} bytes, which is not read"
    )


def test_a_zip_that_keeps_too_much(tmp_path: Path) -> None:
    bomb = zip_of(*((f"{n}.py", random.Random(n).randbytes(1 << 15)) for n in range(6)))
    assert refused(tmp_path, bomb, "a.zip") == "a.zip holds more than 131,072 bytes of sources, which are not read"


@pytest.mark.parametrize("comment", [b"", b"PK\x05\x06" + bytes(18)], ids=["plain", "with_another_end_in_its_comment"])
def test_a_zip_that_is_nothing_but_a_directory(tmp_path: Path, comment: bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for n in range(1000):
            archive.writestr(f"{n}.txt", b"")
        archive.comment = comment
    limits = Limits(members=5000, directory=1 << 15)
    assert "has a directory of " in refused(tmp_path, buffer.getvalue(), "a.whl", limits)


def test_a_zip_that_lies_about_its_sizes(tmp_path: Path) -> None:
    content = bytearray(zip_of(("a.py", bytes(30_000))))
    size = (30_000).to_bytes(4, "little")
    while (at := bytes(content).find(size)) >= 0:
        content[at : at + 4] = (10).to_bytes(4, "little")
    assert "damaged" in refused(tmp_path, bytes(content), "a.whl")


# -- damage ------------------------------------------------------------------------------------------------------------

GOOD = {
    "a.tar.gz": tar_of(file("a/b.py", random.Random(1).randbytes(5000))),
    "a.tgz": tar_of(file("a/b.py", random.Random(1).randbytes(5000))),
    "a.tar.bz2": tar_of(file("a/b.py", random.Random(1).randbytes(5000)), mode="w:bz2"),
    "a.tar.xz": tar_of(file("a/b.py", random.Random(1).randbytes(5000)), mode="w:xz"),
    "a.tar": tar_of(file("a/b.py", random.Random(1).randbytes(5000)), mode="w:"),
    "a.zip": zip_of(("a/b.py", random.Random(1).randbytes(5000))),
}


@pytest.mark.parametrize("name", GOOD)
def test_every_form(tmp_path: Path, name: str) -> None:
    path = stored(tmp_path, GOOD[name])
    assert read_members(path, name, everything, SMALL) == {"a/b.py": random.Random(1).randbytes(5000)}
    assert read_members(path, name, lambda _: False, SMALL) == {}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("cut", [0, 1, 20, 100, 3000])
def test_cut_off(tmp_path: Path, name: str, cut: int) -> None:
    message = refused(tmp_path, GOOD[name][:cut], name)
    assert name in message or "a/b.py" in message


def test_a_form_that_is_not_known(tmp_path: Path) -> None:
    assert "not an archive" in refused(tmp_path, b"x", "a.rar")


@settings(max_examples=300)
@given(st.sampled_from(sorted(GOOD)), st.randoms(use_true_random=False))
def test_flipped_bytes_never_crash(tmp_path_factory: pytest.TempPathFactory, name: str, rng: random.Random) -> None:
    content = bytearray(GOOD[name])
    for _ in range(rng.randint(1, 8)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path = stored(tmp_path_factory.mktemp("flipped"), bytes(content))
    with suppress(InputError):
        assert read_members(path, name, everything, SMALL).keys() <= {"a/b.py"} or content != GOOD[name]


@pytest.mark.parametrize("squeeze", [gzip.compress, bz2.compress, lzma.compress])
def test_arbitrary_bytes_compressed(tmp_path: Path, squeeze: Callable[[bytes], bytes]) -> None:
    name = {gzip.compress: "a.tar.gz", bz2.compress: "a.tar.bz2", lzma.compress: "a.tar.xz"}[squeeze]
    refused(tmp_path, squeeze(random.Random(7).randbytes(4096)), name)


# -- names -------------------------------------------------------------------------------------------------------------


@given(st.text(alphabet="ab./\\:\0C~", max_size=20))
def test_a_safe_path_stays_inside(text: str) -> None:
    try:
        path = safe_path(text, "a.zip")
    except InputError:
        return
    root = Path("/srv/folder")
    assert (root / path).resolve().is_relative_to(root)
    assert "\\" not in path
    assert safe_path(path, "a.zip") == path


def test_ordinary_names_are_kept() -> None:
    for name in ("a/b.py", "a b/ü.py", "a/b..py", "a/...py", "~/x", "aa:b"):
        assert safe_path(name, "a.zip") == name
    assert safe_path("./a//b.py", "a.zip") == "a/b.py"
