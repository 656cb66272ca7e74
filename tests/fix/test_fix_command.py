"""``driftwatch fix`` as it is called: what it prints, what it writes, and what it leaves alone."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli_process import make_studio, run

GUARDED = """\
    options = {"minutes": 30}
    # Releases without `glaze`: leaving it out could change the result.
    if _FIRE_TAKES_GLAZE:
        options["glaze"] = "blue"
"""


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    return make_studio(tmp_path)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def test_a_diff_that_git_applies(studio: Path) -> None:
    before = (studio / "studio.py").read_text()
    shown = run("fix", "--unsafe", cwd=studio)
    assert shown.status == 1
    assert (studio / "studio.py").read_text() == before
    (studio / "it.patch").write_text(shown.out)
    subprocess.run(["git", "apply", "it.patch"], cwd=studio, check=True)
    assert GUARDED in (studio / "studio.py").read_text()
    assert shown.err.splitlines() == [
        "studio.py:14: DW201 not fixed: nothing recorded stands for it in 2.0: require a release that has it (--pins)",
        "1 of 2 findings can be fixed in 1 file; not DW201 (1)",
    ]


def test_nothing_unsafe_unasked(studio: Path) -> None:
    shown = run("fix", "--select", "DW101", cwd=studio)
    assert (shown.status, shown.out) == (1, "")
    assert shown.err.splitlines() == [
        "studio.py:8: DW101 not fixed: with --unsafe: leaving it out could change the result",
        "0 of 1 finding can be fixed; 1 more with --unsafe",
    ]


def test_written_and_the_scan_is_content(studio: Path) -> None:
    done = run("fix", "--write", "--unsafe", "--select", "DW101", cwd=studio)
    assert done.err.splitlines() == [
        "studio.py:8: DW101 pass `glaze` only where the installed build takes it",
        "1 of 1 finding fixed in 1 file",
    ]
    assert GUARDED in (studio / "studio.py").read_text()
    assert run("scan", "--select", "DW101", cwd=studio).status == 0
    again = run("fix", "--unsafe", "--select", "DW101", cwd=studio)
    assert (again.out, again.err) == ("", "nothing to fix\n")


def test_a_file_keeps_what_is_not_text(studio: Path) -> None:
    place = studio / "studio.py"
    text = place.read_text().replace("def bake", "# \N{LATIN SMALL LETTER E WITH ACUTE}\r\ndef bake")
    place.write_bytes(b"\xef\xbb\xbf" + text.replace("\r\n", "\n").replace("\n", "\r\n").encode())
    place.chmod(0o755)
    assert run("fix", "--write", "--unsafe", "--select", "DW101", cwd=studio).status == 1
    data = place.read_bytes()
    assert data.startswith(b"\xef\xbb\xbfimport inspect\r\n\r\nimport kiln\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert "\N{LATIN SMALL LETTER E WITH ACUTE}".encode() in data
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert not [path for path in studio.iterdir() if path.name.startswith(".studio")]


def test_latin_1_and_no_last_line_end(studio: Path) -> None:
    place = studio / "studio.py"
    head = "# -*- coding: latin-1 -*-\n# \N{LATIN SMALL LETTER E WITH ACUTE}\n"
    place.write_bytes((head + 'import kiln\n\nkiln.fire(1, 2, glaze="blue")').encode("latin-1"))
    run("fix", "--write", "--unsafe", cwd=studio)
    text = place.read_bytes().decode("latin-1")
    assert text.startswith(head + "import inspect\n\nimport kiln\n")
    assert text.endswith("kiln.fire(1, 2, **_kwargs)")


def test_changes_that_are_not_committed_are_not_lost(studio: Path) -> None:
    git(studio, "init", "-q")
    git(studio, "add", "-A")
    git(studio, "commit", "-qm", "all")
    with (studio / "studio.py").open("a") as file:
        file.write("# mine\n")
    before = (studio / "studio.py").read_bytes()
    refused = run("fix", "--write", "--unsafe", cwd=studio)
    assert refused.status == 2
    assert "changes that are not committed" in refused.err
    assert (studio / "studio.py").read_bytes() == before
    run("fix", "--write", "--unsafe", "--allow-dirty", cwd=studio)
    assert b"# mine" in (studio / "studio.py").read_bytes()
    assert GUARDED.encode() in (studio / "studio.py").read_bytes()


def test_no_program_of_the_repository_runs(studio: Path) -> None:
    (studio / ".gitattributes").write_text("*.py filter=trap\n")
    git(studio, "init", "-q")
    git(studio, "add", "-A")
    git(studio, "commit", "-qm", "all")
    git(studio, "config", "filter.trap.clean", "touch sprung; cat")
    git(studio, "config", "core.fsmonitor", "touch sprung")
    run("fix", "--write", "--unsafe", cwd=studio)
    assert GUARDED in (studio / "studio.py").read_text()
    assert not (studio / "sprung").exists()


def test_a_clean_tree_is_written_to(studio: Path) -> None:
    git(studio, "init", "-q")
    git(studio, "add", "-A")
    git(studio, "commit", "-qm", "all")
    (studio / "other.txt").write_text("mine\n")
    run("fix", "--write", "--unsafe", cwd=studio)
    assert git(studio, "diff", "--name-only").split() == ["studio.py"]


@pytest.mark.parametrize(
    ("path", "head", "reason"),
    [
        ("a\nb.py", "", "the file's name cannot stand in a patch"),
        ("third_party/kit.py", "", "the file is other people's code"),
        ("kit_pb2.py", "# Generated by the protocol compiler.  DO NOT EDIT!\n", "the file is generated"),
    ],
)
def test_what_is_not_ours_is_left_alone(studio: Path, path: str, head: str, reason: str) -> None:
    (studio / "studio.py").unlink()
    place = studio / path
    place.parent.mkdir(exist_ok=True)
    place.write_text(head + 'import kiln\n\nkiln.fire(1, 2, glaze="blue")\n')
    shown = run("fix", "--unsafe", cwd=studio)
    assert shown.out == ""
    assert reason in shown.err


def test_what_is_excluded_is_not_even_looked_at(studio: Path) -> None:
    text = (studio / "pyproject.toml").read_text()
    (studio / "pyproject.toml").write_text(
        text.replace("[tool.driftwatch]\n", '[tool.driftwatch]\nexclude = ["studio.py"]\n')
    )
    (studio / "other.py").write_text("import kiln\n")
    shown = run("fix", "--unsafe", cwd=studio)
    assert (shown.status, shown.out, shown.err) == (0, "", "nothing to fix\n")


def test_a_release_from_the_index_is_not_ours(studio: Path) -> None:
    shown = run("fix", "pypi:kiln==1.0", cwd=studio)
    assert shown.status == 2
    assert "files of your own" in shown.err
