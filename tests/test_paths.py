"""One path per file, from its project, in every format and in the baseline, however the scan is called."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from tests.cli_process import CONFIGURATION, make_studio, run
from tests.made_uses import KILN
from tests.test_diff_base import commit, git

FIRING = """\
import kiln


def fire(pot, **options):
    try:
        return kiln.fire(pot, **options)
    except Exception:
        return None


def later():
    return kiln.raku(1)  # driftwatch: ignore[DW201]


def never():  # driftwatch: ignore[DW101]
    return 1
"""
USING = """\
from app.firing import fire


def bake(pot):
    options = {"minutes": 30}
    options["glaze"] = "blue"
    return fire(pot, **options)
"""
PROJECT = {
    "src/app/__init__.py": "",
    "src/app/firing.py": FIRING,
    "src/app/using.py": USING,
    "src/app/broken.py": "import kiln\nkiln.fire(\n",
    "tests/test_app.py": "import kiln\n\nkiln.raku(2)\nkiln.fire(*pots)\n",
    "tool.py": "import kiln\n\nkiln.raku(3)\n",
}
FILES = {path for path in PROJECT if path.endswith(".py")}
FOUND = {"src/app/using.py", "tests/test_app.py", "tool.py"}
"""Where the findings are; what takes the exception of the first is in another file."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paths") / "pottery"
    folder.mkdir()
    make_studio(folder)
    (folder / "studio.py").unlink()
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@dataclass(frozen=True)
class Call:
    """A way to call a scan: where, and with which paths. `{}` stands for the project's own path."""

    cwd: str
    paths: tuple[str, ...]


WHOLE = [
    Call(".", ()),
    Call(".", (".",)),
    Call(".", ("{}",)),
    Call("src", ("..",)),
    Call("src/app", ("{}/",)),
    Call("..", ("pottery",)),
    Call(".", ("src", "tests", "tool.py")),
    Call("src", ("../tool.py", "{}/tests", ".")),
    Call(".", ("tests", ".", "src/app/using.py")),
]
"""Each leads to every file."""

PARTS = [
    Call(".", ("tests",)),
    Call("tests", ()),
    Call("src", ("../tests/test_app.py",)),
    Call("..", ("pottery/tests",)),
    Call(".", ("{}/tests/test_app.py",)),
]
"""Each leads to the tests alone."""


def scanned(project: Path, call: Call, *arguments: str) -> str:
    given = [path.format(project) for path in call.paths]
    result = run("scan", *arguments, *given, "--no-cache", "--jobs", "1", cwd=project / call.cwd)
    assert result.status in (0, 1), result
    return result.out


def report(project: Path, call: Call, *arguments: str) -> dict[str, Any]:
    form = json.loads(scanned(project, call, "--format", "json", *arguments))
    assert isinstance(form, dict)
    return form


def test_a_project_has_one_report_however_it_is_called(project: Path) -> None:
    first = report(project, WHOLE[0])
    assert {f["path"] for f in first["findings"]} == FOUND
    silent = next(f for f in first["findings"] if f["outcome"] == "silent")
    assert silent["caught_at"] == {"path": "src/app/firing.py", "line": 7}
    assert {step["path"] for step in silent["trace"]} >= {"src/app/using.py"}
    assert {d["path"] for d in first["diagnostics"]} == {"src/app/broken.py"}
    assert {u["path"] for u in first["unresolved"]} == {"src/app/broken.py", "tests/test_app.py"}
    for call in WHOLE[1:]:
        assert report(project, call) == first, call


def _marks(form: dict[str, Any]) -> dict[tuple[str, int, str], str]:
    return {(f["path"], f["line"], f["code"]): f["fingerprint"] for f in form["findings"]}


def test_a_part_of_a_project_has_the_names_that_the_whole_has(project: Path) -> None:
    whole = _marks(report(project, WHOLE[0]))
    for call in PARTS:
        form = report(project, call)
        assert _marks(form) == {key: mark for key, mark in whole.items() if key[0] == "tests/test_app.py"}, call
        assert {each["path"] for each in form["unresolved"]} == {"tests/test_app.py"}


def _paths(name: str, out: str) -> set[str]:
    """The Python files that a report of a format names."""
    if name == "junit":
        names = {suite.get("name") for suite in ET.fromstring(out).iter("testsuite")}
        assert {name for name in names if name and name.endswith(".py")} <= FILES
    if name == "sarif":
        uris = re.findall(r'"uri": "([^"]*)"', out)
        assert not any(".." in uri or uri.startswith("/") for uri in uris)
    return set(re.findall(r"[\w./-]+\.py\b", re.sub(r"<wbr>|</small><code[^>]*>", "", out)))


@pytest.mark.parametrize("name", ["text", "json", "github", "sarif", "markdown", "junit", "html"])
def test_every_format_has_these_names(project: Path, name: str) -> None:
    for call in (WHOLE[3], WHOLE[7]):
        found = _paths(name, scanned(project, call, "--format", name, "--unresolved"))
        assert found <= FILES, call
        assert found >= FOUND, call


@pytest.mark.parametrize("written", [WHOLE[3], WHOLE[7]])
def test_a_baseline_serves_every_call(project: Path, tmp_path: Path, written: Call) -> None:
    place = tmp_path / "known.json"
    given = [path.format(project) for path in written.paths]
    assert run("baseline", "write", "-o", str(place), *given, cwd=project / written.cwd).status == 0
    entries = json.loads(place.read_text())["entries"]
    assert {entry["path"] for entry in entries} == FOUND
    for call in (WHOLE[4], PARTS[0], PARTS[3]):
        out = scanned(project, call, "--baseline", str(place))
        assert "error DW" not in out and "is gone" not in out and "none of the" not in out, call


def test_ignores_and_patterns_do_not_depend_on_the_call(project: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(project, tmp_path / "pottery")
    patterns = '[tool.driftwatch]\nper-file-ignores = {"tests/*.py" = ["DW201"]}\n'
    (folder / "pyproject.toml").write_text(CONFIGURATION.replace("[tool.driftwatch]\n", patterns))
    for call in (WHOLE[0], WHOLE[3], Call("src/app", ("firing.py",)), Call(".", ("src/app/firing.py",))):
        out = scanned(folder, call)
        assert "src/app/firing.py:15: this ignore is not needed: nothing here is reported as DW101" in out, call
        assert "firing.py:12" not in out and "test_app.py:3" not in out, call


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_only_what_is_new_does_not_depend_on_the_call(project: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(project, tmp_path / "pottery")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    (folder / "tests" / "test_app.py").write_text(PROJECT["tests/test_app.py"] + "kiln.raku(4)\n")
    for call in (WHOLE[3], WHOLE[7], *PARTS[1:3]):
        form = report(folder, call, "--diff-base", "main")
        assert list(_marks(form)) == [("tests/test_app.py", 5, "DW201")], call


def test_what_is_told_of_a_declaration_does_not_depend_on_the_call(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("import kiln\n")
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = pottery\n[options]\ninstall_requires =\n    kiln==1.7\n")
    for path in (".", "src", "src/app.py", str(tmp_path / "src")):
        (target,) = scan(ScanRequest((Path(path),), (Watched(KILN),), base=tmp_path)).targets
        assert target.origin == "pottery's own requirement kiln==1.7 (setup.cfg)", path
        assert [(notice.path, notice.line) for notice in target.notices] == [("setup.cfg", 5)], path


def test_a_repository_of_several_projects_has_one_name_for_each_file(project: Path, tmp_path: Path) -> None:
    """And it is the one that code hosts know: annotations need it."""
    folder = tmp_path / "monorepo"
    shutil.copytree(project, folder / "python")
    (folder / ".git").mkdir()
    calls = [Call(".", ("python",)), Call("python", ()), Call("python/tests", ("..",)), Call("..", ("{}/python",))]
    forms = [report(folder, call) for call in calls]
    assert all(form == forms[0] for form in forms)
    assert {f["path"] for f in forms[0]["findings"]} == {f"python/{path}" for path in FOUND}
    out = scanned(folder, calls[2], "--format", "github")
    assert "::error file=python/tests/test_app.py,line=3," in out


def test_a_link_to_a_project_changes_no_name(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    assert report(project, Call(".", (str(tmp_path / "link"),))) == report(project, WHOLE[0])
    form = report(project, Call(".", (str(tmp_path / "link" / "tests" / "test_app.py"),)))
    assert {f["path"] for f in form["findings"]} == {"tests/test_app.py"}
