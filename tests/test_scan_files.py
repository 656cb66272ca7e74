"""Which files a scan looks at, from the paths a user names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from driftwatch.errors import InputError
from driftwatch.project.discovery import find_roots


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(base: Path, *paths: str, exclude: tuple[str, ...] = (), exclude_from: Path | None = None) -> list[list[str]]:
    found = find_roots([Path(p) for p in paths], base=base, exclude=exclude, exclude_from=exclude_from)
    assert found.unread == ()
    return [
        [root.prefix + Path(file).relative_to(root.folder).as_posix() for file in root.files] for root in found.roots
    ]


def test_python_files_in_a_fixed_order_and_nothing_else(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.pyw", "a/readme.md", "c/data.pyc", "d/e.PY")
    assert found(tmp_path, ".") == [["b.py", "a/z.py", "a/b/c.pyw"]]


def test_folders_of_tools_are_skipped_below_a_root_only(tmp_path: Path) -> None:
    make(tmp_path, ".git/a.py", ".venv/a.py", "node_modules/x/a.py", "src/__pycache__/a.py", "src/a.py")
    make(tmp_path, "env/pyvenv.cfg", "env/lib/a.py", "build/lib/a.py", "pkg/build/__init__.py", "site-packages/b.py")
    assert found(tmp_path, ".") == [["pkg/build/__init__.py", "src/a.py"]]
    assert found(tmp_path, "site-packages") == [["b.py"]]
    assert found(tmp_path, "env") == [["env/lib/a.py"]]


def test_excluded_files_and_folders(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "src/gen/b.py", "docs/conf.py", "src/old_c.py")
    assert found(tmp_path, ".", exclude=("docs", "src/gen", "old_*.py")) == [["src/a.py"]]
    assert found(tmp_path, "src", exclude=("src/gen",), exclude_from=tmp_path) == [["a.py", "old_c.py"]]


def test_a_named_file_is_scanned_whatever_its_name_and_exclusion(tmp_path: Path) -> None:
    make(tmp_path, "tool", "docs/conf.py")
    assert found(tmp_path, "tool", "docs/conf.py", exclude=("docs",)) == [["tool", "docs/conf.py"]]


def test_a_file_outside_the_working_folder(tmp_path: Path) -> None:
    make(tmp_path, "other/a.py", "here/b.py")
    assert found(tmp_path / "here", "../other/a.py") == [["a.py"]]


def test_several_roots_are_told_apart(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "tests/a.py", "x/lib/a.py", "y/lib/a.py")
    assert found(tmp_path, "src", "tests") == [["src/a.py"], ["tests/a.py"]]
    absolute = [str(tmp_path / "x/lib"), str(tmp_path / "y/lib")]
    assert found(tmp_path, *absolute) == [["x/lib/a.py"], ["y/lib/a.py"]]


def test_a_root_named_twice_is_one(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py")
    assert found(tmp_path, "src", "./src/", str(tmp_path / "src")) == [["a.py"]]


def test_a_file_that_several_paths_lead_to_is_in_the_outermost_folder_alone(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "tests/b.py", "tests/deep/c.py", ".venv/d.py")
    whole = ["a.py", "tests/b.py", "tests/deep/c.py"]
    assert found(tmp_path, ".") == [whole]
    assert found(tmp_path, "tests", "tests/deep", ".", "a.py", "tests/b.py") == [whole]
    assert found(tmp_path, ".", ".venv") == [whole, [".venv/d.py"]]


# -- the project, which paths start at ---------------------------------------------------------------------------------


def project(base: Path, *paths: str) -> Path:
    return find_roots([Path(path) for path in paths], base=base).project


@pytest.mark.parametrize("mark", ["pyproject.toml", "setup.cfg", "setup.py", ".git", ".hg", "app-1.0.dist-info"])
def test_the_project_is_round_all_paths(tmp_path: Path, mark: str) -> None:
    make(tmp_path, "src/app/a.py", "tests/b.py")
    (tmp_path / mark).mkdir()
    for paths in (["."], ["src"], ["src/app"], ["src/app/a.py"], ["src", "tests/b.py"], [str(tmp_path / "tests")]):
        assert project(tmp_path, *paths) == tmp_path
        assert project(tmp_path / "src", *(str(tmp_path / path) for path in paths)) == tmp_path


def test_a_repository_comes_before_the_projects_in_it(tmp_path: Path) -> None:
    make(tmp_path, "one/pyproject.toml", "one/a.py", "two/pyproject.toml", "two/b.py")
    assert project(tmp_path, "one") == tmp_path / "one"
    assert project(tmp_path, "one", "two") == tmp_path
    (tmp_path / ".git").mkdir()
    assert project(tmp_path, "one") == project(tmp_path, ".") == project(tmp_path, "one/a.py") == tmp_path


def test_without_a_mark_the_folder_round_all_paths_is_the_project(tmp_path: Path) -> None:
    make(tmp_path, "x/lib/a.py", "x/b.py")
    assert (
        project(tmp_path, "x") == project(tmp_path, "x/b.py") == project(tmp_path, "x/b.py", "x/lib") == tmp_path / "x"
    )


def test_what_is_installed_belongs_to_no_project_round_it(tmp_path: Path) -> None:
    make(tmp_path, "pyproject.toml", "site-packages/lib/a.py", ".cache/driftwatch/app/app/b.py")
    assert project(tmp_path, "site-packages/lib") == tmp_path / "site-packages/lib"
    (tmp_path / "site-packages/lib-1.0.dist-info").mkdir()
    assert project(tmp_path, "site-packages/lib") == tmp_path / "site-packages"
    assert project(tmp_path, ".cache/driftwatch/app") == tmp_path / ".cache/driftwatch/app"


def test_loops_of_links_end_and_no_file_is_seen_twice(tmp_path: Path) -> None:
    make(tmp_path, "src/a.py", "elsewhere.py")
    (tmp_path / "src/loop").symlink_to(tmp_path / "src", target_is_directory=True)
    (tmp_path / "src/self.py").symlink_to(tmp_path / "src/self.py")
    (tmp_path / "src/again.py").symlink_to(tmp_path / "src/a.py")
    (tmp_path / "src/gone.py").symlink_to(tmp_path / "nothing.py")
    (tmp_path / "src/linked.py").symlink_to(tmp_path / "elsewhere.py")
    assert found(tmp_path, "src") == [["a.py", "linked.py"]]


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "folder.py/b.py")
    os.mkfifo(tmp_path / "pipe.py")
    assert found(tmp_path, ".") == [["a.py", "folder.py/b.py"]]


@pytest.mark.parametrize("name", ["nothing", "nothing.py", "a.py/b.py"])
def test_a_path_that_is_not_there(tmp_path: Path, name: str) -> None:
    make(tmp_path, "a.py")
    with pytest.raises(InputError, match="no such file or folder"):
        found(tmp_path, name)


def test_a_broken_link_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match="a broken link"):
        found(tmp_path, "link")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.py"
    Path(os.fsdecode(path)).write_text("x = 1\n")
    assert found(tmp_path, ".") == [[os.fsdecode(b"caf\xe9.py")]]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "closed/b.py")
    (tmp_path / "closed").chmod(0)
    try:
        scan = find_roots([tmp_path], base=tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert [Path(file).name for file in scan.roots[0].files] == ["a.py"]
    assert [(d.path, d.message) for d in scan.unread] == [("closed", "the folder cannot be listed: Permission denied")]


def test_a_folder_that_vanishes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.py", "gone/b.py")
    real = os.scandir

    def scandir(path: Path) -> object:
        if path == tmp_path / "gone":
            monkeypatch.undo()
            shutil.rmtree(path)
        return real(path)

    monkeypatch.setattr("driftwatch.project.discovery.os.scandir", scandir)
    scan = find_roots([tmp_path], base=tmp_path)
    assert [Path(file).name for file in scan.roots[0].files] == ["a.py"]
    assert [(d.path, d.message) for d in scan.unread] == [
        ("gone", "the folder cannot be listed: No such file or directory")
    ]
