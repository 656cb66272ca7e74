"""What an analysis has read, and whether that has changed since: only then is it made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from driftwatch.flow.domain.code import Reads
from driftwatch.flow.domain.dependencies import Dependencies


@dataclass
class Summarised:
    """Stands for a function of which a summary is known."""

    summary: Any


@dataclass(frozen=True)
class Found:
    """Stands for a summary."""

    reads: Reads


def test_what_changes_after_it_was_read_makes_stale() -> None:
    known = Dependencies()
    owner, other = object(), object()
    with known.gathering() as reads:
        known.read(owner, "a")
    assert not known.stale(reads)
    known.change(owner, "b")
    known.change(other, "a")
    assert not known.stale(reads)
    known.change(owner, "a")
    assert known.stale(reads)


def test_what_changed_before_it_was_read_does_not() -> None:
    """A constructor assigns an attribute, and a method that it calls reads it."""
    known = Dependencies()
    with known.gathering() as reads:
        known.change(self := object(), "a")
        known.read(self, "a")
    assert not known.stale(reads)


def test_the_first_time_counts() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering() as reads:
        known.read(owner, "a")
        known.change(owner, "a")
        known.read(owner, "a")
    assert known.stale(reads)


def test_what_was_there_when_it_began_may_have_changed_since() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering() as reads:
        known.change(owner, "a")
        known.read_early(owner, "a")
    assert known.stale(reads)


def test_who_calls_has_read_what_is_read_there() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering() as outer:
        with known.gathering() as inner:
            known.read(owner, "a")
        known.change(owner, "b")
        known.read(owner, "b")
    assert not known.stale(outer)
    known.change(owner, "a")
    assert known.stale(inner)
    assert known.stale(outer)


def test_who_relies_on_an_old_result_is_as_old_as_that_once_there_is_another_one() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering(apart=True) as old:
        known.read(owner, "a")
    known.change(owner, "a")
    function: Any = Summarised(Found(old))
    with known.gathering() as reads:
        known.read(owner, "a")
        known.rely(function, function.summary)
    assert not known.stale(reads)
    function.summary = None
    assert known.stale(reads)


def test_nothing_is_kept_where_nobody_gathers() -> None:
    known = Dependencies()
    function: Any = Summarised(Found(Reads()))
    known.read(object(), "a")
    known.read_early(object(), "a")
    known.rely(function, function.summary)
    with known.gathering() as reads:
        pass
    assert not reads.everywhere and not reads.summaries


def test_a_summary_that_is_still_the_same_would_tell_the_same_again() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering(apart=True) as inner:
        known.read(owner, "a")
    function: Any = Summarised(Found(inner))
    with known.gathering() as outer:
        known.rely(function, function.summary)
    known.change(owner, "a")
    assert known.stale(inner)
    assert not known.stale(outer)
    with known.gathering(apart=True) as again:
        known.read(owner, "a")
    function.summary = Found(again)
    assert known.stale(outer)


def test_another_summary_of_what_has_not_changed_tells_the_same() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering(apart=True) as inner:
        known.read(owner, "a")
    function: Any = Summarised(Found(inner))
    with known.gathering() as outer:
        known.rely(function, function.summary)
    function.summary = Found(Reads())
    assert not known.stale(outer)


def test_all_that_summaries_went_by_is_known() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering(apart=True) as inner:
        known.read(owner, "a")
    function: Any = Summarised(Found(inner))
    with known.gathering() as outer:
        known.read(owner, "b")
        known.rely(function, function.summary)
    assert outer.everywhere == {(owner, "a"), (owner, "b")}
