"""GitHub annotations: read back as the runner reads them, so that nothing scanned can forge or break one."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.findings.finding import Severity
from driftwatch.flow.uses import Location
from driftwatch.releases import EMPTY
from driftwatch.report import render
from driftwatch.report.github import command
from driftwatch.report.options import RenderOptions
from tests.report_sample import HOSTILE, REPORT, SILENT, TIMELINE

COMMAND = re.compile(r"^::(?P<name>[a-z]+) (?P<properties>.*?)::(?P<data>.*)$")


def parse(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner takes it apart."""
    match = COMMAND.match(line)
    assert match, line
    properties = dict(pair.split("=", 1) for pair in match["properties"].split(","))
    for key, value in properties.items():
        for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(escape, character)
        properties[key] = value
    data = match["data"].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return match["name"], properties, data


def annotations() -> list[tuple[str, dict[str, str], str]]:
    return [parse(line) for line in render("github", REPORT, RenderOptions()).splitlines() if line.startswith("::")]


def test_one_each_the_silent_errors_first() -> None:
    found = annotations()
    assert [name for name, _, _ in found] == ["error", "error", "error", "warning", "notice", "warning"]
    assert found[0][1] == {
        "file": "pkg/fusion.py",
        "line": "9",
        "endLine": "9",
        "title": "DW101 unknown-keyword (silent)",
        "col": "30",
        "endColumn": "61",
    }
    assert found[0][2].splitlines() == [
        "`create_workspace` does not take `group` in 0.6.0 to 0.6.1",
        "Outside the checked range in 0.5.0.",
        "SILENT: the `except Exception as error` at line 10 takes the TypeError and the program goes on without it.",
        SILENT.hint,
    ]


def test_what_is_outside_the_range_comes_last_and_says_so() -> None:
    note = replace(
        SILENT, severity=Severity.NOTE, releases=EMPTY, beyond=TIMELINE.set_of(["0.5.0"]), message="x in 0.5.0"
    )
    report = replace(REPORT, findings=(note, *REPORT.findings), diagnostics=())
    lines = [line for line in render("github", report, RenderOptions()).splitlines() if line.startswith("::")]
    assert parse(lines[-1])[2].splitlines()[:2] == ["x in 0.5.0", "Outside the checked range."]


def test_what_was_not_analysed_is_told_at_its_line() -> None:
    assert annotations()[-1] == (
        "warning",
        {"file": "pkg/broken\n.py", "line": "3", "title": "driftwatch: not analysed in full"},
        "not valid Python: invalid syntax",
    )


def test_columns_only_within_one_line() -> None:
    report = replace(REPORT, findings=(replace(SILENT, location=Location("a.py", 3, 5, 9, 2)),), diagnostics=())
    line = render("github", report, RenderOptions()).splitlines()[0]
    assert parse(line)[1] == {"file": "a.py", "line": "3", "endLine": "9", "title": "DW101 unknown-keyword (silent)"}


def test_nothing_scanned_starts_a_command() -> None:
    shown = render("github", REPORT, RenderOptions())
    assert len([line for line in shown.splitlines() if line.startswith("::")]) == 6
    assert "\x1b" not in shown
    assert HOSTILE.message not in shown


@given(st.text(min_size=1), st.text())
def test_escaping_is_undone_by_the_runner(path: str, message: str) -> None:
    line = command("error", {"file": path, "line": 1, "title": None}, message)
    assert "\n" not in line and "\r" not in line
    assert parse(line) == ("error", {"file": path, "line": "1"}, message)
