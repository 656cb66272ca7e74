"""DW201: a name that the module does not have in some release."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings.finding import RELEASES, Severity, Verdict
from driftwatch.flow.uses import ImportUse, NameUse, PatchUse, Use
from driftwatch.rules.rule import Context, Example, Expected, Heading, Rule
from driftwatch.rules.scope import in_scope, is_module_only, known_names, may_have_more, private
from driftwatch.rules.wording import did_you_mean, needs, nowhere
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref

_HEADING = Heading("DW201", "missing-name", Severity.ERROR)


def check(use: Use, context: Context) -> Iterator[Verdict]:
    history = context.history
    if isinstance(use, ImportUse) and use.name not in (None, "*"):
        module, name = use.module, use.name or ""
    elif isinstance(use, NameUse | PatchUse) and not use.owner.qualname:
        module, name = use.owner.module, use.name
    else:
        return
    if not in_scope(history, module):
        return
    if isinstance(use, NameUse):
        yield from _not_loaded(use, context)
    if is_module_only(history, module, name):
        return
    present = history.importable(module, name)
    if not present and private(module, name):
        return
    missing = (use.releases & history.has_module(module)) - present - may_have_more(history, module)
    if not missing:
        return
    symbol = Ref(module, name).dotted
    if isinstance(use, PatchUse) and use.requires:
        yield _HEADING.verdict(
            use,
            symbol,
            missing,
            f"`{module}` has no `{name}` to replace in {RELEASES}",
            _hint(history, module, name),
            in_no_release=not present,
        )
        return
    if isinstance(use, PatchUse):
        if (use.releases & present) and missing:
            yield _HEADING.verdict(
                use,
                symbol,
                missing,
                f"`{module}` has no `{name}` to replace in {RELEASES}",
                f"{needs(history, present)}; elsewhere the replacement reaches nothing",
                severity=Severity.WARNING,
                raises=False,
            )
        return
    yield _HEADING.verdict(
        use,
        symbol,
        missing,
        f"`{module}` has no `{name}` in {RELEASES}",
        _hint(history, module, name),
        in_no_release=not present,
    )


def _not_loaded(use: NameUse, context: Context) -> Iterator[Verdict]:
    """A submodule that is there, but that nothing has imported when it is looked for in its package."""
    history, module, name = context.history, use.owner.module, use.name
    apart = history.importable(module, name) - history.attribute(module, name) - may_have_more(history, module)
    missing = (use.releases & apart) - use.found
    below = f"{module}.{name}"
    text = f"importing `{module}` does not load its submodule `{name}` in {RELEASES}"
    if surely := missing - use.elsewhere:
        yield _HEADING.verdict(use, below, surely, text, f"`import {below}` loads it")
    if perhaps := missing & use.elsewhere:
        yield _HEADING.verdict(
            use,
            below,
            perhaps,
            f"{text}; another package may have",
            f"`import {below}` loads it",
            severity=Severity.WARNING,
            raises=False,
        )


def _hint(history: History, module: str, name: str) -> str:
    present = history.importable(module, name)
    if not present:
        return f"{nowhere(history)} has it{did_you_mean(name, known_names(history, module))}"
    return f"{needs(history, present)}; or look for it first, with `hasattr` or `except ImportError`"


_IMPORT = """\
from kiln import raku


def bake(pot):
    return raku(pot)
"""

_ATTRIBUTE = """\
import kiln


def bake(pot):
    return kiln.raku(pot)
"""

_GUARDED = """\
import kiln


def bake(pot):
    if hasattr(kiln, "raku"):
        return kiln.raku(pot)
    return kiln.fire(pot, minutes=30)
"""

RULE = Rule(
    code=_HEADING.code,
    name=_HEADING.name,
    severity=_HEADING.severity,
    summary="An import or attribute that the module does not have in some release.",
    rationale=(
        "The name is newer than the oldest supported release, or was removed since. An import raises ImportError, "
        "an attribute AttributeError. A private name is reported only where some release is known to have had it."
    ),
    hint="Require a release that has the name, or look for it first.",
    check=check,
    bad=(
        Example("Imported, and gone since 2.0", _IMPORT, (Expected(1, "2.0 to 2.1"),)),
        Example("Read from the module", _ATTRIBUTE, (Expected(5, "2.0 to 2.1"),)),
    ),
    good=(Example("Looked for first", _GUARDED),),
)
