"""SARIF 2.1.0, for code scanning: rules with their help, places, the way of a value, fingerprints.

Enters: a report. Leaves: one run, valid against the published schema, the same bytes for the same input. A finding
keeps its fingerprint when lines move, so that a service can follow it. What is suppressed is left out, since services
open an alert for all that is listed. Every text of the scanned code is made safe: nothing in it can become a link or
act on a terminal.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from driftwatch import __version__
from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Diagnostic, Location, Outcome
from driftwatch.project.declared import Notice
from driftwatch.repair.model import Fix, Safety
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import exception, outcome, where
from driftwatch.report.safe import safe
from driftwatch.rules import RULES
from driftwatch.rules.rule import Rule
from driftwatch.scan.report_model import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""Stands for the root of the code base, which whoever reads the file knows."""

FINGERPRINT, GITHUB_FINGERPRINT = "driftwatch/v2", "primaryLocationLineHash"
"""The names of a fingerprint. GitHub looks at its own only, and would hash the lines round a place instead."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_LINK = re.compile(r"\[(?=[^\]]*\]\()")
_LONGEST_SNIPPET = 2_000

Node = dict[str, Any]
"""A JSON object of a format that others define; the schema checks it better than types could."""


def render(report: Report, options: RenderOptions) -> str:
    return json.dumps(form(report), indent=2) + "\n"


def form(report: Report) -> Node:
    """The report as SARIF has it, ready for `json.dumps`."""
    index = {rule.code: number for number, rule in enumerate(RULES)}
    results = [_result(report, finding, index) for finding in report.findings]
    run: Node = {
        "tool": {
            "driver": {
                "name": "driftwatch",
                "version": __version__,
                "semanticVersion": _semantic(__version__),
                "rules": [_rule(rule) for rule in RULES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    *(_notification(report, item) for item in report.diagnostics),
                    *(_notification(report, item) for item in report.notices),
                ],
            }
        ],
        "results": results,
        "properties": {
            "targets": [
                {
                    "distribution": target.distribution,
                    "checked": list(target.timeline.versions_of(target.checked)),
                    "compatible": list(target.timeline.versions_of(target.compatible)),
                    "degraded": list(target.timeline.versions_of(target.degraded)),
                }
                for target in report.targets
            ]
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


# -- rules ---------------------------------------------------------------------------------------------------------


def _rule(rule: Rule) -> Node:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": _sentence(rule.summary)},
        "fullDescription": {"text": _sentence(" ".join(rule.rationale.split()))},
        "help": {"text": _help_text(rule), "markdown": _help_markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["compatibility", "correctness"], "precision": "very-high"},
    }


def _help_text(rule: Rule) -> str:
    return f"{rule.code} {rule.name}: {rule.summary}\n\n{rule.rationale}\n\nWhat to do: {rule.hint}\n"


def _help_markdown(rule: Rule) -> str:
    parts = [f"# {rule.code} {rule.name}", rule.summary, rule.rationale, f"**What to do:** {rule.hint}"]
    for title, examples in (("Found", rule.bad[:1]), ("Not found", rule.good[:1])):
        parts += [f"## {title}: {each.title}\n\n```python\n{each.source.rstrip()}\n```" for each in examples]
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _semantic(version: str) -> str:
    """The version as semantic versioning writes it: ``0.1.0.dev1`` is ``0.1.0-dev1``."""
    match = re.match(r"(\d+\.\d+\.\d+)[.-]?(.*)", version)
    if match is None:
        return "0.0.0"
    return f"{match[1]}-{match[2]}" if match[2] else match[1]


# -- results -------------------------------------------------------------------------------------------------------


def _result(report: Report, finding: Finding, index: dict[str, int]) -> Node:
    timeline = report.target(finding.distribution).timeline
    result: Node = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(report, finding)},
        "locations": [{"physicalLocation": _physical(report, finding.location)}],
        "partialFingerprints": {
            FINGERPRINT: finding.fingerprint,
            GITHUB_FINGERPRINT: f"{finding.fingerprint[:16]}:1",
        },
        "properties": {
            "target": finding.distribution,
            "symbol": _text(finding.symbol),
            "parameter": None if finding.parameter is None else _text(finding.parameter),
            "conditional": finding.conditional,
            "outcome": None if finding.outcome is None else finding.outcome.value,
            "releases": list(timeline.versions_of(finding.releases)),
            "beyond": list(timeline.versions_of(finding.beyond)),
        },
    }
    if finding.code not in index:
        del result["ruleIndex"]
    fix = report.fixes.get(finding.fingerprint)
    if fix is not None and fix.safety is Safety.SAFE:
        result["fixes"] = [_fix(fix)]
    if finding.caught_at is not None:
        handler = _line_location(report, *finding.caught_at, _handler_note(report, finding))
        result["relatedLocations"] = [{"id": 1, **handler}]
    if finding.trace:
        result["codeFlows"] = [{"threadFlows": [{"locations": list(_flow(report, finding))}]}]
    return result


def _fix(fix: Fix) -> Node:
    replacements: list[Node] = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.replacements
    ]
    changes: list[Node] = [{"artifactLocation": _artifact(fix.path), "replacements": replacements}]
    return {"description": {"text": _sentence(_text(fix.description))}, "artifactChanges": changes}


def _message(report: Report, finding: Finding) -> str:
    timeline = report.target(finding.distribution).timeline
    parts = [_text(finding.message)]
    parts += [_sentence(_text(part)) for part in where(timeline, finding)]
    said = outcome(finding, report.source)
    if said is not None:
        parts.append(_sentence(_text(said)))
    if finding.hint:
        parts.append(_sentence(_text(finding.hint)))
    parts[0] = parts[0] if parts[0].endswith(".") else f"{parts[0]}."
    return " ".join(parts)


def _flow(report: Report, finding: Finding) -> Iterator[Node]:
    """The way of the value: its steps, the place itself, and the handler that takes the exception."""
    for step in finding.trace:
        yield {"location": _line_location(report, step.path, step.line, step.note)}
    place: Node = {"physicalLocation": _physical(report, finding.location), "message": {"text": _text(finding.message)}}
    yield {"location": place, "importance": "essential"}
    if finding.caught_at is not None:
        yield {"location": _line_location(report, *finding.caught_at, _handler_note(report, finding))}


def _handler_note(report: Report, finding: Finding) -> str:
    if finding.outcome is Outcome.RAISES:
        return "raises it again"
    return f"takes the {exception(finding)}"


# -- places --------------------------------------------------------------------------------------------------------


def _physical(report: Report, place: Location) -> Node:
    region: Node = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    lines = report.source(place.path)
    if lines is not None and place.end_line <= len(lines):
        text = "\n".join(safe(line) for line in lines[place.line - 1 : place.end_line])
        if len(text) <= _LONGEST_SNIPPET:
            whole: Node = {"startLine": place.line, "endLine": place.end_line, "snippet": {"text": text}}
            return {"artifactLocation": _artifact(place.path), "region": region, "contextRegion": whole}
    return {"artifactLocation": _artifact(place.path), "region": region}


def _line_location(report: Report, path: str, line: int, note: str) -> Node:
    region: Node = {"startLine": line}
    lines = report.source(path)
    if lines is not None and 0 < line <= len(lines) and len(lines[line - 1]) <= _LONGEST_SNIPPET:
        region["snippet"] = {"text": safe(lines[line - 1])}
    place: Node = {"artifactLocation": _artifact(path), "region": region}
    return {"physicalLocation": place, "message": {"text": _text(note)}}


def _artifact(path: str) -> Node:
    return {"uri": uri(path), "uriBaseId": ROOT}


def uri(path: str) -> str:
    """A relative path as a URI reference: its bytes, escaped where they mean something else in one."""
    escaped = quote(os.fsencode(path), safe="/!$&'()*+,=@~-._;")
    # A colon is escaped by now, and so no first part can be taken for a scheme; a slash in front would be a host.
    return escaped.lstrip("/") or "."


def _notification(report: Report, item: Diagnostic | Notice) -> Node:
    place: Node = {"artifactLocation": _artifact(item.path)}
    if item.line is not None:
        place["region"] = {"startLine": item.line}
    return {"level": "warning", "message": {"text": _text(item.message)}, "locations": [{"physicalLocation": place}]}


def _text(text: str) -> str:
    """Text that may come from the scanned code: on one line, and never a link."""
    return _LINK.sub(r"\\[", safe(text))
