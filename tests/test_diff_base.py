"""``driftwatch scan --diff-base``: in real git repositories, only what the working tree has and its base has not."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from driftwatch.scan.diff_base import Moves, opened
from driftwatch.scan.pipeline import ScanRequest
from tests.cli_process import CONFIGURATION, STUDIO, Result, make_studio, run

OLD = ("DW201", "studio.py", 14)
SILENT = ("DW101", "studio.py", 8)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("made"))


@pytest.fixture
def studio(made: Path, tmp_path: Path) -> Path:
    """A repository whose main branch has two old findings."""
    folder = shutil.copytree(made, tmp_path / "studio")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    git(folder, "switch", "--quiet", "--create", "change")
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "work")
    return git(folder, "rev-parse", "HEAD").strip()


def scan(folder: Path, *arguments: str, base: str = "main", cwd: Path | None = None) -> Result:
    return run("scan", "--format", "json", "--diff-base", base, *arguments, cwd=cwd or folder)


def new(folder: Path, *arguments: str, base: str = "main", cwd: Path | None = None) -> list[tuple[str, str, int]]:
    result = scan(folder, *arguments, base=base, cwd=cwd)
    assert result.status in (0, 1), result
    return [(f["code"], f["path"], f["line"]) for f in json.loads(result.out)["findings"]]


def append(folder: Path, text: str) -> None:
    with (folder / "studio.py").open("a") as file:
        file.write(text)


# -- what is new -------------------------------------------------------------------------------------------------------


def test_nothing_is_new(studio: Path) -> None:
    assert run("scan", cwd=studio).status == 1
    result = scan(studio)
    assert (result.status, result.err) == (0, "")
    report = json.loads(result.out)
    assert report["findings"] == []
    kiln = next(target for target in report["targets"] if target["distribution"] == "kiln")
    assert kiln["compatible"] == kiln["releases"]["checked"] == ["1.0", "1.1", "2.0"]
    assert kiln["before"] == {"errors": 2, "broken": ["1.0", "2.0"]}
    said = run("scan", "--diff-base", "main", cwd=studio).out
    assert "  breaks with   none\n  before        breaks with" in said
    assert "0 errors in 1 file (1 analysed, 0 unresolved calls, 2 suppressed)" in said


def test_a_change_that_adds_one_bad_call(studio: Path) -> None:
    append(studio, "\n\ndef more(pot):\n    return kiln.raku(pot)\n")
    assert new(studio) == [("DW201", "studio.py", 18)]
    commit(studio)
    result = scan(studio)
    assert result.status == 1
    assert [f["line"] for f in json.loads(result.out)["findings"]] == [18]


def test_a_bad_call_before_an_equal_one_is_told_with_its_own_line(studio: Path) -> None:
    (studio / "studio.py").write_text(STUDIO.replace("import kiln\n", "import kiln\n\nfirst = kiln.raku(1)\n"))
    assert new(studio) == [("DW201", "studio.py", 3)]


def test_a_bad_call_in_a_new_file(studio: Path) -> None:
    (studio / "more.py").write_text("import kiln\n\nkiln.raku(1)\n")
    assert new(studio) == [("DW201", "more.py", 3)], "also where git does not know the file yet"


def test_edits_elsewhere_bring_nothing(studio: Path) -> None:
    (studio / "studio.py").write_text("# one\n\n\n" + STUDIO.replace('"blue"', '"green"'))
    assert new(studio) == []


def test_an_edited_line_is_the_same_finding(studio: Path) -> None:
    (studio / "studio.py").write_text(STUDIO.replace("return kiln.raku(pot)", "pot = kiln.raku(pot)\n    return pot"))
    assert new(studio) == []


def test_moved_code_is_the_same_finding_and_other_code_is_not(studio: Path) -> None:
    head, finish = STUDIO.split("def finish")
    (studio / "studio.py").write_text(head.replace("def bake", f"def finish{finish}\n\ndef bake"))
    assert new(studio) == []
    gone = head.replace("def bake", "def other(pots):\n    return [kiln.raku(p) for p in pots]\n\n\ndef bake")
    (studio / "studio.py").write_text(gone)
    assert new(studio) == [("DW201", "studio.py", 5)]


def test_a_renamed_file_keeps_its_findings(studio: Path) -> None:
    git(studio, "mv", "studio.py", "atelier.py")
    append_to = studio / "atelier.py"
    append_to.write_text(append_to.read_text() + "\n\nlast = kiln.raku(2)\n")
    assert new(studio) == [("DW201", "atelier.py", 17)]
    assert new(studio, "atelier.py") == [("DW201", "atelier.py", 17)]


def test_the_same_call_with_a_worse_end_is_new(studio: Path) -> None:
    guarded = STUDIO.replace(
        "    return kiln.raku(pot)",
        "    try:\n        return kiln.raku(pot)\n    except Exception:\n        return None",
    )
    (studio / "studio.py").write_text(guarded)
    assert new(studio) == [("DW201", "studio.py", 15)], "what raised before is now lost in silence"


def test_more_releases_are_new(studio: Path) -> None:
    text = CONFIGURATION.replace("kiln>=1.0", "kiln>=1.0,<2")
    (studio / "pyproject.toml").write_text(text)
    narrow = commit(studio)
    (studio / "pyproject.toml").write_text(CONFIGURATION)
    assert new(studio, base=narrow) == [OLD], "the project now promises 2.0, in which the old call breaks"
    assert new(studio) == []


def test_a_comment_that_goes_gives_its_finding_back(studio: Path) -> None:
    append(studio, "\n\nlast = kiln.raku(2)  # driftwatch: ignore[DW201]\n")
    ignored = commit(studio)
    assert new(studio) == []
    (studio / "studio.py").write_text(STUDIO + "\n\nlast = kiln.raku(2)\n")
    assert new(studio, base=ignored) == [("DW201", "studio.py", 17)]


def test_configuration_of_its_own_time(studio: Path) -> None:
    """The base ignored DW2; now it does not, and so its findings are new."""
    (studio / "pyproject.toml").write_text(
        CONFIGURATION.replace("[tool.driftwatch]\n", '[tool.driftwatch]\nignore = ["DW2"]\n')
    )
    lax = commit(studio)
    (studio / "pyproject.toml").write_text(CONFIGURATION)
    assert new(studio, base=lax) == [OLD]


def test_the_base_is_held_against_what_its_files_pin(studio: Path) -> None:
    """Every file that says which releases count is one of the base, too."""
    text = (studio / "pyproject.toml").read_text().replace('dependencies = ["kiln>=1.0"]', "dependencies = []")
    (studio / "pyproject.toml").write_text(text)
    (studio / "Dockerfile").write_text("FROM base\nRUN pip install kiln==1.0\n")
    commit(studio)
    before = git(studio, "rev-parse", "HEAD").strip()
    found = json.loads(run("scan", "--format", "json", cwd=studio).out)["findings"]
    assert (found[0]["code"], found[0]["releases"]) == ("DW101", ["1.0"])
    assert new(studio, base=before) == []


def test_a_base_whose_configuration_is_not_valid_now(studio: Path) -> None:
    (studio / "pyproject.toml").write_text(CONFIGURATION.replace("[tool.driftwatch]\n", "[tool.driftwatch]\nx = 1\n"))
    odd = commit(studio)
    (studio / "pyproject.toml").write_text(CONFIGURATION)
    assert new(studio, base=odd) == []


def test_with_a_baseline(studio: Path) -> None:
    assert run("baseline", "write", cwd=studio).status == 0
    known = commit(studio)
    append(studio, "\n\ndef more(pot):\n    return kiln.raku(pot)\n")
    assert new(studio, "--baseline", "driftwatch-baseline.json", base=known) == [("DW201", "studio.py", 18)]
    assert new(studio, "--baseline", "driftwatch-baseline.json", base="main") == [("DW201", "studio.py", 18)]


# -- which base, and from where ----------------------------------------------------------------------------------------


def test_the_base_is_where_the_branches_parted(studio: Path) -> None:
    append(studio, "\n\nlast = kiln.raku(2)\n")
    commit(studio)
    git(studio, "switch", "--quiet", "main")
    (studio / "studio.py").write_text("import kiln\n")
    commit(studio)
    git(studio, "switch", "--quiet", "change")
    assert new(studio) == [("DW201", "studio.py", 17)], "that main fixed the old ones is not this branch's doing"


@pytest.mark.slow
def test_paths_and_folders(studio: Path, tmp_path: Path) -> None:
    (studio / "src").mkdir()
    (studio / "tests").mkdir()
    git(studio, "mv", "studio.py", "src/studio.py")
    shutil.copy(studio / "src" / "studio.py", studio / "tests" / "test_it.py")
    base = commit(studio)
    (studio / "src" / "studio.py").write_text(STUDIO + "\n\nlast = kiln.raku(2)\n")
    config = ("--config", str(studio / "pyproject.toml"))
    assert new(studio, "src", "tests", base=base) == [("DW201", "src/studio.py", 17)]
    assert new(studio, base=base, cwd=studio / "src") == [("DW201", "src/studio.py", 17)]
    assert new(studio, "src/studio.py", base=base) == [("DW201", "src/studio.py", 17)]
    assert new(studio, "../tests", "studio.py", base=base, cwd=studio / "src") == [("DW201", "src/studio.py", 17)]
    assert new(studio, str(studio), *config, base=base, cwd=tmp_path) == [("DW201", "src/studio.py", 17)]
    assert new(studio, "studio", base=base, cwd=tmp_path) == [("DW201", "src/studio.py", 17)]


def test_a_link_to_a_folder(studio: Path) -> None:
    (studio / "src").mkdir()
    git(studio, "mv", "studio.py", "src/studio.py")
    base = commit(studio)
    (studio / "link").symlink_to("src")
    (studio / "src" / "studio.py").write_text(STUDIO + "\n\nlast = kiln.raku(2)\n")
    assert new(studio, "link", base=base) == [("DW201", "src/studio.py", 17)]


def test_a_folder_that_the_base_has_not(studio: Path) -> None:
    (studio / "added").mkdir()
    (studio / "added" / "more.py").write_text("import kiln\n\nkiln.raku(1)\n")
    assert new(studio, "added") == [("DW201", "added/more.py", 3)]


@pytest.mark.parametrize(
    ("base", "message"),
    [("nowhere", "has no commit 'nowhere'"), ("--all", "is not a git ref"), ("main:studio.py", "no commit")],
)
def test_a_base_that_is_none(studio: Path, base: str, message: str) -> None:
    result = run("scan", f"--diff-base={base}", cwd=studio)
    assert result.status == 2
    assert message in result.err
    assert "hint" not in result.err, "there is nowhere to fetch it from"


def test_a_reckoned_base_that_is_not_here_is_not_fetched_by_name(studio: Path, tmp_path: Path) -> None:
    result = run("scan", "--diff-base=HEAD~99", cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert "hint" not in result.err, "all is here"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{studio}", "shallow")
    result = run("scan", "--diff-base=HEAD~1", cwd=tmp_path / "shallow")
    assert result.err.endswith("hint: this clone is shallow; fetch the rest first: git fetch --unshallow\n")


@pytest.mark.slow
def test_a_hint_that_is_followed_to_the_letter_works(studio: Path, tmp_path: Path) -> None:
    base = git(studio, "rev-parse", "main").strip()
    append(studio, "\n\nlast = kiln.raku(2)\n")
    commit(studio)
    shallow, whole = "--depth=1", "--single-branch"
    for number, (asked, way) in enumerate(
        (("main", shallow), ("origin/main", shallow), (base, shallow), ("main", whole))
    ):
        clone = tmp_path / str(number)
        git(tmp_path, "clone", "--quiet", way, "--branch=change", f"file://{studio}", clone.name)
        result = run("scan", "--diff-base", asked, cwd=clone)
        assert result.status == 2
        said = result.err.splitlines()[-1]
        assert ("this clone is shallow" in said) is (way == shallow)
        git(clone, *said.partition(": git ")[2].split())
        assert new(clone, base=asked if asked == base else "origin/main") == [("DW201", "studio.py", 17)]


def test_a_folder_that_is_no_repository(made: Path) -> None:
    result = run("scan", "--diff-base", "main", cwd=made)
    assert result.status == 2
    assert "is in no git repository" in result.err


def test_a_release_from_the_index_has_no_base() -> None:
    result = run("scan", "pypi:sglang==0.5.12", "--diff-base", "main")
    assert result.status == 2
    assert "--diff-base is for a git repository" in result.err or "usage" in result.err.lower()


def test_a_shallow_clone(studio: Path, tmp_path: Path) -> None:
    """As a build server has it: two commits, fetched one by one, and no history between them."""
    base = git(studio, "rev-parse", "main").strip()
    append(studio, "\n\nlast = kiln.raku(2)\n")
    commit(studio)
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=change", f"file://{studio}", "shallow")
    clone = tmp_path / "shallow"
    result = run("scan", "--diff-base", base, cwd=clone)
    assert result.status == 2 and "this clone is shallow" in result.err
    git(clone, "fetch", "--quiet", "--depth=1", "origin", base)
    assert new(clone, base=base) == [("DW201", "studio.py", 17)]


# -- nothing is run, nothing is left -----------------------------------------------------------------------------------


def test_nothing_of_the_repository_runs_and_nothing_is_left(studio: Path, tmp_path: Path) -> None:
    mark = tmp_path / "was-run"
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        place = studio / ".git" / "hooks" / hook
        place.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        place.chmod(0o755)
    (studio / ".gitattributes").write_text("*.py filter=odd diff=odd\n")
    for key in ("filter.odd.smudge", "filter.odd.clean", "diff.odd.textconv", "diff.odd.command", "core.fsmonitor"):
        git(studio, "config", key, f"touch '{mark}'; cat")
    left = set(tmp_path.iterdir())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    result = run("scan", "--diff-base", "main", cwd=studio, environment={"TMPDIR": str(scratch)})
    assert result.status == 0, result
    assert not mark.exists()
    assert list(scratch.iterdir()) == []
    assert set(tmp_path.iterdir()) == left | {scratch}


def test_the_base_is_as_the_commit_has_it_whatever_the_attributes_say(studio: Path) -> None:
    """An export, as `git archive` makes it, would leave files out or change them."""
    (studio / ".gitattributes").write_text("studio.py export-ignore\n")
    assert new(studio, base=commit(studio)) == []


@pytest.fixture
def odd_tree(tmp_path: Path) -> Path:
    """A commit that no working tree could have: names that would leave the folder."""
    folder = tmp_path / "odd"
    folder.mkdir()
    git(folder, "init", "--quiet")
    blob = (
        subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=folder, input=b"x = 1\n", capture_output=True, check=True
        )
        .stdout.decode()
        .strip()
    )
    inner = f"100644 blob {blob}\tescaped.py\n".encode()

    def tree(listing: bytes) -> str:
        done = subprocess.run(["git", "mktree"], cwd=folder, input=listing, capture_output=True, check=True)
        return done.stdout.decode().strip()

    outer = tree(f"040000 tree {tree(inner)}\t..\n100644 blob {blob}\tfine.py\n".encode())
    made = git(folder, "commit-tree", outer, "-m", "odd").strip()
    git(folder, "update-ref", "HEAD", made)
    return folder


def test_names_that_lead_out_of_the_folder_are_not_written(odd_tree: Path) -> None:
    with opened(ScanRequest((odd_tree,), ()), "HEAD") as base:
        place = base.copy.parent
        written = sorted(path.name for path in place.rglob("*") if path.is_file())
        assert written == ["fine.py"]
        assert not (place.parent / "escaped.py").exists()


def test_moves() -> None:
    moves = Moves(("a", "b", "c", "d"), ("new", "a", "B", "c"))
    assert moves._to == {1: 2, 3: 4}
    assert [(list(old), list(now)) for old, now in moves._edits] == [([2], [3])]
    same = Moves(("a\r", "b\r"), ("a", "b"))
    assert same._to == {1: 1, 2: 2}
