"""Every format of one report says the same: what was read, what was not, what is new, and which releases work."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest

from tests.cli_process import STUDIO, make_studio, run
from tests.test_diff_base import commit, git

FORMATS = ("text", "json", "github", "sarif", "markdown", "junit", "html")
Finding = tuple[str, int, str, str]
"""Path, line, code and severity."""

MORE = """\


def new(pots):
    try:
        kiln.fire(pots, 1, glaze=2)
    except Exception:
        pass
    kiln.fire(*pots)
    return kiln.raku(pots)


def guarded(pot):
    if hasattr(kiln, "raku"):
        return kiln.raku(pot)
    return pot
"""
KNOWN = "\n\ndef known(pot):\n    return kiln.raku(pot)  # driftwatch: ignore[DW201]\n"


@dataclass(frozen=True)
class Said:
    """What a report says, as far as its format can."""

    findings: frozenset[Finding]
    unread: frozenset[str]


@pytest.fixture(scope="module", params=["whole", "new"])
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One run in all formats: of a whole code base, or of what is new in it."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    folder = make_studio(tmp_path_factory.mktemp("agree"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    (folder / "studio.py").write_text(STUDIO + MORE + KNOWN)
    (folder / "src").mkdir()
    (folder / "src" / "broken.py").write_text("import kiln\nkiln.fire(\n")
    (folder / "src" / "null.py").write_bytes(b"import kiln\n\0")
    (folder / "src" / "other.py").write_text("x = (\n")
    out = tmp_path_factory.mktemp("out")
    arguments = [part for name in FORMATS for part in ("--format", f"{name}={out / name}")]
    base = ["--diff-base", "main"] if request.param == "new" else []
    result = run("scan", "--unresolved", "--beyond", *base, *arguments, cwd=folder)
    assert result.status == 1, result
    return {name: (out / name).read_text(encoding="utf-8") for name in FORMATS}


def of_json(text: str) -> Said:
    form = json.loads(text)
    found = [(f["path"], f["line"], f["code"], f["severity"]) for f in form["findings"]]
    return Said(frozenset(found), frozenset(d["path"] for d in form["diagnostics"]))


def of_sarif(text: str) -> Said:
    (done,) = json.loads(text)["runs"]
    found = set()
    for result in done["results"]:
        place = result["locations"][0]["physicalLocation"]
        where = place["artifactLocation"]["uri"], place["region"]["startLine"]
        found.add((*where, result["ruleId"], result["level"]))
    told = done["invocations"][0]["toolExecutionNotifications"]
    return Said(
        frozenset(found), frozenset(n["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for n in told)
    )


def of_text(text: str) -> Said:
    found: set[Finding] = set()
    severity = code = ""
    for line in text.splitlines():
        if head := re.match(r"(\S+?):(\d+):\d+: (error|warning|note) (DW\d+)", line):
            severity, code = head[3], head[4]
            found.add((head[1], int(head[2]), code, severity))
        elif also := re.match(r"  = also   (\S+?):(\d+):\d+$", line):
            found.add((also[1], int(also[2]), code, severity))
        others = line.partition("also at ")[2] if severity == "note" else ""
        for path, number in re.findall(r"(\S+?):(\d+):\d+", others):
            found.add((path, int(number), code, severity))
    return Said(frozenset(found), frozenset(re.findall(r"(?m)^(\S+?)(?::\d+)?: not analysed", text)))


def of_github(text: str) -> Said:
    names = {"error": "error", "warning": "warning", "notice": "note"}
    found, unread = set(), set()
    for kind, path, line, title in re.findall(r"(?m)^::(\w+) file=([^,]+)(?:,line=(\d+))?[^:]*?title=([^,:]+)", text):
        if title.startswith("DW"):
            found.add((path, int(line), title.split()[0], names[kind]))
        elif "not analysed" in title:
            unread.add(path)
    return Said(frozenset(found), frozenset(unread))


def of_junit(text: str) -> Said:
    found, unread = set(), set()
    for suite in ET.fromstring(text).iter("testsuite"):
        for case in suite.iter("testcase"):
            said = " ".join(case.itertext())
            if case.find("skipped") is not None:
                unread.add(str(suite.get("name")))
            for path, line, severity, code in re.findall(r"(\S+?):(\d+):\d+: (error|warning|note) (DW\d+)", said):
                found.add((path, int(line), code, severity))
    return Said(frozenset(found), frozenset(unread))


def of_markdown(text: str) -> Said:
    found: set[Finding] = set()
    severity = ""
    for line in text.splitlines():
        heading = re.match(r"### (What breaks|Warnings|Notes|To look at)", line)
        if heading:
            severity = {"What breaks": "error", "Warnings": "warning", "Notes": "note", "To look at": ""}[heading[1]]
        if head := re.search(r"\*\*(DW\d+)\*\* .*? at `([^`]+?):(\d+)`", line):
            found.add((head[2], int(head[3]), head[1], severity))
        elif row := re.match(r"\| (DW\d+) \| `([^`]+?):(\d+)` \|", line):
            found.add((row[2], int(row[3]), row[1], severity))
    after = text.partition("### To look at")[2]
    unread = re.findall(r"(?m)^- `([^`]+?)(?::\d+)?`: (?!this ignore|not analysed|`kiln)", after)
    return Said(frozenset(found), frozenset(unread))


def of_html(text: str) -> Said:
    found: set[Finding] = set()
    for card in re.findall(r'(?s)<details class="finding.*?</summary>', text):
        (place,) = re.findall(r'class="place" data-copy="([^"]+)"', card)
        (code,) = re.findall(r"<b>(DW\d+)</b>", card)
        (kind,) = re.findall(r'class="chip (error|warning|note)"', card)
        path, line, _ = unescape(place).rsplit(":", 2)
        found.add((path, int(line), code, kind))
    unread = set()
    for item in re.findall(r"(?s)<li>(?:(?!</li>).)*</li>", text.partition("To look at")[2]):
        (place,) = re.findall(r'data-copy="([^"]+?)(?::\d+)?"', item)
        if "unresolved:" not in item and "this ignore" not in item:
            unread.add(place)
    return Said(frozenset(found), frozenset(unread))


READERS: dict[str, Callable[[str], Said]] = {
    "text": of_text,
    "github": of_github,
    "sarif": of_sarif,
    "markdown": of_markdown,
    "junit": of_junit,
    "html": of_html,
}


def test_the_run_has_something_of_everything(reports: dict[str, str]) -> None:
    form = json.loads(reports["json"])
    assert {f["severity"] for f in form["findings"]} >= {"error", "note"}
    assert {f["outcome"] for f in form["findings"]} >= {"raises", "silent", "guarded"}
    assert of_json(reports["json"]).unread == {"src/broken.py", "src/null.py"}
    assert len(form["unresolved"]) == 3


@pytest.mark.parametrize("name", READERS)
def test_a_format_says_what_the_others_say(name: str, reports: dict[str, str]) -> None:
    said, expected = READERS[name](reports[name]), of_json(reports["json"])
    assert said.findings == expected.findings
    assert said.unread == expected.unread


def kiln(targets: list[dict[str, Any]]) -> dict[str, Any]:
    return next(target for target in targets if target["distribution"] == "kiln")


BREAKS = "breaks with {}1.0, 2.0 (2 releases), silent in 1 of them"


def test_the_releases_that_work_are_the_same(reports: dict[str, str]) -> None:
    target = kiln(json.loads(reports["json"])["targets"])
    other = kiln(json.loads(reports["sarif"])["runs"][0]["properties"]["targets"])
    for key in ("compatible", "degraded"):
        assert other[key] == target[key]
    assert (target["compatible"], target["releases"]["checked"]) == (["1.1"], ["1.0", "1.1", "2.0"])
    words = re.sub(r"<[^>]+>", "", reports["html"])
    assert "works with1 of 31.1degraded with0 of 3nonebreaks with2 of 3, silent in 1 of them1.0, 2.0" in words
    assert f"  works with    1.1\n  degraded with none\n  {BREAKS.format('  ')}\n" in reports["text"]
    assert "| ✅ works with | 1.1 |" in reports["markdown"]
    assert f"| ❌ {BREAKS.format('| ')} |" in reports["markdown"]
    assert f"works with 1.1; degraded with none; {BREAKS.format('')}" in reports["github"]


def test_what_was_there_before_is_told_apart(reports: dict[str, str]) -> None:
    target = kiln(json.loads(reports["json"])["targets"])
    said = "breaks with 1.0, 2.0 (2 releases) (2 old errors)"
    plain = {name: re.sub(r"<[^>]+>", "", reports[name]) for name in ("text", "github", "markdown", "html")}
    in_words = [name for name, text in plain.items() if said in text]
    if "before" in target:
        assert target["before"] == {"errors": 2, "broken": ["1.0", "2.0"]}
        assert in_words == ["text", "github", "markdown", "html"]
        told = {finding[:2] for finding in of_json(reports["json"]).findings}
        assert not told & {("studio.py", 8), ("studio.py", 14)}
    else:
        assert in_words == []


def test_the_counts_are_the_same(reports: dict[str, str]) -> None:
    form = json.loads(reports["json"])
    counts = form["summary"]
    root = ET.fromstring(reports["junit"])
    assert int(root.get("failures") or 0) == counts["errors"]
    line = reports["text"].splitlines()[-1]
    assert line.startswith(f"{counts['errors']} errors ({counts['silent']} silent)")
    assert f"in {counts['files']} files ({counts['analysed']} analysed, {counts['unresolved']} unresolved calls" in line
    assert (
        f"driftwatch: {counts['errors']} errors, {counts['warnings']} warnings, {counts['notes']} note"
        in (reports["github"].splitlines()[-1])
    )
    assert f"❌ {counts['errors']} errors, {counts['silent']} of them silent" in reports["markdown"]
    assert f"{counts['errors']} errors, {counts['silent']} silent" in reports["html"]
