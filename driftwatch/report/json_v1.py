"""The JSON form, version 1: a contract for programs, written down in docs/json.md and schema_v1.json.

Enters: a report. Leaves: the same bytes for the same input on every machine: no times, no absolute paths, ASCII only,
keys and lists in their documented order. The types below are the contract; a key is never dropped or given another
meaning within version 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypedDict

from driftwatch import __version__
from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import Step
from driftwatch.releases import Timeline
from driftwatch.repair.model import Fix
from driftwatch.report.options import RenderOptions
from driftwatch.scan.report_model import Report, RequirementVerdict, TargetReport


class Tool(TypedDict):
    name: str
    version: str


class Releases(TypedDict):
    known: list[str]
    checked: list[str]


class ApartForm(TypedDict):
    errors: int
    compatible: list[str]
    degraded: list[str]


class BeforeForm(TypedDict):
    errors: int
    broken: list[str]


class NoticeForm(TypedDict):
    path: str
    line: int
    message: str


class _OfSomeTargets(TypedDict, total=False):
    before: BeforeForm
    remark: str
    stand_in: list[str]


class TargetForm(_OfSomeTargets):
    distribution: str
    module: str
    releases: Releases
    compatible: list[str]
    degraded: list[str]
    apart: ApartForm | None
    notices: list[NoticeForm]


class Place(TypedDict):
    path: str
    line: int


class StepForm(TypedDict):
    path: str
    line: int
    note: str


class EditForm(TypedDict):
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FixForm(TypedDict):
    path: str
    description: str
    applicability: str
    lost: str | None
    edits: list[EditForm]


class _OfSomeFindings(TypedDict, total=False):
    fix: FixForm


class FindingForm(_OfSomeFindings):
    target: str
    code: str
    name: str
    severity: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    symbol: str
    parameter: str | None
    releases: list[str]
    beyond: list[str]
    conditional: bool
    exception: str | None
    outcome: str | None
    caught_at: Place | None
    message: str
    hint: str
    trace: list[StepForm]
    fingerprint: str


class UnresolvedForm(TypedDict):
    path: str
    line: int
    reason: str


class DiagnosticForm(TypedDict):
    path: str
    line: int | None
    reason: str
    mentions: bool | None


class Summary(TypedDict):
    files: int
    analysed: int
    errors: int
    warnings: int
    notes: int
    silent: int
    unresolved: int


class DependencyForm(TypedDict):
    distribution: str
    requirement: str
    path: str
    line: int
    state: str
    broken: list[str]
    later: list[str]
    lowest: str | None
    highest: str | None
    reason: str | None


class _OfSomeReports(TypedDict, total=False):
    dependencies: list[DependencyForm]


class ReportForm(_OfSomeReports):
    schema: int
    tool: Tool
    targets: list[TargetForm]
    findings: list[FindingForm]
    unresolved: list[UnresolvedForm]
    diagnostics: list[DiagnosticForm]
    summary: Summary


def render(report: Report, options: RenderOptions) -> str:
    return json.dumps(form(report), indent=2) + "\n"


def form(report: Report) -> ReportForm:
    """The report as version 1 has it, ready for `json.dumps`."""
    counts = report.counts
    made: ReportForm = {
        "schema": 1,
        "tool": {"name": "driftwatch", "version": __version__},
        "targets": [_target(target) for target in report.targets],
        "findings": [
            _with_fix(finding_form(finding, report.target(finding.distribution).timeline), report.fixes)
            for finding in report.findings
        ],
        "unresolved": [{"path": u.path, "line": u.line, "reason": u.reason} for u in report.unresolved],
        "diagnostics": [
            {"path": d.path, "line": d.line, "reason": d.message, "mentions": d.mentions} for d in report.diagnostics
        ],
        "summary": {
            "files": counts.files,
            "analysed": counts.analysed,
            "errors": counts.errors,
            "warnings": counts.warnings,
            "notes": counts.notes,
            "silent": counts.silent,
            "unresolved": counts.unresolved,
        },
    }
    if report.dependencies:
        made["dependencies"] = [_dependency(verdict) for verdict in report.dependencies]
    return made


def _dependency(verdict: RequirementVerdict) -> DependencyForm:
    return {
        "distribution": verdict.asked.distribution,
        "requirement": verdict.asked.requirement,
        "path": verdict.asked.path,
        "line": verdict.asked.line,
        "state": verdict.state,
        "broken": list(verdict.broken),
        "later": list(verdict.later),
        "lowest": verdict.lowest or None,
        "highest": verdict.highest or None,
        "reason": verdict.reason or None,
    }


def _target(target: TargetReport) -> TargetForm:
    timeline = target.timeline
    form: TargetForm = {
        "distribution": target.distribution,
        "module": target.module,
        "releases": {"known": list(timeline.versions), "checked": list(timeline.versions_of(target.checked))},
        "compatible": list(timeline.versions_of(target.compatible)),
        "degraded": list(timeline.versions_of(target.degraded)),
        "apart": None
        if target.apart is None
        else {
            "errors": target.apart.errors,
            "compatible": list(timeline.versions_of(target.apart.compatible)),
            "degraded": list(timeline.versions_of(target.apart.degraded)),
        },
        "notices": [{"path": n.path, "line": n.line, "message": n.message} for n in target.notices],
    }
    if target.before is not None:
        form["before"] = {
            "errors": target.before.errors,
            "broken": list(timeline.versions_of(target.before.broken)),
        }
    if target.remark:
        form["remark"] = target.remark
    if target.stand_in:
        form["stand_in"] = list(timeline.versions_of(target.stand_in))
    return form


def finding_form(finding: Finding, timeline: Timeline) -> FindingForm:
    """A finding as version 1 has it."""
    place = finding.location
    caught = finding.caught_at
    return {
        "target": finding.distribution,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "symbol": finding.symbol,
        "parameter": finding.parameter,
        "releases": list(timeline.versions_of(finding.releases)),
        "beyond": list(timeline.versions_of(finding.beyond)),
        "conditional": finding.conditional,
        "exception": finding.exception,
        "outcome": None if finding.outcome is None else finding.outcome.value,
        "caught_at": None if caught is None else {"path": caught[0], "line": caught[1]},
        "message": finding.message,
        "hint": finding.hint,
        "trace": [_step(step) for step in finding.trace],
        "fingerprint": finding.fingerprint,
    }


def _with_fix(form: FindingForm, fixes: Mapping[str, Fix]) -> FindingForm:
    fix = fixes.get(form["fingerprint"])
    if fix is not None:
        form["fix"] = {
            "path": fix.path,
            "description": fix.description,
            "applicability": fix.safety.value,
            "lost": fix.lost or None,
            "edits": [
                {
                    "start": edit.start,
                    "end": edit.end,
                    "line": edit.line,
                    "column": edit.column,
                    "end_line": edit.end_line,
                    "end_column": edit.end_column,
                    "text": edit.text,
                }
                for edit in fix.replacements
            ],
        }
    return form


def _step(step: Step) -> StepForm:
    return {"path": step.path, "line": step.line, "note": step.note}
