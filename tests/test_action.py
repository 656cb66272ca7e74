"""The action, the watch's two halves and the pre-commit hook: their own scripts, run in scratch repositories."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli_process import LIBRARY, Result, make_studio, run, surroundings
from tests.conftest import ROOT
from tests.fake_index import FakeIndex, make_wheel, serving

SCRIPTS = ROOT / "scripts"
MORE = "\n\ndef more(pot):\n    return kiln.raku(pot)\n"
GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def tool(name: str) -> str:
    """A tool of the environment that the tests run in."""
    return str(Path(sys.executable).with_name(name))


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **GIT_IDENTITY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "work")
    return git(folder, "rev-parse", "HEAD").strip()


def script(name: str, *arguments: str, cwd: Path, environment: Mapping[str, str], of: Path = SCRIPTS) -> Result:
    done = subprocess.run(
        ["bash", str(of / name), *arguments],
        cwd=cwd,
        env={**surroundings(environment), **GIT_IDENTITY},
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def driftwatch_at(path: Path) -> Path:
    """The program under test as a command."""
    return executable(path, f'#!/bin/sh\nexec "{sys.executable}" -m driftwatch "$@"\n')


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_studio(tmp_path_factory.mktemp("made"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


@pytest.fixture
def clone(made: Path, tmp_path: Path) -> Path:
    """As the runner has it: the change on top of its base, nothing else."""
    git(tmp_path, "clone", "--quiet", f"file://{made}", "clone")
    return tmp_path / "clone"


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """What a runner gives its steps; driftwatch is installed in it already."""
    temp = tmp_path / "temp"
    driftwatch_at(temp / "driftwatch" / "bin" / "driftwatch")
    return {
        "RUNNER_TEMP": str(temp),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }


# -- the action --------------------------------------------------------------------------------------------------------


def test_the_action_says_what_the_program_says(clone: Path, runner: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("before\n")
    result = script("action.sh", cwd=clone, environment=runner)
    alone = run("scan", "--format", "github", cwd=clone)
    assert (result.status, result.out) == (alone.status, alone.out) == (1, alone.out)
    assert result.out.startswith("::error file=studio.py,line=8,")
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n<!-- driftwatch report -->\n") and "❌ 2 errors, 1 of them silent" in summary
    (line,) = (tmp_path / "output").read_text().splitlines()
    sarif = json.loads(Path(line.removeprefix("sarif=")).read_text())
    assert [r["ruleId"] for r in sarif["runs"][0]["results"]] == ["DW101", "DW201"]


def test_on_a_pull_request_only_what_is_new_is_told(
    made: Path, clone: Path, runner: dict[str, str], tmp_path: Path
) -> None:
    base = git(clone, "rev-parse", "HEAD").strip()
    unchanged = script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_DIFF_BASE": base})
    assert (unchanged.status, [x for x in unchanged.out.splitlines() if x.startswith("::")]) == (0, []), unchanged
    (clone / "studio.py").write_text((clone / "studio.py").read_text() + MORE)
    commit(clone)
    # The runner's checkout has one commit; the base is fetched.
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{clone}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", f"file://{made}")
    result = script("action.sh", cwd=tmp_path / "shallow", environment={**runner, "DRIFTWATCH_DIFF_BASE": base})
    assert result.status == 1, result
    assert [line.partition("::")[2][:29] for line in result.out.splitlines() if line.startswith("::error")] == [
        "error file=studio.py,line=18,"
    ]
    # Code scanning is given everything: what its file lacked would count as fixed.
    sarif = json.loads((Path(runner["RUNNER_TEMP"]) / "driftwatch.sarif").read_text())
    assert [r["ruleId"] for r in sarif["runs"][0]["results"]] == ["DW101", "DW201", "DW201"]
    assert "❌ 1 error" in (tmp_path / "summary.md").read_text()


def test_a_base_that_may_not_be_fetched_is_the_first_parent_of_the_merge(
    clone: Path, runner: dict[str, str], tmp_path: Path
) -> None:
    """A private repository, and a checkout that keeps no credentials."""
    git(clone, "switch", "--quiet", "--create", "change")
    (clone / "studio.py").write_text((clone / "studio.py").read_text() + MORE)
    commit(clone)
    git(clone, "switch", "--quiet", "main")
    git(clone, "merge", "--quiet", "--no-ff", "--message", "merge", "change")
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{clone}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", f"file://{tmp_path / 'gone'}")
    own = {**runner, "DRIFTWATCH_DIFF_BASE": "0" * 40, "GITHUB_REF": "refs/pull/7/merge"}
    result = script("action.sh", cwd=tmp_path / "shallow", environment=own)
    assert result.status == 1, result
    assert next(line for line in result.out.splitlines() if line.startswith("::error")).startswith(
        "::error file=studio.py,line=18,"
    )
    assert result.out.count("::error") == 1
    own["GITHUB_REF"] = "refs/heads/main"
    assert script("action.sh", cwd=tmp_path / "shallow", environment=own).status == 2


@pytest.mark.slow
def test_what_has_come_to_the_branch_since_is_not_the_changes_doing(
    clone: Path, runner: dict[str, str], tmp_path: Path
) -> None:
    """The event names the branch as it was when the pull request was opened."""
    base = git(clone, "rev-parse", "HEAD").strip()
    git(clone, "switch", "--quiet", "--create", "change")
    (clone / "studio.py").write_text((clone / "studio.py").read_text() + MORE)
    commit(clone)
    git(clone, "switch", "--quiet", "main")
    (clone / "other.py").write_text("import kiln\n\nkiln.raku(1)\n")
    commit(clone)
    git(clone, "merge", "--quiet", "--no-ff", "--message", "merge", "change")
    git(clone, "config", "uploadpack.allowAnySHA1InWant", "true")
    own = {**runner, "DRIFTWATCH_DIFF_BASE": base, "GITHUB_REF": "refs/pull/7/merge"}
    for depth in (1, 9):
        checkout = f"checkout-{depth}"
        git(tmp_path, "clone", "--quiet", f"--depth={depth}", f"file://{clone}", checkout)
        told = script("action.sh", cwd=tmp_path / checkout, environment={**own, "DRIFTWATCH_EVENT_BASE": base})
        assert [line[:29] for line in told.out.splitlines() if line.startswith("::error")] == [
            "::error file=studio.py,line=1"
        ], told
        # Somebody who asks for another base is given that.
        chosen = script("action.sh", cwd=tmp_path / checkout, environment={**own, "DRIFTWATCH_EVENT_BASE": "0" * 40})
        assert chosen.out.count("::error") == 2


@pytest.mark.parametrize("base", ["main", "origin/main"])
@pytest.mark.parametrize("depth", ["--depth=1", "--no-single-branch"])
def test_a_base_may_be_a_branch(clone: Path, runner: dict[str, str], tmp_path: Path, base: str, depth: str) -> None:
    git(clone, "switch", "--quiet", "--create", "change")
    (clone / "studio.py").write_text((clone / "studio.py").read_text() + MORE)
    commit(clone)
    git(tmp_path, "clone", "--quiet", depth, "--branch=change", f"file://{clone}", "checkout")
    result = script("action.sh", cwd=tmp_path / "checkout", environment={**runner, "DRIFTWATCH_DIFF_BASE": base})
    assert [line.partition("::")[2][:29] for line in result.out.splitlines() if line.startswith("::error")] == [
        "error file=studio.py,line=18,"
    ], result


def test_a_base_that_cannot_be_had_is_an_error(clone: Path, runner: dict[str, str]) -> None:
    result = script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_DIFF_BASE": "0" * 40})
    assert result.status == 2
    assert "::error::the base of this change cannot be fetched" in result.out


@pytest.mark.slow
def test_inputs_are_words_and_never_code(clone: Path, runner: dict[str, str], tmp_path: Path) -> None:
    odd = clone / "a b $(touch pwned) ;`touch pwned`"
    odd.mkdir()
    shutil.copy(clone / "studio.py", odd / "one.py")
    own = {
        "DRIFTWATCH_PATH": f"studio.py\n{odd.name}\n",
        "DRIFTWATCH_AGAINST": "kiln==1.1\nkiln==2.0\n",
        "DRIFTWATCH_FAIL_ON": "never",
    }
    result = script("action.sh", cwd=clone, environment={**runner, **own})
    assert result.status == 0
    assert result.out.count("::error file=") == 2 and "line=14" in result.out
    for wrong in ("--output=pwned", "$(touch pwned)"):
        assert script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_PATH": wrong}).status == 2
        assert script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_DIFF_BASE": wrong}).status == 2
        assert script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_AGAINST": wrong}).status == 2
    assert not list(tmp_path.rglob("pwned"))


def test_a_path_of_blank_lines_is_the_working_folder(clone: Path, runner: dict[str, str]) -> None:
    result = script("action.sh", cwd=clone, environment={**runner, "DRIFTWATCH_PATH": "\n\n"})
    assert (result.status, result.out.count("::error file=studio.py")) == (1, 2)


def test_a_failure_leaves_no_report_of_an_earlier_run(clone: Path, runner: dict[str, str], tmp_path: Path) -> None:
    script("action.sh", cwd=clone, environment=runner)
    (tmp_path / "output").unlink()
    (clone / "pyproject.toml").write_text("[tool.driftwatch]\nx = 1\n")
    assert script("action.sh", cwd=clone, environment=runner).status == 2
    assert not (tmp_path / "output").exists()


@pytest.mark.network
@pytest.mark.slow
def test_the_action_installs_itself(clone: Path, tmp_path: Path) -> None:
    own = {"RUNNER_TEMP": str(tmp_path / "empty"), "DRIFTWATCH_PYTHON": sys.executable, "PYTHONPATH": ""}
    (tmp_path / "empty").mkdir()
    result = script("action.sh", cwd=clone, environment=own)
    assert result.status == 1, result
    assert result.out.startswith("::error file=studio.py,line=8,")


def test_the_action_passes_every_input_to_the_script() -> None:
    """What the script reads is what the action and the workflow give it, each from the input of that name."""
    read = {
        "DRIFTWATCH_PATH",
        "DRIFTWATCH_AGAINST",
        "DRIFTWATCH_DIFF_BASE",
        "DRIFTWATCH_EVENT_BASE",
        "DRIFTWATCH_FAIL_ON",
    }
    text = (SCRIPTS / "action.sh").read_text()
    assert all(f"${{{name}:-" in text for name in read)
    for place in (ROOT / "action.yml", ROOT / ".github" / "workflows" / "driftwatch.yml"):
        assert {name for name in read if f"{name}: ${{{{" in place.read_text()} == read, place


# -- the watch ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A checkout like this one: the scripts, the snapshots of a library, and a remote to push to."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
    git(tmp_path, "clone", "--quiet", f"file://{tmp_path / 'remote.git'}", "checkout")
    folder = tmp_path / "checkout"
    git(folder, "switch", "--quiet", "--create", "main")
    make_studio(folder)
    shutil.copytree(SCRIPTS, folder / "scripts")
    commit(folder)
    git(folder, "push", "--quiet", "origin", "main")
    return folder


def look(upstream: Path, tmp_path: Path, releases: Mapping[str, str]) -> Result:
    with serving(FakeIndex()) as index:
        for version, source in releases.items():
            index.add("kiln", f"kiln-{version}-py3-none-any.whl", make_wheel({"kiln.py": source}, "kiln", version))
        wrapper = executable(
            tmp_path / "driftwatch", f'#!/bin/sh\nexec "{sys.executable}" -m driftwatch "$@" --target kiln\n'
        )
        return script(
            "watch.sh",
            str(tmp_path / "found"),
            cwd=tmp_path,
            of=upstream / "scripts",
            environment={
                "PIP_INDEX_URL": index.url,
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_EXTRA_INDEX_URL": "",
                "DRIFTWATCH": str(wrapper),
                "WATCH_CODE": "studio.py",
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            },
        )


FAKE_GH = """#!/bin/sh
# Notes what it is asked for; one pull request is open once it was made.
printf '%s\\n' "$*" >> "$GH_NOTES"
case "$1 $2" in
    "pr list") grep -c '^pr create' "$GH_NOTES" ;;
    "pr create"|"pr edit") for last; do :; done; cat "$last" > "$GH_NOTES.body" ;;
esac
exit 0
"""


def propose(upstream: Path, tmp_path: Path) -> Result:
    executable(tmp_path / "bin" / "gh", FAKE_GH)
    own = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GH_NOTES": str(tmp_path / "notes"),
        "BASE_BRANCH": "main",
    }
    return script("propose.sh", str(tmp_path / "found"), cwd=tmp_path, of=upstream / "scripts", environment=own)


def test_a_new_release_becomes_a_pull_request(upstream: Path, tmp_path: Path) -> None:
    result = look(upstream, tmp_path, {**LIBRARY, "2.1": "def fire(pot):\n    return pot\n"})
    assert result.status == 0, result
    assert (tmp_path / "output").read_text() == "new=true\n"
    assert "## kiln 2.1: " in (tmp_path / "summary.md").read_text()
    # The second half starts from a checkout of its own.
    git(upstream, "checkout", "--quiet", "--force", "main")
    git(upstream, "clean", "--quiet", "--force", "-d")
    assert "2.1" not in (upstream / "snapshots" / "kiln" / "releases.jsonl").read_text()
    result = propose(upstream, tmp_path)
    assert result.status == 0, result
    title = json.loads((tmp_path / "found" / "watch.json").read_text())["title"]
    assert title == "kiln 2.1: 3 breaking changes, breaks 2 call sites of studio.py (2 silently)"
    asked = (tmp_path / "notes").read_text().splitlines()
    assert asked[2] == (
        f"pr create --base main --head driftwatch/watch --title {title} --body-file {tmp_path / 'found' / 'body.md'}"
    )
    assert (tmp_path / "notes.body").read_text() == (tmp_path / "found" / "body.md").read_text()
    remote = tmp_path / "remote.git"
    changed = git(remote, "diff", "--name-only", "main", "driftwatch/watch").split()
    assert changed == ["snapshots/kiln/history.jsonl", "snapshots/kiln/releases.jsonl"]
    assert git(remote, "log", "-1", "--format=%s", "driftwatch/watch").strip() == f"feat: snapshots: {title}"
    assert '"version": "2.1"' in git(remote, "show", "driftwatch/watch:snapshots/kiln/releases.jsonl")
    # A later find brings the same pull request up to date.
    git(upstream, "switch", "--quiet", "main")
    assert propose(upstream, tmp_path).status == 0
    assert [line[:7] for line in (tmp_path / "notes").read_text().splitlines()[3:]] == ["auth se", "pr list", "pr edit"]


def test_nothing_new_proposes_nothing(upstream: Path, tmp_path: Path) -> None:
    result = look(upstream, tmp_path, LIBRARY)
    assert result.status == 0, result
    assert (tmp_path / "output").read_text() == "new=false\n"
    assert git(upstream, "status", "--porcelain") == ""


def test_the_proposal_can_touch_nothing_but_snapshots(upstream: Path, tmp_path: Path) -> None:
    """What the first half left came from upstream's data: a patch of anything else is not applied."""
    look(upstream, tmp_path, {**LIBRARY, "2.1": "def fire(pot):\n    return pot\n"})
    git(upstream, "checkout", "--quiet", "--force", "main")
    (upstream / "scripts" / "action.sh").write_text("echo pwned\n")
    (upstream / "snapshots" / "evil.py").write_text("pwned\n")
    git(upstream, "add", "--intent-to-add", "--", "snapshots")
    evil = git(upstream, "diff")
    git(upstream, "checkout", "--quiet", "--force", "main")
    (upstream / "snapshots" / "evil.py").unlink(missing_ok=True)
    patch = tmp_path / "found" / "snapshots.patch"
    patch.write_text(patch.read_text() + evil)
    form = json.loads((tmp_path / "found" / "watch.json").read_text())
    (tmp_path / "found" / "watch.json").write_text(json.dumps({**form, "title": "a\nb $(touch pwned) --draft"}))
    assert propose(upstream, tmp_path).status == 0
    remote = tmp_path / "remote.git"
    changed = git(remote, "diff", "--name-only", "main", "driftwatch/watch").split()
    assert changed == ["snapshots/kiln/history.jsonl", "snapshots/kiln/releases.jsonl"]
    assert "--title a b $(touch pwned) --draft --body-file" in (tmp_path / "notes").read_text()
    assert not list(tmp_path.rglob("pwned"))


# -- the hook ----------------------------------------------------------------------------------------------------------


def hook(name: str = "driftwatch", command: str = "scan") -> str:
    """A hook of .pre-commit-hooks.yaml as a local one of the environment that the tests run in."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (own,) = [part for part in re.split(r"^- id: ", text, flags=re.MULTILINE) if part.startswith(f"{name}\n")]
    body = [line for line in f"- id: {own}".splitlines() if line and not line.startswith("#")]
    entry = f'  entry: "{sys.executable} -m driftwatch {command}"'
    lines = [
        entry if line.startswith("  entry:") else line.replace("language: python", "language: system") for line in body
    ]
    assert entry in lines and "  language: system" in lines
    return "repos:\n  - repo: local\n    hooks:\n" + "\n".join(f"      {line}" for line in lines) + "\n"


def test_the_pre_commit_hook_runs_where_a_pin_changes() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.compile(textwrap.dedent(text.partition("files: >-\n")[2].partition("  pass_filenames")[0]))
    read = (
        "a.py b.pyw pyproject.toml x/driftwatch.toml setup.cfg requirements.txt requirements-dev.in x/constraints.txt"
    )
    more = "requirements/gpu.txt Dockerfile docker/Dockerfile.gpu gpu.Dockerfile driftwatch-baseline.json"
    for path in f"{read} {more}".split():
        assert pattern.search(path), path
    for path in ["README.md", "notes.txt", "a.pyc", "my_setup.cfg", "x.json", "docs/index.rst", "src/a.cpp"]:
        assert not pattern.search(path), path


def test_the_pre_commit_hook_stops_a_commit(clone: Path, tmp_path: Path) -> None:
    (clone / ".pre-commit-config.yaml").write_text(hook())
    own = {**surroundings({"PRE_COMMIT_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}), **GIT_IDENTITY}
    own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    subprocess.run([tool("pre-commit"), "install"], cwd=clone, env=own, check=True, capture_output=True)
    (clone / "studio.py").write_text((clone / "studio.py").read_text() + MORE)
    git(clone, "add", "--all")

    def commits() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "commit", "-m", "work"], cwd=clone, env=own, capture_output=True, text=True, check=False
        )

    stopped = commits()
    said = stopped.stdout + stopped.stderr
    assert stopped.returncode == 1
    assert "studio.py:14:12: error DW201" in said and "studio.py:18:12" in said and "- exit code: 1" in said, said
    (clone / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2)\n")
    git(clone, "add", "--all")
    passed = commits()
    assert passed.returncode == 0, passed
    assert "Passed" in passed.stdout + passed.stderr


def test_the_hook_that_fixes_changes_files_and_stops_the_commit(clone: Path, tmp_path: Path) -> None:
    entry = next(line for line in (ROOT / ".pre-commit-hooks.yaml").read_text().splitlines() if "fix --write" in line)
    command = entry.partition("driftwatch ")[2]
    (clone / ".pre-commit-config.yaml").write_text(hook("driftwatch-fix", command))
    own = {**surroundings({"PRE_COMMIT_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}), **GIT_IDENTITY}
    own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    (clone / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2, glaze=None)\n")
    git(clone, "add", "--all")

    def runs() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [tool("pre-commit"), "run"], cwd=clone, env=own, capture_output=True, text=True, check=False
        )

    first = runs()
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout
    assert (clone / "studio.py").read_text() == "import kiln\n\nkiln.fire(1, 2)\n"
    git(clone, "add", "--all")
    assert runs().returncode == 0


@pytest.mark.network
@pytest.mark.slow
def test_the_pre_commit_hook_as_another_repository_has_it(clone: Path, tmp_path: Path) -> None:
    """`pre-commit try-repo` clones this repository and installs it: committed files are what is tried."""
    own = {**surroundings({"PRE_COMMIT_HOME": str(tmp_path / "home"), "NO_COLOR": "1", "PYTHONPATH": ""})}
    done = subprocess.run(
        [tool("pre-commit"), "try-repo", str(ROOT), "driftwatch", "--ref", "HEAD", "--all-files"],
        cwd=clone,
        env=own,
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )
    assert done.returncode == 1, done
    assert "studio.py:14:12: error DW201" in done.stdout


# -- the files themselves ----------------------------------------------------------------------------------------------
