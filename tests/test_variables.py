"""Environment variables: where a code base sets or reads one, and advisories that ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.errors import ConfigError
from driftwatch.project.python_files import PythonFiles
from driftwatch.project.variables import How, Variables
from driftwatch.releases import Timeline
from driftwatch.rules.advisories import knowledge
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.store.store import load as load_history
from driftwatch.system.tables import Table
from driftwatch.targets.target import shipped_targets

SET = {
    "import os\nos.environ['KILN'] = '0'": "0",
    "import os as o\no.environ.setdefault('KILN', '0')": "0",
    "from os import environ as e\ne['KILN'] = '0'": "0",
    "from os import environ\nenviron.update({'KILN': '0', 'POT': '1'})": "0",
    "from os import environ\nenviron.update(KILN='0')": "0",
    "import os\nos.environ |= {'KILN': '0'}": "0",
    "import os\nos.environ |= dict(KILN='0')": "0",
    "from os import putenv\nputenv('KILN', '0')": "0",
    "import os\nNAME, OFF = 'KILN', '0'\nos.environ['KILN'] = f()": None,
    "import os\nNAME = 'KILN'\nOFF = '0'\nos.environ[NAME] = OFF": "0",
    "import os\nOFF = '0'\nOFF = '1'\nos.environ['KILN'] = OFF": None,
    "import os\ndef f(v):\n    os.environ['KILN'] = v": None,
    "def test(monkeypatch):\n    monkeypatch.setenv('KILN', '0')": "0",
    "import os, subprocess\nsubprocess.run(x, env={**os.environ, 'KILN': '0'})": "0",
    "import os\nenv = os.environ.copy()\nenv['KILN'] = '0'": "0",
    "import os\nenv = dict(os.environ)\nenv.update(KILN='0')": "0",
}
READ = (
    "import os\nos.environ['KILN']",
    "import os\nos.environ.get('KILN', '0')",
    "import os\nos.getenv('KILN')",
    "from os import getenv as g\nNAME = 'KILN'\ng(NAME)",
    "import os\nif 'KILN' in os.environ: pass",
)
NEITHER = (
    "KILN = '0'",
    "env = {}\nenv['KILN'] = '0'",
    "settings.update(KILN='0')",
    "import os\nos.environ['POT'] = 'KILN'",
    "environ['KILN'] = '0'",
    "import os\nos.environ.pop('KILN', None)",
    "def broken(: 'KILN'",
    "# os.environ['KILN'] = '0'",
)


def touched(tmp_path: Path, source: str) -> list[tuple[How, str | None]]:
    path = tmp_path / "app.py"
    path.write_text(source + "\n")
    found = Variables(PythonFiles({"app.py": path})).touched("KILN")
    assert all(each.path == "app.py" and "KILN" in source for each in found)
    return [(each.how, each.value) for each in found]


@pytest.mark.parametrize("source", SET)
def test_what_sets_a_variable(tmp_path: Path, source: str) -> None:
    assert touched(tmp_path, source) == [(How.SET, SET[source])]


@pytest.mark.parametrize("source", READ)
def test_what_reads_one(tmp_path: Path, source: str) -> None:
    assert touched(tmp_path, source) == [(How.READ, None)]


@pytest.mark.parametrize("source", NEITHER)
def test_what_does_neither(tmp_path: Path, source: str) -> None:
    assert touched(tmp_path, source) == []


def test_files_are_read_when_they_are_asked_for_and_no_earlier(tmp_path: Path) -> None:
    gone = Variables(PythonFiles({"gone.py": tmp_path / "gone.py"}))
    assert gone.touched("KILN") == ()


(TARGET,) = (t for t in shipped_targets() if t.module == "flashinfer.comm")
FLASHINFER = load_history(TARGET.snapshots)
CALL = "import flashinfer.comm as comm\n\n\ndef make(mapping, n):\n    return comm.MoeAlltoAll(mapping, n, 4, n)\n"
LAUNCHER = "import os\n\nos.environ['TLLM_MOE_A2A_ONE_BLOCK_PER_TOKEN'] = '0'\n"


def told(root: Path, *, cache: Path | None = None) -> dict[str, list[tuple[str, int, str]]]:
    request = ScanRequest((root,), (Watched(FLASHINFER, TARGET.data),), against=("all",), cache=cache)
    found = [finding for finding in scan(request).findings if finding.name.startswith("one-sided-warps")]
    assert {finding.location.path for finding in found} <= {"engine/exchange.py"}
    return {finding.name: [(s.path, s.line, s.note) for s in finding.trace] for finding in found}


@pytest.mark.parametrize(
    ("path", "fires"), [("engine/launch.py", True), ("run.py", True), ("tests/test_exchange.py", False)]
)
def test_another_file_may_set_it_but_not_a_test(tmp_path: Path, path: str, fires: bool) -> None:
    """And a second scan, which analyses nothing again, looks at what is set now."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'engine'\n")
    for name, text in (("engine/exchange.py", CALL), (path, LAUNCHER)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    place = [(path, 3, "TLLM_MOE_A2A_ONE_BLOCK_PER_TOKEN is set to '0' here")]
    for _ in range(2):
        found = told(tmp_path, cache=tmp_path / "cache")
        assert found == ({"one-sided-warps-hang": place, "one-sided-warps-gone": place} if fires else {})
    (tmp_path / path).write_text(LAUNCHER.replace("'0'", "'1'"))
    assert set(told(tmp_path, cache=tmp_path / "cache")) == ({"one-sided-warps-gone"} if fires else set())


ENTRY = {
    "id": "hot",
    "symbol": "kiln:fire",
    "releases": "all",
    "severity": "note",
    "message": "m",
    "hint": "h",
    "evidence": ["e"],
}


@pytest.mark.parametrize(
    "condition", [{}, {"equals": [0]}, {"omitted": True}, {"read": "yes"}, {"parameter": "heat", "passed": True}]
)
def test_a_condition_on_a_variable_that_says_nothing_is_a_mistake(condition: dict[str, object]) -> None:
    entry = {**ENTRY, "when": [{"variable": "KILN", **condition}]}
    with pytest.raises(ConfigError):
        knowledge(Table({"advisory": [entry]}, "here"), Timeline(["1.0"]))
    good = {**ENTRY, "when": [{"variable": "KILN", "read": True}]}
    (advisory,) = knowledge(Table({"advisory": [good]}, "here"), Timeline(["1.0"])).advisories
    assert (advisory.conditions[0].variable, advisory.conditions[0].read) == ("KILN", True)
