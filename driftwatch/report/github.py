"""Annotations for GitHub Actions: workflow commands that put each finding on its line of a pull request.

Enters: a report. Leaves: one command per finding, then one per file that was not analysed, then the closing lines as
plain text for the log. GitHub shows at most ten errors, ten warnings and ten notices of a step, in the order they come:
silent errors come first. Nothing from the scanned code can start a command of its own: every value is escaped, and the
plain lines never begin with one.
"""

from __future__ import annotations

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import apart, before, but_for_the_unread, count, newer, outcome, ranges, silently, where
from driftwatch.report.safe import safe, safe_character
from driftwatch.scan.report_model import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def render(report: Report, options: RenderOptions) -> str:
    ordered = sorted(report.by_weight, key=lambda finding: _urgency(report, finding))
    lines = [_annotation(report, finding) for finding in ordered]
    for item in report.diagnostics:
        place = {"file": _file(item.path), "line": item.line, "title": "driftwatch: not analysed in full"}
        lines.append(command("warning", place, safe(item.message)))
    for notice in report.notices:
        place = {"file": _file(notice.path), "line": notice.line, "title": "driftwatch: which releases count"}
        lines.append(command("warning", place, safe(notice.message)))
    for target in report.targets:
        if not target.uses:
            where_not = "in what could be read" if report.unread else "here"
            lines.append(f"driftwatch: {safe(target.distribution)}: not used {where_not}")
            continue
        hopeless = apart(report, target)
        view = target.but_for_the_hopeless
        old = before(target)
        works, breaks, hidden = view.compatible - view.degraded, view.broken, silently(report, view)
        lines.append(
            f"driftwatch: {safe(target.distribution)}: {f'apart from {hopeless}, ' if hopeless else ''}"
            f"checked {ranges(target.timeline, target.checked)}; "
            f"works with {ranges(target.timeline, works)}; degraded with {ranges(target.timeline, view.degraded)}; "
            f"breaks with {ranges(target.timeline, breaks)}{hidden}"
            f"{f'; before: {old}' if old else ''}"
        )
    counts = report.counts
    said = [count(counts.errors, "error"), count(counts.warnings, "warning"), count(counts.notes, "note")]
    partly = but_for_the_unread(report)
    lines.append(
        f"driftwatch: {', '.join(said)} in {count(counts.files, 'file')}{f', {partly}' if partly is not None else ''}"
    )
    return "".join(f"{line}\n" for line in lines)


def _urgency(report: Report, finding: Finding) -> tuple[int, bool, bool, bool]:
    """Errors first, the silent ones before others; what only an upgrade, and then a downgrade, would break last."""
    checked = report.target(finding.distribution).checked
    return (
        _RANK[finding.severity],
        not finding.releases,
        not finding.releases and not newer(checked, finding.beyond),
        finding.outcome is not Outcome.SILENT,
    )


def _annotation(report: Report, finding: Finding) -> str:
    place = finding.location
    timeline = report.target(finding.distribution).timeline
    silent = " (silent)" if finding.outcome is Outcome.SILENT else ""
    properties: dict[str, str | int | None] = {
        "file": _file(place.path),
        "line": place.line,
        "endLine": place.end_line,
        "title": f"{finding.code} {finding.name}{silent}",
    }
    if place.end_line == place.line:
        # Columns are only valid for an annotation of one line.
        properties["col"] = place.column
        properties["endColumn"] = place.end_column
    parts = [finding.message]
    parts += [f"{part[0].upper()}{part[1:]}." for part in where(timeline, finding)]
    if not finding.releases and len(parts) == 1:
        parts.append("Outside the checked range.")
    said = outcome(finding, report.source)
    if said is not None:
        parts.append(f"{said[0].upper()}{said[1:]}.")
    if finding.hint:
        parts.append(finding.hint)
    return command(_COMMANDS[finding.severity], properties, "\n".join(safe(part) for part in parts))


def _file(path: str) -> str:
    """A path as the repository has it. What a terminal could act on is escaped here, line breaks by `command`."""
    return "".join(c if c in "\r\n" else safe_character(c) for c in path)


def command(name: str, properties: dict[str, str | int | None], message: str) -> str:
    """One workflow command, on one line."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    return f"::{name} {given}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
