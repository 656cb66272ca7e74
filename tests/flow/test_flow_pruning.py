"""The law for speed: what is skipped changes nothing. With a kind of pruning switched off, the same uses are found.

Held are the places at which something of the library is used and with what, what the rules say of it, and what stayed
unresolved. Which of several ways to one place is told, and whether the same call is recorded once or twice, may differ.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from driftwatch.flow.domain.code import ModuleCode
from driftwatch.flow.project import Analysis, analyse
from driftwatch.flow.sources import relevance
from driftwatch.flow.sources.relevance import Selection
from driftwatch.flow.uses import CallUse
from driftwatch.rules import apply
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.store import store
from tests.conftest import ROOT
from tests.differential.generate import generate
from tests.differential.menu import Menu
from tests.flow import marked
from tests.flow.programs import PROGRAMS
from tests.flow.pruning import KINDS, changed, off, write

GENERATED = 200

KNOWN = "put_by_others_"
"""Programs of which a use is lost when more is looked at: a file that fills another one is analysed too early then."""

ALONE_AND_TOGETHER = [*(pytest.param((kind,), id=kind) for kind in KINDS), pytest.param(KINDS, id="together")]


@pytest.fixture(scope="module")
def small() -> dict[str, str]:
    """All marked programs and some generated ones, each in a folder of its own."""
    menu = Menu.of(marked.history())
    programs = [program for program in PROGRAMS if not program.name.startswith(KNOWN)]
    found = {f"{program.name}/{path}": text for program in programs for path, text in program.files.items()}
    for number in range(GENERATED):
        program = generate(random.Random(number), menu, f"p{number}")
        found.update({f"generated_{number}/{path}": text for path, text in program.files.items()})
    return found


@pytest.fixture(scope="module")
def shipped() -> History:
    return store.load(store.shipped() / "flashinfer-python")


@pytest.fixture(scope="module")
def cases() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "cases").glob("*.py")}


def facts(analysis: Analysis, history: History) -> set[str]:
    """Where something of the library is used, what is said of it, and what is not known; for each file by itself."""
    context = {history.distribution: Context(history, history.timeline.all)}
    found = {f"{use.location.path}: {use.location} {type(use).__name__} {_what(use)}" for use in analysis.uses}
    for verdict in apply(analysis.uses, context):
        said = (verdict.code, verdict.symbol, verdict.parameter, verdict.releases, verdict.conditional, verdict.catch)
        found.add(f"{verdict.location.path}: {verdict.location} {said}")
    return found | {f"{each.path}: {each.line} {each.reason}" for each in analysis.unresolved}


def _what(use: object) -> str:
    return str([getattr(use, name, "") for name in ("module", "owner", "name", "callee", "base")])


def found(folder: Path, files: Mapping[str, str], history: History, kinds: tuple[str, ...] = ()) -> set[str]:
    """The facts of the files, but for what is only there so that nothing is skipped."""
    last = {path: text.count("\n") for path, text in files.items()}
    paths = write(folder, changed(files, kinds, history.module))
    analysis = analyse(folder, paths, [history])
    uses = tuple(use for use in analysis.uses if use.location.line <= last[use.location.path])
    return facts(Analysis(uses, analysis.unresolved, analysis.diagnostics, analysis.files, analysis.analysed), history)


def differing(one: set[str], other: set[str]) -> str:
    return "\n".join(f"{'+' if each in other else '-'} {each}" for each in sorted(one ^ other))


@pytest.fixture(scope="module")
def expected(small: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return found(tmp_path_factory.mktemp("expected"), small, marked.history())


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ALONE_AND_TOGETHER)
def test_nothing_is_lost_of_small_programs(
    kinds: tuple[str, ...], small: dict[str, str], expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off(monkeypatch, kinds)
    without = found(tmp_path, small, marked.history(), kinds)
    assert not differing(expected, without), differing(expected, without)


@pytest.mark.parametrize("kinds", ALONE_AND_TOGETHER)
def test_nothing_is_lost_of_real_code(
    kinds: tuple[str, ...], cases: dict[str, str], shipped: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(tmp_path / "with", cases, shipped)
    off(monkeypatch, kinds)
    without = found(tmp_path / "without", cases, shipped, kinds)
    assert not differing(expected, without), differing(expected, without)


@pytest.mark.slow
def test_what_is_kept_is_what_was_found(small: dict[str, str], expected: set[str], tmp_path: Path) -> None:
    paths, history = write(tmp_path / "code", small), marked.history()
    for _ in range(2):
        analysis = analyse(tmp_path / "code", paths, [history], cache=tmp_path / "cache")
        assert facts(analysis, history) == expected


@pytest.mark.slow
def test_a_pruning_that_skips_one_use_is_noticed(
    small: dict[str, str], expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first function of one file that calls the library is held to be irrelevant."""
    path = next(each.split(":")[0] for each in sorted(expected) if CallUse.__name__ in each)
    select = relevance.select

    def forgetful(code: ModuleCode, *rest: object) -> Selection:
        selection = select(code, *rest)  # type: ignore[arg-type]
        return Selection(selection.runs[:-1]) if code.path == path else selection

    monkeypatch.setattr("driftwatch.flow.interpreter.modules.select", forgetful)
    lost = expected - found(tmp_path, small, marked.history())
    assert {each.split(":")[0] for each in lost} == {path}
