"""Release sets against Python's own frozenset, and the timeline against `packaging`."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from driftwatch.errors import UsageError
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union

indices = st.frozensets(st.integers(0, 130), max_size=40)

release = st.builds(
    lambda major, minor, micro, suffix: f"{major}.{minor}.{micro}{suffix}",
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 12),
    st.sampled_from(["", "", ".post1", ".post2", "rc1", ".dev3", "a1"]),
)
timelines = st.lists(release, min_size=1, max_size=25, unique_by=Version).map(Timeline.of)
specifier = st.lists(
    st.builds(lambda op, v: f"{op}{v}", st.sampled_from(["==", "!=", ">=", "<=", ">", "<", "~="]), release), max_size=3
).map(",".join)


def of(members: frozenset[int]) -> ReleaseSet:
    mask = 0
    for index in members:
        mask |= 1 << index
    return ReleaseSet(mask)


def back(releases: ReleaseSet) -> frozenset[int]:
    return frozenset(releases.indices())


@given(indices, indices)
def test_algebra_is_that_of_frozenset(a: frozenset[int], b: frozenset[int]) -> None:
    x, y = of(a), of(b)
    assert back(x & y) == a & b
    assert back(x | y) == a | b
    assert back(x - y) == a - b
    assert (x <= y) == (a <= b)
    assert x.isdisjoint(y) == a.isdisjoint(b)
    assert (x == y) == (a == b)
    assert bool(x) == bool(a)
    assert len(x) == len(a)
    assert (back(x), back(y)) == (a, b)  # the operands are what they were


@given(indices)
def test_indices_are_in_order(a: frozenset[int]) -> None:
    assert list(of(a).indices()) == sorted(a)


@given(indices, indices)
def test_equal_sets_are_one_key_and_survive_a_process(a: frozenset[int], b: frozenset[int]) -> None:
    x, y = of(a), of(b)
    assert len({x, y, of(a)}) == len({a, b})
    assert pickle.loads(pickle.dumps(x)) == x


@given(st.lists(indices, max_size=6))
def test_union_of_many(sets: list[frozenset[int]]) -> None:
    assert back(union([of(s) for s in sets])) == frozenset().union(*sets)


def test_sets_do_not_change_and_are_not_numbers() -> None:
    with pytest.raises(AttributeError):
        EMPTY.mask = 3
    assert ReleaseSet(3) != 3
    assert ReleaseSet() == EMPTY
    assert not EMPTY


@given(timelines, st.data())
def test_versions_and_sets_are_two_forms_of_one_thing(timeline: Timeline, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(timeline.versions)))
    releases = timeline.set_of(chosen)
    assert timeline.versions_of(releases) == tuple(sorted(chosen, key=Version))
    assert timeline.versions_of(timeline.all - releases) == tuple(v for v in timeline.versions if v not in chosen)
    assert len(timeline) == len(timeline.versions) == len(timeline.all)


@given(timelines, st.data())
def test_ranges_cover_the_set_and_nothing_else(timeline: Timeline, data: st.DataObject) -> None:
    releases = timeline.set_of(data.draw(st.sets(st.sampled_from(timeline.versions))))
    ranges = timeline.ranges(releases)
    covered: list[int] = []
    for first, last in ranges:
        covered.extend(range(timeline.index(first), timeline.index(last) + 1))
    assert covered == list(releases.indices())
    # No two runs touch, so the ranges are as few as can be.
    for (_, last), (first, _) in itertools.pairwise(ranges):
        assert timeline.index(first) > timeline.index(last) + 1
    described = timeline.describe(releases)
    assert described == (", ".join(a if a == b else f"{a} to {b}" for a, b in ranges) if ranges else "none")


@given(timelines, specifier)
def test_matching_is_what_packaging_says(timeline: Timeline, text: str) -> None:
    try:
        wanted = SpecifierSet(text)
    except ValueError:
        with pytest.raises(UsageError):
            timeline.matching(text)
        return
    expected = tuple(v for v in timeline.versions if wanted.contains(v, prereleases=True))
    assert timeline.versions_of(timeline.matching(text)) == expected


@given(timelines, release)
def test_every_spelling_of_a_version_finds_it(timeline: Timeline, other: str) -> None:
    for position, version in enumerate(timeline.versions):
        for spelling in (version, f"v{version}", f" {version.upper()} ", version.replace(".post", "-")):
            assert timeline.index(spelling) == position
    if Version(other) not in map(Version, timeline.versions):
        with pytest.raises(UsageError, match="is not known"):
            timeline.index(other)


@given(timelines)
def test_the_newest(timeline: Timeline) -> None:
    finals = [version for version in timeline.versions if not Version(version).is_prerelease]
    assert timeline.versions_of(timeline.newest()) == (max(finals or timeline.versions, key=Version),)


def test_a_timeline_without_releases() -> None:
    empty = Timeline(())
    assert not empty.all
    assert not empty.newest()
    assert empty.ranges(EMPTY) == ()
    assert empty.describe(EMPTY) == "none"
    with pytest.raises(UsageError):
        empty.index("1.0")


@pytest.mark.parametrize("versions", [("1.0", "1.0"), ("1.0", "1.0.0"), ("2.0", "1.0")])
def test_a_timeline_out_of_order_is_refused(versions: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="distinct and in order"):
        Timeline(versions)


@pytest.mark.parametrize("text", ["", "banana", "1..2", "latest"])
def test_what_is_no_version_is_said_so(text: str) -> None:
    with pytest.raises(UsageError, match="is not a version"):
        Timeline.of(["1.0"]).index(text)
