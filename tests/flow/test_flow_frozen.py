"""What is held frozen by the type checker alone is compared, hashed and kept like any other value."""

from __future__ import annotations

import pickle

import pytest

from driftwatch.flow.domain.contents import DictContent, Entry, ListContent
from driftwatch.flow.domain.values import Const, DictRef, Unknown, Value, unknown, value_of
from driftwatch.releases import EMPTY, ReleaseSet

SOME, ALL = ReleaseSet(0b0110), ReleaseSet(0b1111)


def test_equal_values_are_one_key() -> None:
    made = [Value(((ALL, Const(1)),)), value_of([(ALL, Const(1)), (EMPTY, Const(2))])]
    assert len({*made}) == 1
    assert Const(1) != Const(True)
    assert len({Const(1), Const(True), Const(1.0)}) == 3
    assert Unknown("x") != Unknown("y")
    assert DictRef(1) == DictRef(1)


def test_what_has_no_further_attributes_takes_none() -> None:
    with pytest.raises(AttributeError):
        Unknown().other = 1  # type: ignore[attr-defined]


def test_a_value_survives_being_kept() -> None:
    value = Value(((SOME, Const("text")), (ALL - SOME, Unknown("x", tainted=True))))
    assert pickle.loads(pickle.dumps(value)) == value


def test_what_is_unknown_in_the_same_releases_is_the_same() -> None:
    assert unknown(SOME) is unknown(ReleaseSet(0b0110))
    assert unknown(EMPTY) == Value()


def test_an_entry_within_fewer_releases_keeps_all_else() -> None:
    entry = Entry(ALL, ALL, unknown(ALL), conditional=SOME)
    inside = entry.within(SOME)
    assert (inside.releases, inside.certain, inside.conditional) == (SOME, SOME, SOME)
    assert entry.within(ALL) is entry


def test_a_dict_with_other_items_keeps_what_is_not_known_of_it() -> None:
    content = DictContent({}, open=SOME, forwarded=ALL, others=unknown(SOME), factory=unknown(ALL))
    entry = Entry(ALL, ALL, unknown(ALL))
    after = content.having({"a": entry})
    assert after == DictContent({"a": entry}, SOME, ALL, unknown(SOME), unknown(ALL))
    assert ListContent() == ListContent(())
