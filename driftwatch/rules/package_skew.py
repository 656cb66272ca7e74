"""DW601: companion packages of the library pinned to another version than the library itself."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import Step
from driftwatch.project.declared import Declaration
from driftwatch.project.pins import Installation
from driftwatch.rules.pinned import verdict_on
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.targets.companions import RAISES

_HEADING = Heading("DW601", "package-skew", Severity.WARNING)


def check(installation: Installation, context: Context) -> Iterator[Verdict]:
    library = canonicalize_name(context.history.distribution)
    companions = {canonicalize_name(name) for name in context.companions}
    own = [pin for pin in installation.pins if pin.distribution == library]
    others = [pin for pin in installation.pins if pin.distribution in companions]
    if not own and others:
        # The library comes without a pin; its companions must still be of one version.
        own = [pin for pin in others if pin.distribution == others[0].distribution]
        others = [pin for pin in others if pin.distribution != others[0].distribution]
    for pin in others:
        partners = [each for each in own if each.meets(pin)]
        # Who pins one distribution twice has a choice that is made elsewhere, and one of them may be the right one.
        choices = [each for each in others if each.distribution == pin.distribution and each.meets(pin)]
        if partners and all(_wrong(each, choice, library, context) for each in partners for choice in choices):
            yield _verdict(pin, partners[0], context)


def _wrong(partner: Declaration, pin: Declaration, library: str, context: Context) -> bool:
    """Whether two pins cannot be right together."""
    if partner.distribution != library:
        return partner.version != pin.version
    return context.beside.is_wrong(pin.distribution, partner.whole, pin.whole)


def _verdict(pin: Declaration, partner: Declaration, context: Context) -> Verdict:
    version, other = str(pin.version), str(partner.version)
    if pin.version == partner.version:
        version, other = pin.whole, partner.whole
    return verdict_on(
        pin,
        str(partner.version),
        context,
        _HEADING,
        message=f"`{pin.distribution}` is pinned to {version}, and `{partner.distribution}` beside it to {other}: "
        f"{effect(partner, pin, context)}",
        hint=f"pin both to one; where there is no `{pin.distribution}` {other}, leave it out",
        trace=(Step(partner.path, partner.line, f"`{partner.distribution}` is pinned to {other} here"),),
    )


def effect(partner: Declaration, pin: Declaration, context: Context) -> str:
    """What comes of a companion of another version, where that is known of the pinned release."""
    does = context.beside.does(partner.whole)
    companion = context.beside.of(pin.distribution)
    if partner.distribution != canonicalize_name(context.history.distribution) or does is None or companion is None:
        return "they must be of one version"
    if pin.version is not None and companion.fits(partner.whole, pin.whole):
        return "the release compares their text, and takes it for one that fits"
    if does[0] == RAISES:
        return f"importing the library raises {does[1]}"
    return f"the release ignores it with a warning, and {companion.missing}"


_SKEWED = """\
kiln==2.0
kiln-bricks==1.2
"""

_LOCAL = """\
kiln==2.0
kiln-bricks==2.0+clay
kiln-fuel>=1.2
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="The library's companion packages pinned to different versions.",
    rationale=(
        "Some libraries come in several packages that must be of one public version: the code, its compiled "
        "kernels, its data. With different versions, the import raises, or a kernel is called with arguments "
        "of another release, or the other package is ignored with no more than a warning. Which of these "
        "happens in which release is data of the target, and a finding says it for the pinned release. A "
        "release that looks for no companion needs none of its version. driftwatch compares the exact pins of "
        "what is installed together: in a project's dependencies and each of its extras, in a requirements "
        "file and those it includes, in a stage of a Dockerfile. It holds a file that pins only a companion "
        "against the project's own pin of the library. A local part such as `+cu130` does not count, unless "
        "the release compares it with that of a package that never has one. A range is no pin."
    ),
    hint="Pin all of them to one release, in one place.",
    check_installation=check,
    bad=(
        Example(
            "One of two pins was forgotten",
            _SKEWED,
            (Expected(2, "2.0", None),),
            against=">=2",
            file="requirements.txt",
        ),
    ),
    good=(Example("A local part, and a range, are no other release", _LOCAL, file="requirements.txt"),),
)
