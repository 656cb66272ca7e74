"""DW101: a keyword that has got another name is passed by the new one, or by the one that the installed build takes.

It is sure where a release takes the old name for the new one. Where only its place speaks for it, or that the other
name came before it went, that is a guess: it needs names that are alike, or a parameter that has to be passed, and
somebody who asks for unsafe repairs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from driftwatch.binding.calls import signatures_of, takes_keyword
from driftwatch.findings.finding import Finding
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
    signatures = [s for _, s in known]
    guess = new is None or not any(
        old in s.extra_keywords and any(p.name == new for p in s.parameters) for s in signatures
    )
    handed_over = guess and (new is None or not _may_be(old, new, signatures))
    if handed_over:
        new = _handed_over(signatures, old)
    if new is None or any(each.name == new for use, _ in pairs for each in use.keywords):
        return None  # both are passed: they are two things
    lost = f"no release says that `{new}` is what `{old}` was" if guess else ""
    safety = Safety.UNSAFE if guess else Safety.SAFE
    renamed = finding.symbol, old, new
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
    # Where a release has both, the old one goes on as it did.
    first, second = (old, new) if handed_over else (new, old)
    probe = new_probe(source, function, first, place.node, always=always)
    assert place.holder is not None
    items = source.items(place.holder)
    entry, other = (f"{{{source.quoted(name)}: {place.value}}}" for name in (first, second))
    text = f"**({entry} if {asked(source, probe)} else {other})"
    edit = items.rebuilt(replace={items.index(start): text})
    how = f"pass it as `{first}` where the installed build takes that, else as `{second}`"
    return Repair((finding,), source.path, (edit,), how, safety, lost, (probe,), renamed=renamed)


SIMILAR = 0.75
"""From which ratio on two words are taken for two spellings of one."""
_WORD = re.compile(r"[a-z0-9]{3,}")


def _may_be(old: str, new: str, signatures: Iterable[Signature]) -> bool:
    """Whether two names at one place may be those of one thing.

    They may if they share a word, are nearly the same, or no release has a default for either: a default is easily that
    of another parameter as well.
    """
    return _alike(old, new) or all(p.required for s in signatures for p in s.parameters if p.name in (old, new))


def _alike(old: str, new: str) -> bool:
    pairs = [(one, other) for one in _WORD.findall(old.lower()) for other in _WORD.findall(new.lower())]
    pairs.append((old.replace("_", ""), new.replace("_", "")))
    return any(
        SequenceMatcher(None, one, other).ratio() >= SIMILAR
        or (min(len(one), len(other)) > 3 and (one.startswith(other) or other.startswith(one)))
        for one, other in pairs
    )


def _handed_over(signatures: Sequence[Signature], old: str) -> str | None:
    """The one name that is alike, came while the old one was still there, and is there wherever that is gone."""
    names = [{p.name for p in signature.parameters} for signature in signatures]
    having = [each for each in names if old in each]
    without = [each for each in names if old not in each]
    if not having or not without:
        return None
    came = {name for each in having for name in each if any(name not in other for other in having)}
    found = [name for name in came if _alike(old, name) and all(name in each for each in without)]
    return found[0] if len(found) == 1 else None


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
