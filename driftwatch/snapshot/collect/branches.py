"""One name that several branches of a module or a class body define -> one symbol.

Enters: what each branch makes of the name, the one of an ordinary installation first. Leaves: the symbol that holds
whichever branch is taken: a call is wrong only where every branch refuses it, a member is there where any branch has
it, and what the branches tell differently is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from driftwatch.snapshot.model.symbols import Parameter, Ref, Signature, Symbol, SymbolKind

_CALLED = (SymbolKind.FUNCTION, SymbolKind.CLASS)


def merged(branches: Sequence[Iterable[Symbol]]) -> list[Symbol]:
    """The symbols of a definition and its members, from those of each branch."""
    found: dict[Ref, Symbol] = {}
    for branch in branches:
        for symbol in branch:
            known = found.get(symbol.ref)
            found[symbol.ref] = symbol if known is None else either(known, symbol)
    return list(found.values())


def either(first: Symbol, second: Symbol) -> Symbol:
    """A symbol of which nobody knows which of two it is."""
    if first.kind is not second.kind:
        return _of_two_kinds(first, second)
    signature, variants = _signatures(first, second)
    return replace(
        first,
        signature=signature,
        variants=variants,
        bases=tuple(dict.fromkeys((*first.bases, *second.bases))),
        value=first.value if first.value == second.value else None,
        annotation=first.annotation if second.annotation in (first.annotation, None) else None,
        abstract=first.abstract and second.abstract,
        deprecated=first.deprecated if second.deprecated is not None else None,
        requires=tuple(sorted(set(first.requires) & set(second.requires))),
        open=first.open or second.open,
        shows=first.shows or second.shows,
        hides=first.hides or second.hides,
    )


def accepts_alike(first: Sequence[Parameter], second: Sequence[Parameter]) -> bool:
    """Whether two signatures take the same calls."""
    return [(p.name, p.kind, p.required) for p in first] == [(p.name, p.kind, p.required) for p in second]


def one_of(signatures: Sequence[Signature | None]) -> tuple[Signature | None, tuple[Signature, ...]]:
    """A symbol's `signature` and `variants`, where it has one of these signatures; None among them takes anything."""
    distinct: list[Signature] = []
    for signature in signatures:
        if signature is None:
            return None, ()
        for i, known in enumerate(distinct):
            same = (known.extra_keywords, known.flavour) == (signature.extra_keywords, signature.flavour)
            if same and accepts_alike(known.parameters, signature.parameters):
                distinct[i] = _of_both(known, signature)
                break
        else:
            distinct.append(signature)
    return (distinct[0], ()) if len(distinct) == 1 else (None, tuple(distinct))


def _signatures(first: Symbol, second: Symbol) -> tuple[Signature | None, tuple[Signature, ...]]:
    if first.kind not in _CALLED:
        return (first.signature if first.signature == second.signature else None), ()
    return one_of([*first.possible, *second.possible])


def _of_both(first: Signature, second: Signature) -> Signature:
    """Two signatures that take the same calls; what they give need not be the same."""
    gives = tuple(sorted({*first.gives, *second.gives})) if first.gives and second.gives else ()
    ref = first.returns_ref if first.returns_ref == second.returns_ref else None
    returns = first.returns if first.returns == second.returns else None
    refusals = tuple(refusal for refusal in first.refusals if refusal in second.refusals)
    return replace(first, returns=returns, returns_ref=ref, gives=gives, refusals=refusals)


def _of_two_kinds(first: Symbol, second: Symbol) -> Symbol:
    if SymbolKind.CLASS in (first.kind, second.kind):
        # Whoever calls it may be given an instance, and whoever derives from it may have its members.
        known = first if first.kind is SymbolKind.CLASS else second
        called = first.kind in _CALLED and second.kind in _CALLED
        signature, variants = _signatures(first, second) if called else (None, ())
        return replace(known, signature=signature, variants=variants, open=True)
    requires = tuple(sorted(set(first.requires) & set(second.requires)))
    return Symbol(first.ref, SymbolKind.ATTRIBUTE, definition=first.definition, requires=requires)
