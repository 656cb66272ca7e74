"""JUnit: read back as a CI server reads it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from tests.cli_process import make_studio, run
from tests.hostile_project import NAMES, make_hostile
from tests.report_sample import REPORT


def suites() -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render("junit", REPORT, RenderOptions()))
    return {suite.get("name", ""): suite for suite in root}


def test_a_suite_for_each_file_a_case_for_each_finding() -> None:
    root = ElementTree.fromstring(render("junit", REPORT, RenderOptions()))
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "3",
        "errors": "0",
        "skipped": "1",
    }
    assert set(suites()) == {"<script>.py", "pkg/broken\\n.py", "pkg/fusion.py", "pkg/moe.py"}
    assert [case.get("name") for case in suites()["pkg/fusion.py"]] == [
        "DW101 unknown-keyword: flashinfer.comm.create_workspace, group",
        "DW101 unknown-keyword: flashinfer.comm.allreduce_fusion, trigger_completion_at_end",
        "DW101 unknown-keyword: flashinfer.comm.allreduce_fusion, trigger_completion_at_end (#2)",
    ]


def test_an_error_is_a_failure_that_says_it_all() -> None:
    case = suites()["pkg/fusion.py"][0]
    assert (case.get("file"), case.get("line")) == ("pkg/fusion.py", "9")
    failure = case.find("failure")
    assert failure is not None and failure.text is not None
    assert failure.get("type") == "DW101 silent"
    assert failure.get("message") == "`create_workspace` does not take `group` in 0.6.0 to 0.6.1"
    lines = failure.text.splitlines()
    assert lines[0].startswith("pkg/fusion.py:9:30: error DW101: ")
    assert "in: 0.6.0 to 0.6.1, 2 releases" in lines
    assert "by way of pkg/fusion.py:7: `group` is put into the dict here" in lines


def test_warnings_and_notes_pass() -> None:
    for name in ("<script>.py", "pkg/moe.py"):
        (case,) = suites()[name]
        assert case.find("failure") is None
        assert case.find("system-out") is not None


def test_a_file_that_was_not_analysed_is_skipped() -> None:
    (case,) = suites()["pkg/broken\\n.py"]
    skipped = case.find("skipped")
    assert skipped is not None and skipped.get("message") == "not valid Python: invalid syntax"


def test_a_file_in_which_all_fits_has_a_passed_case(tmp_path: Path) -> None:
    studio = make_studio(tmp_path)
    (studio / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2)\n")
    result = run("scan", "--format", "junit", cwd=studio)
    assert result.status == 0
    (suite,) = ElementTree.fromstring(result.out)
    (case,) = suite
    assert case.get("name") == "every use fits the checked releases"
    assert len(case) == 0


def test_hostile_project(tmp_path: Path) -> None:
    result = run("scan", "--format", "junit", cwd=make_hostile(tmp_path))
    assert result.status == 1, result.err
    assert all(character == "\n" or character.isprintable() for character in result.out)
    root = ElementTree.fromstring(result.out)
    assert len(root) == len(NAMES) + 1
    tags = {element.tag for element in root.iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "skipped"}
    assert root.get("failures") == str(2 * len(NAMES))
