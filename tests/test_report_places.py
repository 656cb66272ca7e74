"""What is marked in the source is what the analysis knows to be meant, never what looks like it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.report.states import State, site_rows, where
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from tests.made_uses import KILN, releases


def reported(folder: Path, source: str) -> Report:
    (folder / "app.py").write_text(source)
    return scan(ScanRequest((folder,), (Watched(KILN),), against=("all",), base=folder))


def marked(report: Report, code: str) -> list[tuple[int, str]]:
    """The lines that carets stand below for the findings of a code, and what they stand below."""
    shown = render("text", report, RenderOptions()).split("\n\n")
    lines = next(block for block in shown if f" {code} " in block).split("\n")
    found = []
    for above, below in pairwise(lines):
        if "^" in below:
            start, end = below.index("^"), below.rindex("^") + 1
            found.append((int(above.split("|")[0]), above[start:end]))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from kiln.wheel import (\n    throw,\n    spin,\n)\n", [(1, "kiln.wheel")]),
        ("x = 1; from kiln.wheel import throw\n", [(1, "kiln.wheel")]),
        ("from kiln.wheel import throw, spin\n", [(1, "kiln.wheel")]),
        ("import os, kiln.wheel as w, \\\n    kiln.wheel\n", [(1, "kiln.wheel as w")]),
        ("from \\\n    kiln.wheel import throw\n", [(1, "from \\")]),
    ],
)
def test_a_missing_module_is_marked_where_it_is_named(
    tmp_path: Path, source: str, expected: list[tuple[int, str]]
) -> None:
    report = reported(tmp_path, source)
    assert marked(report, "DW202") == expected
    row = next(row for row in site_rows(report, report.targets[0]) if row.symbol.startswith("kiln.wheel"))
    assert where(row.states, State.BREAKS) == releases("<1.2"), "and it is a finding of what is imported from it"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # The keyword of another call is not meant.
        (
            "import kiln\n\nkiln.fire(\n    other(1, glaze=2),\n    3,\n    glaze=2,\n)\n",
            [(3, "kiln.fire("), (6, "glaze")],
        ),
        ("import kiln\n\nkiln.fire(\n    other(1, glaze=2),\n    3, **dict(glaze=2))\n", [(3, "kiln.fire(")]),
        (
            "import kiln\n\ndef bake(**kw):\n    kiln.fire(1, 2, **kw)\n\nbake(\n    # glaze=3\n    glaze=3,\n)\n",
            [(6, "bake("), (8, "glaze")],
        ),
    ],
)
def test_a_keyword_is_marked_where_it_is_passed(tmp_path: Path, source: str, expected: list[tuple[int, str]]) -> None:
    report = reported(tmp_path, source)
    assert marked(report, "DW101") == expected
    page = render("html", report, RenderOptions())
    assert page.count("<mark>glaze</mark>") == sum(text == "glaze" for _, text in expected)


def test_an_argument_that_is_missing_is_marked_nowhere(tmp_path: Path) -> None:
    report = reported(tmp_path, "import kiln\n\nkiln.mould(\n    other(size=3),\n)\n")
    assert marked(report, "DW102") == [(3, "kiln.mould(")]


def test_the_exception_is_what_python_raises(tmp_path: Path) -> None:
    source = (
        "import kiln\n\n\nclass Gas(kiln.Burner):\n    def ignite(self, fuel): ...\n\n\n"
        "def one():\n    return Gas()\n\n\ndef two():\n    return kiln.raku\n"
    )
    found = reported(tmp_path, source).findings
    findings = {f.code: f.exception for f in found if f.outcome is not None}
    assert findings == {"DW302": "TypeError", "DW201": "AttributeError"}
