"""What is new upstream, and what it does to code bases: the data between the watch and its report.

A `News` is one target's. Everything is frozen and in its final order; nothing here looks anything up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.releases import Timeline
from driftwatch.rules.behaviour import BehaviourChange
from driftwatch.scan.sites import Site
from driftwatch.snapshot.commands.update import Failure
from driftwatch.snapshot.comparison.diff import Change
from driftwatch.snapshot.model.symbols import Ref, Symbol

Source = Callable[[str], "tuple[str, ...] | None"]


@dataclass(frozen=True, slots=True)
class Hits:
    """What a new release does to a code base, beside the release before it.

    `findings` hold in the new release and not in the one before, worst first; `already` is how many errors hold in
    both. `requirement` is what the code base declares, for a person, None where it declares nothing; `allowed` says
    whether that lets the new release in. `source` gives the lines of a file, `sites` are the places
    that use the library, `unresolved` is how many calls could not be followed, `unread` how many files could not be
    read whole.
    """

    name: str
    findings: tuple[Finding, ...]
    already: int
    requirement: str | None
    allowed: bool
    source: Source = field(repr=False)
    timeline: Timeline = field(repr=False)
    sites: tuple[Site, ...] = field(default=(), repr=False)
    unresolved: int = 0
    unread: int = 0

    @property
    def silent(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.errors if f.outcome is Outcome.SILENT)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def degraded(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.outcome is Outcome.GUARDED)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        told = {*self.errors, *self.degraded}
        return tuple(f for f in self.findings if f not in told)


@dataclass(frozen=True, slots=True)
class NewRelease:
    """A release that was not known: the changes from `previous`, and what they do to each code base.

    `symbols` are those of the new release. A `preview` is a pre-release. `behaviour` is what no signature shows.
    """

    version: str
    previous: str
    changes: tuple[Change, ...]
    symbols: Mapping[Ref, Symbol] = field(repr=False)
    code: tuple[Hits, ...] = ()
    preview: bool = False
    behaviour: tuple[BehaviourChange, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """What is new of one target. `before` is the newest release that was known; None where none was, and then the
    releases are only counted in `recorded`. `written` says whether they were recorded.
    """

    distribution: str
    module: str
    before: str | None
    releases: tuple[NewRelease, ...] = ()
    recorded: tuple[str, ...] = ()
    without_module: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    written: bool = True

    @property
    def breaks(self) -> bool:
        """Whether a new release breaks a call site."""
        return any(hits.errors for release in self.releases for hits in release.code)
