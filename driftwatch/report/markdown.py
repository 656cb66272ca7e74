"""Markdown as GitHub and GitLab show it: for the summary of a job, or a comment on a pull request.

Enters: a report. Leaves: text that begins with a marker by which a comment can be found again, says first with which
releases the code works, then lists what breaks, each with its source folded away. It never grows past what a comment
may have: what does not fit is counted. Text of the scanned code is code or escaped: no markup, link, mention or
reference in it has an effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.repair.model import Fix
from driftwatch.report.dependencies import sentence as said_of
from driftwatch.report.excerpt import excerpt
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import (
    CONDITIONAL,
    apart,
    before,
    but_for_the_unread,
    count,
    outcome,
    outlook,
    ranges,
    silently,
    way_out,
    without,
)
from driftwatch.report.safe import safe
from driftwatch.report.styled import plain
from driftwatch.report.text import summary
from driftwatch.scan.report_model import Report, TargetReport

MARKER = "<!-- driftwatch report -->"
LONGEST = 60_000
"""Characters; a comment may have 65,536."""

BAR = "\N{BROKEN BAR}"
"""Stands for a vertical bar in code."""

_MOST_NOTES = 50
_MARKUP = re.compile(r"([\\`*_{}\[\]|~])")
_REFERENCE = re.compile(r"([@#!$%^:]|(?<![\w])(?:www|GH))(?=[\w/.\-])")
"""What makes a mention, a reference or a link of the word after it, even where it is escaped."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TICKS = re.compile(r"`+")


def render(report: Report, options: RenderOptions) -> str:
    blocks = [MARKER, _title(report), *_dependencies(report), *_standing(report)]
    room = LONGEST - sum(len(block) + 2 for block in blocks) - 500
    for severity, heading in (
        (Severity.ERROR, "What breaks"),
        (Severity.WARNING, "Warnings"),
        (Severity.NOTE, "Notes"),
    ):
        found = [finding for finding in report.by_weight if finding.severity is severity]
        if not found:
            continue
        section = list(_notes(report, found) if severity is Severity.NOTE else _problems(report, found))
        fitting = _fitting(section, room - len(heading))
        room -= sum(len(block) + 2 for block in fitting) + len(heading)
        blocks += [f"### {heading}", *fitting]
        if len(fitting) < len(section):
            blocks.append(f"… and {count(len(section) - len(fitting), 'more', 'more')}, which would not fit here.")
    unread = [f"- {code(_at(report, item.path, item.line))}: {text(item.message)}" for item in report.diagnostics]
    unread += [f"- {code(_at(report, item.path, item.line))}: {text(item.message)}" for item in report.idle]
    if options.unresolved:
        unread += [f"- {code(_at(report, item.path, item.line))}: {text(item.reason)}" for item in report.unresolved]
    if unread:
        fitting = _fitting(unread, room)
        blocks += ["### To look at", "\n".join(fitting)]
        if len(fitting) < len(unread):
            blocks.append(f"… and {len(unread) - len(fitting)} more.")
    blocks.append(f"<sub>{text(_without_time(summary(report)))}</sub>")
    return "\n\n".join(blocks) + "\n"


# -- parts ---------------------------------------------------------------------------------------------------------


def _dependencies(report: Report) -> Iterator[str]:
    """The verdicts on the requirements of a project, as a table."""
    if not report.dependencies:
        return
    rows = ["| requirement | holds? |", "|---|---|"]
    for verdict in report.dependencies:
        said = "".join(span.text for span in said_of(report, verdict))
        rows.append(f"| {code(verdict.asked.requirement)} | {text(said)} |")
    yield "\n".join(rows)


def _title(report: Report) -> str:
    counts = report.counts
    if counts.errors:
        silent = f", {counts.silent} of them silent" if counts.silent else ""
        verdict = f"❌ {count(counts.errors, 'error')}{silent}"
    elif counts.warnings:
        verdict = f"⚠️ {count(counts.warnings, 'warning')}"
    elif report.unread:
        verdict = f"⚠️ nothing breaks {but_for_the_unread(report)}"
    else:
        verdict = "✅ nothing breaks"
    name = f" {text(report.title)}" if report.title else ""
    return f"## driftwatch{name}: {verdict}"


def _standing(report: Report) -> Iterator[str]:
    for target in report.targets:
        if not target.uses:
            if not any(other.uses for other in report.targets):
                yield f"{code(target.distribution)} is not used {'in what could be read' if report.unread else 'here'}."
            for notice in target.notices:
                yield f"⚠️ {code(_at(report, notice.path, notice.line))}: {text(notice.message)}"
            continue
        yield "\n".join(_table(report, target))


def _table(report: Report, target: TargetReport) -> Iterator[str]:
    timeline = target.timeline
    yield f"| {code(target.distribution)} | checked {ranges(timeline, target.checked)} |"
    yield "|---|---|"
    for notice in target.notices:
        yield f"| ⚠️ attention | {code(_at(report, notice.path, notice.line))}: {text(notice.message)} |"
    partly = but_for_the_unread(report)
    if partly is not None:
        yield f"| ⚠️ attention | {partly} |"
    hopeless = apart(report, target)
    if hopeless:
        yield f"| apart from | {text(hopeless)} |"
    view = target.but_for_the_hopeless
    rows = (
        ("✅ works with", view.compatible - view.degraded, ""),
        ("🔶 degraded with", view.degraded, without(report, view)),
        ("❌ breaks with", view.broken, silently(report, view)),
    )
    for label, releases, off in rows:
        yield f"| {label} | {ranges(timeline, releases) if releases else 'none'}{text(off)} |"
    old = before(target)
    if old:
        yield f"| before | {old} |"
    out = way_out(report, target, "below")
    if out is not None:
        yield f"| way out | {out[0]}{code(out[1]) if out[1] else ''}{out[2]} |"
    for label, sentence in outlook(report, target):
        yield f"| {'an' if label == 'upgrade' else 'a'} {label} | {sentence} |"


def _problems(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    for finding in sorted(findings, key=lambda each: each.outcome is not Outcome.SILENT):
        timeline = report.target(finding.distribution).timeline
        silent = " **silent**" if finding.outcome is Outcome.SILENT else ""
        lines = [f"**{finding.code}** {finding.name}{silent} at {code(_place(finding))}: {text(finding.message)}"]
        facts = []
        if finding.releases:
            facts.append(f"in {ranges(timeline, finding.releases)}")
        if finding.beyond:
            facts.append(f"outside the checked range in {ranges(timeline, finding.beyond)}")
        if finding.conditional:
            facts.append(CONDITIONAL)
        said = outcome(finding, report.source)
        if said is not None:
            facts.append(text(said))
        if finding.hint:
            facts.append(f"help: {text(finding.hint)}")
        lines += [f"- {fact}" for fact in facts]
        source = [plain(line).rstrip() for line in excerpt(finding, report.source, 120, "")]
        if source:
            fence = "`" * max(3, _longest_ticks("\n".join(source)) + 1)
            lines += ["", "<details><summary>source</summary>", "", f"{fence}text", *source, fence, "", "</details>"]
        fix = report.fixes.get(finding.fingerprint)
        if fix is not None:
            lines += ["", *_suggested(fix)]
        yield "\n".join(lines)


def _suggested(fix: Fix) -> Iterator[str]:
    """The patch, folded away; two marks in front of each line would make it a quotation."""
    diff = [safe(line) for line in fix.diff.splitlines()]
    fence = "`" * max(3, _longest_ticks("\n".join(diff)) + 1)
    unsafe = f" (unsafe: {text(fix.lost)})" if fix.lost else ""
    yield f"<details><summary>suggested change: {text(fix.description)}{unsafe}</summary>"
    yield from ("", f"{fence}diff", *diff, fence, "", "</details>")


def _notes(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    rows = []
    for finding in findings[:_MOST_NOTES]:
        timeline = report.target(finding.distribution).timeline
        kind = "guarded" if finding.outcome is Outcome.GUARDED else "silent there" if _is_silent(finding) else ""
        here = ranges(timeline, finding.releases) if finding.releases else ""
        beyond = ranges(timeline, finding.beyond) if finding.beyond else ""
        cells = (finding.code, code(_place(finding)), text(finding.message), here, beyond, kind)
        rows.append(f"| {' | '.join(cells)} |")
    more = f"\n\n… and {len(findings) - _MOST_NOTES} more." if len(findings) > _MOST_NOTES else ""
    head = "| | where | what | in | outside the range | |\n|---|---|---|---|---|---|"
    said = f"<details><summary>{count(len(findings), 'note')}</summary>"
    yield "\n".join([said, "", head, *rows, more, "", "</details>"])


def _is_silent(finding: Finding) -> bool:
    return finding.outcome is Outcome.SILENT


def _place(finding: Finding) -> str:
    return f"{finding.location.path}:{finding.location.line}"


def _at(report: Report, path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def _fitting(blocks: Sequence[str], room: int) -> list[str]:
    """As many blocks, from the first, as there is room for."""
    fitting: list[str] = []
    for block in blocks:
        room -= len(block) + 2
        if room < 0:
            break
        fitting.append(block)
    return fitting


def _without_time(line: str) -> str:
    """The summary without how long it took: the same scan makes the same comment."""
    return re.sub(r" in \d+\.\ds", "", line)


# -- escaping ------------------------------------------------------------------------------------------------------


def text(words: str) -> str:
    """Text on one line without effect; what stands between backticks becomes code."""
    parts = safe(words).split("`")
    if len(parts) % 2 == 0:
        # An odd backtick is no mark of ours.
        return _escaped("`".join(parts))
    return "".join(code(part) if index % 2 else _escaped(part) for index, part in enumerate(parts))


def code(words: str) -> str:
    """A code span with exactly this in it, also within a table."""
    inner = safe(words)
    if not inner.strip():
        return _escaped(inner)
    ticks = "`" * (_longest_ticks(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") else ""
    # A bar would end a table's cell even within code, and an escape of it would be shown as it is outside of tables.
    return f"{ticks}{pad}{inner.replace('|', BAR)}{pad}{ticks}"


def _longest_ticks(words: str) -> int:
    return max((len(run) for run in _TICKS.findall(words)), default=0)


def _escaped(words: str) -> str:
    escaped = _MARKUP.sub(r"\\\1", "".join(_ENTITIES.get(character, character) for character in words))
    return _REFERENCE.sub(r"\1<!-- -->", escaped)
