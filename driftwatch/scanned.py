"""What a scan found: how the code fares with each library, and all that any report needs.

`merged` makes one result of scans of the same files for several modules of a distribution, which works with the
releases that all of them work with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from driftwatch.findings import Apart, Before, Finding, Severity, Verdict, order
from driftwatch.flow.uses import Diagnostic, Outcome, Unresolved, Use
from driftwatch.project.declared import Notice, Requirements
from driftwatch.releases import EMPTY, ReleaseSet, Timeline, union
from driftwatch.rules.rule import Context
from driftwatch.sites import Site, site_order
from driftwatch.snapshot.model.history import History
from driftwatch.sources import Sources
from driftwatch.suppress import Idle, Suppressed


@dataclass(frozen=True, slots=True)
class TargetResult:
    """How the code fares with one library.

    `compatible` are the checked releases in which no error stands, one that a baseline hides included; `degraded` those
    of them in which something is guarded off. `origin` says for a person why these releases are checked, and `notices`
    what must be known of that. `apart` is how it fares but for what no release mends, where nothing works because of
    that. `uses` is in how many places the code touches the library, `sites` are those places. `before` is what a base
    revision has too, where only what is new is told. `remark` is what must be known of how the library was read.
    `stand_in` are releases that nobody asks for: what is asked for is not known, and each is the nearest to it.
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
    notices: tuple[Notice, ...] = ()
    apart: Apart | None = None
    before: Before | None = None
    remark: str = ""
    stand_in: ReleaseSet = EMPTY
    history: History | None = field(default=None, repr=False, compare=False)

    @property
    def broken(self) -> ReleaseSet:
        return self.checked - self.compatible

    def by(self, findings: Sequence[Finding]) -> TargetResult:
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
class ScanResult:
    """All that a scan found, in its final order."""

    targets: tuple[TargetResult, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[Idle, ...]
    unresolved: tuple[Unresolved, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    analysed: int
    sources: Sources
    fail_on: str = "error"
    reached: tuple[Reached, ...] = field(default=(), repr=False, compare=False)
    requirements: tuple[Requirements, ...] = field(default=(), repr=False, compare=False)

    @property
    def failed(self) -> bool:
        """Whether the findings are such that the run should fail."""
        failing = {"error": {Severity.ERROR}, "warning": {Severity.ERROR, Severity.WARNING}}.get(self.fail_on, set())
        if self.fail_on == "warning" and any(target.stand_in for target in self.targets):
            # What is asked for was not looked at.
            return True
        return any(finding.severity in failing for finding in self.findings)


def merged(results: Sequence[ScanResult]) -> ScanResult:
    """The results of scans of the same files for other targets as one."""
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
    targets: dict[tuple[str, tuple[str, ...]], TargetResult] = {}
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
    )


def _both(first: TargetResult, second: TargetResult) -> TargetResult:
    """How the code fares with two modules of one distribution."""
    compatible = first.compatible & second.compatible
    return replace(
        first,
        compatible=compatible,
        degraded=(first.degraded | second.degraded) & compatible,
        uses=first.uses + second.uses,
        sites=tuple(sorted({*first.sites, *second.sites}, key=site_order)),
        notices=tuple(dict.fromkeys((*first.notices, *second.notices))),
        apart=first.apart or second.apart,
        stand_in=first.stand_in | second.stand_in,
    )
