"""DW201 and DW202: a name that has moved, or got another name, is imported from where it is.

The history shows a move where the same object has both names in some release, where upstream has said what replaces a
name before it went, or where a name of the same signature comes in another module, in no other, as soon as it is gone
here. Where the checked releases need both, the old one is taken where the new one is not there.
"""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import ImportUse, NameUse, Use
from driftwatch.releases import ReleaseSet
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.reimport import Reimport, attribute, imported
from driftwatch.repair.successors import is_private, made_at, successors
from driftwatch.repair.text import Source
from driftwatch.rules.rule import Context
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair | list[Reimport]:
    context = evidence.contexts[finding.distribution]
    uses = list(_uses(finding, evidence))
    if not uses:
        raise NoRepairError("only a `from` import, or a name read from a module, is fixed")
    use, ref = uses[0]
    if isinstance(use, NameUse):
        new, both = _new(finding, use, ref, context)
        if both or new.module != ref.module:
            raise NoRepairError(f"`{new.dotted}` is the same; import it at the top of the module")
        start, end = attribute(source, finding.location, ref.qualname)
        edit, how = Edit(start, end, new.qualname), f"read `{new.dotted}`, its new name"
        return Repair((finding,), source.path, (edit,), how, stands_for=((ref.dotted, new.dotted),))
    statement, aliases = imported(source, finding)
    known = {ref.qualname: (use, ref) for use, ref in uses}
    found = []
    for alias in aliases:
        if alias.name not in known:
            raise NoRepairError(f"where `{alias.name}` comes from cannot be told")
        use, ref = known[alias.name]
        new, both = _new(finding, use, ref, context)
        why = ", and the old one where that is not there" if both else ", which every checked release has"
        found.append(Reimport((finding,), statement, alias, ref, new, both, why))
    return found


def _new(finding: Finding, use: Use, ref: Ref, context: Context) -> tuple[Ref, bool]:
    """What stands for a name, and whether some checked release needs the old one."""
    history = context.history
    needed = use.releases & context.checked
    found = [(new, present) for new, present in successors(history, ref) if finding.releases <= present]
    if not found:
        raise NoRepairError(_why_not(history, ref, context))
    everywhere = [(new, present) for new, present in found if needed <= present]
    new, present = (everywhere or found)[0]
    both = not everywhere
    if both and not needed <= present | history.importable(ref.module, ref.qualname):
        raise NoRepairError("some checked release has it under neither name")
    return new, both


def _uses(finding: Finding, evidence: Evidence) -> Iterator[tuple[Use, Ref]]:
    for use in evidence.at(finding):
        if isinstance(use, ImportUse) and use.name not in (None, "*"):
            ref = Ref(use.module, use.name or "")
            at = finding.location in (use.location, use.module_at)
            if at and finding.symbol in (ref.dotted, use.module):
                yield use, ref
        elif isinstance(use, NameUse) and not use.owner.qualname and use.location == finding.location:
            ref = use.owner.member(use.name)
            if ref.dotted == finding.symbol:
                yield use, ref


def _why_not(history: History, ref: Ref, context: Context) -> str:
    present: ReleaseSet = history.importable(ref.module, ref.qualname)
    if not present:
        others = {made_at(history, other) for other in history.epochs if other.qualname == ref.qualname}
        like = next(iter(others)) if len(others) == 1 else None
        known = f"; `{like.dotted}` has its name" if like is not None and not is_private(like) else ""
        return f"no recorded release is known to have it{known}"
    where = history.timeline.describe(context.checked - present)
    return f"nothing recorded stands for it in {where}: require a release that has it (--pins)"
