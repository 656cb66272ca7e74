"""Uses made by hand, against the example library of the rules."""

from __future__ import annotations

from dataclasses import replace

from driftwatch.findings.finding import Finding, Verdict, judge
from driftwatch.flow.uses import (
    UNCAUGHT,
    Argument,
    CallUse,
    Catch,
    ImportUse,
    Location,
    NameUse,
    Outcome,
    Use,
)
from driftwatch.releases import ReleaseSet
from driftwatch.rules.rule import Context, Rule
from driftwatch.snapshot.model.symbols import Ref
from tests.kiln import history

KILN = history()
ALL = KILN.timeline.all
HERE = Location("app.py", 5, 5, 5, 20)
SILENT = Catch(Outcome.SILENT, "app.py", 9, ("Exception",))
GUARDED = Catch(Outcome.GUARDED, "app.py", 12, ("ImportError",))


def at(line: int, path: str = "app.py") -> Location:
    return Location(path, line, 5, line, 20)


def releases(specifier: str) -> ReleaseSet:
    return KILN.timeline.matching(specifier)


def passed(name: str | None = None, where: str = "", *, certain: bool = True) -> Argument:
    return Argument(releases(where), name, certain)


def call(
    symbol: str,
    *positional: Argument | None,
    where: str = "",
    catch: Catch = UNCAUGHT,
    keywords: tuple[str | Argument, ...] = (),
    method: bool = False,
) -> CallUse:
    """A call; a positional None is one that is always passed, a keyword as text likewise."""
    return CallUse(
        "kiln",
        HERE,
        releases(where),
        catch,
        (),
        Ref.parse(symbol),
        tuple(passed() if argument is None else argument for argument in positional),
        tuple(passed(keyword) if isinstance(keyword, str) else keyword for keyword in keywords),
        method=method,
    )


def name(owner: str, attribute: str, *, where: str = "", catch: Catch = UNCAUGHT, instance: bool = False) -> NameUse:
    return NameUse("kiln", HERE, releases(where), catch, (), Ref.parse(owner), attribute, instance)


def imported(module: str, attribute: str | None, *, where: str = "", catch: Catch = UNCAUGHT) -> ImportUse:
    return ImportUse("kiln", HERE, releases(where), catch, (), module, attribute)


def verdicts(rule: Rule, use: Use, against: str = "") -> list[Verdict]:
    return list(rule.check(use, Context(KILN, releases(against))))


def findings(rule: Rule, *uses: Use, against: str = "") -> list[Finding]:
    found = [verdict for use in uses for verdict in verdicts(rule, use, against)]
    return list(judge(found, {"kiln": KILN.timeline}, {"kiln": releases(against)}))


def said(rule: Rule, *uses: Use, against: str = "") -> list[tuple[str, str, str | None]]:
    """Severity, the releases (beyond ones after a plus), and the parameter of each finding."""
    result = []
    for finding in findings(rule, *uses, against=against):
        where = KILN.timeline.describe(finding.releases)
        if finding.beyond:
            where = f"{where} + {KILN.timeline.describe(finding.beyond)}"
        result.append((finding.severity.value, where, finding.parameter))
    return result


def moved(use: Use, location: Location) -> Use:
    return replace(use, location=location)
