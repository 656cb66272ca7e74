"""DW107: a constant argument that is none of those the function declares in some release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.binding.calls import signatures_of
from driftwatch.binding.literals import Outside, literals_of, outside_literals
from driftwatch.findings.finding import RELEASES, Severity, Verdict, is_broad
from driftwatch.flow.uses import CallUse, Constant, Outcome, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import needs
from driftwatch.snapshot.model.history import History

_HEADING = Heading("DW107", "invalid-literal", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    alike: dict[tuple[str, Constant, tuple[Constant, ...], bool], tuple[Outside, ReleaseSet]] = {}
    for each in outside_literals(use, context.parts(use)):
        key = (each.parameter, each.value, each.declared, each.certain)
        _, releases = alike.get(key, (each, EMPTY))
        alike[key] = (each, releases | each.releases)
    for each, releases in alike.values():
        yield _verdict(use, each, releases, context)


def _verdict(use: CallUse, outside: Outside, releases: ReleaseSet, context: Context) -> Verdict:
    taken = _taken(use, outside, context.history)
    declared = ", ".join(repr(value) for value in outside.declared)
    verdict = _HEADING.verdict(
        use,
        use.callee.dotted,
        releases,
        f"`{outside.parameter}` {'is' if outside.certain else 'may be'} {outside.value!r}, and "
        f"`{use.callee.qualname}` declares {declared} in {RELEASES}",
        f"{needs(context.history, taken)} with this value" if taken else "pass one of those",
        parameter=outside.parameter,
        argument=outside.argument,
        severity=Severity.ERROR if outside.certain else Severity.WARNING,
        in_no_release=not taken,
    )
    # What the function makes of it is its own affair: whatever it raises, a clause for anything takes.
    catch = verdict.catch
    hidden = catch is not None and catch.outcome is not Outcome.RAISES and is_broad(catch)
    return replace(verdict, catch=catch if hidden else None, exception=None)


def _taken(use: CallUse, outside: Outside, history: History) -> ReleaseSet:
    """The releases whose signature declares the value, or does not say which it takes."""
    found = EMPTY
    for releases, signatures in signatures_of(replace(use, releases=history.timeline.all), history):
        for signature in signatures:
            for parameter in signature.parameters if signature is not None else ():
                if parameter.name == outside.parameter:
                    declared = literals_of(parameter.annotation)
                    found |= EMPTY if declared and outside.value not in declared else releases
    return found


_RAKU = """\
import kiln


def bake(pot):
    return kiln.dry(pot, how="microwave")
"""

_SWALLOWED = """\
import kiln

HOW = "microwave"


def bake(pot):
    try:
        return kiln.dry(pot, HOW)
    except Exception:
        return None
"""

_TAKEN = """\
import kiln


def bake(pot, how):
    kiln.dry(pot, how)
    return kiln.dry(pot, how="air")
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A constant argument that is none of those the function declares in some release.",
    rationale=(
        "A parameter annotated with `Literal[...]` takes these constants and no others, and another release "
        "may have others. A constant outside of them is an error if it is certainly what is passed, and a "
        "warning if it may be. What the function does with it differs: it may raise anything, or silently go "
        "another way."
    ),
    hint="Pass a value that every supported release declares.",
    check=check,
    bad=(
        Example("A way to dry that came with 2.0", _RAKU, (Expected(5, "1.0 to 1.2", None, "how"),)),
        Example(
            "Kept in a constant, and a broad handler hides it",
            _SWALLOWED,
            (Expected(8, "1.0 to 1.2", Outcome.SILENT, "how"),),
        ),
    ),
    good=(Example("A way that every release has, and one that is not known", _TAKEN),),
)
