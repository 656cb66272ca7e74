"""Every format from one scan of a real engine, and the picture of several of its releases."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.browser import Browser, find_chromium
from tests.cli_process import Result, run
from tests.conftest import ROOT
from tests.known_releases import LAST
from tests.test_report_html import safe_page
from tests.test_report_markdown import ALLOWED, page
from tests.test_report_sarif import schema, valid

__all__ = ["schema"]

pytestmark = [pytest.mark.network, pytest.mark.slow]
FILES = {
    "json": "o.json",
    "sarif": "o.sarif",
    "markdown": "o.md",
    "junit": "o.xml",
    "html": "o.html",
    "matrix": "o.matrix",
    "text": "o.txt",
}
KNOWN = f",<={LAST}"
FUSION = "sglang/srt/layers/flashinfer_comm_fusion.py"


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("real")
    formats = [part for name, file in FILES.items() for part in ("--format", f"{name}={file}")]
    against = ["--against", f"flashinfer-python>=0.6.0{KNOWN}"]
    return run("scan", "pypi:sglang==0.5.12", *against, "--format", "github", *formats, cwd=folder, limit=None), folder


def text(scanned: tuple[Result, Path], name: str) -> str:
    result, folder = scanned
    assert (result.status, result.err) == (1, "")
    return (folder / FILES[name]).read_text(encoding="utf-8")


def test_the_readme_shows_what_is_printed(scanned: tuple[Result, Path]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sample = readme.partition("The first command prints")[2].partition("```text\n")[2].partition("```")[0]
    shown = [line for line in sample.splitlines() if line != "[...]"]
    # The README asks for all releases from 0.6.0 on; one that comes out after these changes nothing.
    printed = text(scanned, "text").replace(KNOWN, "").splitlines()
    # The time it took stands at the end of the last line.
    printed[-1] = printed[-1].rpartition(" in ")[0]
    assert len(shown) > 30
    places = [printed.index(line) for line in shown if line]
    assert [line for line in shown if line not in printed] == []
    assert places[-1] == len(printed) - 1


def test_annotations(scanned: tuple[Result, Path]) -> None:
    errors = [line for line in scanned[0].out.splitlines() if line.startswith("::error ")]
    assert [line.partition("::`")[0] for line in errors] == [
        f"::error file={FUSION},line=401,endLine=403,title=DW101 unknown-keyword (silent)",
        f"::error file={FUSION},line=672,endLine=685,title=DW101 unknown-keyword",
    ]


def test_sarif(scanned: tuple[Result, Path], schema: object) -> None:
    log = json.loads(text(scanned, "sarif"))
    valid(schema, log)
    findings = json.loads(text(scanned, "json"))["findings"]
    results = log["runs"][0]["results"]
    assert [r["partialFingerprints"]["driftwatch/v2"] for r in results] == [f["fingerprint"] for f in findings]
    (silent,) = (r for r in results if r["level"] == "error" and r["properties"]["outcome"] == "silent")
    flow = silent["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow] == [390, 401, 404]


def test_markdown_and_junit(scanned: tuple[Result, Path]) -> None:
    shown = page(text(scanned, "markdown"))
    assert set(shown.tags) <= ALLOWED
    assert "driftwatch sglang 0.5.12: ❌ 2 errors, 1 of them silent" in shown.words
    root = ElementTree.fromstring(text(scanned, "junit"))
    assert root.get("failures") == "2"


def test_matrix(scanned: tuple[Result, Path]) -> None:
    rows = {parts[0]: parts[-1] for line in text(scanned, "matrix").splitlines() if len(parts := line.split()) >= 2}
    before = 22
    assert rows["allreduce_fusion"][:61] == "." * before + "X" * 11 + "d" * 4 + "=" * 24
    assert rows["create_allreduce_fusion_workspace"][before : before + 15] == "S" * 15
    assert rows["moe_a2a_get_workspace_size_per_rank"][60] == "d"


def test_page(scanned: tuple[Result, Path]) -> None:
    shown = safe_page(text(scanned, "html"))
    assert "works with23 of 390.6.10.post1 to 0.7.2.post1" in shown.words
    assert "trigger_completion_at_end=True breaking: position 5, so positional arguments after it shift" in shown.words
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on the path, nor in DRIFTWATCH_CHROMIUM")
    browser = Browser(program)
    try:
        browser.look()
        browser.open(scanned[1] / FILES["html"])
        browser.click(".state[data-state='5']")
        assert browser.ask("document.getElementById('shown').value").startswith("1 of ")
        assert browser.complaints == []
    finally:
        browser.close()


def test_several_releases() -> None:
    result = run("matrix", "pypi:sglang==0.5.12", "pypi:sglang==0.5.13", "--format", "json", limit=None)
    assert (result.status, result.err) == (0, "")
    old, new = json.loads(result.out)["matrix"][0]["rows"]
    assert (old["declared"], new["declared"]) == (["0.6.11.post1"], ["0.6.12"])
    assert {"state": "silent", "first": "0.6.0", "last": "0.6.10"} in old["runs"]
    assert not [run for run in new["runs"] if run["state"] == "silent"]
