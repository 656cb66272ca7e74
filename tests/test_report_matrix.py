"""The matrix: the states behind it agree with the report's own sets, and every character of it is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.findings.finding import Finding, Severity
from driftwatch.findings.suppress import Suppressed
from driftwatch.flow.uses import CallUse, ImportUse, Location, NameUse, Outcome, ProbeUse
from driftwatch.flow.uses import Catch as UseCatch
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.report import matrix, render
from driftwatch.report.options import RenderOptions
from driftwatch.report.states import (
    State,
    runs,
    short_names,
    site_rows,
    symbol_rows,
    where,
    whole_row,
    worst_of,
)
from driftwatch.report.styled import Look
from driftwatch.report.text import summary
from driftwatch.scan.report_model import Report
from driftwatch.scan.sites import Site, sites_of
from driftwatch.snapshot.model.symbols import Ref
from tests.cli_process import LIBRARY, make_studio, run
from tests.hostile_project import make_hostile
from tests.report_sample import CHECKED, GUARDED, RAISES, REPORT, SILENT, TIMELINE

CALL = Site("flashinfer-python", SILENT.location, Ref("flashinfer.comm", "create_workspace"), "call", TIMELINE.all)
SAMPLE = replace(REPORT, title="engine", targets=(replace(REPORT.targets[0], sites=(CALL,)),))


def report_of(findings: tuple[Finding, ...], hidden: tuple[Suppressed, ...] = ()) -> Report:
    """A report whose sets follow from its findings, as a scan makes them."""
    true = [*findings, *(each.finding for each in hidden if each.by == "baseline")]
    broken = union([f.releases for f in true if f.severity is Severity.ERROR])
    guarded = union([f.releases for f in true if f.outcome is Outcome.GUARDED])
    target = replace(
        REPORT.targets[0], compatible=CHECKED - broken, degraded=(CHECKED - broken) & guarded, sites=(CALL,)
    )
    return replace(REPORT, findings=findings, suppressed=hidden, targets=(target,))


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    releases = ReleaseSet(draw(st.integers(0, 2 ** len(TIMELINE) - 1)))
    outcome = draw(st.sampled_from([*Outcome, None]))
    severity = draw(st.sampled_from(Severity))
    if outcome is Outcome.GUARDED or not releases & CHECKED:
        severity = Severity.NOTE
    line = draw(st.integers(1, 3))
    return replace(
        SILENT,
        location=draw(st.sampled_from([SILENT.location, Location("other.py", line, 1, line, 9)])),
        releases=releases & CHECKED,
        beyond=releases - CHECKED,
        outcome=outcome,
        severity=severity,
        fingerprint=draw(st.text("0123456789abcdef", min_size=32, max_size=32)),
    )


@given(st.lists(findings(), max_size=8), st.lists(findings(), max_size=3), st.sampled_from(["baseline", "comment"]))
def test_the_whole_agrees_with_the_report(found: list[Finding], put_aside: list[Finding], by: str) -> None:
    report = report_of(tuple(found), tuple(Suppressed(each, by) for each in put_aside))
    (target,) = report.targets
    rows = site_rows(report, target)
    whole = whole_row("all", rows, len(TIMELINE))
    assert where(whole.states, State.BREAKS, State.SILENT) & CHECKED == target.broken
    assert where(whole.states, State.DEGRADED) & CHECKED == target.degraded
    assert worst_of(row.states for row in symbol_rows(rows)) == whole.states
    told = [*found, *(put_aside if by == "baseline" else [])]
    assert sum(len(row.findings) for row in rows) == len(told), "no finding is lost, none counted twice"
    assert sum(run.length for run in runs(whole.states)) == len(TIMELINE)
    assert union([run.releases() for run in runs(whole.states)]) == TIMELINE.all


def test_outside_the_range_what_happens_there_counts() -> None:
    beyond = replace(RAISES, severity=Severity.NOTE, releases=ReleaseSet(0), beyond=TIMELINE.set_of(["0.5.0"]))
    (row,) = [r for r in site_rows(report_of((beyond,)), REPORT.targets[0]) if r.findings]
    assert row.states[0] is State.BREAKS
    assert row.states[1:] == (State.UNREACHED,) * 5


def test_a_finding_belongs_to_the_place_of_its_symbol() -> None:
    """Also where it speaks of one argument within the call; and one of no known place has a row of its own."""
    inside = replace(SILENT, location=Location("pkg/fusion.py", 9, 40, 9, 44))
    rows = site_rows(report_of((inside, GUARDED)), report_of(()).targets[0])
    assert [(row.symbol, len(row.findings)) for row in rows] == [
        ("flashinfer.comm.create_workspace", 1),
        ("flashinfer.comm.MoeAlltoAll", 1),
    ]


def test_short_names() -> None:
    names = ["a.b.f", "a.b", "a.b.c.f", "x.f", "f"]
    assert short_names(names, "a.b") == {"a.b.f": "a.b.f", "a.b": "b", "a.b.c.f": "c.f", "x.f": "x.f", "f": "f"}


def test_sites_of_uses() -> None:
    """A call and the name it reads are one site; what is reached in several ways is reached in all of them."""
    catch = UseCatch(Outcome.RAISES)
    name, call = Location("a.py", 3, 5, 3, 11), Location("a.py", 3, 5, 3, 20)
    module, function = Ref("lib", ""), Ref("lib", "f")
    uses = [
        CallUse("lib", call, ReleaseSet(2), catch, (), callee=function),
        NameUse("lib", name, ReleaseSet(3), catch, (), owner=module, name="f"),
        CallUse("lib", call, ReleaseSet(8), catch, (), callee=function),
        ImportUse("lib", Location("a.py", 1, 1, 1, 11), ReleaseSet(15), catch, (), module="lib", name=None),
        NameUse("lib", Location("a.py", 9, 1, 9, 7), ReleaseSet(4), catch, (), owner=module, name="f"),
        ProbeUse("lib", Location("a.py", 7, 1, 7, 7), ReleaseSet(4), catch, (), callee=function),
    ]
    for order in (uses, uses[::-1]):
        found = [(s.location.path, s.location.line, s.kind, s.symbol, s.reached.mask) for s in sites_of(order, "p/")]
        assert found == [
            ("p/a.py", 1, "import", "lib", 15),
            ("p/a.py", 3, "call", "lib.f", 11),
            ("p/a.py", 7, "probe", "lib.f", 4),
            ("p/a.py", 9, "name", "lib.f", 4),
        ]


# -- on a terminal -------------------------------------------------------------------------------------------------


def test_the_sample() -> None:
    assert render("matrix", SAMPLE, RenderOptions()).splitlines() == [
        "flashinfer-python (flashinfer.comm): 6 releases, 0.5.0 to 0.7.1; checked 0.6.0 to 0.7.1, 5 releases",
        "",
        "                    0.5 0.7",
        "  checked            -----",
        "  engine            SSS==X",
        "",
        "  MoeAlltoAll       d....d",
        "  allreduce_fusion  .X...X",
        "  create_workspace  SSS===",
        "  gone              .ww...",
        "",
        "  = works   w works, with a warning   d degraded, on purpose   X breaks   S breaks silently   . not reached",
        "",
        "  ATTENTION     of what could be read; 1 file could not be analysed",
        r"pkg/broken\n.py:3: not analysed: not valid Python: invalid syntax",
        "",
        summary(SAMPLE),
    ]


NARROW = replace(
    SILENT,
    code="DW501",
    name="narrow-import-guard",
    severity=Severity.WARNING,
    outcome=None,
    caught_at=None,
    parameter=None,
    releases=CHECKED,
    beyond=TIMELINE.set_of(["0.5.0"]),
    fingerprint="5" * 32,
)
DEPRECATED = replace(
    NARROW, code="DW301", name="deprecated", releases=TIMELINE.set_of(["0.7.1"]), beyond=EMPTY, fingerprint="3" * 32
)


def rows_of(*findings: Finding) -> list[tuple[State, ...]]:
    report = report_of(findings)
    return [row.states for row in site_rows(report, report.targets[0])]


def test_what_the_machine_decides_is_no_caution_about_a_release() -> None:
    assert rows_of(NARROW) == [(State.WORKS,) * 6]
    assert rows_of(NARROW, replace(NARROW, code="DW502", name="unsafe-signature-probe")) == [(State.WORKS,) * 6]
    assert rows_of(NARROW, DEPRECATED) == [(*(State.WORKS,) * 5, State.CAUTION)], "what is about a release is shown"
    strict = replace(NARROW, severity=Severity.ERROR)
    assert rows_of(strict) == [(State.WORKS, *(State.BREAKS,) * 5)], "an error is an error, in the picture too"


def test_it_is_told_beside_the_picture() -> None:
    report = report_of((NARROW, replace(NARROW, location=Location("other.py", 1, 1, 1, 9)), DEPRECATED))
    for page in (matrix.render(report, RenderOptions()), render("html", report, RenderOptions())):
        assert "ot shown, since the machine decides and not the release: DW501 at 2 places" in page
    named = replace(report, title="engine")
    assert "  besides       DW501 at 2 places\n" in matrix.render_many([named, named], (), Look())
    assert "not shown, since" not in matrix.render_many([named, named], (), Look())
    assert "not shown, since" not in matrix.render(report_of((DEPRECATED,)), RenderOptions())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("color", [False, True])
def test_it_fits_a_terminal(width: int, color: bool) -> None:
    timeline = Timeline(tuple(f"1.{minor}.{patch}" for minor in range(10) for patch in range(12)))
    target = replace(REPORT.targets[0], timeline=timeline, checked=timeline.all)
    report = replace(REPORT, title=f"engine{'_with_a_long_name' * 5}", targets=(target,), findings=())
    shown = matrix.render_many([report], (), Look(color, width))
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.splitlines()]
    assert max(len(line) for line in plain) <= width
    cells = [line.rpartition("  ")[2] for line in plain if line.startswith(("  engine", "  ...")) and line[-1] == "."]
    assert "".join(cells) == "." * len(timeline)


# -- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Path:
    studio = make_studio(tmp_path)
    (studio / "old").mkdir()
    (studio / "studio.py").rename(studio / "old" / "studio.py")
    (studio / "new").mkdir()
    (studio / "new" / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2)\n")
    (studio / "none").mkdir()
    (studio / "none" / "studio.py").write_text("print()\n")
    return studio


def test_several_code_bases(two: Path) -> None:
    result = run("matrix", "old", "new", "none", cwd=two)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"kiln (kiln): {len(LIBRARY)} releases, 1.0 to 2.0; checked all 3 releases, 1.0 to 2.0",
        "",
        "                    1.0",
        "  checked           ---",
        "  old               S=X",
        "  new               ===",
        "  none              ...",
        "  all 2 code bases  S=X",
        "",
        "  = works   w works, with a warning   d degraded, on purpose   X breaks   S breaks silently   . not reached",
        "",
        "all 2 code bases",
        "  silent with   1.0",
        "  breaks with   2.0",
        "  works with    1.1",
        "old",
        "  asks for      all 3 releases, 1.0 to 2.0",
        "  silent with   1.0",
        "  breaks with   2.0",
        "  works with    1.1",
        "new",
        "  asks for      all 3 releases, 1.0 to 2.0",
        "  works with    all 3 releases, 1.0 to 2.0",
        "none",
        "  asks for      all 3 releases, 1.0 to 2.0",
        "  not used here",
    ]


def test_several_code_bases_as_data_and_as_a_page(two: Path) -> None:
    result = run("matrix", "old", "new", "--format", "json", "--format", "html=m.html", cwd=two)
    assert result.status == 0
    form = json.loads(result.out)
    found = [[f["code"] for f in row.pop("findings")] for row in form["matrix"][0]["rows"]]
    assert found == [["DW101", "DW201"], []]
    assert form == {
        "schema": 1,
        "matrix": [
            {
                "target": "kiln",
                "releases": ["1.0", "1.1", "2.0"],
                "rows": [
                    {
                        "code_base": "old",
                        "declared": ["1.0", "1.1", "2.0"],
                        "notices": [],
                        "runs": [
                            {"state": "silent", "first": "1.0", "last": "1.0"},
                            {"state": "works", "first": "1.1", "last": "1.1"},
                            {"state": "breaks", "first": "2.0", "last": "2.0"},
                        ],
                    },
                    {
                        "code_base": "new",
                        "declared": ["1.0", "1.1", "2.0"],
                        "notices": [],
                        "runs": [{"state": "works", "first": "1.0", "last": "2.0"}],
                    },
                ],
                "all": [
                    {"state": "silent", "first": "1.0", "last": "1.0"},
                    {"state": "works", "first": "1.1", "last": "1.1"},
                    {"state": "breaks", "first": "2.0", "last": "2.0"},
                ],
            }
        ],
        "not_looked_at": [],
    }
    assert "<!doctype html>" in (two / "m.html").read_text(encoding="utf-8")


def test_nothing_to_look_at(two: Path) -> None:
    result = run("matrix", "none", cwd=two)
    assert result.status == 0
    assert result.out == "no code base here uses a library that driftwatch knows\n"
    # The others stand, in every form.
    result = run("matrix", "missing", "new", "--format", "json", "--format", "html=m.html", cwd=two)
    assert result.status == 2
    form = json.loads(result.out)
    assert [row["code_base"] for row in form["matrix"][0]["rows"]] == ["new"]
    (unread,) = form["not_looked_at"]
    assert unread["code_base"] == "missing"
    assert f"error: missing: {unread['reason']}" in result.err
    assert "Not looked at" in (two / "m.html").read_text(encoding="utf-8")
    assert "missing\n  not looked at cannot scan" in run("matrix", "missing", "new", cwd=two).out
    result = run("matrix", "missing", cwd=two)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("error: cannot scan 'missing'")
    assert run("matrix", cwd=two).status == 2


def test_hostile_project(tmp_path: Path) -> None:
    studio = make_hostile(tmp_path / "<script>\x1b[2J\n::error::x")
    for arguments in (("scan", "--format", "matrix"), ("matrix", ".", "src")):
        for environment in ({"PYTHONUTF8": "1"}, {"PYTHONUTF8": "1", "FORCE_COLOR": "1"}):
            result = run(*arguments, cwd=studio, environment=environment)
            assert result.status in (0, 1), result.err
            plain = re.sub(r"\x1b\[[0-9;]*m", "", result.out)
            assert all(character == "\n" or character.isprintable() for character in plain)
            assert not [line for line in plain.splitlines() if line.startswith("::")]
