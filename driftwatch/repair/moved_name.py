"""DW201 and DW202: a name that has moved, or got another name, is imported from where it is.

The history shows a move where the same object has both names in some release, or where a name of the same signature is
in another module once it is gone here. Where the checked releases need both, the old one is taken where the new one is
not there.
"""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings import Finding
from driftwatch.flow.uses import ImportUse, NameUse, Use
from driftwatch.releases import ReleaseSet
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.reimport import attribute, from_elsewhere
from driftwatch.repair.text import Source
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair:
    context = evidence.contexts[finding.distribution]
    use, ref = _use(finding, evidence)
    history = context.history
    needed = use.releases & context.checked
    found = [(new, history.present(new)) for new in successors(history, ref)]
    found = [(new, present) for new, present in found if finding.releases <= present]
    if not found:
        raise NoRepairError(_why_not(history, ref, context))
    everywhere = [new for new, present in found if needed <= present]
    new = everywhere[0] if everywhere else found[0][0]
    both = not everywhere
    if both and not needed <= history.present(new) | history.importable(ref.module, ref.qualname):
        raise NoRepairError("some checked release has it under neither name")
    if isinstance(use, NameUse):
        if both or new.module != ref.module:
            raise NoRepairError(f"`{new.dotted}` is the same; import it at the top of the module")
        start, end = attribute(source, finding.location, ref.qualname)
        edit, how = Edit(start, end, new.qualname), f"read `{new.dotted}`, its new name"
        return Repair((finding,), source.path, (edit,), how, stands_for=(ref.dotted, new.dotted))
    why = ", and the old one where that is not there" if both else ", which every checked release has"
    return from_elsewhere(source, finding, ref, new, both=both, why=why)


def _use(finding: Finding, evidence: Evidence) -> tuple[Use, Ref]:
    for use in evidence.at(finding):
        if isinstance(use, ImportUse) and use.name not in (None, "*"):
            ref = Ref(use.module, use.name or "")
            at = finding.location in (use.location, use.module_at)
            if at and finding.symbol in (ref.dotted, use.module):
                return use, ref
        elif isinstance(use, NameUse) and not use.owner.qualname and use.location == finding.location:
            ref = use.owner.member(use.name)
            if ref.dotted == finding.symbol:
                return use, ref
    raise NoRepairError("only a `from` import, or a name read from a module, is fixed")


def successors(history: History, old: Ref) -> Iterator[Ref]:
    """Where the object of a name is as well, or has gone to: the surest first, then by name."""
    was = history.of(old)
    if not was:
        return
    definitions = {history.definition(epoch, old) for epoch in was}
    signatures = {epoch.symbol.signature for epoch in was if epoch.symbol.signature is not None}
    same: list[Ref] = []
    alike: list[Ref] = []
    for ref in history.epochs:
        # Of nearly all others the name is enough: what a symbol is, is read when it is asked for.
        near = ref.qualname == old.qualname or ref.module == old.module or ref in definitions
        if not near or ref == old or not ref.qualname or "." in ref.qualname or _is_private(ref):
            continue
        epochs = history.of(ref)
        if any(history.definition(epoch, ref) in definitions for epoch in epochs):
            same.append(ref)
        elif ref.qualname == old.qualname:
            kinds = {epoch.symbol.kind for epoch in was}
            if any(e.symbol.kind in kinds and (e.symbol.signature in signatures or not signatures) for e in epochs):
                alike.append(ref)
    yield from sorted(same, key=lambda ref: (ref.qualname != old.qualname, len(ref.module), ref))
    yield from sorted(alike, key=lambda ref: (len(ref.module), ref))


def _is_private(ref: Ref) -> bool:
    """Whether a name is not to be imported: a private one, or one of what only stands for something."""
    return any(part.startswith("_") or not part.isidentifier() for part in (*ref.module.split("."), ref.qualname))


def _why_not(history: History, ref: Ref, context: Context) -> str:
    present: ReleaseSet = history.importable(ref.module, ref.qualname)
    if not present:
        return "no recorded release has it"
    where = history.timeline.describe(context.checked - present)
    return f"nothing recorded stands for it in {where}: require a release that has it (--pins)"
