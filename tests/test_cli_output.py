"""Output: files are written whole, and of several in one run all or none."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.cli.output import check_place, write_all, write_whole
from driftwatch.errors import InputError
from tests.cli_process import make_studio, run, surroundings


def everything(folder: Path) -> dict[str, str]:
    """All files under a folder, hidden ones too, with what is in them."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_files_are_written_and_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "there").chmod(0o640)
    (tmp_path / "link").symlink_to("there")
    write_all([(tmp_path / "link", "new"), (tmp_path / "made", "\udcff")])
    assert everything(tmp_path) == {"link": "new", "there": "new", "made": "\\udcff"}
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o640


BAD = {
    "missing/b": "No such file or directory",
    "folder": "Is a directory",
    "file/b": "Not a directory",
    "x" * 300: "File name too long",
    "circle": "Too many levels of symbolic links",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "circle").symlink_to("circle")
    return tmp_path


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_where_one_cannot_be_written_none_is(place: Path, name: str, position: int) -> None:
    files = [(place / "file", "new"), (place / "folder" / "made", "new")]
    files.insert(position, (place / name, "new"))
    before = everything(place)
    with pytest.raises(InputError) as told:
        write_all(files)
    assert told.value.message == f"cannot write {str(place / name)!r}: {BAD[name]}"
    assert everything(place) == before


@pytest.mark.parametrize("name", BAD)
def test_a_bad_place_is_told_before_any_work(place: Path, name: str) -> None:
    with pytest.raises(InputError, match=BAD[name]):
        check_place(place / name)
    assert not [path for path in place.rglob("*") if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["file", "new", "folder/new", "longest" + "x" * 248])
def test_a_good_place_is_not_touched_by_asking(place: Path, name: str) -> None:
    before = everything(place)
    check_place(place / name)
    assert everything(place) == before
    write_whole(place / name, "text")
    assert (place / name).read_text() == "text"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything is allowed to this user")
def test_a_folder_without_permission(place: Path) -> None:
    (place / "folder").chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        write_all([(place / "file", "new"), (place / "folder" / "made", "new")])
    assert (place / "file").read_text() == "old"


def test_a_stream_that_fails_leaves_no_file(tmp_path: Path) -> None:
    """/dev/full takes nothing."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(InputError, match="cannot write '/dev/full': No space left on device"):
        write_all([(tmp_path / "a", "new"), (Path("/dev/full"), "new")])
    assert everything(tmp_path) == {}


def shell(line: str, cwd: Path) -> tuple[int, str]:
    """A line of shell with the program as ``$DW``: its status, and what it says on standard error."""
    program = f'DW() {{ "{sys.executable}" -m driftwatch "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", program + line], cwd=cwd, env=surroundings(), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("DW scan > /dev/full", 2, "error: cannot write to standard output: No space left on device\n"),
        ("DW --help > /dev/full", 2, "error: No space left on device\n"),
        ("DW scan >&-", 1, ""),
        ("DW scan > /dev/null 2>&-", 1, ""),
        ("DW scan --format json=out.json >&- 2>&-", 1, ""),
        ("DW scan | head -1; exit ${PIPESTATUS[0]}", 1, ""),
    ],
)
def test_streams_that_take_nothing(tmp_path: Path, line: str, status: int, said: str) -> None:
    studio = make_studio(tmp_path)
    assert shell(line, studio) == (status, said)
    if "json" in line:
        assert (studio / "out.json").read_text().startswith("{")


def test_in_one_run(tmp_path: Path) -> None:
    studio = make_studio(tmp_path)
    (studio / "out.sarif").write_text("old")
    before = everything(studio)
    formats = ["--format", "sarif=out.sarif", "--format", "html=missing/out.html", "--format", "text"]
    result = run("scan", *formats, cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err == "error: cannot write 'missing/out.html': No such file or directory\n"
    assert everything(studio) == before
    (studio / "missing").mkdir()
    (studio / "other").symlink_to("missing")
    assert run("scan", *formats, cwd=studio).status == 1
    assert (studio / "out.sarif").read_text().startswith("{")
    assert (studio / "missing" / "out.html").read_text().startswith("<!doctype html>")
    assert not list(studio.rglob(".out*"))
    twice = ["--format", "json=missing/out", "--format", "html=other/out"]
    result = run("scan", *twice, cwd=studio)
    assert (result.status, result.err) == (2, "error: two formats cannot go to one file, 'other/out'\n")
