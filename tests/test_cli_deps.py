"""``driftwatch deps``: the ranges that a project declares, against a local package index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_process import Result, run
from tests.fake_index import FakeIndex, make_wheel, serving

KILN = {
    "1.0": "def fire(pot): ...\n",
    "1.1": "def fire(pot, *, cone=6): ...\n",
    "1.2": "def fire(pot, *, cone=6): ...\n",
    "2.0": "def bake(pot): ...\n",
}
PROJECT = """
[project]
name = "studio"
version = "1"
dependencies = [
    "potters-kiln>=1.0,<2",
    "clay",
    "glaze>=1",
    "gone>=1",
    "elsewhere @ https://example.invalid/elsewhere.zip",
]
[project.optional-dependencies]
wheel = ["potters-wheel==1.0"]
"""


@pytest.fixture
def index() -> Iterator[FakeIndex]:
    with serving(FakeIndex()) as served:
        releases = [
            *(("potters-kiln", "kilns", version, source) for version, source in KILN.items()),
            *(("clay", "clay", version, "def knead(times): ...\n") for version in ("0.1", "0.2")),
            ("glaze", "glaze", "1.0", "def dip(pot): ...\n"),
            ("potters-wheel", "wheel_of", "1.0", "def spin(): ...\n"),
        ]
        for name, module, version, source in releases:
            filename = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            served.add(name, filename, make_wheel({f"{module}/__init__.py": source}, name, version))
        yield served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "studio"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "studio.py").write_text(
        "import clay, kilns, wheel_of\nkilns.fire(1, cone=3)\nclay.knead(3)\nwheel_of.spin(1)\n", encoding="utf-8"
    )
    return folder


def deps(index: FakeIndex, project: Path, *arguments: str) -> Result:
    surroundings = {
        "PIP_INDEX_URL": index.url,
        "PIP_EXTRA_INDEX_URL": "",
        "UV_INDEX_URL": "",
        "PIP_RETRIES": "0",
        "DRIFTWATCH_CACHE_DIR": str(project.parent / "cache"),
    }
    return run("deps", *arguments, cwd=project, environment=surroundings)


def test_one_line_for_each_dependency(index: FakeIndex, project: Path) -> None:
    result = deps(index, project)
    assert result.status == 1, result
    lines = [" ".join(line.split()) for line in result.out.splitlines()[:5]]
    assert lines == [
        "potters-kiln<2,>=1.0 breaks with 1.0; from 1.1 on it holds; breaks with 2.0, which it leaves out",
        "clay>=0 holds with all 2 releases, 0.1 to 0.2",
        "glaze>=1 not used",
        "gone>=1 not told, see below",
        "elsewhere not told, see below",
    ]
    assert "gone is not checked: the package index has no project named 'gone'" in " ".join(result.out.split())


def test_every_format_has_what_was_not_checked(index: FakeIndex, project: Path) -> None:
    result = deps(index, project, "--format", "json")
    report = json.loads(result.out)
    assert [target["distribution"] for target in report["targets"]] == ["clay", "glaze", "potters-kiln"]
    assert [(each["path"], each["reason"].partition(":")[0]) for each in report["diagnostics"]] == [
        ("pyproject.toml", "gone is not checked"),
        ("pyproject.toml", "elsewhere is not checked"),
    ]
    assert [(each["target"], each["releases"]) for each in report["findings"] if each["severity"] == "error"] == [
        ("potters-kiln", ["1.0"])
    ]


def test_the_lowest_release_alone(index: FakeIndex, project: Path) -> None:
    result = deps(index, project, "--lowest", "--format", "json", "--fail-on", "never")
    assert result.status == 0, result
    known = {target["distribution"]: target["releases"]["known"] for target in json.loads(result.out)["targets"]}
    assert known == {"clay": ["0.1"], "glaze": ["1.0"], "potters-kiln": ["1.0"]}


def test_an_extra_is_checked_where_it_is_asked_for(index: FakeIndex, project: Path) -> None:
    result = deps(index, project, "--extra", "wheel")
    assert "potters-wheel==1.0 breaks with 1.0; no lower bound mends that" in " ".join(result.out.split())
    unknown = deps(index, project, "--extra", "whel")
    assert (unknown.status, unknown.out) == (2, "")
    assert "no extra or group 'whel'" in unknown.err


def test_a_project_that_declares_nothing(index: FakeIndex, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.py").write_text("", encoding="utf-8")
    result = deps(index, tmp_path / "empty")
    assert (result.status, result.out) == (2, "")
    assert "no dependency is declared" in result.err
