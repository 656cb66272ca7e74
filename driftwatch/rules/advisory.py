"""DW401: a call that upstream's history warns of, though every signature takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.findings.finding import Severity, Verdict, is_aside, is_broad
from driftwatch.flow.uses import CallUse, Outcome, Step, Use
from driftwatch.releases import ReleaseSet
from driftwatch.rules.advisories import Advisory
from driftwatch.rules.conditions import holding, touching
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW401", "advisory", Severity.WARNING)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    for advisory in context.knowledge.advisories:
        if advisory.returns is not None and use.unpacked in (None, advisory.returns):
            continue
        if advisory.swallowed and not (use.catch.outcome is Outcome.SILENT and is_broad(use.catch)):
            continue
        if any(_is_used(each, use, context) for each in advisory.unless_used):
            continue
        holds = holding(use, advisory, context)
        if holds:
            yield _with_places(_verdict(use, advisory, holds), use, advisory, context)


def _is_used(symbol: Ref, use: CallUse, context: Context) -> bool:
    """Whether the program that a call is in uses something of the library itself; tests are programs of their own."""
    return any(path == use.location.path or not is_aside(path) for path in context.used.get(symbol.dotted, ()))


def _with_places(verdict: Verdict, use: CallUse, advisory: Advisory, context: Context) -> Verdict:
    """With where the code base touches the environment variables that the advisory asks for."""
    steps = []
    for condition in advisory.conditions:
        for each in touching(condition, use, context):
            done = "is read here" if condition.read else f"is set to {each.value!r} here"
            if each.value is None and not condition.read:
                done = "is set here"
            steps.append(Step(each.path, each.line, f"{condition.variable} {done}"))
    return replace(verdict, trace=(*verdict.trace, *steps)) if steps else verdict


def _verdict(use: CallUse, advisory: Advisory, releases: ReleaseSet) -> Verdict:
    parameter = next((each.parameter for each in advisory.conditions if each.parameter), None)
    verdict = _HEADING.verdict(
        use,
        use.callee.dotted,
        releases,
        advisory.message,
        f"{advisory.hint} (see {', '.join(advisory.evidence)})",
        parameter=parameter,
        argument=next((a for a in use.keywords if a.name == parameter), None),
        raises=False,
        severity=advisory.severity,
    )
    return replace(verdict, name=advisory.id)


_FAST = """\
import kiln


def rest(pot):
    return kiln.cool(pot, slow=False)
"""

_SLOW = """\
import kiln


def rest(pot):
    return kiln.cool(pot, slow=True)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A call that every signature takes, and that behaves differently in some release.",
    rationale=(
        "Some drift shows in no signature: a default that came to mean something else, an argument that is "
        "required in practice, a return value of another shape. Each advisory is an entry in a target's data, "
        "with its own name, its releases, a condition on the call, and its evidence upstream. An advisory "
        "whose condition is not certain says nothing."
    ),
    hint="See the advisory's evidence.",
    check=check,
    bad=(Example("Pots crack when they cool fast", _FAST, (Expected(5, "2.0 to 2.1", None, "slow"),)),),
    good=(Example("Cooled slowly", _SLOW),),
)
