"""The report for a person: what breaks, where, would anybody notice, and what to do.

Enters: a report and how it is to look. Leaves: text that is safe on any terminal. Errors, then warnings, are shown in
full, with their source; the same problem at several places is shown once. Notes take one line each. The last lines are
the ones that people want most: the releases this code works with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.report.dependencies import table
from driftwatch.report.excerpt import excerpt
from driftwatch.report.options import RenderOptions
from driftwatch.report.phrases import (
    CONDITIONAL,
    apart,
    before,
    breaks_beyond,
    but_for_the_unread,
    count,
    newer,
    outcome,
    outlook,
    position,
    ranges,
    silently,
    way_out,
    where,
    without,
)
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Span, compose, plain
from driftwatch.scan.report_model import Report, TargetReport

_MOST_PLACES = 8
_BLANK: Line = ()


def render(report: Report, options: RenderOptions) -> str:
    lines: list[Line | Hanging] = []
    for severity in (Severity.ERROR, Severity.WARNING):
        for group in _groups(f for f in report.by_weight if f.severity is severity):
            lines.extend(_problem(report, group, options))
            lines.append(_BLANK)
    sections = [*_notes(report, options), not_analysed(report), _idle(report)]
    if options.unresolved:
        sections.append(_unresolved(report))
    for section in sections:
        if section:
            lines += [*section, _BLANK]
    for target in report.targets:
        if target.uses or not any(other.uses for other in report.targets):
            lines += [*_standing(report, target), _BLANK]
    lines += _fixable(report)
    lines.append(_summary(report))
    return table(report, options.look) + compose(lines, options.look)


# -- findings ------------------------------------------------------------------------------------------------------


def _groups(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that say the same of different places, together; in the order of their first place."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (
            *(finding.code, finding.severity, finding.distribution, finding.parameter),
            *(finding.releases, finding.beyond, finding.outcome, finding.message, finding.hint),
        )
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def _problem(report: Report, group: list[Finding], options: RenderOptions) -> Iterator[Line | Hanging]:
    finding = group[0]
    silent = finding.outcome is Outcome.SILENT
    yield Hanging(
        (
            Span(position(finding), "path"),
            Span(": "),
            Span(finding.severity.value, finding.severity.value),
            Span(f" {finding.code} ", "code"),
            Span(f"{finding.name}: "),
        ),
        (Span(safe(finding.message)),),
    )
    width = options.look.width
    yield from excerpt(finding, report.source, width)
    timeline = report.target(finding.distribution).timeline
    if finding.releases:
        yield _fact("breaks" if finding.severity is Severity.ERROR else "in", ranges(timeline, finding.releases))
    if finding.conditional:
        yield _fact("when", CONDITIONAL)
    said = outcome(finding, report.source)
    if said is not None:
        yield _fact("then", said, "silent" if silent else "")
    if finding.beyond:
        also = "also" if finding.outcome is None else "also breaks"
        yield _fact("beyond", f"{also} outside the checked range: {ranges(timeline, finding.beyond)}", "dim")
    if finding.hint:
        yield _fact("help", safe(finding.hint))
    others = group[1:]
    for other in others[:_MOST_PLACES]:
        yield _fact("also", position(other))
    if len(others) > _MOST_PLACES:
        yield _fact("also", f"at {count(len(others) - _MOST_PLACES, 'more place')} (the JSON form lists all)")


def _fact(label: str, text: str, style: str = "") -> Hanging:
    head, colon, tail = text.partition(":")
    body = (Span(head, style), Span(colon + tail)) if style == "silent" else (Span(text, style),)
    return Hanging((Span("  = ", "frame"), Span(f"{label:<7}", "code")), body)


def _notes(report: Report, options: RenderOptions) -> list[list[Line | Hanging]]:
    """The notes in sections, each note on one line: what holds in the range, then what another release would cost."""
    titles = {
        (True, True): "what an upgrade would break:",
        (True, False): "what an upgrade would change:",
        (False, True): "what a downgrade would break:",
        (False, False): "what a downgrade would change:",
    }
    here: list[Line | Hanging] = []
    beyond: dict[tuple[bool, bool], list[Line | Hanging]] = {key: [] for key in titles}
    for group in _groups(f for f in report.by_weight if f.severity is Severity.NOTE):
        finding = group[0]
        later = newer(report.target(finding.distribution).checked, finding.beyond)
        lines = here if finding.releases else beyond[bool(later), breaks_beyond(finding)]
        lines.append(_note(report, group))
    sections = [here]
    folded = beyond[False, True] + beyond[False, False]
    for key, lines in beyond.items():
        if lines and (key[0] or options.beyond):
            sections.append([(Span(titles[key], "heading"),), *lines])
    if folded and not options.beyond:
        said = f"what a downgrade would cost: {count(len(folded), 'note')}, which --beyond lists"
        sections.append([(Span(said, "dim"),)])
    return sections


def _note(report: Report, group: list[Finding]) -> Hanging:
    finding = group[0]
    timeline = report.target(finding.distribution).timeline
    parts = [safe(finding.message), *where(timeline, finding)]
    if finding.outcome is Outcome.GUARDED and finding.caught_at is not None:
        parts.append(outcome(finding, report.source) or "")
    elif finding.outcome is Outcome.SILENT:
        parts.append("SILENT there")
    if len(group) > 1:
        places = ", ".join(position(other) for other in group[1 : 1 + _MOST_PLACES])
        more = f" and {len(group) - 1 - _MOST_PLACES} more" if len(group) > 1 + _MOST_PLACES else ""
        parts.append(f"also at {places}{more}")
    head = (
        Span(position(finding), "path"),
        Span(": "),
        Span("note", "note"),
        Span(f" {finding.code} ", "code"),
    )
    return Hanging((*head, Span(f"{finding.name}: ")), (Span("; ".join(parts)),))


# -- what was not looked at ----------------------------------------------------------------------------------------


def not_analysed(report: Report) -> list[Line | Hanging]:
    """The files of which not all could be analysed, each with why."""
    return [
        Hanging(
            (Span(_at(report, item.path, item.line), "path"), Span(": "), Span("not analysed", "warning"), Span(": ")),
            (Span(safe(item.message)),),
        )
        for item in report.diagnostics
    ]


def _idle(report: Report) -> list[Line | Hanging]:
    return [
        Hanging((Span(_at(report, item.path, item.line), "path"), Span(": ")), (Span(safe(item.message)),))
        for item in report.idle
    ]


def _unresolved(report: Report) -> list[Line | Hanging]:
    return [
        Hanging(
            (Span(_at(report, item.path, item.line), "path"), Span(": unresolved: ", "dim")), (Span(safe(item.reason)),)
        )
        for item in report.unresolved
    ]


def _at(report: Report, path: str, line: int | None) -> str:
    name = safe(path)
    return name if line is None else f"{name}:{line}"


# -- closing -------------------------------------------------------------------------------------------------------


def _standing(report: Report, target: TargetReport) -> Iterator[Line | Hanging]:
    timeline = target.timeline
    yield Hanging(
        (Span(safe(target.distribution), "path"), Span(f" ({safe(target.module)}): ")),
        (Span(f"checked {ranges(timeline, target.checked)}"), Span(f" ({safe(target.origin)})", "dim")),
    )
    for notice in target.notices:
        place = Span(f"{_at(report, notice.path, notice.line)}: ", "path")
        yield Hanging((Span(f"  {'ATTENTION':<14}", "warning"),), (place, Span(safe(notice.message))))
    partly = but_for_the_unread(report)
    if partly is not None:
        yield Hanging((Span(f"  {'ATTENTION':<14}", "warning"),), (Span(partly),))
    if not target.uses:
        yield (Span("  not used here" if partly is None else "  not used in what could be read", "dim"),)
        return
    hopeless = apart(report, target)
    if hopeless:
        yield Hanging((Span(f"  {'apart from':<14}", "error"),), (Span(f"{hopeless}:"),))
    view = target.but_for_the_hopeless
    rows = (
        ("works with", "good", view.compatible - view.degraded, ""),
        ("degraded with", "warning", view.degraded, without(report, view)),
        ("breaks with", "error", view.broken, silently(report, view)),
    )
    for label, style, releases, off in rows:
        said: Line = (Span(ranges(timeline, releases)),) if releases else (Span("none", "dim"),)
        if off:
            said = (*said, Span(off, "dim"))
        yield Hanging((Span(f"  {label:<14}", style if releases else "dim"),), said)
    old = before(target)
    if old:
        yield Hanging((Span(f"  {'before':<14}", "dim"),), (Span(old, "dim"),))
    out = way_out(report, target, "above")
    if out is not None:
        yield Hanging((Span(f"  {'way out':<14}", "code"),), (Span("".join(out)),))
    for label, sentence in outlook(report, target):
        yield Hanging((Span(f"  {label:<14}", "dim"),), (Span(sentence, "dim"),))


def _fixable(report: Report) -> list[Line]:
    """For how many there is a repair, which is proven when it is asked for."""
    safe_ones, more = report.fixable
    if not safe_ones and not more:
        return []
    found = report.counts.errors + report.counts.warnings
    of = count(found, "error or warning", "errors and warnings")
    if not safe_ones:
        return [(Span(f"`driftwatch fix --unsafe` has a repair for {more} of {of}"),), _BLANK]
    rest = f", and for {more} more with --unsafe" if more else ""
    return [(Span(f"`driftwatch fix` has a repair for {safe_ones} of {of}{rest}"),), _BLANK]


def summary(report: Report) -> str:
    """What it adds up to, in one line."""
    return plain(_summary(report))


def _summary(report: Report) -> Line:
    counts = report.counts
    spans: list[Span] = []
    errors = count(counts.errors, "error")
    spans.append(Span(errors, "error" if counts.errors else "good"))
    if counts.silent:
        spans.append(Span(f" ({counts.silent} silent)", "error"))
    if counts.warnings:
        spans += [Span(", "), Span(count(counts.warnings, "warning"), "warning")]
    if counts.notes:
        spans += [Span(", "), Span(count(counts.notes, "note"), "note")]
    looked = [f"{counts.analysed} analysed", count(counts.unresolved, "unresolved call")]
    if report.diagnostics:
        looked.append(f"{len({item.path for item in report.diagnostics})} not analysed in full")
    if report.suppressed:
        looked.append(f"{len(report.suppressed)} suppressed")
    spans.append(Span(f" in {count(counts.files, 'file')} ({', '.join(looked)})"))
    if report.seconds is not None:
        spans.append(Span(f" in {report.seconds:.1f}s", "dim"))
    if not any(target.uses for target in report.targets):
        modules = " or ".join(dict.fromkeys(safe(target.module) for target in report.targets))
        who = "no file that could be analysed uses" if report.unread else "no file uses"
        spans.append(Span(f": {who} {modules}" if modules else ": nothing to look for"))
    elif counts.unresolved and not report.findings:
        spans.append(Span(": every call that could be followed fits; --unresolved lists the others"))
    return tuple(spans)
