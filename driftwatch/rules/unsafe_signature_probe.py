"""DW502: a look at a signature that may itself raise."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import ProbeUse, Use
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW502", "unsafe-signature-probe", Severity.WARNING)
_RAISED = ("ValueError", "TypeError")


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, ProbeUse):
        return
    missing = [name for name in _RAISED if name not in use.survives]
    if missing:
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            # It is the code that is unsafe, in every release alike: those that are checked stand for all.
            (use.releases & context.checked) or use.releases,
            f"`inspect.signature` raises {' or '.join(missing)} where a build has no signature to show, and nothing "
            "here takes it",
            "put it under `except (TypeError, ValueError)`, and go on as if the signature were unknown",
            raises=False,
            severity=Severity.WARNING if _may_be_native(use, context) else Severity.NOTE,
        )


def _may_be_native(use: ProbeUse, context: Context) -> bool:
    """Whether some release that is reached, of those that are checked if there is any, shows no signature of it."""
    reached = (use.releases & context.checked) or use.releases
    owner, _, name = use.callee.qualname.rpartition(".")
    if owner:
        cls = Ref(use.callee.module, owner)
        epochs = [epoch for _, epoch in context.history.member_epochs(cls, name, reached)]
    else:
        epochs = list(context.history.of(use.callee))
    return any(epoch.symbol.signature is None and not epoch.releases.isdisjoint(reached) for epoch in epochs)


_BARE = """\
import inspect

import kiln

HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
"""

_SAFE = """\
import inspect

import kiln

try:
    HAS_GLAZE = "glaze" in inspect.signature(kiln.fire).parameters
except (TypeError, ValueError):
    HAS_GLAZE = False
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="`inspect.signature` on the library's callable, with ValueError or TypeError not caught.",
    rationale=(
        "`inspect.signature` raises ValueError for a callable without signature metadata, such as one bound "
        "from C++, and TypeError for what it does not take for a callable. A library may bind any function "
        "natively from one build to the next. Then the probe that was to make the call safe takes the program "
        "down. As long as every release has a signature to show, it is a note."
    ),
    hint="Catch TypeError and ValueError round the probe, and go on as if the signature were unknown.",
    check=check,
    of_the_machine=True,
    bad=(Example("Nothing takes what it raises", _BARE, (Expected(5, "1.0 to 2.1", None),)),),
    good=(Example("Both are taken", _SAFE),),
)
