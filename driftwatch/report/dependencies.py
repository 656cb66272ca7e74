"""One line for each dependency of a project: whether its declared range holds, and what would.

Enters: the report of a scan, and the requirements it was made for. Leaves: a verdict for each, and the table of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.utils import canonicalize_name

from driftwatch.releases import ReleaseSet
from driftwatch.report.phrases import newer, ranges
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose
from driftwatch.scan.report_model import Asked, Report, RequirementVerdict, TargetReport


def verdicts(report: Report, asked: Sequence[Asked]) -> tuple[RequirementVerdict, ...]:
    """The verdict on each requirement, in their order."""
    targets = {canonicalize_name(target.distribution): target for target in report.targets}
    return tuple(_verdict(report, each, targets.get(canonicalize_name(each.distribution))) for each in asked)


def _verdict(report: Report, asked: Asked, target: TargetReport | None) -> RequirementVerdict:
    if asked.why_not or target is None:
        return RequirementVerdict(asked, "not told", reason=asked.why_not or "no release of it could be read")
    if not target.uses:
        return RequirementVerdict(asked, "not used", reason=asked.but)
    later = target.timeline.versions_of(newer(target.checked, report.beyond(target.distribution)))
    if not target.broken:
        return RequirementVerdict(asked, "holds", later=later, reason=asked.but)
    broken = target.timeline.versions_of(target.broken)
    return RequirementVerdict(asked, "breaks", broken, later, *_bounds(target), reason=asked.but)


def _bounds(target: TargetReport) -> tuple[str, str]:
    """The lowest release from which on all of the range work, and the highest up to which all do."""
    top = target.broken.mask.bit_length()
    above = ReleaseSet(target.checked.mask >> top << top)
    first = target.broken.mask & -target.broken.mask
    below = ReleaseSet(target.checked.mask & (first - 1))
    lowest = target.timeline.versions_of(above)[0] if above else ""
    highest = target.timeline.versions_of(below)[-1] if below else ""
    return lowest, highest


# -- the table ---------------------------------------------------------------------------------------------------------


def table(report: Report, look: Look) -> str:
    """The dependencies in the order of their requirements; empty where the report is of none."""
    found = report.dependencies
    if not found:
        return ""
    width = max(len(each.asked.requirement) for each in found)
    lines: list[Line | Hanging] = []
    for each in found:
        said = tuple(sentence(report, each))
        lines.append(Hanging((Span(f"{safe(each.asked.requirement):<{width + 2}}", "path"),), said))
    lines.append(())
    return compose(lines, look)


def sentence(report: Report, verdict: RequirementVerdict) -> Iterator[Span]:
    """What is said of one requirement."""
    name = canonicalize_name(verdict.asked.distribution)
    target = next((each for each in report.targets if canonicalize_name(each.distribution) == name), None)
    if verdict.state == "not told" or target is None:
        yield Span("not told", "warning")
        yield Span(f": {safe(verdict.reason)}")
        return
    if verdict.state == "not used":
        yield Span("not used", "dim")
        yield from _but(verdict)
        return
    if verdict.state == "breaks":
        yield Span("breaks", "error")
        yield Span(f" with {ranges(target.timeline, target.broken)}")
        yield Span(f"; {advice(verdict)}")
    else:
        yield Span("holds", "good")
        yield Span(f" with {ranges(target.timeline, target.checked)}")
        if target.degraded:
            yield Span(f", degraded with {ranges(target.timeline, target.degraded)}")
    later = newer(target.checked, report.beyond(target.distribution))
    if later:
        yield Span(f"; breaks with {ranges(target.timeline, later)}, which it leaves out", "dim")
    yield from _but(verdict)


def _but(verdict: RequirementVerdict) -> Iterator[Span]:
    if verdict.reason:
        yield Span(f"; {safe(verdict.reason)}", "warning")


def advice(verdict: RequirementVerdict) -> str:
    """What would fix a requirement that does not hold, in words."""
    if verdict.lowest:
        return f"from {verdict.lowest} on it holds"
    if verdict.highest:
        return f"up to {verdict.highest} it holds"
    if verdict.asked.lowest_alone:
        return "without --lowest, `driftwatch deps` says from which release on it holds"
    return "no bound fixes that"
