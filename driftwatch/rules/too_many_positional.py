"""DW103: more positional arguments than the release's signature takes."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.binding.signature import Fault
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import in_all
from driftwatch.rules.wording import needs

_HEADING = Heading("DW103", "too-many-positional", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    surplus: dict[tuple[int, int, int], ReleaseSet] = {}
    reached = EMPTY
    for part in context.parts(use):
        reached |= part.releases
        for problem in part.bound.problems:
            if problem.fault is Fault.TOO_MANY and problem.position is not None:
                key = (part.positional[problem.position], problem.position, len(part.positional))
                surplus[key] = surplus.get(key, EMPTY) | part.releases
    wrong = EMPTY
    for releases in surplus.values():
        wrong |= releases
    for (index, taken, passed), releases in surplus.items():
        argument = use.positional[index]
        fits = reached - wrong
        as_it_is = f"; {needs(context.history, fits)} as it is" if fits else ""
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"`{use.callee.qualname}` takes {_count(taken)} in {RELEASES}, and {passed} are passed",
            f"pass the rest by keyword{as_it_is}",
            argument=argument,
            in_no_release=in_all(use, releases, context.history),
        )


def _count(taken: int) -> str:
    if taken == 0:
        return "no positional arguments"
    return f"at most {taken} positional argument{'' if taken == 1 else 's'}"


_POSITIONAL = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, 3)
"""

_KEYWORD = """\
import kiln


def store(pot, shelf):
    return kiln.stack(pot, shelf, height=3)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="More positional arguments than the function takes in some release.",
    rationale=(
        "A parameter becomes keyword-only or goes away, and a positional argument has nowhere to go: Python "
        "raises TypeError. An argument that is passed by name is safe in every release that has the "
        "parameter."
    ),
    hint="Pass the arguments by keyword.",
    check=check,
    bad=(Example("Keyword-only since 2.0", _POSITIONAL, (Expected(5, "2.0 to 2.1"),)),),
    good=(Example("Named", _KEYWORD),),
)
