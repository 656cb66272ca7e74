"""DW304: an argument that is left out, and whose default differs between the checked releases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from driftwatch.binding.calls import Part
from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import CallUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW304", "changed-default", Severity.NOTE)


class _Default(NamedTuple):
    """A default as it is written and what it means; two are different only where both are known."""

    text: str
    value: str | None


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, CallUse):
        return
    defaults: dict[str, dict[_Default, ReleaseSet]] = {}
    for part in context.parts(use):
        here = part.releases & context.checked
        for name, text in _left_out(use, part) if here else ():
            known = defaults.setdefault(name, {})
            for default, releases in _defaults(text, use.callee.module, context.history, here):
                known[default] = known.get(default, EMPTY) | releases
    for name, known in defaults.items():
        newest = max(known, key=lambda default: known[default].mask.bit_length())
        where = context.history.timeline.describe(known[newest])
        for default, releases in known.items():
            if None in (default.value, newest.value) or default.value == newest.value:
                continue
            yield _HEADING.verdict(
                use,
                use.callee.dotted,
                releases,
                f"`{name}` is left out: it is `{default.text}` in {RELEASES}, and `{newest.text}` in {where}",
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


def _defaults(text: str, module: str, history: History, releases: ReleaseSet) -> Iterator[tuple[_Default, ReleaseSet]]:
    """A default with what it means: a literal, or a name of the library's that stands for one, release by release."""
    literal = _meaning(text)
    if literal is not None:
        yield _Default(text, literal), releases
        return
    left = releases
    for place in dict.fromkeys((module, history.module)):
        for epoch in history.of(Ref(place, text)):
            here = epoch.releases & left
            if here and epoch.symbol.value is not None:
                yield _Default(text, _meaning(epoch.symbol.value)), here
                left -= here
    if left:
        yield _Default(text, None), left


def _meaning(text: str) -> str | None:
    """A literal in one spelling, so that ``1e-6`` and ``0.000001`` are the same; None for what is no literal."""
    try:
        tree = ast.parse(text, mode="eval")
        ast.literal_eval(tree)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return ast.dump(tree)


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
        "The call works in every checked release, but does not do the same in all of them. It is only a note, "
        "because a new default is usually a better one."
    ),
    hint="Pass the argument where it matters.",
    check=check,
    compares=True,
    bad=(Example("Another default since 2.0", _OMITTED, (Expected(5, "1.0 to 1.2", None, "slow"),)),),
    good=(
        Example("Passed", _PASSED),
        Example("All checked releases agree", _OMITTED, against=">=2.0"),
    ),
)
