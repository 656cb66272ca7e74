"""What is listed as not done yet: Python holds the marks to be true, and driftwatch does not say them all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.differential import library
from tests.differential.compare import Comparison, Said
from tests.differential.programs import Place, Program, Runner
from tests.flow.marked import Marked, analysed, history, said
from tests.flow.programs.call_graph import CATEGORIES, KNOWN, NOT_YET
from tests.stubs import write_stub


class OfMarks(Comparison):
    """Holds the marks of a program, in place of what the analysis says, against what Python does."""

    marked: Marked

    def said(self, programs: Iterable[Program]) -> tuple[dict[str, list[Said]], set[Place]]:
        found: dict[str, list[Said]] = {}
        for mark in self.marked.marks:
            if " ? " not in mark:
                each = _said(mark)
                found.setdefault(each.place[0], []).append(each)
        return found, set()


def _said(mark: str) -> Said:
    place, code, parameter, rest = mark.split(" ", 3)
    releases, _, outcome = rest.rpartition(" ")
    path, _, line = place.partition(":")
    return Said((path, int(line)), code, parameter, parameter, _releases()[releases], outcome, True)


@cache
def _releases() -> dict[str, frozenset[str]]:
    """The sets of releases by how reports print them."""
    timeline = history().timeline
    versions = timeline.versions_of(timeline.all)
    sets = (s for n in range(len(versions)) for s in itertools.combinations(versions, n + 1))
    return {timeline.describe(timeline.set_of(s)): frozenset(s) for s in sets}


@pytest.fixture(scope="module")
def of_marks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfMarks]:
    folder = tmp_path_factory.mktemp("call_graph")
    stubs = {s.release: write_stub(s, folder / s.release, "lib-dist") for s in library.snapshots()}
    with Runner(stubs, "lib") as runner:
        yield OfMarks(history(), runner, folder)


def test_the_list_names_programs_and_says_why() -> None:
    assert set(KNOWN) == {program.name for program in NOT_YET}
    assert all(KNOWN.values())


def test_every_category_has_programs() -> None:
    assert min(map(len, CATEGORIES.values())) >= 5


@pytest.mark.parametrize("program", NOT_YET, ids=lambda program: program.name)
def test_is_not_said_yet(program: Marked, tmp_path: Path) -> None:
    assert said(analysed(tmp_path, program.files)) != program.marks, "driftwatch says it now: take it out of the list"


@pytest.mark.parametrize("program", NOT_YET, ids=lambda program: program.name)
def test_the_marks_are_what_python_does(program: Marked, of_marks: OfMarks) -> None:
    of_marks.marked = program
    found = list(of_marks.of([program.program]))
    assert not found, "\n".join(map(str, found))
