"""DW501: an import guarded for ImportError alone, of a module that may raise something else."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from driftwatch.findings import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, Outcome, Use
from driftwatch.releases import ReleaseSet, union
from driftwatch.rules.advisories import ImportFailure
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import code
from driftwatch.snapshot.model import Ref

_HEADING = Heading("DW501", "narrow-import-guard", Severity.WARNING)


_PYTHONS = tuple(f"3.{minor}{last}" for minor in range(8, 20) for last in ("", ".99"))
"""The first and the last of each series of Python."""


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, ImportUse) or use.survives is None or use.catch.path is None:
        return
    if use.catch.outcome is Outcome.RAISES:
        return  # what raises again does not do without the library
    found: list[tuple[ImportFailure, ReleaseSet]] = []
    for failure in context.knowledge.import_failures:
        releases = failure.releases & use.releases
        taken = failure.is_import_error or failure.exception in use.survives
        if releases and not taken and _imports(use, failure):
            found.append((failure, releases))
    if found:
        module = max((failure.module for failure, _ in found), key=len)
        # One guard is one finding, however many imports it stands round: the first that fails ends them all.
        if context.first_time((_HEADING.code, use.location.path, use.catch, module)):
            yield _verdict(use, module, found, context)


def _verdict(use: ImportUse, module: str, found: list[tuple[ImportFailure, ReleaseSet]], context: Context) -> Verdict:
    """`module` is one that fails; what is imported may lie below it, and runs it first, and so do packages round it."""
    told = [(failure, releases) for failure, releases in found if not releases.isdisjoint(context.checked)] or found
    describe = context.history.timeline.describe
    known = "; ".join(f"{failure.exception} {failure.when} ({describe(releases)})" for failure, releases in told)
    guard = f"a guard for {code(use.catch.handles)}" if use.catch.handles else "this guard"
    return _HEADING.verdict(
        use,
        module,
        union([releases for _, releases in found]),
        f"importing `{module}` may raise {code(dict.fromkeys(f.exception for f, _ in told))} in {RELEASES}, "
        f"and {guard} does not take that",
        f"catch Exception round this import alone, and record the reason; known: {known}",
        raises=False,
        severity=_severity(
            [failure for failure, releases in told if not releases.isdisjoint(context.checked)], context
        ),
    )


def _severity(told: list[ImportFailure], context: Context) -> Severity:
    """A warning where the import fails on every machine with some Python that the code base is for."""
    sure = any(failure.python is not None and _supports(failure.python, context.pythons) for failure in told)
    return Severity.WARNING if sure else Severity.NOTE


def _supports(python: str, declared: tuple[str, ...]) -> bool:
    """Whether a code base is for some Python that a specifier selects; one that declares none is for every one."""
    of_failure, of_code = SpecifierSet(python), [SpecifierSet(each) for each in declared] or [SpecifierSet()]
    return any(version in of_failure and any(version in each for each in of_code) for version in _PYTHONS)


def _imports(use: ImportUse, failure: ImportFailure) -> bool:
    """Whether the import runs the module that fails: it, or one below it."""
    modules = [use.module]
    if use.name is not None:
        modules.append(Ref(use.module, use.name).dotted)
    return any(module == failure.module or module.startswith(f"{failure.module}.") for module in modules)


_NARROW = """\
try:
    import kiln
except ImportError:
    kiln = None
"""

_WIDE = """\
try:
    import kiln
except Exception as error:
    kiln = None
    REASON = error
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="An import guarded for ImportError alone, where releases raise something else.",
    rationale=(
        "A guard round an import says that the program can do without the library. A library that looks for its "
        "driver, its device or its companions while it is imported raises what these raise: AssertionError, "
        "RuntimeError, AttributeError. The guard does not take that, and the program that could do without it stops. "
        "Which releases raise what is data that a target brings, with its evidence. Told once of a code base, it is "
        "a warning where a release in the range raises it on every machine with some Python that the code base is for, "
        "and a note where the machine decides."
    ),
    hint="Catch Exception round the import alone, and record the reason.",
    check=check,
    of_the_machine=True,
    once=True,
    bad=(
        Example(
            "1.0 and 1.1 look for a thermometer while they are imported",
            _NARROW,
            (Expected(2, "1.0 to 1.1", None),),
        ),
    ),
    good=(Example("Whatever it raises is taken, and kept", _WIDE),),
)
