"""DW602: of packages that must be of one version, one is pinned and another left to the installer."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import Step
from driftwatch.project.declared import Declaration
from driftwatch.project.pins import Installation
from driftwatch.rules.package_skew import effect
from driftwatch.rules.pinned import verdict_on
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW602", "loose-companion", Severity.WARNING)


def check(installation: Installation, context: Context) -> Iterator[Verdict]:
    library = canonicalize_name(context.history.distribution)
    companions = {canonicalize_name(name) for name in context.companions}
    for loose in installation.loose:
        beside = {library} if loose.distribution in companions else companions
        partner = next((pin for pin in installation.pins if pin.distribution in beside and pin.meets(loose)), None)
        if partner is None:
            continue
        if partner.distribution == library and context.beside.skews and context.beside.does(partner.whole) is None:
            continue  # this release does not look
        yield _verdict(loose, partner, context)


def _verdict(loose: Declaration, partner: Declaration, context: Context) -> Verdict:
    version = str(partner.version)
    return verdict_on(
        loose,
        version,
        context,
        _HEADING,
        message=f"`{loose.requirement}` leaves the release to the installer, and `{partner.distribution}` beside it is "
        f"pinned to {version}; with another one {effect(partner, loose, context)}",
        hint=f"pin it to {version} as well; where there is no `{loose.distribution}` {version}, leave it out",
        trace=(Step(partner.path, partner.line, f"`{partner.distribution}` is pinned to {version} here"),),
    )


_LOOSE = """\
kiln==1.2
kiln-bricks
"""

_PINNED = """\
kiln==1.2
kiln-bricks==1.2
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="One of the library's packages pinned, and another left to the installer.",
    rationale=(
        "If packages must be of one version (see DW601) and only some of them are pinned, the installer takes "
        "the newest release of the rest. That is right on the day on which the pin is the newest release, and "
        "wrong from the next one on. As for DW601, driftwatch compares what is installed together. A package "
        "that any file of the project pins is not left to the installer, and neither is one that comes from a "
        "URL. One that the project does not ask for at all is no mistake: the library does without it."
    ),
    hint="Pin all of them to one release, in one place.",
    check_installation=check,
    bad=(
        Example(
            "The companion is whatever is the newest",
            _LOOSE,
            (Expected(2, "1.2", None),),
            against="==1.2",
            file="requirements.txt",
        ),
    ),
    good=(Example("Both are pinned", _PINNED, file="requirements.txt"),),
)
