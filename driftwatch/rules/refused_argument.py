"""DW106: constant arguments that the function refuses in some release."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import Outcome, RefusedUse, Use
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW106", "refused-argument", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if isinstance(use, RefusedUse):
        yield _HEADING.verdict(
            use,
            use.callee.dotted,
            use.releases,
            f"`{use.callee.qualname}` raises {use.raised} in {RELEASES} where `{use.condition}`, as it is here",
            "pass what these releases take",
        )


_HOT = """\
import kiln


def bake(pot):
    return kiln.glow(pot, mode=2)
"""

_SWALLOWED = """\
import kiln

MODE = 2


def bake(pot):
    try:
        return kiln.glow(pot, MODE)
    except Exception:
        return None
"""

_TAKEN = """\
import kiln


def bake(pot, mode):
    kiln.glow(pot, mode)
    return kiln.glow(pot, mode=1)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="Constant arguments that the function refuses with a ValueError in some release.",
    rationale=(
        "A function may begin with a test of its arguments that raises ValueError, and such tests come and go "
        "with the releases. driftwatch holds constant arguments against the tests that are over parameters "
        "and constants alone. It says nothing about an argument whose value it does not know."
    ),
    hint="Pass a value that every supported release takes.",
    check=check,
    bad=(
        Example("A mode that is refused from 2.0 on", _HOT, (Expected(5, "2.0 to 2.1"),)),
        Example(
            "Kept in a constant, and a broad handler hides it", _SWALLOWED, (Expected(8, "2.0 to 2.1", Outcome.SILENT),)
        ),
    ),
    good=(Example("A mode that every release takes, and one that is not known", _TAKEN),),
)
