"""DW202: a module that some release does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, NameUse, Use
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import in_scope, is_module_only, private
from driftwatch.rules.wording import did_you_mean, needs, nowhere

_HEADING = Heading("DW202", "missing-module", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    history = context.history
    module = _module(use, context)
    if module is None or not in_scope(history, module):
        return
    if isinstance(use, ImportUse) and module == use.module and not use.first:
        return  # the first name of the statement has asked for the module already
    present = history.has_module(module)
    if not present and private(module):
        return
    missing = use.releases - present
    if isinstance(use, NameUse):
        missing &= history.has_module(use.owner.module)
    if not missing:
        return
    if present:
        hint = f"{needs(history, present)}; or import it under `except ImportError`"
    else:
        hint = f"{nowhere(history)} has it{did_you_mean(module, history.modules())}"
    verdict = _HEADING.verdict(
        use,
        module,
        missing,
        f"there is no module `{module}` in {RELEASES}",
        hint,
        in_no_release=not present,
    )
    at = use.module_at if isinstance(use, ImportUse) and module == use.module else None
    yield verdict if at is None else replace(verdict, location=at)


def _module(use: Use, context: Context) -> str | None:
    """The module that a use asks for, when it asks for one."""
    history = context.history
    if isinstance(use, ImportUse):
        below = f"{use.module}.{use.name}"
        if use.name is None or use.name == "*":
            return use.module
        return below if below == history.module or is_module_only(history, use.module, use.name) else use.module
    if isinstance(use, NameUse) and not use.owner.qualname:
        module = use.owner.module
        return f"{module}.{use.name}" if is_module_only(history, module, use.name) else None
    return None


_IMPORT = """\
import kiln.wheel


def turn(clay):
    return kiln.wheel.throw(clay)
"""

_GUARDED = """\
try:
    from kiln.wheel import throw
except ImportError:
    throw = None


def turn(clay):
    if throw is None:
        raise RuntimeError("turning clay needs kiln 1.2")
    return throw(clay)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="A module that some release does not have.",
    rationale=(
        "The module was added later than the oldest supported release, was moved, or was removed since: importing it "
        "raises ModuleNotFoundError, which is an ImportError."
    ),
    hint="Require a release that has the module, or import it under `except ImportError`.",
    check=check,
    bad=(Example("Newer than the oldest release", _IMPORT, (Expected(1, "1.0 to 1.1"),)),),
    good=(Example("Imported under a guard", _GUARDED),),
)
