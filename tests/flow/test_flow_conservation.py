"""The law of conservation: a call of the library is a use, or its way there is said to be out of sight.

Programs that carry something of the library along every way that Python's grammar and its standard library have are
executed with a library that notes who calls it, and analysed. ``benchmarks/conservation.py`` makes any number of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from driftwatch.flow.interpreter import escape
from tests.flow.carriers import CALLS, CARRIERS, THINGS, Carried, carried, some
from tests.flow.conservation import lost
from tests.flow.stores import STORES, left, some_left

SOME = 500

EACH_WAY = [carried(way, split=split) for way in CARRIERS for split in (False, True)]
EACH_STORE = [left(store, thing=thing) for store in STORES for thing in ("function", "module", "instance", "partial")]
EACH_CALL = [carried(thing=thing, call=call) for thing in THINGS for call in CALLS]


def missed(folder: Path, programs: list[Carried], least: float) -> list[str]:
    """The programs of which a call is lost; `least` is how many of them have to call the library at all."""
    found, called = lost(folder, programs)
    assert called >= least * len(programs)
    return [f"{program.name}, line {line}\n{program.text}" for program, line in found]


def test_nothing_gets_lost_on_any_way(tmp_path: Path) -> None:
    found = missed(tmp_path, EACH_WAY, 0.99)
    assert not found, found[0]


def test_nothing_gets_lost_in_any_call(tmp_path: Path) -> None:
    found = missed(tmp_path, EACH_CALL, 0.9)
    assert not found, found[0]


@pytest.mark.slow
def test_nothing_gets_lost_on_several_ways(tmp_path: Path) -> None:
    found = missed(tmp_path, some(1, SOME), 0.9)
    assert not found, found[0]


def test_nothing_gets_lost_between_functions(tmp_path: Path) -> None:
    found = missed(tmp_path, EACH_STORE, 0.98)
    assert not found, found[0]


@pytest.mark.slow
def test_nothing_gets_lost_on_several_ways_between_functions(tmp_path: Path) -> None:
    found = missed(tmp_path, some_left(1, SOME), 0.9)
    assert not found, found[0]


def test_what_is_let_go_without_a_word_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escape, "held", lambda run, value, depth=0: iter(()))
    assert missed(tmp_path, EACH_WAY, 0.99)
