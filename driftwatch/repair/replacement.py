"""DW301: a deprecated name that says what replaces it gives way to that, where both take the same."""

from __future__ import annotations

from driftwatch.findings.finding import Finding
from driftwatch.flow.uses import ImportUse, NameUse
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.reimport import Reimport, attribute, imported
from driftwatch.repair.successors import replacement
from driftwatch.repair.text import Source
from driftwatch.snapshot.model.symbols import Ref


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair | list[Reimport]:
    context = evidence.contexts[finding.distribution]
    history = context.history
    for use in evidence.at(finding):
        if use.location != finding.location:
            continue
        if isinstance(use, ImportUse) and use.name is not None:
            ref = Ref(use.module, use.name)
        elif isinstance(use, NameUse) and not use.owner.qualname:
            ref = use.owner.member(use.name)
        else:
            continue
        if ref.dotted != finding.symbol:
            continue
        new = replacement(history, ref)
        needed = use.releases & context.checked
        present = history.present(new)
        both = not needed <= present
        if both and not needed <= present | history.present(ref):
            raise NoRepairError(f"some checked release has neither `{ref.qualname}` nor `{new.qualname}`")
        if isinstance(use, ImportUse):
            why = ", which replaces it" + (", and the old one where that is not there" if both else "")
            statement, (alias, *others) = imported(source, finding)
            if others:
                raise NoRepairError("only a plain name is fixed")
            return [Reimport((finding,), statement, alias, ref, new, both, why)]
        if both or new.module != ref.module:
            raise NoRepairError(f"`{new.dotted}` replaces it; import it at the top of the module")
        start, end = attribute(source, finding.location, ref.qualname)
        edit, how = Edit(start, end, new.qualname), f"read `{new.dotted}`, which replaces it"
        return Repair((finding,), source.path, (edit,), how, stands_for=((ref.dotted, new.dotted),))
    raise NoRepairError("only a `from` import, or a name read from a module, is fixed")
