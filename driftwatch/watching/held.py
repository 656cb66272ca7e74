"""A code base held against what a library was and what it is: what is new of it in the second.

Enters: a code base, a history, and two of its releases. Leaves: `Hits`. One scan answers for any number of such steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from driftwatch.errors import InputError, UsageError
from driftwatch.findings.finding import Finding, Severity
from driftwatch.findings.suppress import read_baseline
from driftwatch.flow.uses import Outcome
from driftwatch.project import ranges
from driftwatch.project.declared import Requirements
from driftwatch.project.discovery import find_roots
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules import rule
from driftwatch.scan.code_bases import CodeBase
from driftwatch.scan.pipeline import ScanRequest, Watched, scan
from driftwatch.scan.report_model import Report
from driftwatch.snapshot.model.history import History
from driftwatch.targets.target import Target
from driftwatch.watching.news import Hits


def check(code: CodeBase) -> None:
    """`InputError` for a code base that cannot be looked at, before any work is done for it."""
    config = code.config
    found = find_roots(code.paths, base=Path.cwd(), exclude=config.exclude, exclude_from=config.folder)
    if not any(root.files for root in found.roots):
        raise InputError(f"there is no Python file in {code.name}")
    if config.baseline is not None:
        read_baseline(config.baseline)


def scanned(
    code: CodeBase, target: Target, history: History, versions: Iterable[str], cache: Path | None = None
) -> Report:
    """The code base held against some releases of one library, and no others."""
    watched = Watched(history, target.data, target.companions, target.aliases, target.carriers)
    against = tuple(f"{target.distribution}=={version}" for version in dict.fromkeys(versions))
    return scan(ScanRequest(code.paths, (watched,), code.config, against, cache=cache))


def hits(target: Target, history: History, before: str, version: str, code: CodeBase, result: Report) -> Hits:
    """What of a scan is new in `version`, beside `before`."""
    timeline = history.timeline
    now, then = timeline.set_of([version]), timeline.set_of([before])
    new: list[Finding] = []
    already = 0
    for finding in result.findings:
        if _is_of_the_step(finding, now | then):
            new.append(_only(finding, now))
        elif finding.releases & now:
            if finding.releases & then:
                already += finding.severity is Severity.ERROR
            else:
                new.append(_only(finding, now))
    requirement, allowed = _requirement(target, history, code, now)
    (own,) = result.targets
    return Hits(
        name=code.name,
        findings=tuple(sorted(new, key=_worst_first)),
        already=already,
        requirement=requirement,
        allowed=allowed,
        source=result.sources.lines,
        timeline=timeline,
        sites=own.sites,
        unresolved=len(result.unresolved),
        unread=len(result.diagnostics),
    )


def _is_of_the_step(finding: Finding, both: ReleaseSet) -> bool:
    """Whether a finding tells the two apart: what it says of the one is that the other is different.

    Which of the two it names is then only a matter of which is newer.
    """
    known = rule(finding.code)
    return known is not None and known.compares and finding.outcome is None and len(finding.releases & both) == 1


def _requirement(target: Target, history: History, code: CodeBase, now: ReleaseSet) -> tuple[str | None, bool]:
    """What the code base asks for, for a person, and whether that lets the new release in."""
    try:
        found = ranges.choose(
            history.distribution,
            history.timeline,
            configured=code.config.against,
            configured_in=code.config.path.name if code.config.path is not None else "the configuration",
            requirements=Requirements(
                code.paths[0],
                [history.distribution],
                exclude=code.config.exclude,
                exclude_from=code.config.folder,
                aliases=target.other_names,
            ),
        )
    except UsageError as error:
        # It asks for releases that nobody knows, so surely not for this one.
        return error.message, False
    said = "; ".join([found.source, *(notice.message for notice in found.notices)])
    # What stands in for a release that is not known is not what is asked for.
    return (said if found.declared else None), not found.declared or bool((found.releases - found.stand_in) & now)


def _only(finding: Finding, now: ReleaseSet) -> Finding:
    """A finding as of the new release: in which others it holds is no news."""
    return replace(finding, releases=now, beyond=EMPTY)


def _worst_first(finding: Finding) -> tuple[object, ...]:
    silent = finding.outcome is not Outcome.SILENT
    return (finding.outcome is Outcome.GUARDED, list(Severity).index(finding.severity), silent, finding.location)
