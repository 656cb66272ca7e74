"""Repairs in reports: proven where that is asked for, counted where it is not, and right down to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli_process import make_studio, run
from tests.conftest import ROOT

SOURCE = """\
import kiln


def bake(pot):
    # \N{LATIN SMALL LETTER E WITH ACUTE}
    kiln.fire(pot, minutes=30, glaze=None)
    return kiln.fire(pot, 30, glaze="blue")


def finish(pot):
    return kiln.raku(pot)
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_studio(tmp_path_factory.mktemp("studio"))
    (folder / "studio.py").write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", "\r\n").encode())
    return folder


def report(studio: Path, kind: str) -> str:
    done = run("scan", "--fixes", "--format", kind, cwd=studio)
    assert done.status == 1, done.err
    return done.out


def applied(data: bytes, edits: list[dict[str, Any]]) -> bytes:
    for edit in reversed(edits):
        data = data[: edit["start"]] + edit["text"].encode() + data[edit["end"] :]
    return data


def test_json_has_the_bytes_that_are_replaced(studio: Path) -> None:
    found = json.loads(report(studio, "json"))
    schema = json.loads((ROOT / "driftwatch" / "report" / "schema_v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    data = (studio / "studio.py").read_bytes()
    fixes = {each["line"]: each.get("fix") for each in found["findings"]}
    assert fixes[11] is None
    assert (fixes[6]["applicability"], fixes[6]["lost"]) == ("safe", None)
    assert applied(data, fixes[6]["edits"]) == data.replace(b", glaze=None", b"")
    assert (fixes[7]["applicability"], fixes[7]["lost"]) == ("unsafe", "leaving it out could change the result")
    repaired = applied(data, fixes[7]["edits"])
    assert repaired.count(b"\n") == repaired.count(b"\r\n")
    assert b'    if _FIRE_TAKES_GLAZE:\r\n        kwargs["glaze"] = "blue"\r\n' in repaired
    for fix in (fixes[6], fixes[7]):
        for edit in fix["edits"]:
            before = data[: edit["start"]].decode("utf-8-sig").replace("\r\n", "\n")
            assert (edit["line"], edit["column"]) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)


def test_nothing_is_proven_unasked(studio: Path) -> None:
    done = run("scan", "--format", "json", cwd=studio)
    assert not any("fix" in each for each in json.loads(done.out)["findings"])


def test_sarif_has_what_is_safe(studio: Path) -> None:
    results = json.loads(report(studio, "sarif"))["runs"][0]["results"]
    (fixed,) = [each for each in results if "fixes" in each]
    assert fixed["fixes"] == [
        {
            "description": {"text": "Leave out `glaze`, which is the default."},
            "artifactChanges": [
                {
                    "artifactLocation": {
                        "uri": "studio.py",
                        "uriBaseId": fixed["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uriBaseId"],
                    },
                    "replacements": [
                        {
                            "deletedRegion": {"startLine": 6, "startColumn": 15, "endLine": 6, "endColumn": 42},
                            "insertedContent": {"text": "pot, minutes=30"},
                        }
                    ],
                }
            ],
        }
    ]


def test_markdown_and_html_show_the_patch(studio: Path) -> None:
    markdown = report(studio, "markdown")
    assert "<details><summary>suggested change: leave out `glaze`, which is the default</summary>" in markdown
    assert "```diff\n--- a/studio.py\n+++ b/studio.py\n" in markdown
    assert "-    kiln.fire(pot, minutes=30, glaze=None)\n+    kiln.fire(pot, minutes=30)\n" in markdown
    page = report(studio, "html")
    assert page.count('<details class="patch">') == 2
    assert "+    kiln.fire(pot, minutes=30)" in page


def test_the_text_says_how_many_have_one(studio: Path) -> None:
    done = run("scan", cwd=studio)
    assert "\n`driftwatch fix` has a repair for 1 of 3 errors and warnings, and for 1 more with --unsafe\n" in done.out
