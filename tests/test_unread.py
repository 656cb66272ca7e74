"""A file that mentions the library and cannot be analysed: every format says so, and no headline is of all files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli_process import make_studio, run

BROKEN = {
    "syntax": b"import kiln\nkiln.fire(\n",
    "null_bytes": b"import kiln\nx = 1\0\n",
    "too_deep": b"import kiln\nx = " + b"(" * 20_000 + b")" * 20_000 + b"\n",
    "encoding": b"# coding: klingon\nimport kiln\n",
    "not_utf_8": b"import kiln\nx = '\xff'\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_studio(tmp_path_factory.mktemp("unread"))
    (folder / "studio.py").write_text("import kiln\n\nkiln.fire(1, 2)\n")
    return folder


@pytest.fixture(params=BROKEN)
def studio(made: Path, request: pytest.FixtureRequest) -> Path:
    (made / "broken.py").write_bytes(BROKEN[request.param])
    (made / "other.py").write_bytes(b"x = (\n")
    return made


def shown(studio: Path, form: str, *arguments: str) -> str:
    result = run("scan", *arguments, "--format", form, "--no-cache", cwd=studio)
    assert result.status == 0, result
    return result.out


def test_json(studio: Path) -> None:
    data = json.loads(shown(studio, "json"))
    (told,) = data["diagnostics"]
    assert (told["path"], told["mentions"]) == ("broken.py", True)
    assert told["reason"]
    assert [(u["path"], u["reason"]) for u in data["unresolved"]] == [("broken.py", f"not analysed: {told['reason']}")]
    assert data["summary"]["unresolved"] == 1


def test_a_file_that_is_named_is_told_though_it_does_not_mention_the_library(studio: Path) -> None:
    data = json.loads(shown(studio, "json", "studio.py", "other.py"))
    assert [(d["path"], d["mentions"]) for d in data["diagnostics"]] == [("other.py", False)]
    assert data["unresolved"] == []
    assert "what could be read" not in shown(studio, "text", "studio.py", "other.py")


def test_every_format_says_so(studio: Path) -> None:
    text = shown(studio, "text")
    assert "broken.py" in text
    assert "ATTENTION     of what could be read; 1 file could not be analysed" in text
    markdown = shown(studio, "markdown")
    assert "✅ nothing breaks" not in markdown
    assert "⚠️ nothing breaks of what could be read; 1 file could not be analysed" in markdown
    assert "of what could be read; 1 file could not be analysed" in shown(studio, "github").splitlines()[-1]
    assert "this is of what could be read; 1 file could not be analysed." in shown(studio, "html")
    (run_,) = json.loads(shown(studio, "sarif"))["runs"]
    told = run_["invocations"][0]["toolExecutionNotifications"]
    assert [n["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for n in told] == ["broken.py"]
    suites = ET.fromstring(shown(studio, "junit")).iter("testsuite")
    assert [suite.get("name") for suite in suites if suite.get("skipped") == "1"] == ["broken.py"]


def test_nobody_says_that_nothing_uses_it_where_nothing_could_be_read(studio: Path) -> None:
    result = run("scan", "broken.py", "--no-cache", cwd=studio)
    assert result.status == 2
    assert "no file uses" not in result.out
    assert "no file that could be analysed uses" in result.out
    assert "not used in what could be read" in result.out
