"""DW301: a deprecated name that says what replaces it gives way to that, where both take the same."""

from __future__ import annotations

import re

from driftwatch.findings import Finding
from driftwatch.flow.uses import ImportUse, NameUse
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.reimport import Reimport, attribute, imported
from driftwatch.repair.text import Source
from driftwatch.snapshot.model.history import History
from driftwatch.snapshot.model.symbols import Ref, Signature

_NAMED = re.compile(
    r"(?:\buse|\bby|\bwith|\bto|\bfavou?r of|:)\s+(?::\w+:)?[`'\"~]*((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)", re.IGNORECASE
)


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
        new = _replacement(history, ref)
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


def replacement(history: History, ref: Ref) -> Ref | None:
    """What upstream has said replaces a name, where it is recorded and takes the same."""
    try:
        return _replacement(history, ref)
    except NoRepairError:
        return None


def _replacement(history: History, ref: Ref) -> Ref:
    """What the mark names, where it is recorded and takes the same."""
    messages = [e.symbol.deprecated.message for e in history.of(ref) if e.symbol.deprecated is not None]
    if not any(messages):
        raise NoRepairError("upstream does not say what replaces it")
    named = [found for message in messages for found in _NAMED.findall(message or "")]
    for text in named:
        head, _, last = text.rpartition(".")
        places = [module for module in history.modules() if module.replace(".", "").isidentifier()]
        places = [module for module in places if not head or module == head or module.endswith(f".{head}")]
        for new in sorted((Ref(module, last) for module in places), key=lambda new: new.module != ref.module):
            if new != ref and history.of(new):
                if _takes(history, new) != _takes(history, ref):
                    raise NoRepairError(f"`{new.qualname}`, which replaces it, does not take the same")
                return new
    raise NoRepairError(
        "what upstream names in its place is not recorded" if named else "upstream names no replacement"
    )


def _takes(history: History, ref: Ref) -> set[tuple[object, ...]]:
    """What a name takes in the releases that have it, as far as a call can tell."""
    last = max(history.of(ref), key=lambda epoch: epoch.releases.mask.bit_length())
    return {_shape(signature) for signature in last.symbol.possible}


def _shape(signature: Signature | None) -> tuple[object, ...]:
    if signature is None:
        return (None,)
    return tuple((each.name, each.kind, each.default) for each in signature.parameters)
