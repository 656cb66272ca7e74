"""``driftwatch deps``: the ranges that a project declares, against a local package index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from driftwatch.errors import InputError
from driftwatch.project.bounds import raised
from driftwatch.project.declared import Requirements
from driftwatch.project.dependencies import dependencies
from driftwatch.releases import Timeline
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
        "gone>=1 not told: the package index has no project named 'gone'",
        "elsewhere not told: it comes from https://example.invalid/elsewhere.zip, not from the package index",
    ]


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


def test_of_the_lowest_release_alone_nothing_is_said_of_others(index: FakeIndex, project: Path) -> None:
    (project / "studio.py").write_text("import kilns\nkilns.bake(1)\n", encoding="utf-8")
    told = " ".join(deps(index, project, "--lowest").out.split())
    assert "potters-kiln<2,>=1.0 breaks with 1.0; without --lowest, `driftwatch deps` says from which release" in told
    assert "no release that was read has it" in told
    assert "no release fixes" not in told
    every = " ".join(deps(index, project).out.split())
    assert "potters-kiln<2,>=1.0 breaks with 1.0 to 1.2, 3 releases; no bound fixes that" in every
    assert "needs potters-kiln>=2.0" in every


def test_without_an_index_a_verdict_says_that_it_rests_on_what_was_known(index: FakeIndex, project: Path) -> None:
    dead = FakeIndex(base="http://127.0.0.1:1")
    nothing = deps(dead, project)
    assert (nothing.status, nothing.out) == (2, "")
    assert "potters-kiln is not checked" in nothing.err
    assert "hint: check the network or PIP_INDEX_URL" in nothing.err
    deps(index, project, "--lowest")
    unreached = "the package index could not be reached, so only releases that were known before are checked"
    for arguments in (("--lowest",), ()):
        report = json.loads(deps(dead, project, *arguments, "--format", "json").out)
        kiln, clay, glaze, gone, _ = report["dependencies"]
        assert (kiln["state"], kiln["broken"], kiln["reason"]) == ("breaks", ["1.0"], unreached)
        assert (clay["state"], clay["reason"]) == ("holds", unreached)
        assert (glaze["state"], glaze["reason"]) == ("not used", unreached)
        assert gone["state"] == "not told"
    assert f"clay>=0 holds with 0.1; {unreached}" in " ".join(deps(dead, project).out.split())


def test_an_extra_is_checked_where_it_is_asked_for(index: FakeIndex, project: Path) -> None:
    result = deps(index, project, "--extra", "wheel")
    assert "potters-wheel==1.0 breaks with 1.0; no bound fixes that" in " ".join(result.out.split())
    unknown = deps(index, project, "--extra", "whel")
    assert (unknown.status, unknown.out) == (2, "")
    assert "no extra or group 'whel'" in unknown.err


def test_a_project_that_declares_nothing(index: FakeIndex, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.py").write_text("", encoding="utf-8")
    result = deps(index, tmp_path / "empty")
    assert (result.status, result.out) == (2, "")
    assert "no dependency is declared" in result.err


def test_json_and_markdown_have_a_verdict_for_each(index: FakeIndex, project: Path) -> None:
    report = json.loads(deps(index, project, "--format", "json").out)
    kiln, clay, glaze, gone, elsewhere = report["dependencies"]
    assert (kiln["state"], kiln["broken"], kiln["later"], kiln["lowest"]) == ("breaks", ["1.0"], ["2.0"], "1.1")
    assert (kiln["path"], kiln["line"]) == ("pyproject.toml", 6)
    assert [each["state"] for each in (clay, glaze, gone, elsewhere)] == ["holds", "not used", "not told", "not told"]
    assert gone["reason"] == "the package index has no project named 'gone'"
    markdown = deps(index, project, "--format", "markdown").out
    assert "| `potters-kiln<2,>=1.0` | breaks with 1.0; from 1.1 on it holds" in markdown


def test_bounds_are_raised_where_they_are_declared(index: FakeIndex, project: Path) -> None:
    before = (project / "pyproject.toml").read_text(encoding="utf-8")
    result = deps(index, project, "--write")
    assert result.status == 1, result
    after = (project / "pyproject.toml").read_text(encoding="utf-8")
    assert after == before.replace("potters-kiln>=1.0,<2", "potters-kiln>=1.1,<2")
    assert "pyproject.toml:6: potters-kiln from 1.1 on" in result.out + result.err
    assert "breaks" not in deps(index, project).out.splitlines()[0].partition(";")[0]


@pytest.mark.parametrize(
    ("written", "raised_to"),
    [
        ("kiln", "kiln>=1.5"),
        ("kiln <3", "kiln>=1.5, <3"),
        ("kiln[hot] >= 1.0 , <3", "kiln[hot] >=1.5 , <3"),
        ("kiln>1.0,!=1.2", "kiln>=1.5,!=1.2"),
        ("kiln~=1.0", "kiln>=1.5,==1.*"),
        ("kiln>=1.0; python_version > '3.8'", "kiln>=1.5; python_version > '3.8'"),
    ],
)
def test_a_raised_bound_changes_nothing_else(tmp_path: Path, written: str, raised_to: str) -> None:
    text = f'[project]\nname = "a"\nversion = "1"\ndependencies = [ # all\n  "{written}",\n  "clay>=1" ]\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    declared = next(each for each in Requirements(tmp_path, None).all_own() if each.distribution == "kiln")
    changed = raised(text, declared, "1.5")
    (tmp_path / "pyproject.toml").write_text(changed, encoding="utf-8")
    again = next(each for each in Requirements(tmp_path, None).all_own() if each.distribution == "kiln")
    allowed = Requirement(again.requirement).specifier
    assert "1.5" in allowed and "1.4" not in allowed
    assert changed == text.replace(written, raised_to)


def test_a_pin_is_not_raised(tmp_path: Path) -> None:
    text = '[project]\nname = "a"\nversion = "1"\ndependencies = ["kiln==1.0"]\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    (declared,) = Requirements(tmp_path, None).all_own()
    with pytest.raises(InputError):
        raised(text, declared, "1.5")


def test_releases_that_cannot_be_installed_do_not_count(index: FakeIndex, project: Path) -> None:
    index.pythons["potters_kiln-1.0-py3-none-any.whl"] = "<3.8"
    text = PROJECT.replace('version = "1"\n', 'version = "1"\nrequires-python = ">=3.9"\n')
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    report = json.loads(deps(index, project, "--format", "json").out)
    kiln = report["dependencies"][0]
    assert (kiln["state"], kiln["broken"]) == ("holds", [])
    target = next(each for each in report["targets"] if each["distribution"] == "potters-kiln")
    assert target["releases"]["checked"] == ["1.1", "1.2"]


def test_a_requirement_for_other_pythons_is_not_told(index: FakeIndex, project: Path) -> None:
    text = PROJECT.replace('"clay",', """"clay; python_version < '3.8'",""")
    text = text.replace('version = "1"\n', 'version = "1"\nrequires-python = ">=3.9"\n')
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    clay = json.loads(deps(index, project, "--format", "json").out)["dependencies"][1]
    assert clay["state"] == "not told"
    assert "on no Python that the project is for" in clay["reason"]


def test_each_way_of_installing_has_its_own_pythons(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """[project]
name = "a"
version = "1"
requires-python = ">=3.9"
dependencies = ["kiln>=1,<2; python_version < '3.12'", "kiln>=2; python_version >= '3.12'"]
""",
        encoding="utf-8",
    )
    (kiln,) = dependencies(tmp_path, (), "a")
    timeline = Timeline.of(["1.0", "1.5", "2.0", "3.0"])
    pythons = [{">=3.12"}, {">=3.6"}, {"<3.12"}, {None}]
    assert timeline.versions_of(kiln.allowed(timeline, pythons)) == ("1.5", "3.0")
    assert timeline.versions_of(kiln.lowest(timeline, pythons)) == ("1.5", "3.0")


def test_a_project_that_requires_nothing(index: FakeIndex, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "pyproject.toml").write_text('[project]\nname = "bare"\nversion = "1"\n', encoding="utf-8")
    result = deps(index, tmp_path / "bare")
    assert (result.status, result.out) == (0, "")
    assert "requires no other distribution" in result.err


def test_what_is_in_a_requirements_file_is_no_promise_of_a_project_that_requires_nothing(
    index: FakeIndex, project: Path
) -> None:
    (project / "requirements.txt").write_text("potters-kiln==1.0\n", encoding="utf-8")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "bare"\nversion = "1"\ndependencies = []\n', encoding="utf-8"
    )
    result = deps(index, project)
    assert (result.status, result.out) == (0, "")
    assert "requires no other distribution" in result.err
    (project / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert deps(index, project).out.splitlines()[0].startswith("potters-kiln==1.0  breaks with 1.0")


OLD_METADATA = "Metadata-Version: 2.1\nName: studio\nVersion: 1\n"


def test_what_setuptools_has_written_of_a_source_distribution(index: FakeIndex, project: Path) -> None:
    """Its metadata is of a version that need not have requirements."""
    (project / "pyproject.toml").unlink()
    (project / "setup.py").write_text("", encoding="utf-8")
    (project / "PKG-INFO").write_text(OLD_METADATA, encoding="utf-8")
    unknown = deps(index, project)
    assert (unknown.status, unknown.out) == (2, "")
    assert "no dependency is declared" in unknown.err
    inside = project / "studio.egg-info"
    inside.mkdir()
    (inside / "PKG-INFO").write_text(OLD_METADATA, encoding="utf-8")
    assert "requires no other distribution" in deps(index, project).err
    (inside / "requires.txt").write_text(
        "potters-kiln<2\n\n[:python_version < '3.4']\nclay\n\n[wheel]\npotters-wheel==1.0\n\n"
        "[wheel:python_version >= '3.4']\nglaze>=1\n",
        encoding="utf-8",
    )
    rows = json.loads(deps(index, project, "--format", "json").out)["dependencies"]
    assert [(row["distribution"], row["state"]) for row in rows] == [("potters-kiln", "breaks"), ("clay", "not told")]
    rows = json.loads(deps(index, project, "--extra", "wheel", "--format", "json").out)["dependencies"]
    assert [row["distribution"] for row in rows] == ["potters-kiln", "clay", "potters-wheel", "glaze"]


def test_several_modules_of_one_distribution_are_all_checked(index: FakeIndex, tmp_path: Path) -> None:
    folder = tmp_path / "studio"
    folder.mkdir()
    for version, extra in (("1.0", "def b(): ...\n"), ("1.1", "def b(x): ...\n")):
        files = {"one/__init__.py": "def a(): ...\n", "two.py": extra}
        if version == "1.1":
            del files["one/__init__.py"]
            files["other.py"] = ""
        index.add("pair", f"pair-{version}-py3-none-any.whl", make_wheel(files, "pair", version))
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "studio"\nversion = "1"\ndependencies = ["pair>=1"]\n', encoding="utf-8"
    )
    (folder / "studio.py").write_text("import one\nimport two\none.a()\ntwo.b()\n", encoding="utf-8")
    report = json.loads(deps(index, folder, "--format", "json").out)
    (target,) = report["targets"]
    assert target["compatible"] == ["1.0"]
    found = {(each["code"], each["line"], *each["releases"]) for each in report["findings"]}
    assert found >= {("DW202", 1, "1.1"), ("DW102", 4, "1.1")}
    assert report["dependencies"][0]["highest"] == "1.0"


def test_a_guard_that_asks_for_the_version_is_understood(index: FakeIndex, tmp_path: Path) -> None:
    """The module is the distribution's own, and its `__version__` is the release."""
    for version, source in (("1.0", "def dry(pot): ...\n"), ("2.0", "def bake(pot): ...\n")):
        files = {"oven/__init__.py": f"__version__ = {version!r}\n{source}"}
        index.add("oven", f"oven-{version}-py3-none-any.whl", make_wheel(files, "oven", version))
    folder = tmp_path / "guarded"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "guarded"\nversion = "1"\ndependencies = ["oven>=1"]\n', encoding="utf-8"
    )
    (folder / "guarded.py").write_text(
        "import oven\nfrom oven import __version__ as found\n\n\ndef old():\n    return found.startswith('1.')\n\n\n"
        "def fire(pot):\n    if old():\n        return oven.dry(pot)\n    return oven.bake(pot)\n",
        encoding="utf-8",
    )
    result = deps(index, folder)
    assert (result.status, result.out.splitlines()[0]) == (0, "oven>=1  holds with all 2 releases, 1.0 to 2.0")
