"""What a scan found, and what that adds up to: the one form in which it goes from the scan to every report.

Enters: findings, and what was known when they were made. Leaves: frozen data in its final order, which formats render
without judging. `merged` makes one report of scans of the same files for several modules of a distribution, which works
with the releases that all of them work with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from driftwatch.findings.finding import Apart, Before, Finding, Severity, Verdict, is_aside, order
from driftwatch.findings.suppress import Idle, Suppressed
from driftwatch.flow.uses import Diagnostic, Outcome, Unresolved, Use
from driftwatch.project.declared import Notice, Requirements
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.repair.model import Fix
from driftwatch.rules.rule import Context
from driftwatch.scan.sites import Site, site_order
from driftwatch.scan.sources import Sources
from driftwatch.snapshot.model.history import History


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One library: the releases that are known, those that were checked and why those, and how the code fares.

    `compatible` are the checked releases in which no error stands; `degraded` those of them in which something is
    guarded off. `origin` says where the range came from, for a person. `uses` is in how many places the code touches
    the library, `sites` are those places. `history` is the library's, for formats that tell how a symbol came to be.
    `declared` are the releases that the code base itself asks for, where a picture marks them. `notices` are what a
    person must know of why just these are checked. `apart` is for what no release fixes, and
    `before` for what a base revision has too, where the report is of what is new. `stand_in` are releases that nobody
    asks for, checked in place of what is not known.
    """

    distribution: str
    module: str
    timeline: Timeline
    checked: ReleaseSet
    origin: str
    compatible: ReleaseSet
    degraded: ReleaseSet
    uses: int = 0
    sites: tuple[Site, ...] = ()
    history: History | None = field(default=None, repr=False, compare=False)
    declared: ReleaseSet = EMPTY
    notices: tuple[Notice, ...] = ()
    apart: Apart | None = None
    before: Before | None = None
    remark: str = ""
    stand_in: ReleaseSet = EMPTY

    @property
    def broken(self) -> ReleaseSet:
        return self.checked - self.compatible

    def by(self, findings: Sequence[Finding]) -> TargetReport:
        """How the code fares by these findings, and no others."""
        own = [finding for finding in findings if finding.distribution == self.distribution]
        errors = [finding for finding in own if finding.severity is Severity.ERROR]
        guarded = union([finding.releases for finding in own if finding.outcome is Outcome.GUARDED])
        compatible = self.checked - union([finding.releases for finding in errors])
        hopeless = [finding for finding in errors if finding.in_no_release]
        apart = None
        if hopeless and not compatible:
            left = self.checked - union([finding.releases for finding in errors if not finding.in_no_release])
            apart = Apart(len(hopeless), left, left & guarded)
        return replace(self, compatible=compatible, degraded=compatible & guarded, apart=apart)

    @property
    def but_for_the_hopeless(self) -> TargetReport:
        """How it fares apart from what no release fixes, where nothing works because of that; else as it is."""
        if self.apart is None:
            return self
        return replace(self, compatible=self.apart.compatible, degraded=self.apart.degraded)


@dataclass(frozen=True, slots=True)
class Asked:
    """A requirement that is to be judged: as it is written and where; `why_not` where it cannot be checked.

    `but` is what a person must know of how it was; `lowest_alone` says that only the lowest allowed release was.
    """

    distribution: str
    requirement: str
    path: str
    line: int
    why_not: str = ""
    but: str = ""
    lowest_alone: bool = False


@dataclass(frozen=True, slots=True)
class RequirementVerdict:
    """What became of a requirement.

    `state` is "holds", "breaks", "not used" or "not told". `broken` are the allowed releases with which the code
    breaks, `later` those behind the range. From `lowest` on every allowed release works, up to `highest` they do as
    well; empty where there is none. `reason` says why nothing is told, or what of it rests on less than all releases.
    """

    asked: Asked
    state: str
    broken: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    lowest: str = ""
    highest: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """The uses in one root, and what the rules said of them before any was left out. `prefix` goes before their paths.

    `contexts` are by distribution, and what the rules were given; the verdicts' paths are those of reports.
    """

    prefix: str
    uses: tuple[Use, ...]
    verdicts: tuple[Verdict, ...]
    contexts: Mapping[str, Context]


@dataclass(frozen=True, slots=True)
class Counts:
    files: int
    analysed: int
    errors: int
    warnings: int
    notes: int
    silent: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class Report:
    """All that a scan found, in its final order: what every format shows.

    `idle` are ignores and baseline entries that decided nothing; `suppressed` is what a comment, a pattern, a baseline
    or a base revision hides. `title` is what the code base is called. `seconds` is for people: no format that must be
    deterministic shows it. `dependencies` are the verdicts on the requirements of a project, where these were asked
    for. `reached` and `requirements` are for whoever asks again, as a repair does. `fixes` are repairs that have been
    proven, by fingerprint; `fixable` is for how many errors and warnings there is a repair that could be, and for how
    many more an unsafe one, where that was asked.
    """

    targets: tuple[TargetReport, ...]
    findings: tuple[Finding, ...]
    unresolved: tuple[Unresolved, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    idle: tuple[Idle, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    files: int = 0
    analysed: int = 0
    sources: Sources = field(default=Sources(Path()), repr=False, compare=False)
    fail_on: str = "error"
    reached: tuple[Reached, ...] = field(default=(), repr=False, compare=False)
    requirements: tuple[Requirements, ...] = field(default=(), repr=False, compare=False)
    title: str = ""
    seconds: float | None = None
    dependencies: tuple[RequirementVerdict, ...] = ()
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    fixable: tuple[int, int] = (0, 0)

    @property
    def failed(self) -> bool:
        """Whether the findings are such that the run should fail."""
        failing = {"error": {Severity.ERROR}, "warning": {Severity.ERROR, Severity.WARNING}}.get(self.fail_on, set())
        if self.fail_on == "warning" and any(target.stand_in for target in self.targets):
            # What is asked for was not looked at.
            return True
        return any(finding.severity in failing for finding in self.findings)

    def source(self, path: str) -> tuple[str, ...] | None:
        """The lines of a scanned file; None where it can no longer be read: a report without excerpts is one."""
        return self.sources.lines(path)

    @property
    def unread(self) -> int:
        """In how many files that mention a library, or may, not all could be analysed."""
        return len({item.path for item in self.diagnostics if item.mentions is not False})

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person must know of what the code base declares, of whichever library, used or not."""
        return tuple(sorted({notice for target in self.targets for notice in target.notices}))

    @property
    def counts(self) -> Counts:
        severities = [finding.severity for finding in self.findings]
        return Counts(
            files=self.files,
            analysed=self.analysed,
            errors=severities.count(Severity.ERROR),
            warnings=severities.count(Severity.WARNING),
            notes=severities.count(Severity.NOTE),
            silent=sum(f.severity is Severity.ERROR and f.outcome is Outcome.SILENT for f in self.findings),
            unresolved=len(self.unresolved),
        )

    @property
    def by_weight(self) -> tuple[Finding, ...]:
        """The findings in the order of the code, those of the product itself before those of tests and benchmarks."""
        return tuple(sorted(self.findings, key=lambda finding: is_aside(finding.location.path)))

    def target(self, distribution: str) -> TargetReport:
        return next(target for target in self.targets if target.distribution == distribution)

    def beyond(self, distribution: str) -> ReleaseSet:
        """The releases outside the checked range in which this code would raise or silently lose something.

        What is a warning in the range, where nothing is said to break by it, breaks nothing outside of it either; and
        what no release fixes is no matter of releases.
        """
        return union(
            [
                finding.beyond
                for finding in self.findings
                if finding.distribution == distribution
                and finding.severity is not Severity.WARNING
                and not finding.conditional
                and not finding.in_no_release
                and finding.outcome in (Outcome.RAISES, Outcome.SILENT)
            ]
        )

    def degraded_beyond(self, distribution: str) -> ReleaseSet:
        """The releases outside the checked range in which this code would go without something and break nowhere."""
        guarded = [f.beyond for f in self.findings if f.distribution == distribution and f.outcome is Outcome.GUARDED]
        return union(guarded) - self.beyond(distribution) - self.target(distribution).checked


def merged(results: Sequence[Report]) -> Report:
    """The results of scans of the same files for other targets as one."""
    results = _on_one_timeline(results)
    first = results[0]
    findings = tuple(dict.fromkeys(each for result in results for each in result.findings))
    # A comment that decided nothing for one module may decide something for another.
    idle = [each for each in first.idle if all(each in result.idle for result in results[1:])]
    diagnostics = sorted(
        {each for result in results for each in result.diagnostics},
        key=lambda each: (each.path, each.line or 0, each.message),
    )
    unresolved = sorted(
        {each for result in results for each in result.unresolved},
        key=lambda each: (each.path, each.line, each.reason),
    )
    suppressed = tuple(dict.fromkeys(each for result in results for each in result.suppressed))
    targets: dict[tuple[str, tuple[str, ...]], TargetReport] = {}
    for result in results:
        for target in result.targets:
            key = target.distribution, target.timeline.versions
            known = targets.get(key)
            targets[key] = target if known is None else _both(known, target)
    return replace(
        first,
        targets=tuple(targets[key] for key in sorted(targets)),
        findings=tuple(sorted(findings, key=order)),
        suppressed=suppressed,
        idle=tuple(idle),
        unresolved=tuple(unresolved),
        diagnostics=tuple(diagnostics),
        analysed=max(result.analysed for result in results),
        reached=tuple(each for result in results for each in result.reached),
        requirements=tuple(each for result in results for each in result.requirements),
    )


def _on_one_timeline(results: Sequence[Report]) -> list[Report]:
    """The results with one timeline for each distribution, of all releases that any of its modules is recorded of."""
    versions: dict[str, dict[str, None]] = {}
    for target in (target for result in results for target in result.targets):
        versions.setdefault(target.distribution, {}).update(dict.fromkeys(target.timeline.versions))
    common = {name: Timeline.of(found) for name, found in versions.items()}
    return [_moved(result, common) for result in results]


def _moved(report: Report, timelines: Mapping[str, Timeline]) -> Report:
    """A report whose sets of releases are those of other timelines, which have all of its own releases."""
    own = {each.distribution: each.timeline for each in report.targets}

    def at(name: str, releases: ReleaseSet) -> ReleaseSet:
        return timelines[name].set_of(own[name].versions_of(releases))

    def finding(each: Finding) -> Finding:
        name = each.distribution
        return replace(each, releases=at(name, each.releases), beyond=at(name, each.beyond))

    def target(each: TargetReport) -> TargetReport:
        name, apart = each.distribution, each.apart
        return replace(
            each,
            timeline=timelines[name],
            checked=at(name, each.checked),
            compatible=at(name, each.compatible),
            degraded=at(name, each.degraded),
            declared=at(name, each.declared),
            stand_in=at(name, each.stand_in),
            sites=tuple(replace(site, reached=at(name, site.reached)) for site in each.sites),
            apart=apart and replace(apart, compatible=at(name, apart.compatible), degraded=at(name, apart.degraded)),
        )

    if all(own[name].versions == timelines[name].versions for name in own):
        return report
    return replace(
        report,
        targets=tuple(map(target, report.targets)),
        findings=tuple(map(finding, report.findings)),
        suppressed=tuple(replace(each, finding=finding(each.finding)) for each in report.suppressed),
    )


def _both(first: TargetReport, second: TargetReport) -> TargetReport:
    """How the code fares with two modules of one distribution."""
    checked = first.checked | second.checked
    compatible = checked - first.broken - second.broken
    return replace(
        first,
        checked=checked,
        compatible=compatible,
        degraded=(first.degraded | second.degraded) & compatible,
        uses=first.uses + second.uses,
        sites=tuple(sorted({*first.sites, *second.sites}, key=site_order)),
        notices=tuple(dict.fromkeys((*first.notices, *second.notices))),
        apart=first.apart or second.apart,
        stand_in=first.stand_in | second.stand_in,
    )
