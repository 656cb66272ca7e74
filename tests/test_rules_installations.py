"""DW601: what files pin, what is installed together, and where that does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.version import Version

from driftwatch.project.config import Config
from driftwatch.project.declared import Requirements
from driftwatch.project.pins import installations
from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from driftwatch.snapshot.store import store
from driftwatch.targets.target import shipped_targets
from tests.kiln import COMPANIONS, DISTRIBUTION
from tests.made_uses import KILN

NAMES = (DISTRIBUTION, *COMPANIONS)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {"app.py": "import kiln\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def scanned(*paths: Path, config: Config | None = None, against: str = "all") -> Report:
    target = Watched(KILN, companions=COMPANIONS)
    return scan(ScanRequest(paths, (target,), config or Config(), against=(against,), base=paths[0]))


def skews(*paths: Path, config: Config | None = None) -> list[tuple[str, int, str]]:
    result = scanned(*paths, config=config)
    return [(f.location.path, f.location.line, f.symbol) for f in result.findings if f.code == "DW601"]


PYPROJECT = """\
[project]
name = "pottery"
dependencies = [
    "click",
    "kiln==2.0",
]

[project.optional-dependencies]
fast = [
    "kiln-bricks==2.0",
]
slow = ["kiln-bricks==1.2", "kiln-fuel == 2.0"]
"""
METADATA = """\
Metadata-Version: 2.4
Name: pottery
License: something long
        
        kiln-bricks==1.0
Requires-Dist: kiln==2.0
Requires-Dist: kiln-bricks==1.1; extra == "fast"
Requires-Dist: kiln_fuel==2.0+gas ; extra == 'fast' and sys_platform == "linux"

Requires-Dist: kiln-fuel==1.0
"""  # noqa: W293 - as licenses stand in metadata
DOCKERFILE = """\
ARG KILN=2.0
FROM base AS build
RUN pip install \\
    # the bricks
    kiln-bricks==${KILN}+clay \\
    kiln-fuel==1.2 && echo kiln-fuel==1.1 done
FROM base
ARG FUEL=1.1
RUN uv pip install --system "kiln==2.1" 'kiln-fuel==$FUEL' https://host/kiln-bricks==1.0
RUN FUEL=2.1 && pip3 install kiln-fuel==$FUEL
RUN echo kiln-bricks==1.0
"""


BASE = """\
[project]
name = "pottery"
dependencies = ["{}"]
[project.optional-dependencies]
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": PYPROJECT}, [("pyproject.toml", 12, "kiln-bricks")]),
        ({"pottery-1.dist-info/METADATA": METADATA}, [("pottery-1.dist-info/METADATA", 7, "kiln-bricks")]),
        # The same requirements in another form are told once.
        ({"PKG-INFO": METADATA, "pottery.egg-info/PKG-INFO": METADATA}, [("PKG-INFO", 7, "kiln-bricks")]),
        ({"requirements.txt": "kiln==2.0\nkiln-bricks==2.0\n"}, []),
        ({"requirements.txt": "kiln==2.0\nkiln-bricks==2.0.0\n"}, []),
        ({"requirements.txt": "kiln==2.0\nkiln-bricks==2.0.post1\n"}, [("requirements.txt", 2, "kiln-bricks")]),
        ({"requirements.txt": "kiln==2.0\nkiln-bricks>=1.0\nkiln-fuel==1.*\n"}, []),
        ({"requirements.txt": "kiln>=2.0\nkiln-bricks==1.0\n"}, []),
        (
            {"requirements.txt": "kiln\nKiln.Bricks==1.0 # old\nkiln-fuel==1.1 --hash=x\n"},
            [("requirements.txt", 3, "kiln-fuel")],
        ),
        ({"requirements.txt": "kiln==2.0; python_version<'3'\nkiln-bricks==1.0; python_version>'3'\n"}, []),
        (
            {"requirements.txt": "kiln==2.0\nkiln-bricks==1.0; python_version>'3'\n"},
            [("requirements.txt", 2, "kiln-bricks")],
        ),
        ({"requirements.txt": "kiln==2.0; x\nkiln-bricks==1.0\n"}, []),
        # Files that are installed one after the other, and files that are not.
        (
            {"requirements/common.txt": "kiln==2.0\n", "requirements/gpu.txt": "-r common.txt\nkiln-fuel==1.0\n"},
            [("requirements/gpu.txt", 2, "kiln-fuel")],
        ),
        ({"requirements/a.txt": "-r b.txt\nkiln==2.0\n", "requirements/b.txt": "-r a.txt\nkiln-fuel==2.0\n"}, []),
        ({"requirements/a.txt": "kiln==2.0\n", "requirements/b.txt": "kiln==1.0\nkiln-fuel==1.0\n"}, []),
        # What pins a companion alone is held against the project's own pin, where there is just one.
        (
            {"pyproject.toml": PYPROJECT, "docker/requirements.txt": "kiln-fuel==1.2\n"},
            [
                ("docker/requirements.txt", 1, "kiln-fuel"),
                ("pyproject.toml", 12, "kiln-bricks"),
            ],
        ),
        (
            {"requirements/a.txt": "kiln==2.0\n", "requirements/b.txt": "kiln-fuel==1.0\n"},
            [("requirements/b.txt", 1, "kiln-fuel")],
        ),
        (
            {
                "requirements/a.txt": "kiln==2.0\n",
                "requirements/b.txt": "kiln-fuel==1.0\n",
                "requirements/c.txt": "kiln==1.0",
            },
            [],
        ),
        # A stage of a Dockerfile for itself; a variable of the shell is not known, nor is a choice made there.
        (
            {"requirements.txt": "kiln==2.0", "docker/Dockerfile": DOCKERFILE},
            [("docker/Dockerfile", 6, "kiln-fuel"), ("docker/Dockerfile", 9, "kiln-fuel")],
        ),
        (
            {
                "requirements.txt": "kiln==2.0",
                "Dockerfile.gpu": "RUN pip install kiln-fuel==2.0 || pip install kiln-fuel==1\n",
            },
            [],
        ),
        # Not the project's own, too deep, or not readable.
        ({"venv/requirements.txt": "kiln==2.0\nkiln-fuel==1.0"}, []),
        ({"pyproject.toml": "[project\nkiln==2.0 kiln-fuel==1.0"}, []),
        ({"pyproject.toml": "[project]\ndependencies = 'kiln==2.0'\noptional-dependencies = ['kiln-fuel==1.0']\n"}, []),
    ],
)
def test_pins_that_do_not_fit(tmp_path: Path, files: dict[str, str], expected: list[tuple[str, int, str]]) -> None:
    assert skews(write(tmp_path, files)) == expected


def test_what_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"requirements.txt": "kiln==2.0\n# bricks\nkiln-bricks==1.2+red\n"})
    (finding,) = scanned(tmp_path).findings
    assert (finding.severity.value, finding.name, finding.outcome) == ("warning", "package-skew", None)
    assert finding.message == (
        "`kiln-bricks` is pinned to 1.2, and `kiln` beside it to 2.0: they must be of one version"
    )
    assert finding.hint == "pin both to one; where there is no `kiln-bricks` 2.0, leave it out"
    assert (finding.location.column, finding.location.end_column) == (1, 21)
    assert [(step.path, step.line) for step in finding.trace] == [("requirements.txt", 1)]
    assert KILN.timeline.describe(finding.releases) == "2.0"
    # It is no less wrong where another release is checked, and no release is broken by it.
    older = scanned(tmp_path, against="<2")
    assert [f.severity.value for f in older.findings] == ["warning"]
    assert older.targets[0].compatible == older.targets[0].checked


def test_the_project_round_a_folder_speaks_once(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": PYPROJECT, "src/a.py": "import kiln\n", "tests/b.py": "import kiln\n"})
    assert skews(tmp_path / "src") == [("pyproject.toml", 12, "kiln-bricks")]
    result = scanned(tmp_path / "src", tmp_path / "tests")
    (finding,) = [f for f in result.findings if f.code == "DW601"]
    assert result.sources.path(finding.location.path) == tmp_path / "pyproject.toml"
    assert (result.sources.lines(finding.location.path) or ())[11].startswith("slow = ")
    assert skews(tmp_path / "src/a.py") == []


def test_the_range_and_the_pins_are_read_from_the_same_files(tmp_path: Path) -> None:
    """A report never says that a release is pinned here, and that no requirement was found."""
    files = {"requirements.txt": "-r deps/all.txt\n", "deps/all.txt": "kiln==1.2\nkiln-bricks==1.1\n"}
    write(tmp_path, {**files, "app.py": "import kiln\n\nkiln.fire(1, 2, heat=3)\n"})
    result = scan(ScanRequest((tmp_path,), (Watched(KILN, companions=COMPANIONS),), base=tmp_path))
    (target,) = result.targets
    assert KILN.timeline.describe(target.checked) == "1.2"
    assert target.origin == f"{tmp_path.name}'s own requirement kiln==1.2 (deps/all.txt)"
    assert {(f.code, f.severity.value, KILN.timeline.describe(f.releases)) for f in result.findings} == {
        ("DW101", "error", "1.2"),
        ("DW601", "warning", "1.2"),
    }


def test_pins_of_a_setup_cfg(tmp_path: Path) -> None:
    text = "[options]\ninstall_requires =\n    kiln==2.0\n    kiln-bricks==1.2\n"
    write(tmp_path, {"setup.cfg": text})
    assert skews(tmp_path) == [("setup.cfg", 4, "kiln-bricks")]


def test_a_broken_file_is_told_in_every_report(tmp_path: Path) -> None:
    write(tmp_path, {"src/pyproject.toml": "[project\ndependencies = ['kiln-bricks==1.0']\n"})
    result = scan(ScanRequest((tmp_path,), (Watched(KILN, companions=COMPANIONS),), base=tmp_path))
    report = result
    said = "at the end of a table declaration; what it requires of kiln-bricks is not known"
    assert f"  ATTENTION     src/pyproject.toml:1: not valid TOML: expected ']' {said}\n" in render(
        "text", report, RenderOptions()
    )
    for form in ("markdown", "github", "html", "sarif", "json"):
        assert said in render(form, report, RenderOptions()), form
    (notice,) = json.loads(render("json", report, RenderOptions()))["targets"][0]["notices"]
    assert (notice["path"], notice["line"]) == ("src/pyproject.toml", 1)


def test_what_the_project_has_decided_counts_here_too(tmp_path: Path) -> None:
    skewed = "kiln==2.0\nkiln-bricks==1.2  # driftwatch: ignore[DW601] patched bricks\n"
    write(tmp_path, {"requirements.txt": skewed, "old/requirements.txt": "kiln==2.0\nkiln-fuel==1.0\n"})
    config = Config(path=tmp_path / "pyproject.toml", exclude=("old",))
    result = scanned(tmp_path, config=config)
    assert result.findings == ()
    assert [(s.finding.code, s.reason) for s in result.suppressed] == [("DW601", "patched bricks")]


def test_pins_have_places_and_groups(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": PYPROJECT})
    pins = [pin for each in installations(Requirements(tmp_path, NAMES), NAMES) for pin in each.pins]
    assert {(p.distribution, p.version, p.line, p.column, p.end_column, p.group) for p in pins} == {
        ("kiln", Version("2.0"), 5, 6, 15, ""),
        ("kiln-bricks", Version("2.0"), 10, 6, 22, "fast"),
        ("kiln-bricks", Version("1.2"), 12, 10, 26, "slow"),
        ("kiln-fuel", Version("2.0"), 12, 30, 46, "slow"),
    }
    assert installations(Requirements(tmp_path, NAMES), ("kiln",)) == ()


def test_the_shipped_target_names_its_companions() -> None:
    (target,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
    assert target.companions == ("flashinfer-cubin", "flashinfer-jit-cache")


@pytest.mark.parametrize(
    ("pins", "said"),
    [
        ("flashinfer-python==0.6.12\nflashinfer-cubin==0.6.11\n", "importing the library raises RuntimeError"),
        (
            "flashinfer-python==0.7.4\nflashinfer-cubin==0.6.13\n",
            "the release ignores it with a warning, and cubins are",
        ),
        (
            "flashinfer-python==0.6.1\nflashinfer-jit-cache==0.6.11+cu130\n",
            "the release compares their text, and takes",
        ),
        ("flashinfer-python==0.7.1\nflashinfer-jit-cache==0.7.11\n", "importing the library raises RuntimeError"),
        ("flashinfer-python==0.6.14+cu130\nflashinfer-cubin==0.6.14\n", "importing the library raises RuntimeError"),
        # Either may be installed as a build of its own for some CUDA.
        ("flashinfer-python==0.6.14+cu130\nflashinfer-jit-cache==0.6.14\n", None),
        ("flashinfer-python==0.6.14\nflashinfer-jit-cache==0.6.14+cu130\n", None),
        ("flashinfer-python==0.7.4+cu130\nflashinfer-jit-cache==0.7.4\n", None),
        # No release before 0.4.0 looks for them.
        ("flashinfer-python==0.3.1\nflashinfer-cubin==0.6.11\n", None),
    ],
)
def test_what_a_release_does_beside_another_companion_is_told(tmp_path: Path, pins: str, said: str | None) -> None:
    (target,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
    write(tmp_path, {"requirements.txt": pins})
    watched = Watched(store.load(target.snapshots), target.data, target.companions)
    result = scan(ScanRequest((tmp_path,), (watched,), base=tmp_path))
    found = [f.message for f in result.findings if f.code == "DW601"]
    if said is None:
        assert found == []
    else:
        assert len(found) == 1 and f": {said}" in found[0]


def test_a_pin_of_a_fork_is_a_pin_of_the_library(tmp_path: Path) -> None:
    (target,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
    write(tmp_path, {"requirements.txt": "flashinfer-python-paddle==0.4.1\nflashinfer-cubin==0.5.0\n"})
    watched = Watched(store.load(target.snapshots), target.data, target.companions, target.aliases)
    result = scan(ScanRequest((tmp_path,), (watched,), base=tmp_path))
    assert [f.code for f in result.findings] == ["DW601"]
    assert result.targets[0].timeline.describe(result.targets[0].checked) == "0.4.1"


FLASHINFER = "flashinfer-python==0.6.12\n"
UV = """\
[project]
name = "engine"
dependencies = ["flashinfer-python==0.6.14", "flashinfer-cubin==0.6.14"]

[[tool.uv.index]]
url = "https://flashinfer.ai/whl"
"""
EXTRA = """\
[project]
name = "engine"
dependencies = ["flashinfer-python==0.6.12"]

[project.optional-dependencies]
fast = ["flashinfer-cubin>=0.6"]
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"requirements.txt": f"{FLASHINFER}flashinfer-cubin\n"}, [("DW602", "requirements.txt", 2)]),
        ({"requirements.txt": "flashinfer-python\nflashinfer-cubin==0.6.12\n"}, [("DW602", "requirements.txt", 1)]),
        ({"pyproject.toml": EXTRA}, [("DW602", "pyproject.toml", 6)]),
        # Pinned in another file, from a URL, or beside a release that does not look.
        ({"requirements.txt": f"{FLASHINFER}flashinfer-cubin\n", "constraints.txt": "flashinfer-cubin==0.6.12"}, []),
        ({"requirements.txt": f"{FLASHINFER}flashinfer-cubin @ https://host.org/cubin.whl\n"}, []),
        ({"requirements.txt": "flashinfer-python==0.3.1\nflashinfer-cubin\n"}, []),
        ({"requirements.txt": f"{FLASHINFER}flashinfer-cubin==0.6.12\n"}, []),
        # On the package index are the cubins up to 0.6.13, and no jit-cache.
        (
            {"requirements.txt": "flashinfer-python==0.6.14\nflashinfer-cubin==0.6.14\n"},
            [("DW603", "requirements.txt", 2)],
        ),
        ({"requirements.txt": f"{FLASHINFER}flashinfer-jit-cache==0.6.12\n"}, [("DW603", "requirements.txt", 2)]),
        ({"requirements.txt": f"--find-links wheels\n{FLASHINFER}flashinfer-jit-cache==0.6.12\n"}, []),
        ({"pyproject.toml": UV}, []),
        (
            {
                "Dockerfile": "FROM a\nRUN pip install flashinfer-jit-cache==0.6.12 --index-url https://flashinfer.ai/whl\n"
            },
            [],
        ),
        ({"requirements.txt": "flashinfer-python==99.1\nflashinfer-cubin==99.1\n"}, []),
    ],
)
def test_companions_that_an_installer_chooses_or_does_not_find(
    tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str, int]]
) -> None:
    (target,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
    watched = Watched(store.load(target.snapshots), target.data, target.companions)
    result = scan(ScanRequest((write(tmp_path, files),), (watched,), base=tmp_path))
    assert [(f.code, f.location.path, f.location.line) for f in result.findings] == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": BASE.format("kiln==2.0") + "new = ['kiln==2.1']\n"}, [("pyproject.toml", 5)]),
        ({"pyproject.toml": BASE.format("kiln==2.0") + "new = ['kiln==2.0+clay']\n"}, []),
        ({"pyproject.toml": BASE.format("kiln==2.0") + "new = ['kiln>=2.1']\n"}, []),
        ({"pyproject.toml": BASE.format("kiln") + "old = ['kiln==2.0']\nnew = ['kiln==2.1']\n"}, []),
        ({"pyproject.toml": BASE.format("kiln-fuel==2.0") + "new = ['kiln-fuel==2.1']\n"}, [("pyproject.toml", 5)]),
        ({"pyproject.toml": BASE.format("pot==2.0") + "new = ['pot==2.1']\n"}, []),
        (
            {
                "pyproject.toml": BASE.format("kiln==2.0; sys_platform=='linux'")
                + "new = ['kiln==2.1; os_name=='nt'']\n"
            },
            [],
        ),
        (
            {"requirements/a.txt": "kiln==2.0\n", "requirements/b.txt": "-r a.txt\nkiln==2.1\n"},
            [("requirements/b.txt", 2)],
        ),
        ({"requirements/a.txt": "kiln==2.0\n", "requirements/b.txt": "kiln==2.1\n"}, []),
        ({"Dockerfile": "FROM x\nRUN pip install kiln==2.0\nRUN pip install kiln==2.1\n"}, []),
    ],
)
def test_pins_that_no_installer_can_have_at_once(
    tmp_path: Path, files: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    result = scanned(write(tmp_path, files))
    found = [(f.location.path, f.location.line) for f in result.findings if f.code == "DW604"]
    assert found == expected
