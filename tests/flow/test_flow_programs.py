"""Every shape of call site the interpreter knows, as a small program with exact marks; Python itself is asked too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.differential import library
from tests.differential.compare import Comparison
from tests.differential.programs import Runner
from tests.flow.marked import Marked, analysed, history, said
from tests.flow.programs import PROGRAMS
from tests.stubs import write_stub


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "files").mkdir()
    stubs = {s.release: write_stub(s, folder / "stubs" / s.release, "lib-dist") for s in library.snapshots()}
    with Runner(stubs, "lib") as runner:
        yield Comparison(history(), runner, folder / "files")


def test_names_tell_the_programs_apart() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_says_exactly_what_is_marked(program: Marked, tmp_path: Path) -> None:
    analysis = analysed(tmp_path, program.files)
    assert not analysis.diagnostics
    assert said(analysis) == program.marks


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.runs], ids=lambda program: program.name)
def test_is_what_python_does(program: Marked, comparison: Comparison) -> None:
    found = list(comparison.of([program.program]))
    assert not found, "\n".join(map(str, found))
