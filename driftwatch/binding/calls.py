"""A call held against every signature its callee has in the releases that reach it.

Enters: a `CallUse` and the history. Leaves: parts, each a set of releases within which the signatures and the
arguments are the same, with the binding's outcome. A release in which the callee does not exist is in no part: that is
for the rules about names. A method of an instance that may be of a subclass is wrong only where no class it may be of
takes the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from driftwatch.binding.classes import candidates
from driftwatch.binding.signature import Bound, Fault, Problem, Shape, bind
from driftwatch.flow.uses import Argument, CallUse, ResultUse
from driftwatch.releases import EMPTY, ReleaseSet
from driftwatch.snapshot.model.history import Epoch, History
from driftwatch.snapshot.model.symbols import Binding, Parameter, ParameterKind, Ref, Signature, SymbolKind

_RECEIVER = Parameter("self", ParameterKind.POSITIONAL_ONLY)


@dataclass(frozen=True, slots=True)
class Part:
    """Releases in which a call is one and the same thing.

    `positional` and `keywords` are the indices of the use's arguments that are passed here. `signature` is the only
    one there is, and None where there are several or anything is taken.
    """

    releases: ReleaseSet
    signature: Signature | None
    positional: tuple[int, ...]
    keywords: tuple[int, ...]
    shape: Shape
    bound: Bound


def parts(use: CallUse, history: History) -> tuple[Part, ...]:
    """The call in every release in which it is reached and its callee exists, oldest part first."""
    cuts = [argument.releases for argument in (*use.positional, *use.keywords)]
    cuts += [use.unknown_positional, use.unknown_keywords]
    found = [
        _part(use, part, signatures)
        for releases, signatures in signatures_of(use, history)
        for part in refine(releases, cuts)
    ]
    return tuple(sorted(found, key=lambda part: next(part.releases.indices())))


def signatures_of(use: CallUse, history: History) -> list[tuple[ReleaseSet, tuple[Signature | None, ...]]]:
    """The signatures the callee may have, by release; None among them takes anything."""
    return [
        (releases, tuple(dict.fromkeys(s for epoch in epochs for s in _signatures(epoch, use.unbound))))
        for releases, epochs in callee_epochs(use, history)
    ]


def callee_epochs(use: CallUse | ResultUse, history: History) -> list[tuple[ReleaseSet, tuple[Epoch, ...]]]:
    """What the callee may be, by release: one thing, or for a method one of each class the instance may be of."""
    owner, _, name = use.callee.qualname.rpartition(".")
    owner_ref = Ref(use.callee.module, owner)
    if not owner or not history.is_class(owner_ref):
        return [
            (epoch.releases & use.releases, (epoch,))
            for epoch in history.of(use.callee)
            if not epoch.releases.isdisjoint(use.releases)
        ]
    found: list[Epoch] = []
    for cls, releases in candidates(history, owner_ref, use.releases, exact=use.exact or not use.method):
        found += [epoch for _, epoch in history.member_epochs(cls, name, releases)]
    covered = EMPTY
    for epoch in found:
        covered |= epoch.releases
    return [
        (part, tuple(epoch for epoch in found if part <= epoch.releases))
        for part in refine(covered, [epoch.releases for epoch in found])
    ]


def takes_keyword(signature: Signature | None, name: str) -> bool:
    """Whether a call may pass this keyword."""
    if signature is None or name in signature.extra_keywords:
        return True
    if name in signature.refused:
        return False
    named = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
    return any(
        parameter.kind is ParameterKind.VAR_KEYWORD or (parameter.name == name and parameter.kind in named)
        for parameter in signature.parameters
    )


def refine(releases: ReleaseSet, cuts: Iterable[ReleaseSet]) -> list[ReleaseSet]:
    """The set in the coarsest parts that no cut divides."""
    result = [releases] if releases else []
    for cut in dict.fromkeys(cuts):
        result = [piece for part in result for piece in (part & cut, part - cut) if piece]
    return result


def passed_at(arguments: tuple[Argument, ...], releases: ReleaseSet) -> tuple[int, ...]:
    """Indices of the arguments that are there in these releases, which no argument's own set divides."""
    return tuple(i for i, argument in enumerate(arguments) if releases <= argument.releases)


def _signatures(epoch: Epoch, unbound: bool) -> Iterator[Signature | None]:
    symbol = epoch.symbol
    known = symbol.kind in (SymbolKind.FUNCTION, SymbolKind.CLASS)
    bound = not (unbound and symbol.kind is SymbolKind.FUNCTION and symbol.binding is Binding.INSTANCE)
    for signature in symbol.possible if known else (None,):
        if signature is None or bound:
            yield signature
        else:
            yield replace(signature, parameters=(_RECEIVER, *signature.parameters))


def _part(use: CallUse, releases: ReleaseSet, signatures: tuple[Signature | None, ...]) -> Part:
    positional = passed_at(use.positional, releases)
    keywords = passed_at(use.keywords, releases)
    named: dict[str, bool] = {}
    for i in keywords:
        argument = use.keywords[i]
        if argument.name is not None:
            named[argument.name] = named.get(argument.name, False) or argument.certain
    shape = Shape(
        tuple(use.positional[i].certain for i in positional),
        named,
        not use.unknown_positional.isdisjoint(releases),
        not use.unknown_keywords.isdisjoint(releases),
    )
    only = signatures[0] if len(signatures) == 1 else None
    return Part(releases, only, positional, keywords, shape, _bind_any(signatures, shape))


def _bind_any(signatures: tuple[Signature | None, ...], shape: Shape) -> Bound:
    """The binding that holds whichever of the signatures it is: what all of them refuse, else what the first does."""
    unknown = Bound((), (None,) * len(shape.positional))
    outcomes = [bind(signature, shape) if signature is not None else unknown for signature in signatures]
    if len(outcomes) == 1:
        return outcomes[0]
    common: list[Problem] = [p for p in outcomes[0].problems if all(p in other.problems for other in outcomes[1:])]
    if not common and any(all(_perhaps(problem, shape) for problem in each.problems) for each in outcomes):
        # One takes the call; or, of the keywords that only some ways pass, each passes those that its class takes.
        return unknown
    return Bound(tuple(common) or outcomes[0].problems, unknown.places)


def _perhaps(problem: Problem, shape: Shape) -> bool:
    """Whether a problem is one of a keyword that is passed on some ways only."""
    return problem.fault is Fault.UNKNOWN_KEYWORD and not (shape.keywords or {}).get(problem.parameter or "", True)
