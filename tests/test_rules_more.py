"""The rules about what changes without a break, and about subclasses, on uses made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftwatch.flow.uses import (
    UNCAUGHT,
    Argument,
    Catch,
    Construction,
    ImportUse,
    MethodDefinition,
    Outcome,
    ProbeUse,
    SubclassUse,
)
from driftwatch.releases import EMPTY
from driftwatch.rules import (
    changed_constant,
    changed_default,
    deprecated,
    narrow_import_guard,
    subclass_contract,
    unsafe_signature_probe,
)
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.symbols import Ref
from tests.kiln import knowledge
from tests.made_uses import ALL, HERE, KILN, at, call, findings, imported, name, passed, releases, said

DW301, DW302 = deprecated.RULE, subclass_contract.RULE
DW303, DW304 = changed_constant.RULE, changed_default.RULE
DW501, DW502 = narrow_import_guard.RULE, unsafe_signature_probe.RULE


# -- DW301 -----------------------------------------------------------------------------------------------------------


def test_a_deprecated_name_is_a_warning_where_it_is_marked() -> None:
    for use in (imported("kiln", "raku"), name("kiln", "raku")):
        (finding,) = findings(DW301, use)
        assert (finding.severity.value, finding.releases, finding.outcome) == ("warning", releases("==1.2"), None)
        assert finding.message == "`raku` is deprecated in 1.2: use fire"
        assert finding.hint == "it is gone since 2.0"
    assert said(DW301, imported("kiln", "raku"), against=">=2") == [("note", "none + 1.2", None)]
    assert said(DW301, imported("kiln", "raku", where="<1.2")) == []


# -- DW302 -----------------------------------------------------------------------------------------------------------


def method(title: str, *positional: str, required: int | None = None, line: int = 6) -> MethodDefinition:
    needed = positional if required is None else positional[:required]
    text = f"{title}({', '.join(('self', *positional))})"
    return MethodDefinition(title, at(line), positional, needed, (), False, False, text)


def made(line: int) -> Construction:
    return Construction(at(line), ALL, UNCAUGHT)


def subclass(*methods: MethodDefinition, instantiated: tuple[Construction, ...] = (made(20),)) -> SubclassUse:
    return SubclassUse(
        "kiln", HERE, ALL, UNCAUGHT, (), Ref("kiln", "Burner"), "GasBurner", methods, instantiated=instantiated
    )


IGNITE, SHUTDOWN = method("ignite", "fuel"), method("shutdown")


def test_a_new_abstract_method_is_told_where_the_class_is_constructed() -> None:
    found = findings(DW302, subclass(IGNITE, instantiated=(made(20), made(30))))
    assert [(f.location.line, f.severity.value, f.releases) for f in found] == [
        (20, "error", releases(">=2")),
        (30, "error", releases(">=2")),
    ]
    assert found[0].message == (
        "`GasBurner` cannot be constructed in 2.0 to 2.1: it lacks `shutdown`, which `Burner` declares abstract"
    )
    assert found[0].hint == "define it; needs kiln<2.0 as it is"


def test_what_is_told_to_be_missing_is_what_the_checked_releases_miss() -> None:
    (finding,) = findings(DW302, subclass())
    assert finding.releases == ALL
    assert "lacks `ignite` and `shutdown`" in finding.message
    (older,) = findings(DW302, subclass(), against="<2")
    assert (older.releases, older.beyond) == (releases("<2"), releases(">=2"))
    assert "lacks `ignite`, which" in older.message


def test_a_place_that_is_reached_in_some_releases_only() -> None:
    place = replace(made(20), releases=releases("<2.1"), catch=Catch(Outcome.SILENT, "app.py", 22))
    (finding,) = findings(DW302, subclass(IGNITE, instantiated=(place,)))
    assert (finding.releases, finding.outcome) == (releases("==2.0"), Outcome.SILENT)


def test_a_class_that_nobody_constructs_is_only_worth_a_note() -> None:
    (finding,) = findings(DW302, subclass(IGNITE, instantiated=()))
    assert (finding.severity.value, finding.location, finding.outcome) == ("note", HERE, None)


@pytest.mark.parametrize(
    "use",
    [
        subclass(IGNITE, SHUTDOWN),
        replace(subclass(IGNITE), names=("shutdown",)),
        replace(subclass(IGNITE), open=True),
        replace(subclass(IGNITE), abstract=True),
        replace(subclass(IGNITE), releases=releases("<2")),
        replace(subclass(), base=Ref("kiln", "Glaze")),
    ],
)
def test_a_class_that_may_be_constructed_is_not_reported(use: SubclassUse) -> None:
    assert said(DW302, use) == []


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (method("adjust", "level"), ["2.0 to 2.1"]),
        (method("adjust", "level", "smooth"), ["1.0 to 1.2"]),
        (method("adjust", "level", "smooth", required=1), []),
        (method("adjust", "lev", "smoothly", required=1), []),
        (method("adjust"), []),
        (method("adjust", "a", "b", "c"), []),
        (replace(method("adjust"), takes_any_positional=True), []),
        (method("unrelated", "a"), []),
        (method("_adjust"), []),
    ],
)
def test_an_override_that_fits_in_some_releases_only(override: MethodDefinition, expected: list[str]) -> None:
    found = findings(DW302, subclass(IGNITE, SHUTDOWN, override))
    assert [KILN.timeline.describe(f.releases) for f in found] == expected
    assert all(f.severity.value == "warning" and f.location.line == 6 and f.outcome is None for f in found)


# -- DW303, DW304 ----------------------------------------------------------------------------------------------------


def number(value: int | bool | None, keyword: str | None = None) -> Argument:
    return Argument(ALL, keyword, values=((ALL, value),))


def test_a_number_that_is_another_member_in_another_release() -> None:
    (finding,) = findings(DW303, call("kiln:coat", None, number(1)))
    assert finding.releases == releases("<2")
    assert finding.message == "1 for `glaze` is `Glaze.CELADON` in 1.0 to 1.2, and `COBALT` in 2.0 to 2.1"
    assert (finding.severity.value, finding.parameter) == ("warning", "glaze")
    assert said(DW303, call("kiln:coat", None, keywords=(number(1, "glaze"),))) == [("warning", "1.0 to 1.2", "glaze")]


@pytest.mark.parametrize("argument", [number(0), number(7), number(True), number(None), passed()])
def test_numbers_that_mean_the_same_or_nothing(argument: Argument) -> None:
    assert said(DW303, call("kiln:coat", None, argument)) == []


def test_a_number_is_held_against_the_checked_releases_only() -> None:
    assert said(DW303, call("kiln:coat", None, number(1)), against=">=2") == []


def test_a_constant_that_changes_is_a_note() -> None:
    (finding,) = findings(DW303, imported("kiln", "MAX_HEAT"))
    assert (finding.severity.value, finding.releases) == ("note", releases("<2"))
    assert finding.message == "`MAX_HEAT` changes its value: 900 in 1.0 to 1.2, 1300 in 2.0 to 2.1"
    assert said(DW303, name("kiln", "MAX_HEAT"), against="<2") == []


def test_an_object_made_at_import_is_no_value_to_compare() -> None:
    assert said(DW303, imported("kiln", "METER")) == []
    assert said(DW303, name("kiln", "METER")) == []


def test_a_default_that_differs_between_checked_releases() -> None:
    (finding,) = findings(DW304, call("kiln:cool", None))
    assert finding.message == "`slow` is left out: it is `False` in 1.0 to 1.2, and `True` in 2.0 to 2.1"
    assert (finding.severity.value, finding.parameter) == ("note", "slow")
    assert said(DW304, call("kiln:cool", None), against=">=2") == []
    assert said(DW304, call("kiln:cool", None, None)) == []
    assert said(DW304, call("kiln:cool", None, keywords=("slow",))) == []
    assert said(DW304, replace(call("kiln:cool", None), unknown_keywords=ALL)) == []


def test_a_new_parameter_is_no_changed_default() -> None:
    assert said(DW304, call("kiln:fire", None, None)) == []


# -- DW501, DW502 ----------------------------------------------------------------------------------------------------

NARROW = Catch(Outcome.GUARDED, "app.py", 7, ("ImportError",))


def narrow(use: ImportUse) -> list[str]:
    context = Context(KILN, ALL, knowledge())
    return [KILN.timeline.describe(verdict.releases) for verdict in DW501.check(use, context)]


def test_an_import_whose_guard_is_too_narrow() -> None:
    guarded = replace(imported("kiln", None, catch=NARROW), survives=())
    assert narrow(guarded) == ["1.0 to 1.1"]
    assert narrow(replace(guarded, module="kiln.wheel")) == ["1.0 to 1.1"]
    assert narrow(replace(guarded, survives=("RuntimeError",))) == []
    assert narrow(replace(guarded, survives=None)) == []
    assert narrow(replace(guarded, catch=UNCAUGHT)) == []
    assert narrow(replace(guarded, catch=replace(NARROW, outcome=Outcome.RAISES))) == []
    assert narrow(replace(guarded, module="kilns")) == []
    assert narrow(replace(guarded, releases=releases(">=1.2"))) == []


def test_one_guard_is_told_once() -> None:
    context = Context(KILN, ALL, knowledge())
    first = replace(imported("kiln", "fire", catch=NARROW), survives=())
    second = replace(first, name="cool", location=at(6))
    assert [len(list(DW501.check(use, context))) for use in (first, second)] == [1, 0]


@pytest.mark.parametrize(
    ("survives", "missing"),
    [((), "ValueError or TypeError"), (("TypeError",), "ValueError"), (("ValueError", "TypeError"), None)],
)
def test_a_probe_that_may_raise(survives: tuple[str, ...], missing: str | None) -> None:
    use = ProbeUse("kiln", HERE, ALL, UNCAUGHT, (), Ref("kiln", "fire"), survives)
    found = findings(DW502, use, against=">=2")
    assert [f"raises {missing} where" in f.message for f in found] == ([True] if missing else [])
    assert all((f.releases, f.beyond) == (releases(">=2"), EMPTY) for f in found)


def test_a_probe_is_worth_a_warning_where_some_release_shows_no_signature() -> None:
    use = ProbeUse("kiln", HERE, ALL, UNCAUGHT, (), Ref("kiln", "fire"), ())
    method = replace(use, callee=Ref("kiln", "Shelf.add"))
    constant = replace(use, callee=Ref("kiln", "METER"))
    severities = [[f.severity.value for f in findings(DW502, each)] for each in (use, method, constant)]
    assert severities == [["note"], ["note"], ["warning"]]
