"""DW501: an import guarded for ImportError alone, of a module that may raise something else."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, LookUse, Outcome, Use
from driftwatch.releases import ReleaseSet, union
from driftwatch.rules.advisories import ImportFailure
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import code
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW501", "narrow-import-guard", Severity.WARNING)


_PYTHONS = tuple(f"3.{minor}{last}" for minor in range(8, 20) for last in ("", ".99"))
"""The first and the last of each series of Python."""


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if isinstance(use, LookUse):
        found = _failing(context, use.module, use.releases, use.survives)
        if use.catch.path is not None or use.asked is not None:
            yield from _told(use, found, context)
    elif isinstance(use, ImportUse) and use.survives is not None:
        name = Ref(use.module, use.name).dotted if use.name is not None else use.module
        found = _failing(context, name, use.releases, use.survives)
        look = context.looks.get(use.location.path)
        if use.catch.path is not None:
            yield from _told(use, found, context)
        elif look is not None and look.location < use.location:
            # It asks a package round it whether there is anything at all, and does not stand round what may fail.
            inner = [(failure, releases) for failure, releases in found if failure.module != look.module]
            yield from _told(use, inner, context, look)


def _failing(
    context: Context, imported: str, where: ReleaseSet, survives: tuple[str, ...]
) -> list[tuple[ImportFailure, ReleaseSet]]:
    """What importing something may raise that nothing here takes, and in which of these releases."""
    found = [(failure, failure.releases & where) for failure in context.knowledge.import_failures]
    return [
        (failure, releases)
        for failure, releases in found
        if releases
        and not (failure.is_import_error or failure.exception in survives)
        and (imported == failure.module or imported.startswith(f"{failure.module}."))
    ]


def _told(
    use: ImportUse | LookUse,
    found: list[tuple[ImportFailure, ReleaseSet]],
    context: Context,
    look: LookUse | None = None,
) -> Iterator[Verdict]:
    if not found or (use.catch.outcome is Outcome.RAISES and use.catch.path is not None):
        return  # what raises again does not do without the library
    module = max((failure.module for failure, _ in found), key=len)
    # One guard is one finding, however many imports it stands round: the first that fails ends them all.
    if context.first_time((_HEADING.code, use.location.path, (look or use).catch, look is None, module)):
        yield _verdict(use, module, found, context, look)


def _verdict(
    use: ImportUse | LookUse,
    module: str,
    found: list[tuple[ImportFailure, ReleaseSet]],
    context: Context,
    look: LookUse | None,
) -> Verdict:
    """`module` is one that fails; what is imported may lie below it, and runs it first, and so do packages round it."""
    told = [(failure, releases) for failure, releases in found if not releases.isdisjoint(context.checked)] or found
    describe = context.history.timeline.describe
    known = "; ".join(f"{failure.exception} {failure.when} ({describe(releases)})" for failure, releases in told)
    raised = code(dict.fromkeys(f.exception for f, _ in told))
    return _HEADING.verdict(
        use,
        module,
        union([releases for _, releases in found]),
        f"importing `{module}` may raise {raised} in {RELEASES}, and {_guard(use, look)}",
        f"catch Exception round this import alone, and record the reason; known: {known}",
        raises=False,
        severity=_severity(
            [failure for failure, releases in told if not releases.isdisjoint(context.checked)], context
        ),
    )


def _guard(use: ImportUse | LookUse, look: LookUse | None) -> str:
    if look is not None:
        return f"the guard of line {look.location.line} stands round `{look.module}` alone"
    if isinstance(use, LookUse) and use.asked is not None:
        return f"looking for `{use.asked}` imports it, where nothing takes that"
    guard = f"a guard for {code(use.catch.handles)}" if use.catch.handles else "this guard"
    return f"{guard} does not take that"


def _severity(told: list[ImportFailure], context: Context) -> Severity:
    """A warning where the import fails on every machine with some Python that the code base is for."""
    sure = any(failure.python is not None and _supports(failure.python, context.pythons) for failure in told)
    return Severity.WARNING if sure else Severity.NOTE


def _supports(python: str, declared: tuple[str, ...]) -> bool:
    """Whether a code base is for some Python that a specifier selects; one that declares none is for every one."""
    of_failure, of_code = SpecifierSet(python), [SpecifierSet(each) for each in declared] or [SpecifierSet()]
    return any(version in of_failure and any(version in each for each in of_code) for version in _PYTHONS)


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
        "A guard around an import says that the program can do without the library. A library that looks for "
        "its driver, its device or its companions during its import raises what these raise: AssertionError, "
        "RuntimeError, AttributeError. The guard does not catch that, and a program that could do without the "
        "library stops. Which releases raise what is data of the target, with its evidence. It is reported "
        "once for a code base: as a warning if a release in the range raises it on every machine with some "
        "Python that the code base supports, and as a note if the machine decides."
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
