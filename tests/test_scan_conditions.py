"""What a scan makes of what is uncertain or switched off: made uses, from the interpreter's side to every report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from driftwatch.flow.uses import (
    DELIBERATE,
    UNCAUGHT,
    Analysis,
    Argument,
    CallUse,
    Catch,
    ImportUse,
    Outcome,
    SwitchedOff,
    Use,
)
from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.report.states import State, site_rows, where, whole_row
from driftwatch.scan import pipeline as scanning
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from driftwatch.snapshot.model.symbols import Ref
from tests.made_uses import ALL, KILN, at, passed, releases
from tests.test_report_json import SCHEMA

Scanned = Callable[..., Report]
RAKU = Ref("kiln", "raku")
FIRE = Ref("kiln", "fire")


def off(line: int, where: str, *symbols: Ref) -> SwitchedOff:
    return SwitchedOff("kiln", at(line), releases(where), DELIBERATE, (), symbols=symbols or (RAKU,))


def fire(line: int, conditional: str | None = None, catch: Catch = UNCAUGHT, *, only: bool = False) -> CallUse:
    """A call that 1.0 does not take. `conditional` is where the place, or `only` the argument, may be reached."""
    may = releases(conditional) if conditional is not None else releases("<1")
    glaze = Argument(ALL, "glaze", conditional=may) if only else passed("glaze")
    return CallUse(
        "kiln",
        at(line),
        ALL,
        catch,
        (),
        FIRE,
        (passed(), passed()),
        (glaze,),
        conditional=releases("<1") if only else may,
    )


@pytest.fixture
def scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scanned:
    """A scan of one file in which the interpreter has found these uses."""
    (tmp_path / "app.py").write_text("import kiln\n" + "kiln\n" * 30, encoding="utf-8")

    def run(*uses: Use, against: str = "all") -> Report:
        monkeypatch.setattr(scanning, "analyse", lambda *_, **__: Analysis(uses, (), (), 1, 1))
        return scan(ScanRequest((tmp_path,), (Watched(KILN),), against=(against,), base=tmp_path))

    return run


def told(result: Report) -> list[tuple[str, str, str, str | None, bool]]:
    """Code, severity, releases (beyond ones after a plus), outcome, and whether it may hold only."""
    describe = KILN.timeline.describe
    return [
        (
            f.code,
            f.severity.value,
            describe(f.releases) + (f" + {describe(f.beyond)}" if f.beyond else ""),
            f.outcome.value if f.outcome else None,
            f.conditional,
        )
        for f in result.findings
    ]


def shown(result: Report, form: str) -> str:
    return render(form, result, RenderOptions())


# -- switched off ------------------------------------------------------------------------------------------------------


def test_what_a_test_switches_off_is_degraded(scanned: Scanned) -> None:
    result = scanned(off(3, ">=2"))
    assert told(result) == [("DW503", "note", "2.0 to 2.1", "guarded", False)]
    (target,) = result.targets
    assert (target.compatible, target.degraded) == (ALL, releases(">=2"))
    assert not target.uses, "a test that leads past the library does not touch it"
    assert not result.failed


def test_a_test_and_a_handler_come_to_the_same(scanned: Scanned) -> None:
    guarded = ImportUse("kiln", at(3), ALL, Catch(Outcome.GUARDED, "app.py", 4, ("ImportError",)), (), "kiln", "raku")
    (by_handler,), (by_test,) = scanned(guarded).targets, scanned(off(3, ">=2")).targets
    assert (by_handler.compatible, by_handler.degraded) == (by_test.compatible, by_test.degraded)


def test_the_last_lines_say_what_runs_without_it(scanned: Scanned) -> None:
    symbols = (RAKU, Ref("kiln.wheel", "throw"), Ref("kiln", "wash"), Ref("kiln", "cool"))
    result = scanned(off(3, ">=2", *symbols), fire(9))
    report = shown(result, "text")
    assert (
        "note DW503 switched-off: a test here leads past `raku`, `throw`, `wash` and 1 more in 2.0 to 2.1\n" in report
    )
    assert "  degraded with 2.0 to 2.1, 2 releases (without `raku`)\n" in report
    assert "  way out       require kiln>=1.1 (degraded with 2.0 to 2.1, 2 releases), or fix" in report
    table = shown(result, "markdown")
    assert "| degraded with | 2.0 to 2.1, 2 releases (without `raku`) |" in table.replace("🔶 ", "")
    assert "| way out | require `kiln>=1.1` (degraded with 2.0 to 2.1, 2 releases), or fix the 1 error below |" in table
    assert "degraded with 2.0 to 2.1, 2 releases" in shown(result, "github")
    assert json.loads(shown(result, "json"))["targets"][0]["degraded"] == ["2.0", "2.1"]


def test_one_test_is_told_once(scanned: Scanned) -> None:
    """However many functions get to it, and whatever each would reach behind it."""
    result = scanned(off(3, ">=2", RAKU), off(3, ">=2", FIRE, RAKU), off(3, "==1.0", FIRE))
    assert [(f.message, f.symbol) for f in result.findings] == [
        ("a test here leads past `fire` in 1.0", "kiln.fire"),
        ("a test here leads past `raku` and `fire` in 2.0 to 2.1", "kiln.raku"),
    ]


def test_outside_of_the_range_it_is_what_another_release_costs(scanned: Scanned) -> None:
    result = scanned(off(3, "<1.2"), off(4, ">2.0"), fire(9), against=">=1.2,<2.1")
    report = shown(result, "text")
    assert "  degraded with none\n" in report
    assert "  upgrade       degraded with 2.1\n" in report
    assert "  downgrade     breaks with 1.0; degraded with 1.1\n" in report
    assert "| a downgrade | breaks with 1.0; degraded with 1.1 |" in shown(result, "markdown")


def test_pictures_show_it(scanned: Scanned) -> None:
    report = scanned(off(3, ">=2"), fire(9))
    whole = whole_row("", site_rows(report, report.targets[0]), len(KILN.timeline))
    assert where(whole.states, State.DEGRADED) == releases(">=2")
    assert where(whole.states, State.BREAKS) == releases("<1.1")


# -- what may be reached -----------------------------------------------------------------------------------------------


def test_what_may_be_reached_is_a_warning(scanned: Scanned) -> None:
    result = scanned(fire(9, ""))
    assert told(result) == [("DW101", "warning", "1.0", "raises", True)]
    assert result.targets[0].compatible == ALL
    assert "  = when   under a condition that could not be followed\n" in shown(result, "text")
    for form in ("markdown", "github", "junit", "html", "sarif"):
        assert "nder a condition that could not be followed" in shown(result, form), form
    assert json.loads(shown(result, "json"))["findings"][0]["conditional"] is True


def test_an_argument_that_may_be_passed_is_a_warning(scanned: Scanned) -> None:
    assert told(scanned(fire(9, "", only=True))) == [("DW101", "warning", "1.0", "raises", True)]


def test_what_is_certain_in_one_way_is_an_error(scanned: Scanned) -> None:
    assert told(scanned(fire(9, ""), fire(9))) == [("DW101", "error", "1.0", "raises", False)]


def test_a_condition_for_some_releases_leaves_the_others_certain(scanned: Scanned) -> None:
    wheel = ImportUse("kiln", at(3), ALL, UNCAUGHT, (), "kiln.wheel", None, conditional=releases("==1.1"))
    assert told(scanned(wheel)) == [
        ("DW202", "error", "1.0", "raises", False),
        ("DW202", "warning", "1.1", "raises", True),
    ]


def test_what_may_break_outside_of_the_range_breaks_nothing(scanned: Scanned) -> None:
    result = scanned(fire(9, ""), against=">=1.1")
    assert told(result) == [("DW101", "note", "none + 1.0", "raises", True)]
    assert "downgrade     breaks" not in shown(result, "text")


# -- what cannot be judged ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handles", "severity"),
    [((), "error"), (("Exception",), "error"), (("TypeError",), "warning"), (("ValueError", "Exception"), "error")],
)
def test_a_handler_that_cannot_be_judged(scanned: Scanned, handles: tuple[str, ...], severity: str) -> None:
    """Whatever a clause for anything does, the call fails; a narrow one may be there for this very thing."""
    result = scanned(fire(9, catch=Catch(Outcome.UNKNOWN, "app.py", 12, handles)))
    assert told(result) == [("DW101", severity, "1.0", "unknown", False)]
    assert "unknown: the handler at line 12 takes the TypeError, and what it then does could not be followed" in shown(
        result, "text"
    )
    form = json.loads(shown(result, "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(form)
    assert form["findings"][0]["outcome"] == "unknown"
    assert form["summary"]["silent"] == 0


def test_nothing_is_known_of_who_takes_it(scanned: Scanned) -> None:
    result = scanned(fire(9, catch=Catch(Outcome.UNKNOWN)))
    assert told(result) == [("DW101", "error", "1.0", "unknown", False)]
    assert "unknown: the TypeError may be taken, and what the program then does could not be followed" in shown(
        result, "text"
    )


# -- what no release fixes ---------------------------------------------------------------------------------------------


def nowhere(line: int) -> CallUse:
    """A call with a keyword that no release takes."""
    return CallUse("kiln", at(line), ALL, UNCAUGHT, (), FIRE, (passed(), passed()), (passed("smoke"),))


def test_what_no_release_takes_leaves_the_range_of_the_rest(scanned: Scanned) -> None:
    raku = ImportUse("kiln", at(3), ALL, UNCAUGHT, (), "kiln", "raku")
    result = scanned(raku, nowhere(9), nowhere(11))
    (target,) = result.targets
    assert not target.compatible
    assert target.apart is not None
    assert (target.apart.errors, KILN.timeline.describe(target.apart.compatible)) == (2, "1.0 to 1.2")
    report = shown(result, "text")
    assert (
        "  apart from    2 errors that no release fixes (app.py:9, app.py:11):\n"
        "  works with    1.0 to 1.2, 3 releases\n"
        "  degraded with none\n"
        "  breaks with   2.0 to 2.1, 2 releases\n"
        "  way out       fix the 2 errors that no release fixes, and require kiln>=1.0,<=1.2, or fix the 1 other"
    ) in report
    form = json.loads(shown(result, "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(form)
    assert form["targets"][0]["compatible"] == []
    assert form["targets"][0]["apart"] == {"errors": 2, "compatible": ["1.0", "1.1", "1.2"], "degraded": []}
    assert "| apart from | 2 errors that no release fixes" in shown(result, "markdown")
    assert "apart from 2 errors that no release fixes" in shown(result, "github")
    whole = whole_row("", site_rows(result, result.targets[0]), len(KILN.timeline))
    assert where(whole.states, State.BREAKS) == releases(">=2")
    assert result.failed


def test_nothing_else_breaks(scanned: Scanned) -> None:
    result = scanned(nowhere(9), against=">=2")
    assert (
        "  apart from    1 error that no release fixes (app.py:9):\n"
        "  works with    2.0 to 2.1, 2 releases\n"
        "  degraded with none\n"
        "  breaks with   none\n"
        "  way out       fix the 1 error that no release fixes\n"
        "\n"
    ) in shown(result, "text")


def test_where_some_release_works_the_range_is_what_it_is(scanned: Scanned) -> None:
    """A call that is only reached in some releases leaves the others, whether or not any takes it."""
    call = nowhere(9)
    only = CallUse("kiln", call.location, releases(">=2"), UNCAUGHT, (), FIRE, call.positional, call.keywords)
    (target,) = scanned(only).targets
    assert (target.compatible, target.apart) == (releases("<2"), None)
