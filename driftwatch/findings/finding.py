"""What is reported: a verdict of a rule about one place, with the exact releases it holds for.

Enters: the verdicts of the rules and, for each target, the checked range. Leaves: findings in their total order, each
split into the releases in the range and those beyond it. A `Finding` is final but for suppression. Its fingerprint
names the problem by the code that has it: it survives edits elsewhere in the file, and no other code inherits it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from driftwatch.findings.passages import Passages
from driftwatch.flow.uses import Catch, Location, Outcome, Step
from driftwatch.releases import EMPTY, ReleaseSet, Timeline


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


RELEASES = "{releases}"
"""Stands in a verdict's message for the releases it is finally reported for, which no rule knows."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says about a use, before the checked range is known.

    `releases` is every release in which it holds, and `conditional` those of them in which it may hold, since the place
    is reached under a condition that could not be followed. `severity` is what it is when one of them is in the range;
    a drift that is guarded is a note whatever the rule says. `catch` is None where nothing is raised, else `exception`
    is. `in_no_release` says that what is asked for is in no known release. `written` is where the argument that it is
    about is named. In `message` and `hint`, the text
    ``{releases}`` stands for the releases the finding is about.
    """

    code: str
    name: str
    severity: Severity
    distribution: str
    location: Location
    symbol: str
    parameter: str | None
    releases: ReleaseSet
    catch: Catch | None
    message: str
    hint: str
    trace: tuple[Step, ...] = ()
    exception: str | None = None
    conditional: ReleaseSet = EMPTY
    in_no_release: bool = False
    written: Location | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict within the checked range: `releases` are those in the range, `beyond` those outside it.

    `exception` is what Python raises there, None where it raises nothing. A `conditional` one may hold: its place is
    reached under a condition that could not be followed. `in_no_release`: no other release fixes it.
    """

    code: str
    name: str
    severity: Severity
    distribution: str
    location: Location
    symbol: str
    parameter: str | None
    releases: ReleaseSet
    beyond: ReleaseSet
    outcome: Outcome | None
    caught_at: tuple[str, int] | None
    message: str
    hint: str
    trace: tuple[Step, ...]
    fingerprint: str
    exception: str | None = None
    conditional: bool = False
    in_no_release: bool = False
    written: Location | None = None


@dataclass(frozen=True, slots=True)
class Apart:
    """How a code base fares apart from some errors that no release fixes: what works then, and what is degraded."""

    errors: int
    compatible: ReleaseSet
    degraded: ReleaseSet


@dataclass(frozen=True, slots=True)
class Before:
    """What a base revision has of errors too, in a report of what is new: how many, and the releases they break."""

    errors: int
    broken: ReleaseSet


_WORST_FIRST: dict[Outcome | None, int] = {
    Outcome.SILENT: 0,
    Outcome.RAISES: 1,
    Outcome.UNKNOWN: 2,
    None: 3,
    Outcome.GUARDED: 4,
}
_ASIDE = frozenset({"test", "tests", "testing", "bench", "benchmark", "benchmarks", "example", "examples", "docs"})
_BROAD = ("Exception", "BaseException")


def judge(
    verdicts: Iterable[Verdict],
    timelines: Mapping[str, Timeline],
    checked: Mapping[str, ReleaseSet],
    severities: Mapping[str, Severity] | None = None,
    passages: Passages | None = None,
    apart: Mapping[str, Mapping[str, ReleaseSet]] | None = None,
) -> tuple[Finding, ...]:
    """The findings that the verdicts come to, in total order: the same verdicts in any order give the same findings.

    `timelines` and `checked` are by distribution; `apart` has what is checked of a file by its path, where that may be
    another set. `severities` override a rule's own, by code; `passages` knows the code. What is said more than once of
    one place and parameter becomes one finding; where a place is reached in several ways, the worst outcome of a
    release counts, and of what breaks, what certainly does before what may.
    """
    places: dict[tuple[str, ...], dict[Location, list[Verdict]]] = {}
    for verdict in verdicts:
        if verdict.releases:
            places.setdefault(_subject(verdict), {}).setdefault(verdict.location, []).append(verdict)
    findings: list[Finding] = []
    code = passages or Passages(lambda path: None)
    for group in places.values():
        alike: Counter[tuple[str, ...]] = Counter()
        for location in sorted(group):
            for verdict in _by_outcome(group[location]):
                dist = verdict.distribution
                severity = (severities or {}).get(verdict.code, verdict.severity)
                identity = _identity(verdict, code)
                mark = _fingerprint(identity, alike[identity])
                alike[identity] += 1
                own = (apart or {}).get(location.path, checked)
                findings.append(_finding(verdict, timelines[dist], own[dist], severity, mark))
    return tuple(sorted(findings, key=order))


def is_aside(path: str) -> bool:
    """Whether a file is a test, a benchmark or an example: what the product itself does is told before it."""
    *folders, name = path.lower().split("/")
    stem = name.rpartition(".")[0]
    if stem.startswith(("test_", "bench_", "benchmark_")) or stem.endswith(("_test", "_tests", "_benchmark")):
        return True
    return stem == "conftest" or not _ASIDE.isdisjoint(folders)


def order(finding: Finding) -> tuple[object, ...]:
    """The total order of findings: by place, then by what is said there."""
    return (
        finding.location,
        finding.code,
        finding.name,
        finding.distribution,
        finding.symbol,
        finding.parameter or "",
        finding.conditional,
        _WORST_FIRST[finding.outcome],
        finding.caught_at or ("", 0),
    )


def _identity(verdict: Verdict, code: Passages) -> tuple[str, ...]:
    """What a finding is, wherever it stands: its subject, the code it is in, how it ends, and who takes the exception.

    The text of a handler is no part of it, so that one may be edited without its findings becoming others.
    """
    passage = code.at(verdict.location)
    catch = verdict.catch
    handler = ("", "")
    if catch is not None and catch.path is not None and catch.line is not None:
        handler = (catch.path, code.scope(catch.path, catch.line))
    ending = (catch.outcome.value if catch else "", *handler)
    return (*_subject(verdict), passage.scope, passage.text, *ending, *(["conditional"] if verdict.conditional else []))


def _fingerprint(identity: tuple[str, ...], occurrence: int) -> str:
    """A stable name. `occurrence` tells apart what is alike in all of its identity, and nothing else."""
    parts = (*identity, str(occurrence))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _subject(verdict: Verdict) -> tuple[str, ...]:
    """What a verdict is about, but for the place within the file."""
    return (
        verdict.code,
        verdict.name,
        verdict.distribution,
        verdict.location.path,
        verdict.symbol,
        verdict.parameter or "",
    )


def _by_outcome(verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts on one place made disjoint: each release under its worst outcome only, equal outcomes as one.

    Exceptions of two kinds are two outcomes. One that comes out is conditional in all of its releases or in none.
    """
    merged: dict[tuple[bool, bool, int, str, int, str], list[Verdict]] = {}
    for verdict in verdicts:
        catch = verdict.catch
        guarded = catch is not None and catch.outcome is Outcome.GUARDED
        outcome = (_WORST_FIRST[catch.outcome if catch else None], *_caught_key(catch), verdict.exception or "")
        may = verdict.releases & verdict.conditional
        for conditional, releases in ((False, verdict.releases - may), (True, may)):
            if releases:
                part = replace(verdict, releases=releases, conditional=may)
                merged.setdefault((guarded, conditional, *outcome), []).append(part)
    taken = EMPTY
    result: list[Verdict] = []
    for key in sorted(merged):
        same = sorted(merged[key], key=_preference)
        releases = EMPTY
        for verdict in same:
            releases |= verdict.releases
        releases -= taken
        taken |= releases
        if releases:
            result.append(replace(same[0], releases=releases, conditional=releases if key[1] else EMPTY))
    return result


def _caught_key(catch: Catch | None) -> tuple[str, int]:
    return ((catch.path or "", catch.line or 0)) if catch else ("", 0)


def _preference(verdict: Verdict) -> tuple[object, ...]:
    """Which of several equal verdicts speaks for all: the most severe, that on most releases, then by its text."""
    trace = tuple((step.path, step.line, step.note) for step in verdict.trace)
    return (list(Severity).index(verdict.severity), -len(verdict.releases), verdict.message, verdict.hint, trace)


def _finding(verdict: Verdict, timeline: Timeline, checked: ReleaseSet, severity: Severity, mark: str) -> Finding:
    inside = verdict.releases & checked
    beyond = verdict.releases - checked
    catch = verdict.catch
    outcome = catch.outcome if catch else None
    if severity is Severity.ERROR and (verdict.conditional or (catch is not None and _may_be_meant(catch))):
        # An error says that it happens, and that nobody has thought of it.
        severity = Severity.WARNING
    if not inside or outcome is Outcome.GUARDED:
        severity = Severity.NOTE
    where = timeline.describe(inside or beyond)
    caught = (catch.path, catch.line) if catch and catch.path is not None and catch.line is not None else None
    return Finding(
        code=verdict.code,
        name=verdict.name,
        severity=severity,
        distribution=verdict.distribution,
        location=verdict.location,
        symbol=verdict.symbol,
        parameter=verdict.parameter,
        releases=inside,
        beyond=beyond,
        outcome=outcome,
        caught_at=caught,
        message=verdict.message.replace(RELEASES, where),
        hint=verdict.hint.replace(RELEASES, where),
        trace=verdict.trace,
        fingerprint=mark,
        exception=verdict.exception if catch is not None else None,
        conditional=bool(verdict.conditional),
        in_no_release=verdict.in_no_release,
        written=verdict.written,
    )


def _may_be_meant(catch: Catch) -> bool:
    """Whether what takes the exception, and does with it what is not known, may be there for this very thing.

    A clause for anything is not: whether that swallows the exception or raises it again, the program breaks.
    """
    return catch.outcome is Outcome.UNKNOWN and not is_broad(catch)


def is_broad(catch: Catch) -> bool:
    """Whether what takes the exception takes every other one as well; with no clause at all, nothing says otherwise."""
    return not catch.handles or any(name.rpartition(".")[2] in _BROAD for name in catch.handles)


def placed(verdict: Verdict, prefix: str) -> Verdict:
    """A verdict with its paths as reports show them."""
    if not prefix:
        return verdict
    if (catch := verdict.catch) is not None and catch.path is not None:
        catch = replace(catch, path=prefix + catch.path)
    location = replace(verdict.location, path=prefix + verdict.location.path)
    written = verdict.written and replace(verdict.written, path=prefix + verdict.written.path)
    trace = tuple(Step(prefix + step.path, step.line, step.note) for step in verdict.trace)
    return replace(verdict, location=location, catch=catch, trace=trace, written=written)
