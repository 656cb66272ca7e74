"""What a project declares in a form that cannot be read is told, in every format; what can be read is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftwatch.project.declared import Requirements
from tests.cli_process import make_studio, run

PROJECT = '[project]\nname = "a"\n'
SETUP = "from setuptools import setup\n"

# ruff: noqa: E501 - a case is a line

BROKEN: dict[str, tuple[str, str, tuple[int, str]]] = {
    "text": ("pyproject.toml", f'{PROJECT}dependencies = "kiln>=1"\n', (3, "`dependencies` is text and not a list")),
    "number": ("pyproject.toml", f'{PROJECT}dependencies = [1, "kiln"]\n', (3, "`dependencies` has a number in it")),
    "table": ("pyproject.toml", f"{PROJECT}dependencies = {{kiln = 1}}\n", (3, "`dependencies` is a table and not")),
    "no_table": ("pyproject.toml", 'project = "kiln"\n', (1, "`project` is text and not a table")),
    "extras": ("pyproject.toml", f'{PROJECT}optional-dependencies = ["kiln"]\n', (3, "`optional-dependencies` is a list")),
    "extra": ("pyproject.toml", f'[project.optional-dependencies]\nx = "kiln"\n{PROJECT}', (2, "`x` is text and not a list")),
    "group": ("pyproject.toml", f'{PROJECT}[dependency-groups]\ndev = "kiln"\n', (4, "`dev` is text and not a list")),
    "poetry": ("pyproject.toml", '[tool.poetry]\n[tool.poetry.dependencies]\nkiln = "^1"\n', (2, "`tool.poetry` are not read")),
    "broken_script": ("setup.py", f'{SETUP}setup(install_requires=["kiln"]\n', (2, "it is not Python: '(' was never closed")),
    "function": ("setup.py", f'{SETUP}f = lambda: ["kiln"]\nsetup(install_requires=f())\n', (3, "`install_requires` is not")),
    "filled": ("setup.py", f'{SETUP}r = []\nr.append("kiln")\nsetup(install_requires=r)\n', (4, "`install_requires` is not")),
    "spread": ("setup.py", f'{SETUP}k = {{"install_requires": ["kiln"]}}\nsetup(**k)\n', (3, "what it gives `setup` is not")),
    "extras_made": ("setup.py", f'{SETUP}f = lambda: ["kiln"]\nsetup(extras_require={{"x": f()}})\n', (3, "`extras_require` is not")),
}  # fmt: skip
"""A file, and where of it what is told."""

READ: dict[str, tuple[str, str, list[tuple[str, str, int]]]] = {
    "list": ("setup.py", f'{SETUP}setup(\n  install_requires=[\n    "kiln>=1",\n  ])\n', [("kiln>=1", "", 4)]),
    "name": ("setup.py", f'{SETUP}R = ["kiln>=1"]\nsetup(install_requires=R + ["b"])\n', [("kiln>=1", "", 2)]),
    "lines": ("setup.py", f'{SETUP}setup(install_requires="kiln>=1\\nb")\n', [("kiln>=1", "", 2)]),
    "extra": ("setup.py", f'{SETUP}setup(extras_require={{"x": ["kiln>=1"]}})\n', [("kiln>=1", "x", 2)]),
    "module": ("setup.py", 'import setuptools\nsetuptools.setup(install_requires=("kiln",))\n', [("kiln", "", 2)]),
    "included": ("pyproject.toml", '[tool.setuptools.dynamic]\ndependencies = {file = "deps.txt"}\n', [("kiln==1", "", 1)]),
    "included_list": ("pyproject.toml", '[tool.setuptools.dynamic]\ndependencies = {file = ["deps.txt"]}\n', [("kiln==1", "", 1)]),
    "groups": ("pyproject.toml", f'{PROJECT}[dependency-groups]\ndev = [{{include-group = "x"}}, "kiln"]\n', [("kiln", "dev", 4)]),
}  # fmt: skip
"""A file, and what it requires: text, group and line."""


@pytest.mark.parametrize("kind", BROKEN)
def test_a_form_that_cannot_be_read_is_told(kind: str, tmp_path: Path) -> None:
    name, text, (line, said) = BROKEN[kind]
    (tmp_path / name).write_text(text)
    requirements = Requirements(tmp_path, ["kiln"])
    requirements.own("kiln")
    (notice,) = requirements.notices
    assert (notice.path, notice.line, notice.about) == (name, line, "kiln")
    assert said in notice.message
    assert notice.message.endswith("; what it requires of kiln is not known")
    of_another = Requirements(tmp_path, ["wheel"])
    assert of_another.own("wheel") == of_another.notices == ()


@pytest.mark.parametrize("kind", READ)
def test_what_is_written_out_is_read(kind: str, tmp_path: Path) -> None:
    name, text, expected = READ[kind]
    (tmp_path / name).write_text(text)
    (tmp_path / "deps.txt").write_text("kiln==1\n")
    requirements = Requirements(tmp_path, ["kiln"])
    assert [(each.requirement, each.group, each.line) for each in requirements.own("kiln")] == expected
    assert requirements.notices == ()


def test_what_a_script_works_out_does_not_matter_where_another_file_says_it(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(f'{SETUP}f = lambda: ["kiln"]\nsetup(install_requires=f())\n')
    (tmp_path / "requirements.txt").write_text("kiln>=1\n")
    requirements = Requirements(tmp_path, ["kiln"])
    assert [each.path for each in requirements.own("kiln")] == ["requirements.txt"]
    assert requirements.notices == ()


def test_a_script_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(f'{SETUP}open("trap", "w")\nsetup(install_requires=["kiln"])\n')
    assert Requirements(tmp_path, ["kiln"]).own("kiln")
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize("uses", [True, False])
def test_every_format_tells_what_is_not_known_used_or_not(uses: bool, tmp_path: Path) -> None:
    folder = make_studio(tmp_path)
    (folder / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2)\n" if uses else "x = 1\n")
    (folder / "broken.py").write_text("import kiln\nkiln.fire(\n")
    text = (folder / "pyproject.toml").read_text()
    (folder / "pyproject.toml").write_text(text + '\n[dependency-groups]\nx = "kiln"\n')
    formats = ("text", "json", "github", "sarif", "markdown", "junit", "html", "matrix")
    shown = {name: run("scan", "--format", name, cwd=folder).out for name in formats}
    for name, out in shown.items():
        assert "is text and not a list of requirements" in out, name
        assert "broken.py" in out, name
    told = [each["message"] for target in json.loads(shown["json"])["targets"] for each in target["notices"]]
    assert told == ["`x` is text and not a list of requirements; what it requires of kiln is not known"]
    matrix = run("matrix", ".", cwd=folder).out
    assert "is text and not a list of requirements" in matrix
    assert "of what could be read; 1 file could not be analysed" in matrix
