"""Findings as HTML: a card each, with what breaks, where, what the program does about it, its source and its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.releases import Timeline
from driftwatch.report.html.markup import Child, Markup, copied, join, tag, ticked
from driftwatch.report.html.source import source
from driftwatch.report.html.tracks import CLASSES, track
from driftwatch.report.phrases import CONDITIONAL, breaks_beyond, newer, outcome, position, ranges
from driftwatch.report.safe import safe
from driftwatch.report.states import Row, State, finding_states
from driftwatch.rules import rule
from driftwatch.scan.report_model import Report, TargetReport


def cards(report: Report, target: TargetReport, base: int, number: int) -> Iterator[Markup]:
    """The cards of one library, in sections: errors, warnings, notes, and what another release would cost."""
    found = [finding for finding in report.by_weight if finding.distribution == target.distribution]
    elsewhere = [finding for finding in found if finding.severity is Severity.NOTE and not finding.releases]
    elsewhere.sort(key=lambda finding: not newer(target.checked, finding.beyond))
    sections: list[tuple[str, str, list[Finding]]] = [
        ("errors", "What breaks", [f for f in found if f.severity is Severity.ERROR]),
        ("warnings", "Warnings", [f for f in found if f.severity is Severity.WARNING]),
        ("notes", "Notes", [f for f in found if f.severity is Severity.NOTE and f.releases]),
        ("beyond", "What an upgrade or a downgrade would break", [f for f in elsewhere if breaks_beyond(f)]),
        ("beyond", "What an upgrade or a downgrade would change", [f for f in elsewhere if not breaks_beyond(f)]),
    ]
    sections[0][2].sort(key=lambda f: f.outcome is not Outcome.SILENT)
    for name, title, chosen in sections:
        if chosen:
            shown = [_card(report, target, finding, base, number) for finding in chosen]
            yield tag(
                "section",
                tag("h3", title, " ", tag("small", len(chosen))),
                shown,
                class_=f"cards {name}",
                data_group=True,
            )


def _link(finding: Finding, base: int, state: State, shown: bool) -> Markup:
    """A line that leads to a finding's card; what a baseline hides has none."""
    said = tag("span", ticked(finding.message), None if shown else tag("small", " (in the baseline)"))
    parts = (badge(state), tag("b", finding.code), said)
    if not shown:
        return tag("span", parts, class_="to-finding")
    return tag("a", parts, href=f"#{anchor(finding, base)}", class_="to-finding")


def anchor(finding: Finding, base: int) -> str:
    return f"f{base}-{finding.fingerprint}"


def badge(state: State) -> Markup:
    """A state as a small sign, told apart by its shape."""
    return tag("i", class_=f"badge {CLASSES[state]}", aria_hidden="true")


def _card(report: Report, target: TargetReport, finding: Finding, base: int, number: int) -> Markup:
    timeline = target.timeline
    states = finding_states(finding, len(timeline))
    worst = max(states)
    silent = finding.outcome is Outcome.SILENT
    known = rule(finding.code)
    head = tag(
        "summary",
        badge(worst),
        tag(
            "span",
            tag(
                "span", tag("b", finding.code), " ", finding.name, class_="rule", title=known.summary if known else None
            ),
            tag("span", "silent", class_="chip silent") if silent else None,
            tag("span", _severity(finding), class_=f"chip {finding.severity.value}"),
            copied(position(finding)),
            class_="meta",
        ),
        tag("span", ticked(finding.message), class_="message"),
    )
    body: list[Child] = [
        track(timeline, states, target.checked, number),
        tag("dl", _facts(report, timeline, finding)),
        list(source(report.source, finding)),
        _trace(report, finding),
        _patch(report, finding),
    ]
    return tag(
        "details",
        head,
        tag("div", body, class_="body"),
        class_=f"finding {CLASSES[worst]}",
        id=anchor(finding, base),
        open=finding.severity is not Severity.NOTE,
        data_text=_searched(report, finding),
        data_states="".join(str(int(state)) for state in states),
        data_library=number,
    )


def _severity(finding: Finding) -> str:
    return finding.severity.value if finding.releases else "outside the range"


def _facts(report: Report, timeline: Timeline, finding: Finding) -> Iterator[Markup]:
    if finding.releases:
        yield _fact("in", ranges(timeline, finding.releases))
    if finding.beyond:
        yield _fact("outside the checked range", ranges(timeline, finding.beyond))
    if finding.conditional:
        yield _fact("when", CONDITIONAL)
    said = outcome(finding, report.source)
    if said is not None:
        yield _fact("then", said)
    if finding.hint:
        yield _fact("help", finding.hint)


def _fact(label: str, words: str) -> Markup:
    return tag("div", tag("dt", label), tag("dd", ticked(words)))


def _trace(report: Report, finding: Finding) -> Markup | None:
    if not finding.trace:
        return None
    steps = [tag("li", copied(f"{step.path}:{step.line}"), " ", ticked(step.note)) for step in finding.trace]
    steps.append(tag("li", copied(position(finding)), " ", "arrives here"))
    return tag("details", tag("summary", "the way it took"), tag("ol", steps), class_="trace")


def _patch(report: Report, finding: Finding) -> Markup | None:
    """What fixes it, as a diff."""
    fix = report.fixes.get(finding.fingerprint)
    if fix is None:
        return None
    unsafe = f" (unsafe: {fix.lost})" if fix.lost else ""
    lines = "".join(safe(line) + "\n" for line in fix.diff.splitlines())
    head = tag("summary", "patch: ", ticked(f"{fix.description}{unsafe}"))
    return tag("details", head, tag("pre", lines, tabindex=0), class_="patch")


def _searched(report: Report, finding: Finding) -> str:
    parts = (
        finding.code,
        finding.name,
        finding.symbol,
        finding.parameter or "",
        finding.message,
        finding.severity.value,
    )
    return " ".join((*parts, position(finding), finding.outcome.value if finding.outcome else ""))


def links(report: Report, rows: Sequence[Row], base: int) -> Markup | None:
    """Lines to the findings of some rows."""
    shown = set(report.findings)
    found = dict.fromkeys(finding for row in rows for finding in row.findings)
    if not found:
        return None
    items = [
        tag("li", _link(each, base, max(finding_states(each, len(rows[0].states))), each in shown)) for each in found
    ]
    return tag("ul", join(items), class_="links")
