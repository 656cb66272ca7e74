"""DW101: a keyword that has got another name is passed by the new one, or by the one that the installed build takes.

It is sure where a release takes the old name for the new one. Where only its place speaks for it, that is a guess: it
needs names that are alike, or a parameter that has to be passed, and somebody who asks for unsafe repairs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from driftwatch.binding.calls import signatures_of, takes_keyword
from driftwatch.findings import Finding
from driftwatch.flow.uses import CallUse
from driftwatch.releases import union
from driftwatch.repair.evidence import Evidence
from driftwatch.repair.keywords import function_called, place_of
from driftwatch.repair.model import Edit, NoRepairError, Repair, Safety
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
    for where, signature in known:
        if not takes_keyword(signature, old) and not where.isdisjoint(finding.releases):
            names.add(next((new for each in having if (new := _renamed(each, signature, old))), None))
    new = names.pop() if len(names) == 1 else None
    if new is None:
        return None
    if any(each.name == new for use, _ in pairs for each in use.keywords):
        return None  # both are passed: they are two things
    guess = not any(old in s.extra_keywords and any(p.name == new for p in s.parameters) for _, s in known)
    if guess and not _may_be(old, new, (s for _, s in known)):
        return None
    lost = f"nothing but its place says that `{new}` is what `{old}` was" if guess else ""
    safety = Safety.UNSAFE if guess else Safety.SAFE
    renamed = None if guess else (finding.symbol, old, new)
    reached = use.releases & argument.releases & context.checked
    place = place_of(source, finding, pairs)
    if not isinstance(place.node, ast.keyword | ast.Constant):
        raise NoRepairError(f"it is `{new}` in {context.history.timeline.describe(finding.releases)}")
    start, end = source.span(place.node)
    lacking = union([where for where, s in known if not takes_keyword(s, new)])
    if reached.isdisjoint(lacking):
        edit = (
            Edit(start, start + len(old), new) if isinstance(place.node, ast.keyword) else Edit(start + 1, end - 1, new)
        )
        how = f"pass it as `{new}`, its new name"
        return Repair((finding,), source.path, (edit,), how, safety, lost, renamed=renamed)
    always = all(context.checked <= context.history.present(each.callee) for each, _ in pairs)
    function = function_called(source, finding, use, argument)
    probe = new_probe(source, function, new, place.node, always=always)
    assert place.holder is not None
    items = source.items(place.holder)
    either = f"{{{source.quoted(new)}: {place.value}}} if {asked(source, probe)}"
    text = f"**({either} else {{{source.quoted(old)}: {place.value}}})"
    edit = items.rebuilt(replace={items.index(start): text})
    how = f"pass it as `{new}` where the installed build takes that"
    return Repair((finding,), source.path, (edit,), how, safety, lost, (probe,), renamed=renamed)


SIMILAR = 0.75
"""From which ratio on two words are taken for two spellings of one."""
_WORD = re.compile(r"[a-z0-9]{3,}")


def _may_be(old: str, new: str, signatures: Iterable[Signature]) -> bool:
    """Whether two names at one place may be those of one thing.

    They may if they share a word, are nearly the same, or no release has a default for either: a default is easily that
    of another parameter as well.
    """
    words, others = (_WORD.findall(name.lower()) for name in (old, new))
    if any(SequenceMatcher(None, one, other).ratio() >= SIMILAR for one in words for other in others):
        return True
    if SequenceMatcher(None, old.replace("_", ""), new.replace("_", "")).ratio() >= SIMILAR:
        return True
    return all(p.required for s in signatures for p in s.parameters if p.name in (old, new))


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
