"""DW501: an import guarded for ImportError alone, of a module that may raise something else."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, Use
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.rules.advisories import ImportFailure
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.wording import code
from driftwatch.snapshot.model import Ref

_HEADING = Heading("DW501", "narrow-import-guard", Severity.WARNING)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    if not isinstance(use, ImportUse) or use.survives is None or use.catch.path is None:
        return
    found: dict[tuple[str, str], ReleaseSet] = {}
    for failure in context.knowledge.import_failures:
        if _imports(use, failure) and failure.exception not in use.survives:
            key = failure.exception, failure.when
            found[key] = found.get(key, EMPTY) | (failure.releases & use.releases)
    exceptions = tuple(dict.fromkeys(exception for (exception, _), releases in found.items() if releases))
    if not exceptions:
        return
    releases = EMPTY
    for here in found.values():
        releases |= here
    describe = context.history.timeline.describe
    when = "; ".join(f"{exception} {why} ({describe(here)})" for (exception, why), here in found.items() if here)
    guard = code(use.catch.handles) if use.catch.handles else "this guard"
    yield _HEADING.verdict(
        use,
        use.module,
        releases,
        f"importing `{use.module}` may raise {code(exceptions)} in {RELEASES}, which {guard} does not take",
        f"catch Exception round this import, and record why it failed. Known: {when}",
        raises=False,
    )


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
        "Which releases raise what is data that a target brings, each with its evidence."
    ),
    hint="Catch Exception round the import alone, and record the reason.",
    check=check,
    bad=(
        Example(
            "1.0 and 1.1 look for a thermometer while they are imported",
            _NARROW,
            (Expected(2, "1.0 to 1.1", None),),
        ),
    ),
    good=(Example("Whatever it raises is taken, and kept", _WIDE),),
)
