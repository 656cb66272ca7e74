"""JUnit XML, for the test tab of a CI server: a suite for each file, a case for each finding.

Enters: a report. Leaves: XML that any reader takes. An error is a failed case, a warning or a note a passed one that
says what it is; a file in which everything fits has one passed case. What could not be analysed, and what is not known
of the requirements, is a skipped case of its file.
Cases are named without line numbers, so that a server can tell an old failure from a new one.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Diagnostic, Outcome
from driftwatch.project.declared import Notice
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import CONDITIONAL, outcome, position, ranges
from driftwatch.report.safe import safe
from driftwatch.scan.report_model import Report

_Element = ElementTree.Element


def render(report: Report, options: RenderOptions) -> str:
    suites = ElementTree.Element("testsuites", {"name": "driftwatch"})
    for path in _paths(report):
        suites.append(_suite(report, path))
    for count in ("tests", "failures", "errors", "skipped"):
        suites.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _paths(report: Report) -> list[str]:
    found = {site.location.path for target in report.targets for site in target.sites}
    found |= {finding.location.path for finding in report.findings}
    found |= {item.path for item in report.diagnostics} | {item.path for item in report.notices}
    return sorted(found)


def _suite(report: Report, path: str) -> _Element:
    shown = safe(path)
    names: Counter[str] = Counter()
    findings = [finding for finding in report.findings if finding.location.path == path]
    cases = [_case(report, finding, shown, names) for finding in findings]
    unread: list[tuple[str, Diagnostic | Notice]] = [
        ("can be analysed", item) for item in report.diagnostics if item.path == path
    ]
    unread += [("says which releases count", item) for item in report.notices if item.path == path]
    for name, item in unread:
        case = _element("testcase", name=name, classname=shown, file=shown, line=str(item.line or 1))
        case.append(_element("skipped", message=item.message))
        cases.append(case)
    if not cases:
        cases.append(_element("testcase", name="every use fits the checked releases", classname=shown, file=shown))
    failures = sum(finding.severity is Severity.ERROR for finding in findings)
    suite = _element(
        "testsuite",
        name=shown,
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        skipped=str(len(unread)),
    )
    suite.extend(cases)
    return suite


def _case(report: Report, finding: Finding, shown: str, names: Counter[str]) -> _Element:
    name = f"{finding.code} {finding.name}: {finding.symbol}"
    if finding.parameter:
        name += f", {finding.parameter}"
    names[name] += 1
    if names[name] > 1:
        name += f" (#{names[name]})"
    case = _element("testcase", name=name, classname=shown, file=shown, line=str(finding.location.line))
    text = "\n".join(_lines(report, finding))
    if finding.severity is Severity.ERROR:
        kind = finding.code if finding.outcome is not Outcome.SILENT else f"{finding.code} silent"
        failure = _element("failure", message=finding.message, type=kind)
        failure.text = text
        case.append(failure)
    else:
        said = _element("system-out")
        said.text = text
        case.append(said)
    return case


def _lines(report: Report, finding: Finding) -> list[str]:
    timeline = report.target(finding.distribution).timeline
    lines = [f"{position(finding)}: {finding.severity.value} {finding.code}: {safe(finding.message)}"]
    if finding.releases:
        lines.append(f"in: {ranges(timeline, finding.releases)}")
    if finding.beyond:
        lines.append(f"outside the checked range: {ranges(timeline, finding.beyond)}")
    if finding.conditional:
        lines.append(f"when: {CONDITIONAL}")
    said = outcome(finding, report.source)
    if said is not None:
        lines.append(f"then: {said}")
    lines += [f"by way of {safe(step.path)}:{step.line}: {safe(step.note)}" for step in finding.trace]
    if finding.hint:
        lines.append(f"help: {safe(finding.hint)}")
    return lines


def _element(tag: str, /, **attributes: str) -> _Element:
    """An element whose attributes hold nothing that XML cannot."""
    return ElementTree.Element(tag, {key: safe(value) for key, value in attributes.items()})
