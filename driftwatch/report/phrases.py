"""How a report says things: counts, ranges of releases, outcomes. Plain strings, already safe to print."""

from __future__ import annotations

from collections.abc import Callable

from driftwatch.findings.finding import Finding, Severity
from driftwatch.flow.uses import Outcome
from driftwatch.releases import ReleaseSet, Timeline, union
from driftwatch.report.safe import safe
from driftwatch.scan.report_model import Report, TargetReport

Source = Callable[[str], "tuple[str, ...] | None"]

CONDITIONAL = "under a condition that could not be followed"
"""Said of a place that may be reached, of which nothing says that it is."""


_MOST_NAMES = 3


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 error``, ``2 errors``, ``1959 files``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ranges(timeline: Timeline, releases: ReleaseSet) -> str:
    """A set for a person: ``0.6.0 to 0.6.10, 15 releases``; one release is just its version."""
    if len(releases) < 2:
        return timeline.describe(releases)
    if releases == timeline.all:
        return f"all {len(releases)} releases, {timeline.describe(releases)}"
    runs = timeline.ranges(releases)
    if len(runs) == 1:
        return f"{timeline.describe(releases)}, {len(releases)} releases"
    return f"{timeline.describe(releases)} ({len(releases)} releases)"


def where(timeline: Timeline, finding: Finding) -> tuple[str, ...]:
    """The releases of a finding as parts of a sentence, without what its message says already."""
    said: list[str] = []
    if finding.releases and timeline.describe(finding.releases) not in finding.message:
        said.append(f"in {ranges(timeline, finding.releases)}")
    if finding.beyond and (finding.releases or timeline.describe(finding.beyond) not in finding.message):
        said.append(f"outside the checked range in {ranges(timeline, finding.beyond)}")
    if finding.conditional:
        said.append(CONDITIONAL)
    return tuple(said)


def requirement(target: TargetReport) -> str:
    """What selects the newest run of checked releases that work: ``dist>=0.6.8``, with an end where it has one."""
    timeline = target.timeline
    first, last = timeline.ranges(target.compatible)[-1]
    if first == last:
        return f"{target.distribution}=={first}"
    end = "" if last == timeline.versions[-1] else f",<={last}"
    return f"{target.distribution}>={first}{end}"


def way_out(report: Report, target: TargetReport, where: str) -> tuple[str, str, str] | None:
    """What to do about what breaks: the words before a requirement, the requirement, and those after it; None for none.

    `where` is where the errors are shown.
    """
    view = target.but_for_the_hopeless
    timeline = view.timeline
    hopeless = f"fix the {count(target.apart.errors, 'error')} that no release fixes" if target.apart else ""
    if not view.broken or not view.compatible:
        return (hopeless, "", "") if hopeless else None
    errors = [f for f in report.findings if f.severity is Severity.ERROR and f.distribution == target.distribution]
    number = sum(not (hopeless and finding.in_no_release) for finding in errors)
    # None is one that a baseline hides: the release is broken all the same.
    fix = f", or fix the {count(number, 'other' if hopeless else 'error')} {where}" if number else ""
    first, last = timeline.ranges(view.compatible)[-1]
    selected = timeline.matching(f">={first},<={last}") & view.degraded
    aside = f" (degraded with {ranges(timeline, selected)})" if selected else ""
    return f"{hopeless}, and require " if hopeless else "require ", safe(requirement(view)), f"{aside}{fix}"


def apart(report: Report, target: TargetReport) -> str:
    """``3 calls that no release takes (a.py:3, b.py:5 and 1 more)``; nothing where releases decide."""
    if target.apart is None:
        return ""
    found = [f for f in report.findings if f.distribution == target.distribution and f.in_no_release]
    places = dict.fromkeys(f"{safe(f.location.path)}:{f.location.line}" for f in found if f.severity is Severity.ERROR)
    shown = ", ".join(list(places)[:_MOST_NAMES])
    more = f" and {len(places) - _MOST_NAMES} more" if len(places) > _MOST_NAMES else ""
    return f"{count(target.apart.errors, 'error')} that no release fixes{f' ({shown}{more})' if shown else ''}"


def before(target: TargetReport) -> str:
    """What the base revision has too, where the report is of what is new; nothing where that is no error."""
    if target.before is None or not target.before.errors:
        return ""
    return f"breaks with {ranges(target.timeline, target.before.broken)} ({count(target.before.errors, 'old error')})"


def silently(report: Report, target: TargetReport) -> str:
    """In how many of the releases that break something breaks silently, to be put behind them; nothing for none."""
    broken = target.broken
    silent = broken & union(
        [
            finding.releases
            for finding in report.findings
            if finding.distribution == target.distribution
            and finding.severity is Severity.ERROR
            and finding.outcome is Outcome.SILENT
        ]
    )
    if not silent:
        return ""
    if silent == broken:
        return ", silent" if len(broken) == 1 else ", silent in all of them"
    return f", silent in {len(silent)} of them"


def outlook(report: Report, target: TargetReport) -> tuple[tuple[str, str], ...]:
    """What an upgrade and a downgrade would do, each as a sentence; what would change nothing is left out."""
    broken, degraded = report.beyond(target.distribution), report.degraded_beyond(target.distribution)
    newest = newer(target.checked, broken | degraded)
    found: list[tuple[str, str]] = []
    for label, side in (("upgrade", newest), ("downgrade", (broken | degraded) - newest)):
        pairs = (("breaks with", broken & side), ("degraded with", degraded & side))
        said = [f"{verb} {ranges(target.timeline, releases)}" for verb, releases in pairs if releases]
        if said:
            found.append((label, "; ".join(said)))
    return tuple(found)


def without(report: Report, target: TargetReport) -> str:
    """What the code does without in the degraded releases, to be put behind them; nothing where it lacks none."""
    names = dict.fromkeys(
        finding.symbol.rpartition(".")[2]
        for finding in report.findings
        if finding.distribution == target.distribution
        and finding.outcome is Outcome.GUARDED
        and finding.releases & target.degraded
    )
    if not names:
        return ""
    shown = ", ".join(f"`{safe(name)}`" for name in list(names)[:_MOST_NAMES])
    return f" (without {shown}{f' and {len(names) - _MOST_NAMES} more' if len(names) > _MOST_NAMES else ''})"


def breaks_beyond(finding: Finding) -> bool:
    """Whether something breaks by it outside the checked range, as far as is known."""
    raised = finding.outcome in (Outcome.RAISES, Outcome.SILENT, Outcome.UNKNOWN)
    return raised and finding.severity is not Severity.WARNING and not finding.conditional


def newer(checked: ReleaseSet, releases: ReleaseSet) -> ReleaseSet:
    """Those of the releases that come after every checked one: what an upgrade leads to."""
    return releases - ReleaseSet((1 << checked.mask.bit_length()) - 1)


def position(finding: Finding) -> str:
    """``path:line:column``."""
    return f"{safe(finding.location.path)}:{finding.location.line}:{finding.location.column}"


def exception(finding: Finding) -> str:
    """The exception behind a finding; a general word where it has none."""
    return finding.exception or "exception"


def handler(finding: Finding, source: Source) -> str:
    """The clause that takes the exception, as the code has it: ``except Exception as e``; else a general word."""
    if finding.caught_at is None:
        return "handler"
    path, line = finding.caught_at
    lines = source(path)
    if lines is None or not 0 < line <= len(lines):
        return "handler"
    text = lines[line - 1].partition("#")[0].strip()
    if not text.startswith(("except", "with ", "async with ")) or not text.endswith(":"):
        return "handler"
    return f"`{safe(text[:-1].rstrip())}`"


def outcome(finding: Finding, source: Source) -> str | None:
    """What the program does about it, in words; None where nothing is raised."""
    if finding.outcome is None:
        return None
    raised = exception(finding)
    if finding.outcome is Outcome.RAISES:
        where = f", again from {_taken_at(finding)}" if finding.caught_at else ""
        return f"raises {raised}{where}" if finding.exception else f"raises, and nobody takes it{where}"
    if finding.outcome is Outcome.UNKNOWN and finding.caught_at is None:
        return f"unknown: the {raised} may be taken, and what the program then does could not be followed"
    clause = handler(finding, source)
    if finding.outcome is Outcome.SILENT:
        return f"SILENT: the {clause} at {_taken_at(finding)} takes the {raised} and the program goes on without it"
    if finding.outcome is Outcome.UNKNOWN:
        return (
            f"unknown: the {clause} at {_taken_at(finding)} takes the {raised}, and what it then does could not "
            "be followed"
        )
    return f"guarded: {clause} at {_taken_at(finding)}" if finding.caught_at else "guarded"


def _taken_at(finding: Finding) -> str:
    if finding.caught_at is None:
        return "an unknown line"
    path, line = finding.caught_at
    return f"line {line}" if path == finding.location.path else f"{safe(path)}:{line}"


def but_for_the_unread(report: Report) -> str | None:
    """That what is said is of a part: what was not analysed may do anything with the library; None where all was."""
    if not report.unread:
        return None
    return f"of what could be read; {count(report.unread, 'file')} could not be analysed"
