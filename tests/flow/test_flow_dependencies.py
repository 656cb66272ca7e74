"""What an analysis has read, and whether that has changed since: only then is it made again."""

from __future__ import annotations

from driftwatch.flow.domain.dependencies import Dependencies


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


def test_who_relies_on_an_old_result_is_as_old_as_that() -> None:
    known = Dependencies()
    owner = object()
    with known.gathering() as summary:
        known.read(owner, "a")
    known.change(owner, "a")
    with known.gathering() as reads:
        known.rely(summary)
    assert known.stale(reads)
    with known.gathering() as reads:
        known.read(owner, "a")
        known.rely(summary)
    assert known.stale(reads)


def test_nothing_is_kept_where_nobody_gathers() -> None:
    known = Dependencies()
    known.read(object(), "a")
    known.read_early(object(), "a")
    known.rely({(object(), "a"): 0})
    with known.gathering() as reads:
        pass
    assert not reads
