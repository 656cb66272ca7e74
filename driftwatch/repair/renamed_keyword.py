"""DW101: a keyword that has got another name is passed by the new one, or by the one that the installed build takes."""

from __future__ import annotations

import ast

from driftwatch.binding.calls import signatures_of, takes_keyword
from driftwatch.findings import Finding
from driftwatch.flow.uses import CallUse
from driftwatch.releases import EMPTY
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.keywords import function_called, place_of
from driftwatch.repair.model import Edit, NoRepairError, Repair
from driftwatch.repair.probes import asked, new_probe
from driftwatch.repair.text import Source
from driftwatch.rules.shifted_positional import renamed_in_place
from driftwatch.snapshot.model.symbols import ParameterKind, Signature

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def repair(finding: Finding, source: Source, evidence: Evidence) -> Repair | None:
    """None where the history shows no new name."""
    context = evidence.contexts[finding.distribution]
    pairs = evidence.calls(finding)
    if not pairs:
        return None
    use, argument = pairs[0]
    old = finding.parameter or ""
    everywhere = CallUse(
        use.distribution,
        use.location,
        context.history.timeline.all,
        use.catch,
        (),
        use.callee,
        method=use.method,
        exact=use.exact,
        unbound=use.unbound,
    )
    known = [(where, s) for where, found in signatures_of(everywhere, context.history) for s in found if s is not None]
    having = [s for _, s in known if any(p.name == old for p in s.parameters)]
    names: set[str | None] = set()
    taken = EMPTY
    for where, signature in known:
        if takes_keyword(signature, old):
            taken |= where
        elif not where.isdisjoint(finding.releases):
            names.add(next((new for each in having if (new := _renamed(each, signature, old))), None))
    new = names.pop() if len(names) == 1 else None
    if new is None:
        return None
    if any(each.name == new for use, _ in pairs for each in use.keywords):
        return None  # both are passed: they are two things
    reached = use.releases & argument.releases & context.checked
    place = place_of(source, finding, pairs)
    if not isinstance(place.node, ast.keyword | ast.Constant):
        raise NoRepairError(f"it is `{new}` in {context.history.timeline.describe(finding.releases)}")
    start, end = source.span(place.node)
    if reached.isdisjoint(taken):
        edit = (
            Edit(start, start + len(old), new) if isinstance(place.node, ast.keyword) else Edit(start + 1, end - 1, new)
        )
        return Repair((finding,), source.path, (edit,), f"pass it as `{new}`, its new name")
    always = all(context.checked <= context.history.present(each.callee) for each, _ in pairs)
    function = function_called(source, finding, use, argument)
    probe = new_probe(source, function, new, place.node, always=always)
    assert place.holder is not None
    items = source.items(place.holder)
    either = f"{{{source.quoted(new)}: {place.value}}} if {asked(source, probe)}"
    text = f"**({either} else {{{source.quoted(old)}: {place.value}}})"
    edit = items.rebuilt(replace={items.index(start): text})
    how = f"pass it as `{new}` where the installed build takes that"
    return Repair((finding,), source.path, (edit,), how, probes=(probe,))


def _renamed(one: Signature, other: Signature, name: str) -> str | None:
    """The parameter of another signature that is this one by another name."""
    places = [p.name for p in one.parameters if p.kind in _POSITIONAL]
    there = [p.name for p in other.parameters if p.kind in _POSITIONAL]
    if name in places:
        i = places.index(name)
        if i < len(there) and there[i] != name and renamed_in_place(one, other, i):
            return there[i]
        return None
    gone = [p for p in one.parameters if p.name not in {q.name for q in other.parameters}]
    come = [p for p in other.parameters if p.name not in {q.name for q in one.parameters}]
    if len(gone) == len(come) == 1 and gone[0].name == name:
        same = (gone[0].kind, gone[0].default, gone[0].annotation) == (
            come[0].kind,
            come[0].default,
            come[0].annotation,
        )
        if same and gone[0].kind is ParameterKind.KEYWORD_ONLY:
            return come[0].name
    return None
