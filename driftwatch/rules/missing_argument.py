"""DW102: a parameter that a release requires and the call does not pass."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.binding.signature import Fault
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import in_all
from driftwatch.rules.wording import needs

_HEADING = Heading("DW102", "missing-argument", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    missing: dict[str, ReleaseSet] = {}
    reached = EMPTY
    for part in context.parts(use):
        reached |= part.releases
        for problem in part.bound.problems:
            if problem.fault is Fault.MISSING and problem.parameter is not None:
                missing[problem.parameter] = missing.get(problem.parameter, EMPTY) | part.releases
    for name, releases in missing.items():
        optional = reached - releases
        without = f"; leaving it out {needs(context.history, optional)}" if optional else ""
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"`{use.callee.qualname}` requires `{name}` in {RELEASES}, and it is not passed",
            f"pass `{name}`{without}",
            parameter=name,
            in_no_release=in_all(use, releases, context.history),
        )


_OMITTED = """\
import kiln


def make(clay):
    return kiln.mould(clay)
"""

_PASSED = """\
import kiln


def make(clay):
    return kiln.mould(clay, size=10)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A required parameter that the call does not pass in some release.",
    rationale=(
        "A parameter that is optional in one release may be required in another, and a new release may add a "
        "required one. Python raises TypeError if the call does not pass it. A call with a `**` or `*` of "
        "unknown content may pass anything, and is never reported."
    ),
    hint="Pass the argument explicitly; a release that has a default for it takes it too.",
    check=check,
    bad=(Example("Optional only since 2.0", _OMITTED, (Expected(5, "1.0 to 1.2", parameter="size"),)),),
    good=(
        Example("Passed in every release", _PASSED),
        Example("Optional in every supported release", _OMITTED, against=">=2.0"),
    ),
)
