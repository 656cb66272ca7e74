"""Which findings a base has already: by place, by releases, by severity, each known one speaking for one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from driftwatch.findings.finding import Before, Finding, Severity
from driftwatch.flow.uses import Location
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.scan.diff_base import Moves, _before, matched
from tests.report_sample import SILENT

LINES = ("fire(1)", "fire(2); fire(3)", "fire(4)")


def at(line: int, column: int = 1, **changes: object) -> Finding:
    place = Location("app.py", line, column, line, column + 7)
    told = replace(SILENT, location=place, releases=releases(0, 1), beyond=releases(2), severity=Severity.WARNING)
    return replace(told, **changes)


def releases(*which: int) -> ReleaseSet:
    return ReleaseSet(sum(1 << each for each in which))


def old(found: list[Finding], known: list[Finding], now: tuple[str, ...] = LINES) -> set[Finding]:
    return matched(found, known, Moves(LINES, now))


@pytest.mark.parametrize(
    ("changes", "is_old"),
    [
        ({}, True),
        ({"releases": releases(0)}, True),
        ({"releases": releases(0, 1, 2)}, False),
        ({"releases": releases(3)}, False),
        ({"beyond": EMPTY}, True),
        ({"beyond": releases(0, 1, 2)}, True),
        ({"beyond": releases(2, 3)}, False),
        ({"severity": Severity.NOTE}, True),
        ({"severity": Severity.ERROR}, False),
    ],
)
def test_a_known_finding_covers_no_more_releases_and_nothing_more_severe(
    changes: dict[str, object], is_old: bool
) -> None:
    now = at(1, **changes)
    assert old([now], [at(1)]) == ({now} if is_old else set())


def test_of_two_in_one_line_the_one_in_the_same_column_is_known() -> None:
    first, second = at(2, 10), at(2, 1)
    assert old([first, second], [at(2, 1)]) == {second}
    assert old([first, second], [at(2, 10)]) == {first}


def test_a_known_finding_speaks_for_one() -> None:
    assert len(old([at(1), at(3)], [at(1)])) == 1
    assert old([at(1), at(3)], [at(1), at(3)]) == {at(1), at(3)}


def test_lines_that_moved_and_lines_that_were_edited() -> None:
    moved = at(2)
    assert old([moved], [at(1)], ("", *LINES)) == {moved}
    edited = at(1, 9)
    assert old([edited], [at(1)], ("result = fire(1)", *LINES[1:])) == {edited}
    assert old([at(4)], [at(1)], (*LINES, "fire(5)")) == set()
    shifted = at(4)
    assert old([shifted], [at(3)], (LINES[0], "", *LINES[1:])) == {shifted}
    between = at(2, 9)
    assert old([between], [at(2)], (LINES[0], "result = fire(2)", LINES[2])) == {between}
    for now, before in ((3, 2), (2, 1), (1, 2), (2, 3)):
        assert old([at(now, 9)], [at(before)], (LINES[0], "result = fire(2)", LINES[2])) == set()
    elsewhere = at(4)
    assert old([elsewhere], [at(1)], (LINES[1], LINES[2], "other()", "fire(1)")) == {elsewhere}


def test_what_the_base_had_counts_errors_of_the_library_alone() -> None:
    error = at(1, severity=Severity.ERROR, releases=releases(0))
    another = replace(error, location=at(2).location, releases=releases(3))
    others = [at(1), at(1, severity=Severity.NOTE), replace(error, distribution="other", releases=releases(5))]
    target = SimpleNamespace(distribution=error.distribution)
    found = _before(target, {error, another, *others})
    assert (found.errors, found.broken) == (2, releases(0, 3))
    assert _before(target, set(others)) == Before(0, EMPTY)
