"""DW605: the code refuses the very release that the project pins."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from driftwatch.findings.finding import Severity, Verdict, is_aside
from driftwatch.flow.uses import Step
from driftwatch.project.declared import Declaration
from driftwatch.project.pins import Installation
from driftwatch.project.version_checks import VersionCheck
from driftwatch.rules.pinned import verdict_on
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW605", "checked-beyond-pin", Severity.WARNING)
_ROOM = 80
"""Characters of a test that a message shows."""


def check(installation: Installation, context: Context) -> Iterator[Verdict]:
    library = canonicalize_name(context.history.distribution)
    for pin in installation.pins:
        if pin.distribution != library or pin.version is None:
            continue
        for each in context.version_checks(library):
            if pin.version < each.least and not is_aside(each.path):
                yield _verdict(pin, each, context)


def _verdict(pin: Declaration, found: VersionCheck, context: Context) -> Verdict:
    return verdict_on(
        pin,
        str(pin.version),
        context,
        _HEADING,
        message=f"`{pin.distribution}` is pinned to {pin.whole}, and a check raises with what is older than "
        f"{found.least}{f', where `{_short(found.where)}`' if found.where else ''}",
        hint="raise the pin, or lower the check",
        trace=(Step(found.path, found.line, f"{found.least} is the least that is taken here"),),
    )


def _short(test: str) -> str:
    """A test as one line of a message has room for it."""
    return test if len(test) <= _ROOM else f"{test[: _ROOM - 3]}..."


_PINNED = """\
kiln==1.2
"""

_REFUSED = """\
from importlib.metadata import version

from packaging.version import parse

if parse(version("kiln")) < parse("2.0"):
    raise RuntimeError("kiln 2.0 or newer is needed")
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="The library is pinned to a release that the code itself refuses at run time.",
    rationale=(
        "Some programs compare the installed version with the lowest one that they take, and raise. If the "
        "pin is moved and the check is not, or the other way round, what is installed by the book does not "
        "start. driftwatch reads comparisons of the installed version that a `raise` follows, in place or in "
        "a function that is given the distribution and the version; the message names the tests round it. A "
        "check whose exception the code itself takes refuses nothing."
    ),
    hint="Move the pin and the check together.",
    check_installation=check,
    bad=(
        Example(
            "A check that was moved on without the pin",
            _PINNED,
            (Expected(1, "1.2", None),),
            file="requirements.txt",
            beside=(("app.py", _REFUSED),),
        ),
    ),
    good=(
        Example(
            "A pin that the check takes",
            _PINNED.replace("1.2", "2.0"),
            file="requirements.txt",
            beside=(("app.py", _REFUSED),),
        ),
    ),
)
