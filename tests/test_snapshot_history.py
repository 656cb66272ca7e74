"""Histories: exact sets of releases for every question, held against snapshots and against Python's own classes."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.releases import EMPTY
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.lineage import linearized
from driftwatch.snapshot.model.standard_bases import standard_members
from driftwatch.snapshot.model.symbols import Ref, Signature, Snapshot, Symbol, SymbolKind


def cls(name: str, *bases: str, open_: bool = False, definition: str | None = None) -> Symbol:
    target = Ref("m", definition) if definition else None
    return Symbol(Ref("m", name), SymbolKind.CLASS, Signature(), bases=bases, open=open_, definition=target)


def method(owner: str, name: str) -> Symbol:
    return Symbol(Ref("m", f"{owner}.{name}"), SymbolKind.FUNCTION, Signature())


def history(releases: Mapping[str, Sequence[Symbol]]) -> History:
    module = Symbol(Ref("m", ""), SymbolKind.MODULE)
    return merge("m", "m", [Snapshot(v, {s.ref: s for s in (module, *symbols)}) for v, symbols in releases.items()])


class TestMembers:
    MADE = history(
        {
            "1": [cls("A"), method("A", "go"), cls("B", "m:A")],
            "2": [cls("A"), cls("B", "m:A"), method("B", "go")],
            "3": [cls("A"), cls("B", "m:A", "far.Base")],
            "4": [cls("A", open_=True), cls("B", "m:A")],
            "5": [cls("A"), cls("B", "m:A")],
            "6": [cls("A")],
        }
    )
    B = Ref("m", "B")

    def found(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        lookup = self.MADE.member(self.B, name, self.MADE.timeline.all)
        return self.MADE.timeline.versions_of(lookup.present), self.MADE.timeline.versions_of(lookup.unknown)

    def test_what_is_inherited_is_there_and_what_a_stranger_may_bring_is_unknown(self) -> None:
        assert self.found("go") == (("1", "2"), ("3", "4"))

    def test_what_python_gives_every_class_is_there(self) -> None:
        assert self.found("__class__") == (("1", "2", "3", "4", "5"), ())

    def test_only_the_releases_that_are_asked_about(self) -> None:
        asked = self.MADE.timeline.set_of(["2", "5"])
        assert self.MADE.member(self.B, "go", asked).present == self.MADE.timeline.set_of(["2"])

    def test_the_epochs_of_a_member_are_those_of_the_class_that_has_it(self) -> None:
        epochs = self.MADE.member_epochs(self.B, "go", self.MADE.timeline.all)
        assert {(str(ref), self.MADE.timeline.versions_of(e.releases)) for ref, e in epochs} == {
            ("m:A.go", ("1",)),
            ("m:B.go", ("2",)),
        }

    def test_a_base_that_is_gone_takes_nothing_of_the_class_with_it(self) -> None:
        made = history({"1": [cls("A"), cls("B", "m:A"), method("B", "go")], "2": [cls("B", "m:A"), method("B", "go")]})
        assert made.member(self.B, "go", made.timeline.all).present == made.timeline.all

    def test_subclasses(self) -> None:
        assert self.MADE.subclasses(Ref("m", "A")) == (self.B,)
        assert self.MADE.subclasses(self.B) == ()

    def test_open(self) -> None:
        assert self.MADE.is_open(Ref("m", "A")) == self.MADE.timeline.set_of(["4"])

    def test_closed(self) -> None:
        assert [self.MADE.lineage(self.B, self.MADE.timeline.set_of([v]))[1] for v in "12345"] == [
            *(True, True, False, False, True)
        ]


def test_a_subclass_of_the_definition_is_one_of_the_alias() -> None:
    made = history({"1": [cls("Real"), cls("Alias", definition="Real"), cls("Below", "m:Real")]})
    assert made.subclasses(Ref("m", "Alias")) == (Ref("m", "Below"),)


def test_names_of_a_module() -> None:
    inner = Symbol(Ref("m.sub", ""), SymbolKind.MODULE)
    made = history({"1": [], "2": [inner], "3": [inner, cls("sub")], "4": [cls("sub")]})
    assert made.timeline.versions_of(made.importable("m", "sub")) == ("2", "3", "4")
    assert made.timeline.versions_of(made.attribute("m", "sub")) == ("3", "4")
    assert made.timeline.versions_of(made.has_module("m.sub")) == ("2", "3")
    assert made.attribute("m", "other") == EMPTY
    assert made.attribute("m", "__name__") == made.timeline.all
    assert set(made.modules()) == {"m", "m.sub"}


class TestStandardBases:
    @pytest.mark.parametrize(
        ("base", "some"),
        [
            ("object", {"__init__", "__class__"}),
            ("enum.Enum", {"name", "value"}),
            ("enum.IntEnum", {"name", "value", "bit_length"}),
            ("typing.NamedTuple", {"_replace", "_asdict", "_fields", "count"}),
            ("RuntimeError", {"args", "with_traceback"}),
            ("typing.Generic[T]", {"__class_getitem__"}),
            ("typing.Dict[str, int]", {"items"}),
            ("abc.ABC", {"__class__"}),
        ],
    )
    def test_members_are_known(self, base: str, some: set[str]) -> None:
        members = standard_members(base)
        assert members is not None
        assert some <= members

    @pytest.mark.parametrize(
        "base", ["torch.nn.Module", "threading.Thread", "enum.Nothing", "print", "typing.Any2", "?"]
    )
    def test_members_are_not_known(self, base: str) -> None:
        assert standard_members(base) is None

    def test_they_are_those_of_real_classes(self) -> None:
        class Colour(enum.IntEnum):
            RED = 1

        class Pair(NamedTuple):
            a: int

        for made, base in ((Colour, "enum.IntEnum"), (Pair, "typing.NamedTuple")):
            known = standard_members(base)
            assert known is not None
            inherited = {n for c in made.__mro__[1:] for n in vars(c)}
            assert inherited <= known


@given(st.data())
def test_the_lookup_order_is_pythons_own(data: st.DataObject) -> None:
    made: dict[str, type] = {}
    bases: dict[str, list[str]] = {}
    for name in "ABCDEFG":
        chosen = data.draw(st.lists(st.sampled_from(sorted(made)), unique=True, max_size=3)) if made else []
        try:
            made[name] = type(name, tuple(made[b] for b in chosen), {})
        except TypeError:  # no consistent order: Python refuses the class
            continue
        bases[name] = chosen
    for name, real in made.items():
        assert linearized(name, bases.__getitem__) == tuple(c.__name__ for c in real.__mro__[:-1])


def test_a_hierarchy_that_python_refuses_has_an_order_all_the_same() -> None:
    bases = {"A": [], "B": ["A"], "C": ["A", "B"], "D": ["D", "E"], "E": ["D"]}
    assert sorted(linearized("C", bases.__getitem__)) == ["A", "B", "C"]
    assert linearized("D", bases.__getitem__) == ("D", "E")


_LIVES = st.dictionaries(st.sampled_from(["A", "B", "C"]), st.sets(st.sampled_from(["p", "q"])), max_size=3)
_ABOVE = {"B": ("m:A",), "C": ("m:B",)}


@given(st.lists(_LIVES, min_size=1, max_size=7), st.data())
def test_every_answer_is_that_of_each_single_release(lives: list[dict[str, set[str]]], data: st.DataObject) -> None:
    releases = {
        str(number): [
            symbol
            for name, members in life.items()
            for symbol in (cls(name, *_ABOVE.get(name, ())), *(method(name, m) for m in members))
        ]
        for number, life in enumerate(lives)
    }
    whole = history(releases)
    asked = whole.timeline.set_of(data.draw(st.sets(st.sampled_from(sorted(releases)))))
    for name in "ABC":
        ref = Ref("m", name)
        lookup = whole.member(ref, "p", asked)
        epochs = whole.member_epochs(ref, "p", asked)
        for version in whole.timeline.versions:
            one = whole.timeline.set_of([version])
            alone = history({version: releases[version]}).member(ref, "p", history({version: []}).timeline.all)
            inside = one <= asked
            assert bool(lookup.present & one) == (inside and bool(alone.present))
            assert bool(lookup.unknown & one) == (inside and bool(alone.unknown))
            assert sum(bool(e.releases & one) for _, e in epochs) == (1 if inside and alone.present else 0)
