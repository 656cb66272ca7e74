"""DW101: a keyword argument that the release's signature does not take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.binding.calls import callee_epochs, takes_keyword
from driftwatch.binding.signature import Fault
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Outcome, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import did_you_mean, needs, nowhere

_HEADING = Heading("DW101", "unknown-keyword", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    refused: dict[tuple[int, Fault | None], ReleaseSet] = {}
    for part in context.parts(use):
        faults = {
            problem.parameter: problem.fault
            for problem in part.bound.problems
            if problem.fault in (Fault.UNKNOWN_KEYWORD, Fault.POSITIONAL_ONLY)
        }
        for i in part.keywords:
            key = i, faults.get(use.keywords[i].name)
            refused[key] = refused.get(key, EMPTY) | part.releases
    for (i, fault), releases in refused.items():
        if fault is None:
            continue
        argument = use.keywords[i]
        name = argument.name or ""
        taken = _taken(use, name, context)
        how = "does not take" if fault is Fault.UNKNOWN_KEYWORD else "takes by position only its parameter"
        verdict = _HEADING.verdict(
            use,
            use.callee.dotted,
            releases,
            f"`{use.callee.qualname}` {how} `{name}` in {RELEASES}",
            _hint(use, name, taken, context),
            parameter=name,
            argument=argument,
            in_no_release=not taken,
        )
        if not taken and not argument.certain:
            # Passed only under a condition of the program's own, for a build that is not among the known releases:
            # nothing says that the condition ever holds with one of those.
            hint = f"{verdict.hint}; it is passed under a condition that must hold with none of them"
            verdict = replace(verdict, severity=Severity.WARNING, hint=hint)
        yield verdict


def _taken(use: CallUse, name: str, context: Context) -> ReleaseSet:
    """The releases that take the keyword, wherever the call is reached."""
    taken = EMPTY
    for releases, epochs in callee_epochs(replace(use, releases=context.history.timeline.all), context.history):
        if any(takes_keyword(signature, name) for epoch in epochs for signature in epoch.symbol.possible):
            taken |= releases
    return taken


def _hint(use: CallUse, name: str, taken: ReleaseSet, context: Context) -> str:
    history = context.history
    if taken:
        return f"{needs(history, taken)}; or pass it only where `inspect.signature` shows it"
    known: set[str] = set()
    for _, epochs in callee_epochs(replace(use, releases=history.timeline.all), history):
        for epoch in epochs:
            known.update(p.name for s in epoch.symbol.possible if s is not None for p in s.parameters)
    return f"{nowhere(history)} takes `{name}`{did_you_mean(name, known)}"


_KEYWORD = """\
import kiln


def bake(pot):
    return kiln.fire(pot, minutes=30, glaze="blue")
"""

_DICT = """\
import kiln


def bake(pot):
    options = {"minutes": 30}
    options["glaze"] = "blue"
    try:
        return kiln.fire(pot, **options)
    except Exception:
        return None
"""

_PROBED = """\
import inspect

import kiln

HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters


def bake(pot):
    options = {"minutes": 30}
    if HAS_GLAZE:
        options["glaze"] = "blue"
    return kiln.fire(pot, **options)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A keyword argument that the function does not take in some release.",
    rationale=(
        "Python raises TypeError for a keyword that the installed release's signature does not have. This "
        "happens when a parameter was added after the oldest supported release, or has been renamed or "
        "removed since. The keyword counts wherever it was written: at the call, in a dict that is passed "
        "with `**`, in a `functools.partial`, or at the caller of a wrapper that passes its keywords on. It "
        "is only a warning if no known release takes the keyword and the code passes it under a condition "
        "that driftwatch cannot follow."
    ),
    hint="Require a release that takes the keyword, or pass it only where `inspect.signature` shows it.",
    check=check,
    bad=(
        Example("The keyword is newer than the oldest release", _KEYWORD, (Expected(5, "1.0", parameter="glaze"),)),
        Example(
            "In a dict, and a broad handler hides it",
            _DICT,
            (Expected(8, "1.0", Outcome.SILENT, "glaze"),),
        ),
    ),
    good=(
        Example("Passed only where the signature shows it", _PROBED),
        Example("No supported release lacks it", _KEYWORD, against=">=1.1"),
    ),
)
