"""Verdicts on a requirement: what the rules about installations have in common."""

from __future__ import annotations

from driftwatch.findings.finding import Verdict
from driftwatch.flow.uses import Location, Step
from driftwatch.project.declared import Declaration
from driftwatch.releases import ReleaseSet
from driftwatch.rules.rule import Context, Heading


def verdict_on(
    declared: Declaration,
    version: str,
    context: Context,
    heading: Heading,
    message: str,
    hint: str,
    trace: tuple[Step, ...] = (),
) -> Verdict:
    """A verdict where a requirement is written. `version` is what is pinned, of the library or beside it."""
    return Verdict(
        code=heading.code,
        name=heading.name,
        severity=heading.severity,
        distribution=context.history.distribution,
        location=Location(declared.path, declared.line, declared.column, declared.line, declared.end_column),
        symbol=declared.distribution,
        parameter=None,
        releases=_releases_of(version, context),
        catch=None,
        message=message,
        hint=hint,
        trace=trace,
    )


def _releases_of(version: str, context: Context) -> ReleaseSet:
    """The pinned release where it is one that is checked; else the pins are wrong whatever is checked."""
    versions = context.history.timeline.versions
    pinned = ReleaseSet(1 << versions.index(version)) if version in versions else context.checked
    return (pinned & context.checked) or context.checked
