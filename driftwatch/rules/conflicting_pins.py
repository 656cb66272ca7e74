"""DW604: one package pinned to two releases in what is installed together."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from driftwatch.findings.finding import Severity, Verdict
from driftwatch.flow.uses import Step
from driftwatch.project.declared import Declaration
from driftwatch.project.dockerfile import is_dockerfile
from driftwatch.project.pins import Installation
from driftwatch.rules.pinned import verdict_on
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule

_HEADING = Heading("DW604", "conflicting-pins", Severity.WARNING)


def check(installation: Installation, context: Context) -> Iterator[Verdict]:
    names = {canonicalize_name(name) for name in (context.history.distribution, *context.companions)}
    first: dict[str, list[Declaration]] = {}
    for pin in installation.pins:
        # What a Dockerfile installs later takes the place of what it installed before.
        if pin.distribution not in names or is_dockerfile(pin.path.rpartition("/")[2]):
            continue
        known = first.setdefault(pin.distribution, [])
        other = next((each for each in known if each.version != pin.version and each.meets(pin)), None)
        if other is not None:
            yield _verdict(pin, other, context)
        known.append(pin)


def _verdict(pin: Declaration, other: Declaration, context: Context) -> Verdict:
    group = f" of `{pin.group}`" if pin.group else ""
    where = f"`{other.group}`" if other.group else "what is always installed with it"
    return verdict_on(
        pin,
        str(pin.version),
        context,
        _HEADING,
        message=f"`{pin.distribution}` is pinned to {pin.whole}{group}, and to {other.whole} by {where}: no installer "
        "can have both",
        hint="pin it in one place, or to one release",
        trace=(Step(other.path, other.line, f"`{other.distribution}` is pinned to {other.whole} here"),),
    )


_TWICE = """\
[project]
name = "pottery"
dependencies = ["kiln==1.2"]

[project.optional-dependencies]
new = ["kiln==2.0"]
"""

_APART = """\
[project]
name = "pottery"

[project.optional-dependencies]
old = ["kiln==1.2"]
new = ["kiln==2.0"]
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="One of the library's packages pinned to two releases in what is installed together.",
    rationale=(
        "A project that pins the library, and has an extra that pins another release of it, cannot be "
        "installed with that extra: the installer gives up. As for DW601, driftwatch compares what is "
        "installed together. Two extras that pin different releases are two ways to install the project, and "
        "are not reported. Neither are pins under different markers, nor the steps of a Dockerfile, of which "
        "the last one counts."
    ),
    hint="Pin it in one place.",
    check_installation=check,
    bad=(
        Example(
            "An extra pins another release than the project",
            _TWICE,
            (Expected(6, "2.0", None),),
            against=">=1.2",
            file="pyproject.toml",
        ),
    ),
    good=(Example("Two extras", _APART, file="pyproject.toml"),),
)
