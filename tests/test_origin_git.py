"""Releases from a git ref, a folder, or what is installed; nothing of them is checked out, imported or run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftwatch.errors import InputError, UsageError
from driftwatch.snapshot.sources.cache import Cache
from driftwatch.snapshot.sources.git import GitTree
from driftwatch.snapshot.sources.index import PackageIndex
from driftwatch.snapshot.sources.index_settings import IndexSettings
from driftwatch.snapshot.sources.origin import (
    FromFolder,
    FromGit,
    FromIndex,
    FromInstalled,
    OpenedRelease,
    has_module,
    open_release,
    parse_origin,
)
from tests.fake_index import make_sdist, make_wheel

TRAP = "raise SystemExit('this was run')\n"


def git(folder: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(folder), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    write(
        folder,
        {
            "src/demo/__init__.py": TRAP + "__version__ = '1.5'\n",
            "src/demo/api/__init__.py": "def f(a): ...\n",
            "src/demo/api/more.py": "x = 1\n",
            "src/demo/ünïcode file.py": "y = 1\n",
            "pyproject.toml": '[project]\nname = "demo"\nversion = "1.5"\n',
            "setup.py": TRAP,
            ".gitattributes": "*.py filter=trap diff=trap text\n",
        },
    )
    (folder / "src/demo/link.py").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1.5")
    write(folder, {"src/demo/api/__init__.py": "def f(a, b): ...\n"})
    git(folder, "commit", "-qam", "two")
    return folder


def opened(spec: str, cache: Path) -> OpenedRelease:
    with PackageIndex(IndexSettings(disabled=True), Cache(cache)) as index:
        return open_release(parse_origin(spec, "demo"), "demo", "demo.api", index)


def test_a_tag(repository: Path, tmp_path: Path) -> None:
    release = opened(f"{repository}@v1.5", tmp_path)
    assert release.release == "1.5"
    assert release.tree.read("demo/api/__init__.py") == b"def f(a): ...\n"
    assert release.tree.names("demo") == ("__init__.py", "api", "ünïcode file.py")
    assert release.tree.read("demo/ünïcode file.py") == b"y = 1\n"
    assert release.tree.read("demo/link.py") is None
    assert release.tree.read("../setup.py") is release.tree.read("demo/api") is None
    assert has_module(release.tree, "demo.api")
    assert not has_module(release.tree, "demo.nope")


def test_a_branch_is_named_by_its_version_and_commit(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    for spec in (
        f"{repository}@main",
        f"git:{repository}@main",
        f"git:{repository}",
        f"git+file://{repository}@HEAD",
        f"git+file://{repository}",
        f"{repository}@{commit}",
    ):
        release = opened(spec, tmp_path)
        assert release.release == f"1.5+g{commit[:9]}"
        assert release.tree.read("demo/api/__init__.py") == b"def f(a, b): ...\n"


def test_a_name_of_ones_own(repository: Path, tmp_path: Path) -> None:
    assert opened(f"2.0.dev1={repository}@main", tmp_path).release == "2.0.dev1"
    assert opened(f"2.0.dev1={repository}", tmp_path).release == "2.0.dev1"


def test_a_bare_repository(repository: Path, tmp_path: Path) -> None:
    git(repository, "clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    assert opened(f"{tmp_path / 'bare'}@v1.5", tmp_path).tree.read("demo/api/more.py") == b"x = 1\n"


def test_nothing_of_a_repository_is_run(repository: Path, tmp_path: Path) -> None:
    """Hooks, filters, diff drivers, a pager, aliases and a file system monitor, all set by the repository itself."""
    proof = tmp_path / "proof"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\nexit 1\n")
    trap.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.trap.smudge", "filter.trap.clean",
        "diff.trap.textconv", "diff.trap.command", "diff.external", "uploadpack.packObjectsHook", "pager.cat-file",
    ):  # fmt: skip
        git(repository, "config", key, str(trap))
    git(repository, "config", "alias.ls-tree", f"!{trap}")
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        path = repository / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(trap.read_text())
        path.chmod(0o755)
    index_before = (repository / ".git/index").read_bytes()
    release = opened(f"{repository}@v1.5", tmp_path)
    assert release.tree.read("demo/api/__init__.py") == b"def f(a): ...\n"
    assert not proof.exists()
    assert (repository / ".git/index").read_bytes() == index_before
    assert (repository / "src/demo/api/__init__.py").read_text() == "def f(a, b): ...\n"


def test_objects_that_are_not_there_are_not_fetched(repository: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    blob = git(repository, "rev-parse", "HEAD:src/demo/api/more.py")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    git(repository, "config", "remote.origin.url", f"ext::sh -c touch% {proof}")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "protocol.ext.allow", "always")
    with pytest.raises(InputError, match="lacks an object of HEAD"):
        opened(f"{repository}@HEAD", tmp_path)
    assert not proof.exists()


@pytest.mark.parametrize("ref", ["nope", "--output=x", "v1.5:src", "HEAD~99", "a..b", "@{u}"])
def test_a_ref_that_is_none(repository: Path, tmp_path: Path, ref: str) -> None:
    with pytest.raises(InputError) as caught:
        GitTree(repository, ref, "demo")
    assert "\n" not in caught.value.message


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="git cannot read"):
        opened(f"{tmp_path / 'empty'}@main", tmp_path)


# -- folders and what is installed -----------------------------------------------------------------------------------


def test_a_folder(repository: Path, tmp_path: Path) -> None:
    release = opened(str(repository), tmp_path)
    commit = git(repository, "rev-parse", "HEAD")
    assert release.release == f"1.5+g{commit[:9]}"
    assert release.tree.read("demo/api/__init__.py") == b"def f(a, b): ...\n"
    assert release.tree.read("demo/link.py") is None
    assert (release.artifact, release.sha256) == (None, None)


@pytest.mark.parametrize(
    ("files", "release"),
    [
        ({"demo/__init__.py": "__version__ = '3.1'\n"}, "3.1"),
        ({"demo/__init__.py": "", "demo/_version.py": "version = '3.2'\n"}, "3.2"),
        ({"demo/__init__.py": "", "version.txt": "3.3\n"}, "3.3"),
        ({"python/demo/__init__.py": "", "PKG-INFO": "Metadata-Version: 2.1\nVersion: 3.4\n"}, "3.4"),
        ({"demo/__init__.py": "", "pyproject.toml": "[project]\ndynamic=['version']", "VERSION": "3.5"}, "3.5"),
        ({"demo/__init__.py": "__version__ = compute()\n"}, None),
        ({"demo/__init__.py": "def (:\n", "pyproject.toml": "= broken"}, None),
    ],
)
def test_a_folder_says_which_release_it_is(tmp_path: Path, files: dict[str, str], release: str | None) -> None:
    folder = tmp_path / "checkout"
    write(folder, files)
    if release is None:
        with pytest.raises(UsageError, match="does not say which release it is") as caught:
            opened(str(folder), tmp_path)
        assert caught.value.hint == f"say it: VERSION={folder}"
    else:
        assert opened(str(folder), tmp_path).release == f"{release}+local"


def test_a_working_tree_is_told_from_its_commit(repository: Path, tmp_path: Path) -> None:
    """Python alone counts, and what git would compare by a filter of the repository is compared by its bytes."""
    name = f"1.5+g{git(repository, 'rev-parse', 'HEAD')[:9]}"
    for changed in ({"README": "words\n"}, {"tests/test_api.py": "x = 1\n"}):
        write(repository, changed)
        assert opened(str(repository), tmp_path).release == name
    more = repository / "src/demo/api/more.py"
    for change in (lambda: more.write_text("x = 2\n"), more.unlink, lambda: write(repository, {"src/demo/new.py": ""})):
        change()
        assert opened(str(repository), tmp_path).release == f"{name}.dirty"
        git(repository, "checkout", "-q", "--", "src")


@pytest.mark.parametrize("name", ["demo-1.6-py3-none-any.whl", "demo-1.6.tar.gz"])
def test_an_archive_in_a_file(tmp_path: Path, name: str) -> None:
    files = {"demo/__init__.py": TRAP, "demo/api/__init__.py": "def f(a): ...\n"}
    make = make_wheel if name.endswith(".whl") else make_sdist
    (tmp_path / name).write_bytes(make(files, "demo", "1.6"))
    release = opened(str(tmp_path / name), tmp_path)
    assert release.release == "1.6+file"
    assert release.tree.read("demo/api/__init__.py") == b"def f(a): ...\n"
    assert release.tree.names("demo") == ("__init__.py", "api")
    assert opened(f"1.7={tmp_path / name}", tmp_path).release == "1.7"


def test_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    write(
        site,
        {
            "demo/__init__.py": TRAP,
            "demo/api.py": "def f(): ...\n",
            "demo-7.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: demo\nVersion: 7.1\n",
        },
    )
    monkeypatch.syspath_prepend(site)
    release = opened("installed", tmp_path)
    assert release.release == "7.1"
    assert release.tree.read("demo/api.py") == b"def f(): ...\n"
    assert "demo" not in sys.modules


def test_what_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="demo is not installed"):
        opened("installed", tmp_path)


# -- what a person writes --------------------------------------------------------------------------------------------


def test_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a@b").mkdir()
    assert parse_origin("1.0", "demo") == parse_origin("Demo==1.0", "demo") == FromIndex("1.0")
    assert parse_origin("demo == v1.0-1", "demo") == FromIndex("1.0.post1")
    assert parse_origin("a@b", "demo") == FromFolder(Path("a@b"))
    assert parse_origin("a@b@v1", "demo") == FromGit(Path("a@b"), "v1")
    assert parse_origin("3=a@b@v1", "demo") == FromGit(Path("a@b"), "v1", "3")
    assert parse_origin("installed", "demo") == FromInstalled()
    assert parse_origin("3=installed", "demo") == FromInstalled("3")


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("other==1.0", UsageError, "is not a release of demo"),
        ("demo==one", UsageError, "'one' is not a version"),
        ("git+https://host/repo@v1", UsageError, "is not in a local repository"),
        ("git+file:///nowhere@v1", InputError, "/nowhere is not a folder"),
        ("nothing", InputError, "is neither a release nor a folder"),
        ("", InputError, "is neither a release nor a folder"),
        ("1.0=", InputError, "is neither a release nor a folder"),
    ],
)
def test_mistakes(spec: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        parse_origin(spec, "demo")
