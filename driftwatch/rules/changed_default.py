"""DW304: an argument that is left out, and whose default differs between the checked releases."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from driftwatch.findings import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.calls import Part
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW304", "changed-default", Severity.NOTE)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    defaults: dict[str, dict[str, ReleaseSet]] = {}
    for part in context.parts(use):
        here = part.releases & context.checked
        for name, default in _left_out(use, part) if here else ():
            known = defaults.setdefault(name, {})
            known[default] = known.get(default, EMPTY) | here
    for name, known in defaults.items():
        if len({_meaning(default) for default in known}) < 2:
            continue
        newest = max(known, key=lambda default: known[default].mask.bit_length())
        where = context.history.timeline.describe(known[newest])
        for default, releases in known.items():
            if _meaning(default) != _meaning(newest):
                yield _HEADING.verdict(
                    use,
                    use.callee.dotted,
                    releases,
                    f"`{name}` is left out: it is `{default}` in {RELEASES}, and `{newest}` in {where}",
                    f"pass `{name}` where it matters",
                    parameter=name,
                    raises=False,
                )


def _left_out(use: CallUse, part: Part) -> Iterator[tuple[str, str]]:
    """Optional parameters that nothing fills, each with its default, where that is certain."""
    shape = part.shape
    if part.signature is None or not part.bound.fits or shape.open_positional or shape.open_keywords:
        return
    if shape.firm < len(shape.positional):
        return
    filled = {place for place in part.bound.places if place is not None}
    filled.update(use.keywords[i].name or "" for i in part.keywords)
    for parameter in part.signature.parameters:
        if parameter.default is not None and parameter.name not in filled:
            yield parameter.name, parameter.default


def _meaning(default: str) -> str:
    """A default in one spelling, so that ``1e-6`` and ``0.000001`` are the same."""
    try:
        return ast.dump(ast.parse(default, mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return default


_OMITTED = """\
import kiln


def rest(pot):
    return kiln.cool(pot)
"""

_PASSED = """\
import kiln


def rest(pot):
    return kiln.cool(pot, slow=False)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="An omitted argument whose default differs between the checked releases.",
    rationale=(
        "The call works in every checked release and does not do the same in all of them. It is only a note: a new "
        "default is mostly a better one."
    ),
    hint="Pass the argument where it matters.",
    check=check,
    bad=(Example("Another default since 2.0", _OMITTED, (Expected(5, "1.0 to 1.2", None, "slow"),)),),
    good=(
        Example("Passed", _PASSED),
        Example("All checked releases agree", _OMITTED, against=">=2.0"),
    ),
)
