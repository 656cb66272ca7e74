"""The counting of benchmarks/peers.py, on two small cases and what each tool prints of them; none of them is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

OLD, NEW = "0.6.7", "0.7.4"
CASES = {
    "direct.py": "from flashinfer.comm import allreduce_fusion as f\n\n\ndef run(x):\n    f(x, a=1)\n    f(x, b=1)\n",
    "caller.py": "import helper\n\n\ndef run(x):\n    return helper.make(group=x)\n",
    "helper.py": "import flashinfer.comm as comm\n\n\ndef make(**options):\n    return comm.make(**options)\n",
}
EXPECTED = f"""\
releases = ["{OLD}", "{NEW}"]

[breaks]
"direct.py" = {{ "{OLD}" = [5], "{NEW}" = [5, 6] }}
"caller.py" = {{ "{OLD}" = [5] }}
"helper.py" = {{}}
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType, ModuleType]]:
    """The benchmark's modules, which find each other in their folder."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    names = ("peer_cases", "peer_tools", "peers", "cost")
    try:
        import peer_cases
        import peer_tools
        import peers

        yield peer_cases, peer_tools, peers
    finally:
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in CASES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "expected.toml").write_text(EXPECTED, encoding="utf-8")
    return tmp_path


def test_cells(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    """A file that another one imports is no case of its own."""
    cases = scripts[0].read_cases(folder)
    assert cases.releases == (OLD, NEW)
    assert cases.files == {"caller.py": {"caller.py", "helper.py"}, "direct.py": {"direct.py"}}
    assert cases.breaking() == [("caller.py", OLD), ("direct.py", OLD), ("direct.py", NEW)]
    assert cases.silent() == [("caller.py", NEW)]


def test_score(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    """All lines that raise, or it is not caught; any line of the case, and it is false; in its own release alone."""
    peer_cases = scripts[0]
    cases = peer_cases.read_cases(folder)

    def of(old: set[tuple[str, int]], new: set[tuple[str, int]]) -> tuple[set[object], set[object], set[object]]:
        score = peer_cases.score(cases, {OLD: old, NEW: new})
        return set(score.caught), set(score.false), set(score.elsewhere)

    assert of(set(), set()) == (set(), set(), set())
    assert of({("direct.py", 5), ("caller.py", 5)}, {("direct.py", 5), ("direct.py", 6)}) == (
        {("direct.py", OLD), ("caller.py", OLD), ("direct.py", NEW)},
        set(),
        set(),
    )
    assert of(set(), {("direct.py", 5)}) == (set(), set(), set())
    assert of({("direct.py", 5), ("direct.py", 6)}, set()) == ({("direct.py", OLD)}, set(), {(OLD, ("direct.py", 6))})
    assert of({("helper.py", 5)}, {("helper.py", 5)}) == (set(), {("caller.py", NEW)}, {(OLD, ("helper.py", 5))})


def test_cases_without_facts_are_run(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    peer_cases = scripts[0]
    (folder / "expected.toml").unlink()
    text = "from flashinfer.comm import {} as it\n\n\ndef run(x):\n    return it\n"
    (folder / "direct.py").write_text(text.format("MoeAlltoAll"), encoding="utf-8")
    (folder / "helper.py").write_text(text.format("allreduce_fusion"), encoding="utf-8")
    (folder / "caller.py").write_text("import helper\n\n\ndef run(x):\n    helper.it(gone=x)\n", encoding="utf-8")
    cases = peer_cases.read_cases(folder)
    assert cases.releases == peer_cases.RELEASES
    assert cases.breaks == {
        "0.6.7": {("caller.py", 5)},
        "0.6.12": {("caller.py", 5)},
        "0.7.4": {("caller.py", 5), ("direct.py", 1)},
    }


PYRIGHT = {
    "generalDiagnostics": [
        {"file": "{}/direct.py", "range": {"start": {"line": 4}}, "rule": "reportCallIssue", "message": "No parameter"},
        {"file": "{}/direct.py", "range": {"start": {"line": 5}}, "rule": "reportArgumentType", "message": "Argument"},
        {"file": "{}/../library/flashinfer/direct.py", "range": {"start": {"line": 0}}, "rule": "reportCallIssue"},
        {"file": "{}/helper.py", "range": {"start": {"line": 0}}, "message": "no rule"},
    ]
}
MYPY = [
    {"file": "direct.py", "line": 5, "code": "call-arg", "severity": "error"},
    {"file": "direct.py", "line": 6, "code": "arg-type", "severity": "error"},
    {"file": "helper.py", "line": 1, "code": None, "severity": "note"},
    {"file": "../library/flashinfer/direct.py", "line": 6, "code": "call-arg", "severity": "error"},
]
TY = """\
direct.py:5:12: error[unknown-argument] Argument `gone` does not match any known parameter of function `f`
direct.py:6:7: error[invalid-argument-type] Argument to function `f` is incorrect
../library/flashinfer/direct.py:6:12: error[unknown-argument] Argument `gone` does not match
Found 3 diagnostics
"""
PYREFLY = {
    "errors": [
        {"path": "direct.py", "line": 5, "name": "unexpected-keyword", "description": "gone"},
        {"path": "direct.py", "line": 6, "name": "bad-override", "description": "overrides"},
    ]
}
PYLINT = [
    {"path": "direct.py", "line": 5, "symbol": "unexpected-keyword-arg", "type": "error"},
    {"path": "direct.py", "line": 1, "symbol": "missing-module-docstring", "type": "convention"},
]


def test_what_the_tools_print(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    """The same of each: the line whose rule claims a break, in the files that are checked."""
    peer_tools = scripts[1]
    place = peer_tools.Place(folder, ".", folder.parent / "library")
    printed = {
        "pyright": json.dumps(PYRIGHT).replace("{}/", f"{folder.as_posix()}/"),
        "mypy": "".join(f"{json.dumps(row)}\n" for row in MYPY) + "Found 3 errors\n",
        "ty": TY,
        "pyrefly": json.dumps(PYREFLY),
        "pylint": json.dumps(PYLINT),
    }
    assert {tool.name for tool in peer_tools.TOOLS} == printed.keys() == peer_tools.API_RULES.keys()
    for tool in peer_tools.TOOLS:
        assert tool.api_lines(printed[tool.name], place) == {("direct.py", 5)}, tool.label


def test_what_driftwatch_reports(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    """A real scan: breaks are counted, a guarded import and advice are not."""
    peers = scripts[2]
    guarded = "try:\n    from flashinfer.comm import MoeAlltoAll\nexcept ImportError:\n    MoeAlltoAll = None\n"
    (folder / "guarded.py").write_text(guarded, encoding="utf-8")
    cases = scripts[0].read_cases(folder)
    said = peers.said_by_driftwatch(cases)
    assert said == {OLD: {("direct.py", 5), ("direct.py", 6), ("helper.py", 5)}, NEW: said[OLD]}


def test_the_table(scripts: tuple[ModuleType, ...], folder: Path) -> None:
    peer_cases, _, peers = scripts
    cost = sys.modules["cost"].Cost
    cases = peer_cases.read_cases(folder)
    everything = {OLD: {("direct.py", 5), ("caller.py", 5)}, NEW: {("direct.py", 5), ("direct.py", 6)}}
    scores = {
        "tool 1": peer_cases.score(cases, {OLD: {("direct.py", 5)}, NEW: {("helper.py", 5)}}),
        "driftwatch 1": peer_cases.score(cases, everything),
    }
    costs = {
        "tool 1": [cost(8.0, 9.0), cost(2.0, 3.0), cost(3.0, 4.0)],
        "griffe 1": [cost(1.0, 1.0)] * 3,
        "driftwatch 1": [cost(2.0, 1.0), cost(2.0, 1.0), cost(2.0, 1.0)],
    }
    assert [*peers.table(cases, scores, costs, "driftwatch 1")][1:] == [
        "| tool | caught of 3 | false of 1 | wall s | / driftwatch, cold | cpu s | knows releases |",
        "|---|---|---|---|---|---|---|",
        "| tool 1 | 1 | 1 | 3.0 | 1.50 | 4.0 | one |",
        "| griffe 1 | no call sites |  | 1.0 | 0.50 | 1.0 | two |",
        "| driftwatch 1 | 3 | 0 | 2.0 | 1.00 | 1.0 | all, in one run |",
    ]
    assert [*peers.by_case(cases, scores)][2:] == [
        f"| caller.py | {OLD} | 0 false: {NEW} | 1 |",
        f"| direct.py | {OLD}, {NEW} | 1 | 2 |",
    ]


def test_the_readme_agrees_with_the_measured_table() -> None:
    """Its rows are rows of docs/peers.md, with fewer columns."""

    def tables(path: str) -> Iterator[dict[str, str]]:
        rows = [line for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        head = next(line for line in rows if line.startswith("| tool |"))
        for row in rows[rows.index(head) + 2 :]:
            if row.count("|") != head.count("|"):
                return
            yield dict(zip(*([cell.strip() for cell in line.split("|")[1:-1]] for line in (head, row)), strict=True))

    measured = {row["tool"]: row for row in tables("docs/peers.md")}
    told = list(tables("README.md"))
    assert len(told) == 6
    for row in told:
        assert row == {column: measured[row["tool"]][column] for column in row}
