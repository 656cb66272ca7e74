"""``driftwatch fix --pins``: what is required, where it is written, becomes releases that work."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.releases import Timeline
from driftwatch.repair.bounds import raised
from driftwatch.repair.model import NoRepairError
from tests.cli_process import make_studio, run

KNOWN = Timeline(("1.0", "1.1", "1.2", "2.0", "2.1"))


@pytest.mark.parametrize(
    ("written", "works", "expected"),
    [
        ("kiln>=1.0", ">=1.1", "kiln>=1.1"),
        ("kiln >= 1.0, < 3", ">=1.1,<2.1", "kiln >= 1.1, <= 2.0"),
        ("kiln", ">=1.2", "kiln>=1.2"),
        ("kiln[x]", ">=1.2,<=2.0", "kiln[x]>=1.2,<=2.0"),
        ("kiln==1.0", ">=1.1", "kiln==1.1"),
        ("kiln==2.1", "<2.0", "kiln==1.2"),
        ("kiln~=1.0", ">=1.1,<2", "kiln~=1.1,<=1.2"),
        ("kiln>1.0,!=1.2", ">=2", "kiln>=2.0,!=1.2"),
        ("kiln<2.0", "<=1.1", "kiln<=1.1"),
        ("kiln>=1.2", ">=1.1", "kiln>=1.2"),
        ("kiln>=1.0", "==1.0", "kiln>=1.0,<=1.0"),
    ],
)
def test_a_requirement_is_changed_as_far_as_it_must_be(written: str, works: str, expected: str) -> None:
    assert raised(written, KNOWN, KNOWN.matching(works)) == expected


@pytest.mark.parametrize("written", ["kiln~=1.0", "kiln @ git+https://example.org/kiln", "kiln<1.1"])
def test_a_requirement_that_no_bound_fixes_stays(written: str) -> None:
    with pytest.raises(NoRepairError):
        raised(written, KNOWN, KNOWN.matching(">=2.0"))


@pytest.fixture
def studio(tmp_path: Path) -> Path:
    folder = make_studio(tmp_path)
    (folder / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2, glaze=3)\n")
    return folder


def test_a_project_and_its_requirements_files(studio: Path) -> None:
    place = studio / "pyproject.toml"
    before = place.read_text() + "# the end\n"
    place.write_bytes(before.replace("\n", "\r\n").encode())
    (studio / "requirements.txt").write_text("other\nKiln ==1.0 ; python_version > '3'  # the oldest\n")
    done = run("fix", "--pins", "--write", cwd=studio)
    assert done.status == 0, done
    assert "pyproject.toml:4: `kiln>=1.0` is now `kiln>=1.1`" in done.err
    assert place.read_bytes() == before.replace("kiln>=1.0", "kiln>=1.1").replace("\n", "\r\n").encode()
    text = (studio / "requirements.txt").read_text()
    assert text == "other\nKiln ==1.1 ; python_version > '3'  # the oldest\n"
    assert run("scan", cwd=studio).status == 0
    again = run("fix", "--pins", cwd=studio)
    assert (again.status, again.out) == (0, "")


def test_a_setup_cfg(studio: Path) -> None:
    text = (studio / "pyproject.toml").read_text().replace('dependencies = ["kiln>=1.0"]\n', "")
    (studio / "pyproject.toml").write_text(text)
    (studio / "setup.cfg").write_text("[metadata]\nname = studio\n\n[options]\ninstall_requires =\n    kiln >=1.0\n")
    shown = run("fix", "--pins", cwd=studio)
    assert "-    kiln >=1.0\n+    kiln >=1.1\n" in shown.out
    assert (studio / "setup.cfg").read_text().endswith("kiln >=1.0\n")


def test_a_dockerfile_is_told_and_left(studio: Path) -> None:
    (studio / "Dockerfile").write_text("FROM python\nRUN pip install kiln==1.0\n")
    shown = run("fix", "--pins", cwd=studio)
    assert "Dockerfile:2: not changed: Dockerfile is not one of pyproject.toml, setup.cfg and requirements" in shown.err


def test_what_the_code_fixes_needs_no_bound(studio: Path) -> None:
    shown = run("fix", "--pins", "--unsafe", cwd=studio)
    assert "pyproject.toml" not in shown.out
    assert "_FIRE_TAKES_GLAZE" in shown.out
