"""DW605: where a code base refuses releases at run time, and what it pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.project.python_files import PythonFiles
from driftwatch.project.version_checks import VersionChecks
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from tests.made_uses import KILN

HELPER = """\
from importlib.metadata import PackageNotFoundError, version
def needs(pkg, least, message):
    try:
        installed = version(pkg)
        if parse(installed) < parse(least):
            raise Exception(message)
    except PackageNotFoundError:
        raise
"""
FOUND = {
    "if version('kiln') < Version('2.0'):\n    raise E": 1,
    "if parse(importlib.metadata.version('Kiln')) < parse('2.0'):\n    raise E": 1,
    "if on:\n    if V(pkg.get_distribution('kiln').version) < V('2.0'):\n        log()\n        raise E()": 2,
    "def needs(p, v):\n    if V(version(p)) < V(v):\n        raise E\nneeds('kiln', '2.0')": 4,
    "from helper import needs\nneeds('kiln', '2.0', 'why')": 2,
    "from helper import needs as n\nif x:\n    n('KILN', '2.0', 'why')": 3,
    "from again import needs\nneeds('kiln', '2.0', 'why')": 2,
}
NOT_FOUND = (
    "if version('kiln') < Version('2.0'):\n    log()",  # told, not refused
    "if version('kiln') > Version('2.0'):\n    raise E",
    "if version('kiln') < LEAST:\n    raise E",
    "if version('kiln') < Version('no version'):\n    raise E",
    "if version('stove') < Version('2.0'):\n    raise 'kiln'",
    "if lookup('kiln') < Version('2.0'):\n    raise E",
    "def needs(p, v):\n    raise E\nneeds('kiln', '2.0')",
    "from elsewhere import needs\nneeds('kiln', '2.0', 'why')",
    "from helper import other\nother('kiln', '2.0', 'why')",
    "def broken(: 'kiln'",
    # It raises, and the program goes on.
    "try:\n    {check}\nexcept Exception:\n    log()",
    "try:\n    {missing}\nexcept (OSError, ImportError):\n    a = 1",
    "from helper import needs\ntry:\n    needs('kiln', '2.0', 'why')\nexcept:\n    pass",
    # It is never made.
    "if TYPE_CHECKING:\n    {check}",
    "if False:\n    {check}",
    "def _old():\n    {check}",
    "def start():\n    return\n    {check}",
)
CHECK = "if version('kiln') < Version('2.0'):\n        raise E"
MISSING = CHECK.replace("raise E", "raise ModuleNotFoundError")
REACHED = {
    "try:\n    {check}\nexcept Exception as e:\n    raise Other from e": "",
    "try:\n    {check}\nexcept Exception:\n    sys.exit(1)": "",
    "try:\n    {check}\nexcept (PackageNotFoundError, ImportError):\n    pass": "",
    "def _old():\n    {check}\n_old()": "",
    "def public():\n    {check}": "",
    "if fast and \\\n    on:\n    {check}": "fast and on",
    "if slow:\n    pass\nelse:\n    {check}": "not (slow)",
    "if on:\n    def start():\n        return 1\n    {check}": "on",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return folder


def checks(folder: Path, source: str) -> list[tuple[str, int, str]]:
    files = {"app.py": source, "helper.py": HELPER, "again.py": "from helper import *"}
    write(folder, files)
    found = VersionChecks(PythonFiles({name: folder / name for name in files})).of("kiln")
    return [(each.path, each.line, str(each.least)) for each in found]


@pytest.mark.parametrize(("source", "line"), FOUND.items())
def test_a_check_that_raises_is_found(tmp_path: Path, source: str, line: int) -> None:
    assert checks(tmp_path, source) == [("app.py", line, "2.0")]


@pytest.mark.parametrize("source", NOT_FOUND)
def test_what_does_not_refuse_is_none(tmp_path: Path, source: str) -> None:
    assert checks(tmp_path, source.replace("{check}", CHECK).replace("{missing}", MISSING)) == []


@pytest.mark.parametrize(("source", "where"), REACHED.items())
def test_a_check_is_told_with_the_tests_that_lead_to_it(tmp_path: Path, source: str, where: str) -> None:
    (tmp_path / "app.py").write_text(source.replace("{check}", CHECK))
    (found,) = VersionChecks(PythonFiles({"app.py": tmp_path / "app.py"})).of("kiln")
    assert found.where == where


def test_a_check_in_a_package_of_the_scanned_folder(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/utils/__init__.py": "from .common import needs",
        "pkg/utils/common.py": HELPER,
        "pkg/start.py": "from pkg.utils import needs\nneeds('kiln', '2.0', 'why')",
        "pkg/near.py": "from .utils.common import needs\nneeds('kiln', '1.1', 'why')",
    }
    write(tmp_path, files)
    for folder in (tmp_path, tmp_path / "pkg"):
        paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
        found = VersionChecks(PythonFiles(paths)).of("kiln")
        assert [(each.path.rpartition("/")[2], str(each.least)) for each in found] == [
            ("near.py", "1.1"),
            ("start.py", "2.0"),
        ]


@pytest.mark.parametrize(
    ("pin", "least", "told"),
    [
        ("kiln==1.2", "2.0", True),
        ("kiln==2.0", "2.0", False),
        ("kiln==2.1", "2.0", False),
        ("kiln>=1.2", "2.0", False),
        ("kiln==2.0+clay", "2.0", False),
    ],
)
@pytest.mark.parametrize("place", ["app.py", "src/app.py"])
def test_a_pin_is_held_against_the_check(tmp_path: Path, pin: str, least: str, told: bool, place: str) -> None:
    source = f"import kiln\nif version('kiln') < Version('{least}'):\n    raise E"
    write(tmp_path, {place: source, "requirements.txt": pin})
    target = Watched(KILN, companions=("kiln-bricks",))
    result = scan(ScanRequest((tmp_path,), (target,), against=("all",), base=tmp_path))
    found = [each for each in result.findings if each.code == "DW605"]
    assert [(each.location.path, each.location.line) for each in found] == [("requirements.txt", 1)] * told
    assert [step.path for each in found for step in each.trace] == [place] * told
    assert all("older than 2.0" in each.message and "where" not in each.message for each in found)


def test_the_message_names_what_else_must_hold(tmp_path: Path) -> None:
    source = "import kiln\nif fast:\n    if version('kiln') < Version('2.0'):\n        raise E"
    write(tmp_path, {"app.py": source, "requirements.txt": "kiln==1.2"})
    target = Watched(KILN, companions=("kiln-bricks",))
    result = scan(ScanRequest((tmp_path,), (target,), against=("all",), base=tmp_path))
    (found,) = [each for each in result.findings if each.code == "DW605"]
    assert found.message.endswith("older than 2.0, where `fast`")


def test_a_check_of_a_test_is_none_of_the_program(tmp_path: Path) -> None:
    source = "import kiln\nif version('kiln') < Version('2.0'):\n    raise E"
    write(tmp_path, {"tests/test_app.py": source, "requirements.txt": "kiln==1.2"})
    target = Watched(KILN, companions=("kiln-bricks",))
    result = scan(ScanRequest((tmp_path,), (target,), against=("all",), base=tmp_path))
    assert [each.code for each in result.findings if each.code == "DW605"] == []
