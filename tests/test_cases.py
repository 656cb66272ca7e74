"""The shapes of call sites in tests/cases: what driftwatch says of each is what happens when it runs, in all releases.

Nothing is written down here: every file is executed against a stub of every release, and the lines at which Python
raises are the expected ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.findings.finding import Severity
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.snapshot.model.history import History
from tests.differential.compare import Comparison
from tests.differential.programs import ANYTHING, Call, Program, Runner
from tests.differential.shipped import shipped, shipped_stubs
from tests.differential.truth import truth

CASES = Path(__file__).with_name("cases")
NAMES = sorted(path.stem for path in CASES.glob("*.py") if path.stem != "wrapper")
SILENT = {"capability_flag", "import_guarded", "subclass_complete", "second_try_without_it"}
"""Cases in which nothing is wrong in a release that has the names they use."""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("cases")
    (folder / "programs").mkdir()
    with Runner(shipped_stubs(folder / "stubs"), "flashinfer") as runner:
        yield Comparison(shipped(), runner, folder / "programs")


def program(name: str) -> Program:
    files = {f"{name}.py": (CASES / f"{name}.py").read_text(encoding="utf-8")}
    if name == "wrapper_in_another_file":
        files["wrapper.py"] = (CASES / "wrapper.py").read_text(encoding="utf-8")
    functions = [n for n in ast.parse(files[f"{name}.py"]).body if isinstance(n, ast.FunctionDef)]
    calls = [
        Call(function.name, {a.arg: (ANYTHING,) for a in function.args.args})
        for function in functions
        if function.name.startswith("run")
    ]
    return Program(files, name, tuple(calls))


def test_there_are_cases() -> None:
    assert len(NAMES) >= 21


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_execution_in_every_release(comparison: Comparison, name: str) -> None:
    found = list(comparison.of([program(name)]))
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_exactly_the_lines_that_break(comparison: Comparison, name: str, tmp_path: Path) -> None:
    """The whole scan: lines and releases. Where the file cannot be imported, nothing but the import was run."""
    case = program(name)
    for path, text in case.files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    result = scan(ScanRequest(paths=(tmp_path,), targets=(Watched(shipped()),), against=(">=0",), base=tmp_path))
    facts = truth(case, comparison.runner.run(case), "flashinfer")
    imported = {r for r, (_, runs) in facts.items() if runs[0].ended is None}
    expected = {
        (*fact.place, release)
        for release in imported
        for fact in facts[release][0]
        if fact.outcomes & {"raises", "silent"} and fact.outcomes != {"silent", "guarded"}
    }
    reported = {
        (finding.location.path, finding.location.line, release)
        for finding in result.findings
        if finding.severity is Severity.ERROR and finding.outcome is not None
        for release in set(shipped().timeline.versions_of(finding.releases)) & imported
    }
    assert reported == expected


def test_what_never_breaks_where_its_names_exist(comparison: Comparison) -> None:
    history: History = comparison.history
    releases = set(history.timeline.versions_of(history.timeline.matching(">=0.6.0")))
    for name in sorted(SILENT):
        said, _ = comparison.said([program(name)])
        errors = [e for path in said for e in said[path] if e.error and e.releases & releases]
        assert not errors, name
