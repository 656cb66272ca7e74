"""What a report shows, whatever its format: the findings of one scan and what they add up to.

Enters: the result of a scan. Leaves: frozen data in its final order, which every format renders without judging.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from driftwatch.findings import Apart, Before, Finding, Severity, is_aside
from driftwatch.flow.uses import Diagnostic, Outcome, Unresolved
from driftwatch.project.declared import Notice
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.repair.model import Fix
from driftwatch.sites import Site
from driftwatch.snapshot.model.history import History
from driftwatch.suppress import Idle, Suppressed


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One library: the releases that are known, those that were checked and why those, and how the code fares.

    `compatible` are the checked releases in which no error stands; `degraded` those of them in which something is
    guarded off. `origin` says where the range came from, for a person. `uses` is in how many places the code touches
    the library, `sites` are those places. `history` is the library's, for formats that tell how a symbol came to be.
    `declared` are the releases that the code base itself asks for, where a picture marks them. `notices` are what a
    person must know of why just these are checked. `apart` is for what no release mends, and
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

    @property
    def but_for_the_hopeless(self) -> TargetReport:
        """How it fares apart from what no release mends, where nothing works because of that; else as it is."""
        if self.apart is None:
            return self
        return replace(self, compatible=self.apart.compatible, degraded=self.apart.degraded)


@dataclass(frozen=True, slots=True)
class Asked:
    """A requirement that is to be judged: as it is written and where; `why_not` where it cannot be checked."""

    distribution: str
    requirement: str
    path: str
    line: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a requirement.

    `state` is "holds", "breaks", "not used" or "not told". `broken` are the allowed releases with which the code
    breaks, `later` those behind the range. From `lowest` on every allowed release works, up to `highest` they do as
    well; empty where there is none.
    """

    asked: Asked
    state: str
    broken: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    lowest: str = ""
    highest: str = ""
    reason: str = ""


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
    """Everything a format may show.

    `idle` are ignores and baseline entries that decided nothing. `source` gives the lines of a scanned file, or None
    when it can no longer be read; a report without excerpts is still a report.
    `seconds` is for people: no format that must be deterministic shows it.
    `dependencies` are the verdicts on the requirements of a project, where these were asked for.
    `title` is what the code base is called; `hidden` are the findings that are suppressed, for formats that show them.
    `fixes` are repairs that have been proven, by fingerprint; `mendable` is for how many errors and warnings there is
    a repair that could be, and for how many more an unsafe one, where that was asked.
    """

    targets: tuple[TargetReport, ...]
    findings: tuple[Finding, ...]
    unresolved: tuple[Unresolved, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    idle: tuple[Idle, ...] = ()
    suppressed: int = 0
    files: int = 0
    analysed: int = 0
    seconds: float | None = None
    title: str = ""
    dependencies: tuple[Verdict, ...] = ()
    hidden: tuple[Suppressed, ...] = ()
    source: Callable[[str], tuple[str, ...] | None] = field(default=lambda _path: None, compare=False)
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    mendable: tuple[int, int] = (0, 0)

    @property
    def unread(self) -> int:
        """In how many files that mention a library, or may, not all could be analysed."""
        return len({item.path for item in self.diagnostics if item.mentions is not False})

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
        what no release mends is no matter of releases.
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
