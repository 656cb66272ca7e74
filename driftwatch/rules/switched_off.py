"""DW503: code that is there for the library, and that a test keeps from being reached in some release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from driftwatch.findings import RELEASES, Severity, Verdict
from driftwatch.flow.uses import Location, Outcome, SwitchedOff, Use
from driftwatch.releases import ReleaseSet
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import some

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
        yield _HEADING.verdict(
            use,
            use.symbols[0].dotted,
            use.releases,
            f"a test here leads past {some(names)} in {RELEASES}",
            "",
        )


_TESTED = """\
import kiln

if hasattr(kiln, "raku"):
    raku = kiln.raku
else:
    raku = None


def smoke(pot):
    return pot if raku is None else raku(pot)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="Code for the library that a test keeps from being reached in some release.",
    rationale=(
        "`hasattr`, a version or a look at a signature decides, and the program does without the library there, as it "
        "would behind `except ImportError`. Nothing breaks, and the release counts as degraded, whoever decided it: a "
        "code base that runs slower with a release is not said to work with it like with any other."
    ),
    hint="Require a release in which it is reached, where it must be.",
    check=check,
    bad=(
        Example(
            "Gone since 2.0, and looked for",
            _TESTED,
            (Expected(3, "2.0 to 2.1", Outcome.GUARDED), Expected(10, "2.0 to 2.1", Outcome.GUARDED)),
        ),
    ),
    good=(Example("No supported release lacks it", _TESTED, against="<2"),),
)
