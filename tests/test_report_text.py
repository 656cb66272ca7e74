"""The report for a person: its exact look, its look on a terminal, and that nothing it shows can do harm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from driftwatch.findings.finding import Severity, is_aside
from driftwatch.flow.uses import Location, Outcome
from driftwatch.releases import EMPTY
from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import ranges
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Look, Span, compose, look
from driftwatch.scan.report_model import Report
from tests.report_sample import AGAIN, GUARDED, RAISES, REPORT, SILENT, TIMELINE, finding, holding

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def text(
    report: Report = REPORT,
    *,
    color: bool = False,
    width: int | None = None,
    unresolved: bool = False,
    beyond: bool = False,
) -> str:
    return render("text", report, RenderOptions(Look(color, width), unresolved, beyond))


def test_golden(golden: Callable[[str, str], None]) -> None:
    golden("report.txt", text(unresolved=True))


def test_golden_on_a_narrow_terminal(golden: Callable[[str, str], None]) -> None:
    golden("report_80.txt", text(width=80))


def test_colours_change_no_text() -> None:
    coloured = text(color=True)
    assert "\x1b[" in coloured
    assert [line.rstrip() for line in ANSI.sub("", coloured).splitlines()] == text().splitlines()


def test_nothing_hostile_comes_through() -> None:
    for shown in (text(unresolved=True), ANSI.sub("", text(color=True, width=60))):
        assert all(character == "\n" or character.isprintable() for character in shown)
        assert not [line for line in shown.splitlines() if line.startswith("::")]
    assert "[bold]markup[/bold]" in text()


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 70), st.integers(0, 70), st.sampled_from([None, 50]))
def test_any_text_is_harmless(line: str, message: str, start: int, length: int, width: int | None) -> None:
    place = Location("\x1b]0;x\x07.py", 1, start + 1, 1, start + length + 1)
    report = replace(
        REPORT,
        findings=(finding(location=place, message=message, trace=(), caught_at=None, outcome=Outcome.RAISES),),
        sources=holding({place.path: (line,)}),
    )
    shown = text(report, width=width)
    assert safe(shown.replace("\n", "")) == shown.replace("\n", "")


@given(st.lists(st.text(alphabet="ab 宽\t", max_size=90), min_size=1, max_size=3), st.integers(40, 100))
def test_lines_keep_the_width(words: list[str], width: int) -> None:
    lines = [Hanging((Span("  = "),), (Span(safe(word)),)) for word in words]
    for line in compose(lines, Look(False, width)).splitlines():
        assert cell_len(line) <= width


@pytest.mark.parametrize("column", [1, 60, 150, 290])
def test_a_long_line_is_cut_round_its_place(column: int) -> None:
    line = "".join(chr(97 + i % 26) for i in range(300))
    place = Location("pkg/long.py", 1, column, 1, column + 5)
    report = replace(
        REPORT,
        findings=(finding(location=place, trace=(), caught_at=None, outcome=Outcome.RAISES),),
        sources=holding({place.path: (line,)}),
    )
    lines = text(report, width=80).splitlines()
    at = next(i for i, shown in enumerate(lines) if "^" in shown)
    assert cell_len(lines[at - 1]) <= 80
    caret = lines[at].index("^")
    assert lines[at - 1][caret : caret + 5] == line[column - 1 : column + 4]
    assert lines[at].count("^") == 5


def test_carets_stand_below_wide_characters_and_tabs() -> None:
    line = "\t变量 = f(宽, group=1)"
    start = line.index("group") + 1
    report = replace(
        REPORT,
        findings=(
            finding(
                location=Location("a.py", 1, start, 1, start + 5), trace=(), caught_at=None, outcome=Outcome.RAISES
            ),
        ),
        sources=holding({"a.py": (line,)}),
    )
    source, carets = text(report).splitlines()[2:4]
    assert cell_len(source[: source.index("group")]) == carets.index("^")
    assert carets.count("^") == 5


def test_the_same_problem_is_told_once() -> None:
    shown = text()
    assert shown.count("error DW101") == 2
    assert "= also   pkg/fusion.py:18:16" in shown
    many = [replace(AGAIN, location=Location("pkg/m.py", i, 1, i, 2)) for i in range(1, 31)]
    shown = text(replace(REPORT, findings=(RAISES, *many)))
    assert shown.count("error DW101") == 1
    assert "at 22 more places" in shown
    assert "30 errors" not in shown and "31 errors" in shown


def test_errors_come_before_warnings() -> None:
    lines = text().splitlines()
    kinds = [
        kind for line in lines for kind in ("error", "warning", "note") if re.match(rf"\S+:\d+:\d+: {kind} ", line)
    ]
    assert kinds == ["error", "error", "warning", "note"]


@pytest.mark.parametrize(
    ("works", "requirement"),
    [
        (["0.6.2", "0.7.0"], "flashinfer-python>=0.6.2,<=0.7.0"),
        (["0.6.0", "0.7.0", "0.7.1"], "flashinfer-python>=0.7.0"),
        (["0.6.0"], "flashinfer-python==0.6.0"),
    ],
)
def test_the_way_out(works: list[str], requirement: str) -> None:
    target = replace(REPORT.targets[0], compatible=TIMELINE.set_of(works), degraded=EMPTY)
    assert f"  way out       require {requirement}, or fix the 3 errors above" in text(
        replace(REPORT, targets=(target,))
    )
    assert "way out" not in text(replace(REPORT, targets=(replace(target, compatible=EMPTY),)))
    assert "way out" not in text(replace(REPORT, targets=(replace(target, compatible=target.checked),)))


def test_silence_says_what_was_checked() -> None:
    target = replace(REPORT.targets[0], compatible=REPORT.targets[0].checked, degraded=EMPTY)
    clean = Report(targets=(target,), findings=(), files=40, analysed=3)
    assert text(clean) == (
        "flashinfer-python (flashinfer.comm): checked 0.6.0 to 0.7.1, 5 releases (--against >=0.6.0)\n"
        "  works with    0.6.0 to 0.7.1, 5 releases\n"
        "  degraded with none\n"
        "  breaks with   none\n"
        "\n"
        "0 errors in 40 files (3 analysed, 0 unresolved calls)\n"
    )
    unused = replace(clean, analysed=0, targets=(replace(target, uses=0),))
    assert text(unused) == (
        "flashinfer-python (flashinfer.comm): checked 0.6.0 to 0.7.1, 5 releases (--against >=0.6.0)\n"
        "  not used here\n"
        "\n"
        "0 errors in 40 files (0 analysed, 0 unresolved calls): no file uses flashinfer.comm\n"
    )
    both = replace(clean, targets=(replace(target, distribution="other", uses=0), target))
    assert text(both) == text(clean), "a library that is not used is not worth a word beside one that is"


def test_a_file_that_is_gone_has_no_excerpt() -> None:
    shown = text(replace(REPORT, findings=(SILENT,), sources=holding({})))
    assert "^" not in shown
    assert "SILENT: the handler at line 10 takes the TypeError" in shown


def test_a_place_past_the_end_of_a_changed_file() -> None:
    shown = text(replace(REPORT, findings=(SILENT,), sources=holding({"pkg/fusion.py": ("x = 1",)})))
    assert "error DW101" in shown and "^" not in shown


def test_where_the_value_came_from_in_another_file() -> None:
    step = replace(SILENT.trace[0], path="pkg/moe.py", line=2)
    shown = text(replace(REPORT, findings=(replace(SILENT, trace=(step,)),)))
    assert "--> pkg/moe.py:2" in shown
    assert shown.index("pkg/moe.py:2") < shown.index("comm.create_workspace(**kwargs)")


def test_a_note_beyond_the_range_is_one_line() -> None:
    note = finding(
        severity=Severity.NOTE, releases=EMPTY, beyond=TIMELINE.set_of(["0.5.0"]), message="`f` takes no `g` in 0.5.0"
    )
    assert text(replace(REPORT, findings=(note,))).splitlines()[0] == (
        "what a downgrade would cost: 1 note, which --beyond lists"
    )
    assert text(replace(REPORT, findings=(note,)), beyond=True).splitlines()[:2] == [
        "what a downgrade would break:",
        "pkg/fusion.py:9:30: note DW101 unknown-keyword: `f` takes no `g` in 0.5.0; SILENT there",
    ]


def test_an_upgrade_and_a_downgrade_are_told_apart() -> None:
    target = replace(REPORT.targets[0], checked=TIMELINE.set_of(["0.6.1"]), compatible=EMPTY, degraded=EMPTY)
    upgrade = finding(severity=Severity.NOTE, releases=EMPTY, beyond=TIMELINE.set_of(["0.6.0", "0.7.1"]))
    downgrade = replace(upgrade, beyond=TIMELINE.set_of(["0.5.0"]), parameter="other")
    lines = text(replace(REPORT, targets=(target,), findings=(downgrade, upgrade)), beyond=True).splitlines()
    assert lines.index("what an upgrade would break:") < lines.index("what a downgrade would break:")
    assert "  upgrade       breaks with 0.7.1" in lines
    assert "  downgrade     breaks with 0.5.0 to 0.6.0, 2 releases" in lines


def test_what_breaks_nothing_is_no_break() -> None:
    """A deprecation, and what is guarded, stand under no heading that says "break"."""
    target = replace(REPORT.targets[0], checked=TIMELINE.set_of(["0.6.1"]), compatible=EMPTY, degraded=EMPTY)
    later, earlier = TIMELINE.set_of(["0.7.1"]), TIMELINE.set_of(["0.5.0"])
    deprecated = finding(
        code="DW301",
        severity=Severity.NOTE,
        outcome=None,
        caught_at=None,
        exception=None,
        releases=EMPTY,
        beyond=later,
        message="it is deprecated",
        trace=(),
    )
    found = (deprecated, replace(deprecated, beyond=earlier), replace(GUARDED, releases=EMPTY, beyond=later))
    lines = text(replace(REPORT, targets=(target,), findings=found), beyond=True).splitlines()
    assert [line for line in lines if line.startswith("what a")] == [
        "what an upgrade would change:",
        "what a downgrade would change:",
    ]
    assert lines.index("") == 3, "both that an upgrade would change stand under one heading"


def test_the_product_is_told_before_its_tests() -> None:
    aside = [replace(AGAIN, location=Location(path, 1, 1, 1, 2)) for path in ("benchmarks/a.py", "pkg/test_b.py")]
    shown = text(replace(REPORT, findings=(*aside, RAISES)))
    assert shown.startswith("pkg/fusion.py:15:9: error DW101")
    assert "  = also   benchmarks/a.py:1:1\n  = also   pkg/test_b.py:1:1\n" in shown


@pytest.mark.parametrize(
    ("path", "aside"),
    [
        ("tests/kernels/moe.py", True),
        ("python/pkg/test/run.py", True),
        ("pkg/test_fusion.py", True),
        ("pkg/fusion_test.py", True),
        ("benchmarks/kernels/fused.py", True),
        ("benchmark/bench_fused.py", True),
        ("examples/serve.py", True),
        ("conftest.py", True),
        ("pkg/layers/fusion.py", False),
        ("pkg/latest/contest.py", False),
        ("pkg/testing_utils.py", False),
    ],
)
def test_what_is_no_part_of_the_product(path: str, aside: bool) -> None:
    assert is_aside(path) is aside


def test_ranges() -> None:
    assert ranges(TIMELINE, EMPTY) == "none"
    assert ranges(TIMELINE, TIMELINE.set_of(["0.6.1"])) == "0.6.1"
    assert ranges(TIMELINE, TIMELINE.matching(">=0.6.1")) == "0.6.1 to 0.7.1, 4 releases"
    assert ranges(TIMELINE, TIMELINE.set_of(["0.5.0", "0.7.0"])) == "0.5.0, 0.7.0 (2 releases)"
    assert ranges(TIMELINE, TIMELINE.all) == "all 6 releases, 0.5.0 to 0.7.1"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_decided_by_stream_and_environment() -> None:
    pipe, terminal = StringIO(), Terminal()
    assert look(pipe, {}) == Look(False, None)
    assert look(pipe, {"FORCE_COLOR": "1"}) == Look(True, None)
    assert look(pipe, {"FORCE_COLOR": "1", "NO_COLOR": "1"}) == Look(False, None)
    assert look(terminal, {"COLUMNS": "100"}) == Look(True, 100)
    assert look(terminal, {"NO_COLOR": "1", "COLUMNS": "100"}) == Look(False, 100)
    assert look(terminal, {"NO_COLOR": "", "COLUMNS": "9"}) == Look(True, 40)
    assert look(terminal, {"TERM": "dumb"}) == Look(False, 80)
    assert look(terminal, {"FORCE_COLOR": "0"}) == Look(False, 80)
