"""What the same code makes when it is analysed anew is, for all others, what it made before."""

from __future__ import annotations

from driftwatch.flow.domain.identities import Identities
from driftwatch.flow.domain.values import NONE, DictRef, ListRef, Value
from driftwatch.releases import ReleaseSet

SOME, OTHERS = ReleaseSet(0b0011), ReleaseSet(0b1100)


def test_what_another_analysis_makes_is_another_thing_of_the_same_kind() -> None:
    identities, site = Identities(), object()
    once, again = identities.activation("f"), identities.activation("f")
    made, anew = identities.number(site, once, "list"), identities.number(site, again, "list")
    assert made != anew
    assert identities.first_number(anew) == made
    assert identities.first(ListRef(anew)) == ListRef(made)


def test_what_another_function_or_another_place_makes_is_of_no_such_kind() -> None:
    identities, site, other = Identities(), object(), object()
    made = identities.number(site, identities.activation("f"), "list")
    assert identities.first_number(identities.number(site, identities.activation("g"), "list")) != made
    assert identities.first_number(identities.number(other, identities.activation("f"), "list")) != made


def test_what_is_made_anew_takes_the_place_of_what_was_there_where_it_is_made() -> None:
    identities, site = Identities(), object()
    made = DictRef(identities.number(site, identities.activation("f"), "dict"))
    anew = DictRef(identities.number(site, identities.activation("f"), "dict"))
    before = Value(((SOME | OTHERS, made), (SOME, NONE)))
    assert identities.renewed(before, Value(((SOME, anew),))) == Value(((OTHERS, made), (SOME, NONE)))
    assert identities.renewed(before, Value(((SOME, made),))) == before
    assert identities.alike(Value(((SOME, made),)), Value(((SOME, anew),)))
    assert not identities.alike(Value(((SOME, made),)), Value(((OTHERS, anew),)))
