"""DW503: code that is there for the library, and that a test keeps from being reached in some release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import Location, Outcome, SwitchedOff, Use
from driftwatch.releases import EMPTY, ReleaseSet, union
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import some
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Symbol

_HEADING = Heading("DW503", "switched-off", Severity.NOTE)


def joined(uses: Iterable[Use]) -> Iterator[Use]:
    """The uses, what one test leads past in the same releases being one of them, whoever gets there."""
    found: dict[tuple[str, Location, ReleaseSet], SwitchedOff] = {}
    for use in uses:
        if not isinstance(use, SwitchedOff):
            yield use
            continue
        key = (use.distribution, use.location, use.releases)
        known = found.get(key)
        found[key] = use if known is None else replace(known, symbols=(*known.symbols, *use.symbols))
    yield from found.values()


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if isinstance(use, SwitchedOff) and use.symbols:
        names = list(dict.fromkeys(symbol.qualname or symbol.module for symbol in use.symbols))
        message = f"a test here leads past {some(names)} in {RELEASES}"
        alike = _alike(use, context.history)
        if alike:
            many = "a release that has it" if len(alike) == 1 else f"{len(alike)} releases that have it"
            message += f"; switched off in {many}: {context.history.timeline.describe(alike)}"
        yield _HEADING.verdict(use, use.symbols[0].dotted, use.releases, message, "")


def _alike(use: SwitchedOff, history: History) -> ReleaseSet:
    """Where all that is led past is there, and is to its callers what it is in a release in which it is reached."""
    result = use.releases
    for symbol in use.symbols:
        taken: dict[object, ReleaseSet] = {}
        for epoch in history.of(symbol):
            form = _form(epoch.symbol)
            taken[form] = taken.get(form, EMPTY) | epoch.releases
        result &= union([releases for releases in taken.values() if not releases <= use.releases])
    return result


def _form(symbol: Symbol) -> object:
    """What a caller may pass, whatever the annotations say."""
    signature = symbol.signature
    return signature and tuple((p.name, p.kind, p.required) for p in signature.parameters)


_TESTED = """\
import kiln

if hasattr(kiln, "raku"):
    raku = kiln.raku
else:
    raku = None


def smoke(pot):
    return pot if raku is None else raku(pot)
"""

_HIGH = """\
from importlib.metadata import version

import kiln


def shelve(pot):
    if version("kiln") >= "1.1":
        return kiln.stack(pot, 1)
    return pot
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="Code for the library that a test keeps from being reached in some release.",
    rationale=(
        "`hasattr`, a version or a signature decides that the program does without the library there, as it "
        "would behind `except ImportError`. Nothing breaks, and the release counts as degraded, whoever "
        "decided it: driftwatch does not say that a code base works with a release if it runs slower with it. "
        "The finding names the releases that have everything in the form in which the code uses it. A version "
        "that is compared as text, or a bound that is too high, shuts such releases out."
    ),
    hint="Require a release in which it is reached, where it must be.",
    check=check,
    bad=(
        Example(
            "Gone since 2.0, and looked for",
            _TESTED,
            (Expected(3, "2.0 to 2.1", Outcome.GUARDED), Expected(10, "2.0 to 2.1", Outcome.GUARDED)),
        ),
        Example("A bound that is too high: 1.0 has it", _HIGH, (Expected(7, "1.0", Outcome.GUARDED),)),
    ),
    good=(Example("No supported release lacks it", _TESTED, against="<2"),),
)
