"""How the time of an analysis grows, and that nothing is done which need not be; seconds are for benchmarks/scan.py."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import libcst as cst
import pytest

from driftwatch.flow.project import analyse
from driftwatch.flow.syntax.survey import Survey, survey
from driftwatch.flow.syntax.syntax import Tree, of_parsed, parse
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.store import store
from tests.conftest import ROOT

CALLER = """\
import flashinfer.comm as comm

TAKES = hasattr(comm, "allreduce_fusion")


class Fusion{i}:
    def __init__(self, group):
        self.options = {{"trigger_completion_at_end": True}}
        if TAKES:
            self.options["group"] = group

    def reduce(self, x, workspace):
        try:
            return comm.allreduce_fusion(input=x, workspace=workspace, pattern=0, **self.options)
        except TypeError:
            return None
"""
USER = "from adapter_{i} import Fusion{i}\n\n\ndef run(x, group):\n    return Fusion{i}(group).reduce(x, None)\n"

IDLE = """\
import flashinfer.comm as comm


class Engine:
    def reduce(self, x):
        return comm.allreduce_fusion(x)


class Speaker:
    def speak(self, text):
        words = text.split()
        for word in words:
            print(word)
        return len(words)

    def write(self, text):
        with open("log") as file:
            file.write(text)
            file.flush()
        return self


def other(text):
    return text.upper()
"""


@pytest.fixture(scope="module")
def history() -> History:
    return store.load(store.shipped() / "flashinfer-python")


def best_of(times: int, work: Callable[[], object]) -> float:
    """The least processor time that it took: what else runs on the machine only adds to it."""
    taken: list[float] = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def scan(folder: Path, history: History) -> float:
    paths = sorted(folder.glob("*.py"))
    return best_of(3, lambda: analyse(folder, paths, [history]))


@pytest.mark.slow
def test_ten_times_the_files_take_about_ten_times_as_long(tmp_path: Path, history: History) -> None:
    for name, times in (("one", 10), ("ten", 100)):
        (tmp_path / name).mkdir()
        for i in range(times):
            (tmp_path / name / f"adapter_{i}.py").write_text(CALLER.format(i=i), encoding="utf-8")
            (tmp_path / name / f"user_{i}.py").write_text(USER.format(i=i), encoding="utf-8")
    scan(tmp_path / "one", history)
    assert scan(tmp_path / "ten", history) < 14 * scan(tmp_path / "one", history)


@pytest.mark.slow
def test_all_releases_together_cost_little_more_than_one(history: History) -> None:
    newest = store.snapshot_of(history, history.timeline.versions[-1])
    single = merge(history.distribution, history.module, [newest])
    cases = ROOT / "tests" / "cases"
    scan(cases, history)
    assert len(history.timeline) > 50
    assert scan(cases, history) < 2 * scan(cases, single)


def test_what_has_nothing_to_do_with_the_library_is_not_made_into_syntax(
    tmp_path: Path, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine.py").write_text(IDLE, encoding="utf-8")
    (tmp_path / "other.py").write_text("import json\n\n\ndef dump(x):\n    return json.dumps(x)\n", encoding="utf-8")
    trees: list[Tree] = []
    surveyed: list[str] = []

    def make(path: str, text: str, offset: int = 0) -> Tree:
        trees.append(parse(path, text, offset))
        return trees[-1]

    def remake(path: str, text: str, offset: int, statements: Sequence[ast.stmt]) -> Tree:
        trees.append(of_parsed(path, text, offset, statements))
        return trees[-1]

    def look(text: str) -> Survey | None:
        surveyed.append(text)
        return survey(text)

    monkeypatch.setattr("driftwatch.flow.interpreter.modules.parse", make)
    monkeypatch.setattr("driftwatch.flow.interpreter.modules.of_parsed", remake)
    monkeypatch.setattr("driftwatch.flow.sources.files.survey", look)
    analysis = analyse(tmp_path, sorted(tmp_path.glob("*.py")), [history])
    made = [node for tree in trees if tree.concrete is not None for node in tree.concrete.origins]
    names = {node.value for node in made if isinstance(node, cst.Name)}
    assert [use.location.line for use in analysis.uses] == [1, 6, 6]
    assert "allreduce_fusion" in names
    assert names.isdisjoint({"speak", "words", "flush", "upper"})
    assert surveyed == [IDLE]


@pytest.mark.parametrize("module", ["driftwatch.cli.scan", "driftwatch.scan.pipeline"])
def test_what_a_scan_imports_is_what_it_needs(module: str) -> None:
    heavy = ("griffe", "libcst", "libcst.metadata", "pypi_simple", "remotezip", "requests")
    program = f"import sys, {module}\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
