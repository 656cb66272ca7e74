"""One line for each dependency of a project: whether its declared range holds, and what would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name

from driftwatch.releases import ReleaseSet
from driftwatch.report.model import Report, TargetReport
from driftwatch.report.phrases import newer, ranges
from driftwatch.report.safe import safe
from driftwatch.report.styled import Hanging, Line, Look, Span, compose


def table(report: Report, requirements: Mapping[str, str], look: Look) -> str:
    """The dependencies in the order of their requirements, which are given by distribution."""
    targets = {canonicalize_name(target.distribution): target for target in report.targets}
    width = max((len(text) for text in requirements.values()), default=0)
    lines: list[Line | Hanging] = []
    for name, text in requirements.items():
        target = targets.get(canonicalize_name(name))
        said = (Span("not told", "warning"), Span(", see below")) if target is None else tuple(_said(report, target))
        lines.append(Hanging((Span(f"{safe(text):<{width + 2}}", "path"),), said))
    lines.append(())
    return compose(lines, look)


def _said(report: Report, target: TargetReport) -> Iterator[Span]:
    if not target.uses:
        yield Span("not used", "dim")
        return
    if target.broken:
        yield Span("breaks", "error")
        yield Span(f" with {ranges(target.timeline, target.broken)}")
        lowest = _lowest_that_holds(target)
        yield Span(f"; from {lowest} on it holds" if lowest else "; no lower bound mends that")
    else:
        yield Span("holds", "good")
        yield Span(f" with {ranges(target.timeline, target.checked)}")
        if target.degraded:
            yield Span(f", degraded with {ranges(target.timeline, target.degraded)}")
    later = newer(target.checked, report.beyond(target.distribution))
    if later:
        yield Span(f"; breaks with {ranges(target.timeline, later)}, which it leaves out", "dim")


def _lowest_that_holds(target: TargetReport) -> str | None:
    """The lowest release from which on every release of the range works; None where the newest does not."""
    top = target.broken.mask.bit_length()
    above = ReleaseSet(target.checked.mask >> top << top)
    return target.timeline.versions_of(above)[0] if above else None
