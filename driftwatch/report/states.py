"""How each release fares at each place: the data behind every picture of a scan.

Enters: a report. Leaves: for each site, each symbol and the code base as a whole, the state of every known release.
The state of the whole agrees with the report's own sets: in the checked range it is broken exactly where an error
stands. What a comment suppresses is left out, what a baseline suppresses is still true; both as the scan counts them.
A warning of what the machine decides is no caution about a release: it is told beside the picture.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import groupby

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Location, Outcome
from driftwatch.releases import EMPTY, ReleaseSet, Timeline
from driftwatch.report.phrases import count
from driftwatch.rules import rule
from driftwatch.scan.report_model import Report, TargetReport
from driftwatch.scan.sites import Site


class State(IntEnum):
    """What is true of a release at a place; of several, the greatest counts."""

    UNREACHED = 0
    """The code does not get there with this release."""
    WORKS = 1
    CAUTION = 2
    """It works, and there is a warning about this release."""
    DEGRADED = 3
    """The code knows, and goes without the feature."""
    BREAKS = 4
    SILENT = 5
    """It breaks, the exception is taken for something else, and the program goes on without the feature."""


WORDS: dict[State, str] = {
    State.UNREACHED: "not reached",
    State.WORKS: "works",
    State.CAUTION: "works, with a warning",
    State.DEGRADED: "degraded, on purpose",
    State.BREAKS: "breaks",
    State.SILENT: "breaks silently",
}
"""Each state for a person."""

_MOST_BEHIND = 100
"""Imports that are looked at behind a module's name."""

States = tuple[State, ...]
"""One state for every known release, in order."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a picture: a symbol, a place or a code base, its states, and the findings behind them.

    `declared` are the releases that a code base itself asks for.
    """

    label: str
    states: States
    symbol: str = ""
    location: Location | None = None
    kind: str = ""
    findings: tuple[Finding, ...] = ()
    declared: ReleaseSet = EMPTY

    @property
    def worst(self) -> State:
        return max(self.states, default=State.UNREACHED)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive releases of one state: from `first`, `length` of them."""

    state: State
    first: int
    length: int

    def releases(self) -> ReleaseSet:
        return ReleaseSet(((1 << self.length) - 1) << self.first)


def runs(states: States) -> tuple[Run, ...]:
    """The states as runs, oldest first."""
    found: list[Run] = []
    first = 0
    for state, same in groupby(states):
        length = len(list(same))
        found.append(Run(state, first, length))
        first += length
    return tuple(found)


def where(states: States, *wanted: State) -> ReleaseSet:
    """The releases that are in one of these states."""
    return ReleaseSet(sum(1 << index for index, state in enumerate(states) if state in wanted))


def told(report: Report, distribution: str) -> list[Finding]:
    """The findings that are true, whether or not a baseline hides them."""
    still = (each.finding for each in report.suppressed if each.by in ("baseline", "base"))
    return [finding for finding in (*report.findings, *still) if finding.distribution == distribution]


def site_rows(report: Report, target: TargetReport) -> tuple[Row, ...]:
    """A row for every place that touches the library, in the order of the code."""
    homes = _Homes(target.sites)
    findings: dict[int, list[Finding]] = {}
    strays: dict[tuple[Location, str], list[Finding]] = {}
    for finding in told(report, target.distribution):
        home = homes.of(finding)
        if home is None:
            strays.setdefault((finding.location, finding.symbol), []).append(finding)
        else:
            findings.setdefault(home, []).append(finding)
    rows = [
        _row(report, target.timeline, site.location, site.symbol, site.kind, site.reached, findings.get(index, ()))
        for index, site in enumerate(target.sites)
    ]
    rows += [
        _row(report, target.timeline, location, symbol, "", EMPTY, found)
        for (location, symbol), found in strays.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.location or Location("", 0, 0, 0, 0), row.symbol)))


def symbol_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows of the places put together: one for every symbol, in the order of their names."""
    by_symbol: dict[str, list[Row]] = {}
    for row in rows:
        by_symbol.setdefault(row.symbol, []).append(row)
    return tuple(
        Row(symbol, worst_of(row.states for row in same), symbol, findings=_all_findings(same))
        for symbol, same in sorted(by_symbol.items())
    )


def whole_row(label: str, rows: Sequence[Row], length: int) -> Row:
    """The rows of all places as one: how the code base fares.

    Where nothing works because of what no release fixes, it is how it fares apart from that.
    """
    states = worst_of(row.states for row in rows) or (State.UNREACHED,) * length
    findings = _all_findings(rows)
    if all(state in (State.UNREACHED, State.BREAKS, State.SILENT) for state in states):
        left = [replace(row, states=_without_the_hopeless(row)) for row in rows]
        states = worst_of(row.states for row in left) or states
    return Row(label, states, findings=findings)


def _without_the_hopeless(row: Row) -> States:
    """The states of a place, as if what no release fixes were not there."""
    length = len(row.states)
    hopeless = [finding for finding in row.findings if finding.in_no_release]
    if not hopeless:
        return row.states
    states = tuple(State.WORKS if state is not State.UNREACHED else state for state in row.states)
    for finding in row.findings:
        if not finding.in_no_release:
            states = tuple(map(max, states, _pictured(finding, length)))
    return states


def worst_of(all_states: Iterable[States]) -> States:
    """For each release, the worst state of any."""
    return tuple(max(column) for column in zip(*all_states, strict=True))


def short_names(symbols: Iterable[str], module: str) -> dict[str, str]:
    """Each symbol without the library's path, as far as the names stay apart."""
    names = list(dict.fromkeys(symbols))
    parent = module.rpartition(".")[0]
    short = {name: name.removeprefix(f"{module}.") for name in names}
    if parent:
        short = {name: text.removeprefix(f"{parent}.") if text == name else text for name, text in short.items()}
    taken = list(short.values())
    return {name: text if taken.count(text) == 1 else name for name, text in short.items()}


class _Homes:
    """The site a finding is about: that of its symbol round its place, the smallest of several; else any at its place.

    For a module that is not there it is the first name that the statement imports from it, which stands behind.
    Sites of one symbol lie in each other or apart, as calls do.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = sites
        self._at: dict[Location, int] = {}
        self._of_symbol: dict[tuple[str, str], list[int]] = {}
        self._imports: dict[str, list[int]] = {}
        for index in sorted(range(len(sites)), key=lambda n: (_begin(sites[n]), [-end for end in _end(sites[n])], n)):
            site = sites[index]
            self._at.setdefault(site.location, index)
            self._of_symbol.setdefault((site.location.path, site.symbol), []).append(index)
            if site.kind == "import":
                self._imports.setdefault(site.location.path, []).append(index)
        self._around: dict[int, int] = {}
        """The site of the same symbol that a site lies in."""
        for same in self._of_symbol.values():
            open_sites: list[int] = []
            for index in same:
                while open_sites and _end(sites[open_sites[-1]]) <= _begin(sites[index]):
                    open_sites.pop()
                if open_sites:
                    self._around[index] = open_sites[-1]
                open_sites.append(index)

    def of(self, finding: Finding) -> int | None:
        """The index of the site; None where there is none."""
        place = finding.location
        same = self._of_symbol.get((place.path, finding.symbol), [])
        start = (place.line, place.column)
        before = bisect_right(same, start, key=lambda index: _begin(self._sites[index]))
        home = same[before - 1] if before else None
        while home is not None and _end(self._sites[home]) <= start:
            home = self._around.get(home)
        if home is not None:
            return home
        return self._at.get(place, self._import_behind(finding, start))

    def _import_behind(self, finding: Finding, start: tuple[int, int]) -> int | None:
        imports = self._imports.get(finding.location.path, [])
        first = bisect_right(imports, start, key=lambda index: _begin(self._sites[index]))
        behind = imports[first : first + _MOST_BEHIND]
        return next((n for n in behind if self._sites[n].symbol.startswith(f"{finding.symbol}.")), None)


def _begin(site: Site) -> tuple[int, int]:
    return site.location.line, site.location.column


def _end(site: Site) -> tuple[int, int]:
    return site.location.end_line, site.location.end_column


def _row(
    report: Report,
    timeline: Timeline,
    location: Location,
    symbol: str,
    kind: str,
    reached: ReleaseSet,
    findings: Sequence[Finding],
) -> Row:
    states = [State.WORKS if reached.mask >> index & 1 else State.UNREACHED for index in range(len(timeline))]
    for finding in findings:
        states = list(map(max, states, _pictured(finding, len(timeline))))
    label = f"{location.path}:{location.line}"
    return Row(label, tuple(states), symbol, location, kind, tuple(findings))


def beside(rows: Iterable[Row]) -> str:
    """What is told beside the picture of these rows: ``DW501 at 3 places, DW502 at 1 place``, or nothing."""
    found = _all_findings(rows)
    codes = Counter(finding.code for finding in found if _of_the_machine(finding) and finding.releases)
    return ", ".join(f"{code} at {count(number, 'place')}" for code, number in sorted(codes.items()))


def _pictured(finding: Finding, length: int) -> States:
    states = finding_states(finding, length)
    if not _of_the_machine(finding):
        return states
    return tuple(State.WORKS if state is State.CAUTION else state for state in states)


def _of_the_machine(finding: Finding) -> bool:
    found = rule(finding.code)
    return found is not None and found.of_the_machine


def finding_states(finding: Finding, length: int) -> States:
    """What a finding makes of each release; not reached where it says nothing."""
    states = [State.UNREACHED] * length
    for releases, state in ((finding.releases, _state(finding)), (finding.beyond, _state_beyond(finding))):
        for index in releases.indices():
            states[index] = state
    return tuple(states)


def _state(finding: Finding) -> State:
    if finding.outcome is Outcome.GUARDED:
        return State.DEGRADED
    if finding.severity is Severity.ERROR:
        return State.SILENT if finding.outcome is Outcome.SILENT else State.BREAKS
    # A note is no warning.
    return State.WORKS if finding.severity is Severity.NOTE else State.CAUTION


def _state_beyond(finding: Finding) -> State:
    """Outside the range everything is a note, so that what happens there counts instead."""
    if finding.severity is Severity.WARNING or (finding.conditional and finding.outcome is not Outcome.GUARDED):
        return State.CAUTION
    if finding.outcome is Outcome.RAISES:
        return State.BREAKS
    if finding.outcome is Outcome.SILENT:
        return State.SILENT
    return State.DEGRADED if finding.outcome is Outcome.GUARDED else State.CAUTION


def _all_findings(rows: Iterable[Row]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(finding for row in rows for finding in row.findings))


def relabelled(rows: Sequence[Row], labels: dict[str, str]) -> tuple[Row, ...]:
    """The rows under other names."""
    return tuple(replace(row, label=labels.get(row.symbol, row.label)) for row in rows)
