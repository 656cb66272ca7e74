"""History and diff: their exact look on a small library, and that hostile snapshots come out harmless."""

from __future__ import annotations

import json
from collections.abc import Callable

from driftwatch.releases import Timeline
from driftwatch.report import diff as diff_report
from driftwatch.report import history as history_report
from driftwatch.report.changes import words
from driftwatch.report.styled import Look
from driftwatch.snapshot.comparison.diff import Change, ChangeKind, Grade, diff
from driftwatch.snapshot.model.history import History, merge
from driftwatch.snapshot.model.symbols import (
    Deprecation,
    Parameter,
    ParameterKind,
    Ref,
    Signature,
    Snapshot,
    Symbol,
    SymbolKind,
)

FIRE = Ref("kiln", "fire")
GLAZER = Ref("kiln", "Glazer")
KEYWORD = ParameterKind.KEYWORD_ONLY
BOTH = ParameterKind.POSITIONAL_OR_KEYWORD


def function(ref: Ref, *parameters: Parameter, **more: object) -> Symbol:
    return Symbol(ref, SymbolKind.FUNCTION, Signature(tuple(parameters)), **more)  # type: ignore[arg-type]


def parameter(name: str, default: str | None = None, kind: ParameterKind = BOTH) -> Parameter:
    return Parameter(name, kind, default)


def snapshot(release: str, *symbols: Symbol) -> Snapshot:
    module = Symbol(Ref("kiln", ""), SymbolKind.MODULE)
    return Snapshot(release, {symbol.ref: symbol for symbol in (module, *symbols)})


RAKU = function(Ref("kiln", "raku"), parameter("pot"))
SLIP = function(Ref("kiln", "slip"), parameter("pot"), definition=Ref("kiln.wet", "slip"))
WET = (
    Symbol(Ref("kiln.wet", ""), SymbolKind.MODULE),
    function(Ref("kiln.wet", "slip"), parameter("pot")),
)
CLASS = Symbol(GLAZER, SymbolKind.CLASS, Signature((parameter("colour"),)))
CONE = Symbol(Ref("kiln", "CONE"), SymbolKind.ATTRIBUTE, value="5")

OLD = snapshot("1.0", function(FIRE, parameter("pot"), parameter("minutes", "30")), RAKU, SLIP, *WET, CLASS, CONE)
MIDDLE = snapshot(
    "1.1",
    function(FIRE, parameter("pot"), parameter("glaze", "None"), parameter("minutes", "30")),
    *(RAKU, SLIP, *WET, CLASS, CONE),
    function(GLAZER.member("dip"), parameter("pot"), parameter("seconds", "3")),
)
NEW = snapshot(
    "2.0",
    function(
        FIRE,
        *(parameter("pot"), parameter("glaze", "None"), parameter("minutes", "30")),
        *(parameter("cone", None, KEYWORD), parameter("shelf", "1", KEYWORD)),
        deprecated=Deprecation("use bake"),
    ),
    *WET,
    CLASS,
    function(GLAZER.member("dip"), parameter("pot"), parameter("seconds", "5")),
    Symbol(Ref("kiln", "CONE"), SymbolKind.ATTRIBUTE, value="6"),
    function(Ref("kiln", "bake"), parameter("pot")),
    function(Ref("kiln.wet", "mix"), parameter("clay")),
)


def history() -> History:
    return merge("kiln", "kiln", (OLD, MIDDLE, NEW), Timeline(("1.0", "1.1", "2.0")))


def comparison(old: Snapshot = OLD, new: Snapshot = NEW) -> diff_report.Comparison:
    return diff_report.Comparison("kiln", "kiln", (old.release, new.release), diff(old, new), new.symbols)


def test_history_golden(golden: Callable[[str, str], None]) -> None:
    refs = [FIRE, GLAZER, Ref("kiln", "raku")]
    golden("history.txt", history_report.render(history(), refs, Look()))


def test_diff_golden(golden: Callable[[str, str], None]) -> None:
    golden("diff.txt", diff_report.render(comparison(), Look()))
    golden("diff_all.txt", diff_report.render(comparison(), Look(), everything=True))


def test_no_change() -> None:
    assert diff_report.render(comparison(NEW, NEW), Look()) == "kiln 2.0 -> 2.0  kiln\n\nno change of the API\n"


def test_history_json() -> None:
    form = json.loads(history_report.render_json(history(), [FIRE]))
    assert form["schema"] == 1 and form["target"] == "kiln"
    (symbol,) = form["symbols"]
    assert (symbol["symbol"], symbol["kind"], symbol["releases"]) == ("kiln:fire", "function", ["1.0", "1.1", "2.0"])
    assert [(c["previous"], c["release"], c["grade"], c["kind"], c["parameter"]) for c in symbol["changes"]] == [
        (None, "1.0", "compatible", "symbol-added", None),
        ("1.0", "1.1", "breaking", "parameter-added", "glaze"),
        ("1.1", "2.0", "breaking", "parameter-added", "cone"),
        ("1.1", "2.0", "compatible", "parameter-added", "shelf"),
        ("1.1", "2.0", "informational", "deprecated", None),
    ]


def test_diff_json() -> None:
    form = json.loads(diff_report.render_json(comparison()))
    assert (form["old"], form["new"]) == ("1.0", "2.0")
    assert form["summary"]["removed"] == 2
    assert sum(form["summary"][grade.value] for grade in Grade) == len(form["changes"])
    removed = [c["symbol"] for c in form["changes"] if c["kind"] == "symbol-removed"]
    assert removed == ["kiln:raku", "kiln:slip"]


def test_every_kind_of_change_has_words() -> None:
    for kind in ChangeKind:
        said = words(Change(FIRE, kind, Grade.BREAKING, "p", "before", "after"))
        assert said.text and "{" not in said.text


def test_a_hostile_snapshot_is_harmless() -> None:
    evil = function(Ref("kiln", "fire\x1b[2J"), parameter("p", "'\x1b]0;x\x07[bold]'"))
    old, new = snapshot("1.0", evil), snapshot("2.0")
    shown = diff_report.render(comparison(old, new), Look()) + history_report.render(
        merge("kiln", "kiln", (old, new)), [evil.ref], Look()
    )
    assert r"fire\x1b[2J" in shown
    assert all(character == "\n" or character.isprintable() for character in shown)
