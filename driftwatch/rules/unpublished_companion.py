"""DW603: a companion is pinned to a release that the package index does not have."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.project.declared import Declaration
from driftwatch.project.pins import Installation
from driftwatch.rules.pinned import verdict_on
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.targets.companions import Companion, among

_HEADING = Heading("DW603", "unpublished-companion", Severity.WARNING)


def check(installation: Installation, context: Context) -> Iterator[Verdict]:
    if any(declared.indexed for declared in (*installation.pins, *installation.loose)):
        return  # what else there is to choose from, nobody knows
    for pin in installation.pins:
        companion = context.beside.of(pin.distribution)
        # Of releases that are not recorded it is not known what the index has of them.
        if companion is None or pin.version not in context.history.timeline.parsed:
            continue
        if companion.published is None or not among(str(pin.version), companion.published):
            yield _verdict(pin, companion, context)


def _verdict(pin: Declaration, companion: Companion, context: Context) -> Verdict:
    has = f"has {companion.published} of it" if companion.published else "has no release of it"
    version = str(pin.version)
    return verdict_on(
        pin,
        version,
        context,
        _HEADING,
        message=f"`{pin.distribution}` is pinned to {pin.whole}, and the package index {has}: it cannot be installed "
        "from there, and no other index is named beside the pin",
        hint=f"name its own index, {companion.index.replace('{cuda}', 'cuXYZ')}, or leave it out: "
        f"without it {companion.missing}",
    )


_ABSENT = """\
kiln==2.0
kiln-bricks==2.0
"""

_INDEXED = """\
--extra-index-url https://bricks.example/simple
kiln==2.0
kiln-bricks==2.0
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A companion package pinned to a release that the package index does not have.",
    rationale=(
        "The package index has some companions only up to a release, or not at all; they have an index of "
        "their own. Whoever does not know that index cannot install such a pin. Which releases the package "
        "index has is data of the target, and only recorded releases are judged. A file that names another "
        "index, in an option, a variable or a setting, is not judged."
    ),
    hint="Name the index that has it beside the pin, or leave the companion out.",
    check_installation=check,
    bad=(
        Example(
            "Bricks are published up to 1.2 only",
            _ABSENT,
            (Expected(2, "2.0", None),),
            against="==2.0",
            file="requirements.txt",
        ),
    ),
    good=(Example("The other index is named", _INDEXED, file="requirements.txt"),),
)
